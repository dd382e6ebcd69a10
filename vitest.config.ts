import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './infra/local/testing/longest-first.ts'

/** What every project has: waits that end early when all is well, and last long enough on a busy machine. */
const patient = {
  setupFiles: ['infra/local/testing/patience.ts'],
  expect: { poll: { timeout: 60_000 } },
  testTimeout: 120_000,
  hookTimeout: 180_000,
}

/** A client that tests install has packages of its own. */
const packages = '**/node_modules/**'

/** Files that measure times: with nothing beside them. */
const alone = ['processors/webhooks/isolation.real.test.ts']

// What tests start is mostly Node with our sources: compiled once.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url))

/** Projects, one after the other: `unit` needs nothing but Node; for `real` broker, registry and ClickHouse start once. */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...patient,
          name: 'unit',
          setupFiles: [...patient.setupFiles, 'infra/local/testing/unit-limit.ts'],
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
          // They wait for processes much of the time.
          maxWorkers: 6,
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
