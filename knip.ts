import type { KnipConfiguration } from 'knip'

/** What begins by itself: people, images and browsers load it. `!`: also where tests are left out (`knip --production`). */
const entry = [
  '{api,api/console,processors,processors/*,infra/local/clickhouse,infra/simulator}/main.ts!',
  'infra/prepare.ts!',
  'infra/docker/{health,role}.ts!',
  'infra/local/forward-main.ts!',
  'infra/local/lying-clock.ts!',
  'scripts/{alert-rules,backfill,backtest,backup,bench,chaos,check,export,generate,import,mcp,normalize,pay,plan,readme,receiver,record,release,restore,start,test,trace,verify}.ts!',
  'scripts/{bench,examples}/*.ts!',
  'scripts/backtest/worker.ts!',
  'scripts/clients/typescript/src/index.ts!',
  'api/console/web/{market,screener,symbol,system,alerts,search,theme}.ts!',
  'scripts/clients/verify/check.ts',
  'api/testing/bare-koa.ts',
]

/** What is no production though it stands in no folder called `testing`. */
const tests = [
  '**/testing/**',
  '**/*.test.ts',
  // Runs the legacy client in a process of its own.
  'scripts/clients/x402-v1/pay.mjs',
]

/** Of production code something is used by more than tests; that it is exported for a test of its own file is no fault. */
export default ({ production = false }: { readonly production?: boolean }): KnipConfiguration => ({
  entry,
  project: ['{schemas,processors,api,infra,scripts}/**/*.{ts,mjs}!', ...tests.map((pattern) => `!${pattern}!`)],
  ignoreDependencies: ['axe-core', 'oxlint', 'oxlint-tsgolint', 'x402-fetch'],
  ignoreBinaries: ['mkfifo'],
  ignoreExportsUsedInFile: production,
})
