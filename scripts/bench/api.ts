import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { FakeDatabase } from '../../api/testing/fake-database.ts'
import { fillLog, fillViews } from '../../api/testing/facts.ts'
import { load, perSecond, quantile, type Load } from '../../api/testing/http-load.ts'
import { fillAsset, fillTokens } from '../../api/testing/market-facts.ts'
import { fillMarketLog } from '../../api/testing/market-log.ts'
import { loadCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import type { Child } from '../../infra/local/child.ts'
import type { BenchParts, Figure } from '../figure.ts'
import { answered, mixOf, prepareApi, program, startServer } from './system/api.ts'

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
    const bodies = await Promise.all(mix.map((target) => answered(api.url + target)))
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
    figures.push(...[0.5, 0.99].map((p) => latency(`present ${target}`, p, [own], [theirs])))
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
  return [0.5, 0.99].map((p) => latency(`present at ${PRESENT_A_SECOND}/s`, p, [own], [theirs]))
}

function latency(what: string, p: number, own: readonly Load[], theirs: readonly Load[]): Figure {
  const [ours, others] = [own, theirs].map((loads) => loads.flatMap(({ latenciesMs }) => latenciesMs))
  const [value, baseline] = [quantile(ours ?? [], p), quantile(others ?? [], p)]
  return { metric: `${what} p${p * 100}`, value, unit: 'ms', baseline, n: ours?.length ?? 0 }
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
    const own = [await run(api, CACHED / 2, ask)]
    const theirs = [await run(bare, CACHED / 2, askBare), await run(bare, CACHED / 2, askBare)]
    own.push(await run(api, CACHED / 2, ask))
    const [value, baseline] = [perSecond(own), perSecond(theirs)]
    figures.push({ metric: `cached ${name} against bare Koa`, value, unit: '1/s', baseline, n: CACHED })
    figures.push(latency(`cached ${name}`, 0.99, own, theirs))
  }
  return figures
}

async function memory(url: string): Promise<Figure> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const bytes = Number(/^process_resident_memory_bytes\{service="api"\} (\S+)$/m.exec(text)?.[1])
  return { metric: 'resident memory after all that', value: bytes / 1e6, unit: 'MB', n: 1 }
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
