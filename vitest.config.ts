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

/** Files that run a whole system of their own: two at a time. */
const systems = [
  'scripts/e2e.real.test.ts',
  'scripts/recorded-venue.real.test.ts',
  'scripts/docs/commands.real.test.ts',
  'scripts/upgrade/release.real.test.ts',
  'scripts/upgrade/rolling.real.test.ts',
  'api/console/console.real.test.ts',
]
/** Files that measure times, or need the whole machine: with nothing beside them. */
const alone = ['processors/webhooks/isolation.real.test.ts', 'scripts/cluster.real.test.ts']

// What tests start is mostly Node with our sources: compiled once.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url))
// Brokers of tests live for minutes, in which their thorough compiler costs more than it saves.
process.env['JAVA_TOOL_OPTIONS'] ??= '-XX:TieredStopAtLevel=1'

/** Projects, one after the other, by `npm test` each in a run of its own: `unit` needs nothing but Node; for `real` broker, registry and ClickHouse start once. */
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
          // They wait for processes much of the time; modules once a worker.
          isolate: false,
          maxWorkers: 4,
          include: ['{schemas,processors,api,infra,scripts}/**/*.real.test.ts'],
          exclude: [packages, ...systems, ...alone],
          globalSetup: ['infra/local/testing/parts.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...patient,
          name: 'system',
          include: systems,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...patient,
          name: 'alone',
          include: alone,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
