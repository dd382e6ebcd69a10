import { defineConfig } from 'vitest/config'

/** Two projects: `unit` needs nothing but Node; `real` starts the broker, the registry and ClickHouse once per run. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{schemas,processors,api,infra,scripts}/**/*.test.ts'],
          exclude: ['**/*.real.test.ts'],
        },
      },
      {
        test: {
          name: 'real',
          include: ['{schemas,processors,api,infra,scripts}/**/*.real.test.ts'],
          globalSetup: ['infra/local/test-parts.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
    ],
  },
})
