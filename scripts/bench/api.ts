import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { FakeDatabase } from '../../api/testing/fake-database.ts'
import { fillLog, fillViews } from '../../api/testing/facts.ts'
import { load, quantile, type Load } from '../../api/testing/http-load.ts'
import { fillAsset, fillTokens } from '../../api/testing/market-facts.ts'
import { fillMarketLog } from '../../api/testing/market-log.ts'
import { loadCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import type { Child } from '../../infra/local/child.ts'
import type { BenchParts, Figure } from '../figure.ts'
import { mixOf, prepareApi, program, startServer } from './system/api.ts'

const PARTITIONS = 2
const CONNECTIONS = 16
const CACHED = 30_000
/** Warm-up of each server, so that both are compiled. */
const WARM = 10_000
/** Assets with everything, three perpetuals each: 1,230 markets. */
const ASSETS = 410
/** Of each route that tells of now. */
const PRESENT_A_ROUTE = 500
/** Of all of them in turn, a second, over how many seconds. */
const PRESENT_A_SECOND = 500
const PRESENT_SECONDS = 10
const ARRIVES_WITHIN_MS = 60_000

const mix = mixOf('BTC')
/** Routes that ask ClickHouse. */
const ranges = /^\/ohlcv\/|\/history\//

/**
 * Answers about now beside a bare Koa route that gives the same bodies, and answers a second over a mix of all data routes
 * beside the same. First questions about ranges: bench `ranges`.
 */
export default async function bench(parts: () => Promise<BenchParts>): Promise<readonly Figure[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-api-'))
  const children: Child[] = []
  try {
    const all = await parts()
    const api = await startApi(all, folder)
    children.push(api)
    const bodyFile = path.join(folder, 'bodies.json')
    const bodies = await Promise.all(mix.map((target) => answer(api.url + target)))
    writeFileSync(bodyFile, `[${bodies.join(',')}]`)
    const bare = await startServer('bare-koa', [...program('api/testing/bare-koa.ts'), bodyFile], folder, {})
    children.push(bare)
    const figures = [...(await ofNow(api.url, bare.url)), ...(await cached(api.url, bare.url))]
    return [...figures, await memory(api.url)]
  } finally {
    await Promise.all(children.map((child) => child.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Routes that tell of now, which nobody keeps: p50 and p99 of each beside the bare route with the same body. */
async function ofNow(api: string, bare: string): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [index, target] of mix.entries()) {
    if (ranges.test(target)) continue
    const ask = (url: string, path: string): Promise<Load> =>
      load(url, { connections: 1, count: PRESENT_A_ROUTE, path: () => path })
    await ask(api, target) // compiled, as the bare route is
    const [own, theirs] = [await ask(api, target), await ask(bare, `/bodies/${index}`)]
    for (const p of [0.5, 0.99]) {
      const [value, baseline] = [quantile(own.latenciesMs, p), quantile(theirs.latenciesMs, p)]
      const figure = { bench: 'api', metric: `present ${target} p${p * 100}`, unit: 'ms', n: PRESENT_A_ROUTE }
      figures.push({ ...figure, value, baseline, ratio: value / baseline })
    }
  }
  return [...figures, ...(await ofNowTogether(api, bare))]
}

/** The same in turn at a steady rate, both servers the same. */
async function ofNowTogether(api: string, bare: string): Promise<Figure[]> {
  const indexes = [...mix.keys()].filter((place) => !ranges.test(mix[place] ?? ''))
  const count = PRESENT_A_SECOND * PRESENT_SECONDS
  const run = (url: string, path: (index: number) => string): Promise<Load> =>
    load(url, {
      connections: CONNECTIONS,
      count,
      perSecond: PRESENT_A_SECOND,
      path: (n) => path(indexes[n % indexes.length] ?? 0),
    })
  const own = await run(api, (index) => mix[index] ?? '/')
  const theirs = await run(bare, (index) => `/bodies/${index}`)
  return [0.5, 0.99].map((p) => {
    const [value, baseline] = [quantile(own.latenciesMs, p), quantile(theirs.latenciesMs, p)]
    const figure = { bench: 'api', metric: `present at ${PRESENT_A_SECOND}/s p${p * 100}`, unit: 'ms', n: count }
    return { ...figure, value, baseline, ratio: value / baseline }
  })
}

async function cached(api: string, bare: string): Promise<Figure[]> {
  const run = (url: string, count: number, path: (n: number) => string): Promise<Load> =>
    load(url, { connections: CONNECTIONS, count, path })
  const kinds = [
    ['/cvd/BTC', () => '/cvd/BTC', () => '/bodies/0'],
    ['a mix', (n: number) => mix[n % mix.length] ?? '/', (n: number) => `/bodies/${n % mix.length}`],
  ] as const
  const figures: Figure[] = []
  for (const [name, ask, askBare] of kinds) {
    await run(api, WARM, ask)
    await run(bare, WARM, askBare)
    // Half of each on both sides of the other: a machine that slows down or wakes up does so for both.
    const loads = [
      await run(api, CACHED / 2, ask),
      await run(bare, CACHED / 2, askBare),
      await run(bare, CACHED / 2, askBare),
      await run(api, CACHED / 2, ask),
    ]
    const rate = (picked: readonly (Load | undefined)[]): number =>
      CACHED / (picked.reduce((sum, one) => sum + (one?.tookMs ?? NaN), 0) / 1000)
    const [value, baseline] = [rate([loads[0], loads[3]]), rate([loads[1], loads[2]])]
    const figure = { bench: 'api', n: CACHED }
    figures.push({
      ...figure,
      metric: `cached ${name} against bare Koa`,
      value,
      unit: '1/s',
      baseline,
      ratio: value / baseline,
    })
    const p99 = (picked: readonly (Load | undefined)[]): number =>
      quantile(
        picked.flatMap((one) => one?.latenciesMs ?? []),
        0.99,
      )
    const [own, theirs] = [p99([loads[0], loads[3]]), p99([loads[1], loads[2]])]
    figures.push({
      ...figure,
      metric: `cached ${name} p99`,
      value: own,
      unit: 'ms',
      baseline: theirs,
      ratio: own / theirs,
    })
  }
  return figures
}

async function memory(url: string): Promise<Figure> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const bytes = Number(/^process_resident_memory_bytes\{service="api"\} (\S+)$/m.exec(text)?.[1])
  return { bench: 'api', metric: 'resident memory after all that', value: bytes / 1e6, unit: 'MB', n: 1 }
}

/** The API on a namespace and a database of its own, with three days of BTC, and all else of many assets. */
async function startApi(parts: BenchParts, folder: string): Promise<Child> {
  const { brokers, registryUrl } = parts
  const symbols = ['BTC', ...Array.from({ length: ASSETS }, (_, index) => `COIN${index}`)]
  const { namespace, env } = await prepareApi(parts, { name: 'api', partitions: PARTITIONS, symbols })
  const log = await connectLog({ brokers, namespace, clientId: 'bench-api' })
  const views = new FakeDatabase()
  const now = Date.now() * 1000
  fillViews(views, now)
  fillTokens(views.market, now)
  const assets = symbols.map((symbol) => symbol.toLowerCase())
  for (const [index, asset] of assets.entries()) fillAsset(views.market, asset, { now, price: 100 + index })
  // Each has traded, an hour ago.
  const traded = views.flows.find(({ bucket }) => bucket < now - 3_600_000_000)
  if (traded !== undefined) views.flows.push(...assets.slice(1).map((asset) => ({ ...traded, asset })))
  const target = { log, codec: await loadCodec(registryUrl), partitions: PARTITIONS, now }
  await fillLog(target, views)
  await fillMarketLog(target, views.market)
  await log.close()
  return startServer('api', program('api/main.ts'), folder, env)
}

/** The body at an address, once ClickHouse has what was written. */
async function answer(url: string): Promise<string> {
  const deadline = AbortSignal.timeout(ARRIVES_WITHIN_MS)
  while (!deadline.aborted) {
    const response = await fetch(url)
    const body = await response.text()
    if (response.status === 200) return body
    await delay(100)
  }
  throw new Error(`${url} had no answer within ${ARRIVES_WITHIN_MS} ms`)
}
