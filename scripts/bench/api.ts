import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { FakeDatabase } from '../../api/testing/fake-database.ts'
import { fillLog, fillViews } from '../../api/testing/facts.ts'
import { load, quantile, type Load } from '../../api/testing/http-load.ts'
import { loadCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import { startChild, type Child } from '../../infra/local/child.ts'
import type { BenchParts, Figure } from '../figure.ts'

const PARTITIONS = 2
const CONNECTIONS = 16
const CACHED = 20_000
const UNCACHED = 300
/** Warm-up of each server, so that both are compiled. */
const WARM = 5_000
const ARRIVES_WITHIN_MS = 30_000

const root = fileURLToPath(new URL('../../', import.meta.url))
const program = (file: string): [string, string] => [process.execPath, path.join(root, file)]

/** Requests a second of a cached `/cvd/BTC` beside a bare Koa route with the same body, and how long uncached ones take. */
export default async function bench(parts: () => Promise<BenchParts>): Promise<readonly Figure[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-api-'))
  const children: Child[] = []
  try {
    const api = await startApi(await parts(), folder)
    children.push(api)
    const bodyFile = path.join(folder, 'body.json')
    writeFileSync(bodyFile, await answer(api.url))
    const bare = await startServer('bare-koa', [...program('api/testing/bare-koa.ts'), bodyFile], folder, {})
    children.push(bare)
    return [...(await cached(api.url, bare.url)), ...(await uncached(api.url))]
  } finally {
    await Promise.all(children.map((child) => child.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
}

async function cached(api: string, bare: string): Promise<Figure[]> {
  const run = (url: string, count: number): Promise<Load> =>
    load(url, { connections: CONNECTIONS, count, path: () => '/cvd/BTC' })
  for (const url of [api, bare]) await run(url, WARM)
  const ours = await run(api, CACHED)
  const theirs = await run(bare, CACHED)
  const [value, baseline] = [ours, theirs].map(({ answers, tookMs }) => (answers / tookMs) * 1000)
  if (value === undefined || baseline === undefined) return []
  return [
    {
      bench: 'api',
      metric: 'cached /cvd/BTC against bare Koa',
      value,
      unit: '1/s',
      baseline,
      ratio: value / baseline,
      n: CACHED,
    },
  ]
}

/** Each limit is a key of its own, so nothing is answered from the cache. */
async function uncached(url: string): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [name, target] of [
    ['/cvd/history', '/cvd/history/BTC?interval=5m&limit='],
    ['/ohlcv', '/ohlcv/BTC?interval=5m&exchange=all&limit='],
  ] as const) {
    const { latenciesMs } = await load(url, { connections: 1, count: UNCACHED, path: (n) => `${target}${n + 1}` })
    for (const p of [0.5, 0.99])
      figures.push({
        bench: 'api',
        metric: `uncached ${name} p${p * 100}`,
        value: quantile(latenciesMs, p),
        unit: 'ms',
        n: UNCACHED,
      })
  }
  return figures
}

/** The API on a namespace and a database of its own, with three days of BTC. */
async function startApi({ brokers, registryUrl, clickhouseUrl }: BenchParts, folder: string): Promise<Child> {
  const id = randomUUID().slice(0, 8)
  const namespace = `bench-api-${id}.`
  const env = {
    MODE: 'demo',
    NAMESPACE: namespace,
    PARTITIONS: String(PARTITIONS),
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    CLICKHOUSE_DATABASE: `bench_api_${id}`,
    API_PORT: '0',
    // In the path, as in service, but out of the way.
    RATE_LIMIT_PER_SECOND: '1000000000',
    RATE_LIMIT_BURST: '1000000000',
  }
  await promisify(execFile)(...prepareCommand(), { env: { ...process.env, ...env } })
  const log = await connectLog({ brokers, namespace, clientId: 'bench-api' })
  const views = new FakeDatabase()
  const now = Date.now() * 1000
  fillViews(views, now)
  await fillLog({ log, codec: await loadCodec(registryUrl), partitions: PARTITIONS, now }, views)
  await log.close()
  return startServer('api', program('api/main.ts'), folder, env)
}

function prepareCommand(): [string, string[]] {
  const [node, file] = program('infra/prepare.ts')
  return [node, [file]]
}

function startServer(
  name: string,
  command: [string, ...string[]],
  folder: string,
  env: Record<string, string>,
): Promise<Child> {
  return startChild({
    name,
    command,
    env: { LOG_FORMAT: 'json', ...env },
    logFile: path.join(folder, `${name}.log`),
    ready: 'message',
    readyWithinMs: 15_000,
    stopWithinMs: 5_000,
  })
}

/** The body of `/cvd/BTC`, once ClickHouse has what was written. */
async function answer(url: string): Promise<string> {
  const deadline = AbortSignal.timeout(ARRIVES_WITHIN_MS)
  while (!deadline.aborted) {
    const response = await fetch(`${url}/cvd/BTC`)
    const body = await response.text()
    if (response.status === 200) return body
    await delay(100)
  }
  throw new Error(`the API had no answer within ${ARRIVES_WITHIN_MS} ms`)
}
