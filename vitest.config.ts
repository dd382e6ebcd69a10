import { defineConfig } from 'vitest/config'

/** What every project has: waits that end early when all is well, and last long enough on a busy machine. */
const patient = {
  setupFiles: ['infra/local/testing/patience.ts'],
  expect: { poll: { timeout: 60_000 } },
  testTimeout: 120_000,
  hookTimeout: 180_000,
  maxWorkers: 2,
}

/** A client that tests install has packages of its own. */
const packages = '**/node_modules/**'

/** Files that measure times or run a whole system: one after the other, with nothing beside them. */
const alone = [
  'scripts/e2e.real.test.ts',
  'scripts/docs/commands.real.test.ts',
  'processors/webhooks/isolation.real.test.ts',
  'api/console/console.real.test.ts',
]

/** Three projects, one after the other: `unit` needs nothing but Node; for `real` broker, registry and ClickHouse start once. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...patient,
          name: 'unit',
          // Much of the time is modules that are loaded and waits on sockets: modules once a worker, more workers than cores.
          isolate: false,
          maxWorkers: 4,
          include: ['{schemas,processors,api,infra,scripts}/**/*.test.ts'],
          exclude: [packages, '**/*.real.test.ts'],
        },
      },
      {
        test: {
          ...patient,
          name: 'real',
          include: ['{schemas,processors,api,infra,scripts}/**/*.real.test.ts'],
          exclude: [packages, ...alone],
          globalSetup: ['infra/local/testing/parts.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...patient,
          name: 'alone',
          include: alone,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
