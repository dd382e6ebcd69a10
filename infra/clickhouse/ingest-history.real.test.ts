import { afterAll, beforeAll, expect, it } from 'vitest'
import type { FlowHour, VenueCandle } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { createWorld, iso, T, type World } from './testing/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld('past')
})
afterAll(() => world.end())

const HOUR = 3_600e6
/** The hour in which the first trade came, at 37 minutes. */
const H = Math.floor(T / HOUR) * HOUR - 6 * HOUR
const FIRST = H + 37 * 60e6

const hourOf = (asset: string, change: Partial<FlowHour>): FlowHour => ({
  asset,
  instrument: 'binance:perp:BTCUSDT',
  hour: H,
  part: 0,
  buy: 3,
  sell: 1,
  buy_quote: 30,
  sell_quote: 10,
  buy_count: 1,
  sell_count: 2,
  open: 10,
  high: 12,
  low: 9,
  close: 11,
  open_time: FIRST,
  close_time: FIRST + 60e6,
  first_id: 1,
  last_id: 9,
  final: true,
  v: 10,
  ...change,
})
const hour = (asset: string, change: Partial<FlowHour>): Buffer =>
  world.codec.encode('derived.flow', 'flow_hour', hourOf(asset, change))

/** The bucket that the first hour is made of. */
const bucket = (asset: string): Buffer => {
  const { hour: _hour, ...rest } = hourOf(asset, {})
  return world.codec.encode('derived.flow', 'flow', { ...rest, bucket: FIRST })
}

const candle = (asset: string, hours: number, change: Partial<VenueCandle> = {}): Buffer =>
  world.codec.encode('market.history', 'venue_candle', {
    instrument: 'binance:perp:BTCUSDT',
    asset,
    start: H + hours * HOUR,
    seconds: 3600,
    open: 7 + hours,
    high: 8 + hours,
    low: 6 + hours,
    close: 7.5 + hours,
    volume: 100,
    taker_buy: 60 + hours,
    quote: null,
    taker_buy_quote: null,
    trades: 50,
    source: 'venue_candles',
    received: T,
    ...change,
  })

/** What our fold of the venue's archive of trades gives. */
const archived = (asset: string, hours: number): Buffer =>
  candle(asset, hours, {
    volume: 80,
    taker_buy: 62,
    quote: 800,
    taker_buy_quote: 630,
    trades: 7,
    source: 'archive',
  })

type Part = (asset: string) => [TopicName, Buffer[]]

/** The candles of two hours come twice; the archive is of an hour that has a candle, and of one that has trades. */
const past: readonly Part[] = [
  (asset) => ['market.history', [candle(asset, -2), candle(asset, -1), candle(asset, 0)]],
  (asset) => ['market.history', [candle(asset, -1), candle(asset, 0), candle(asset, 1)]],
  (asset) => ['market.history', [archived(asset, -1), archived(asset, 1)]],
]
const flow: readonly Part[] = [
  (asset) => ['derived.flow', [hour(asset, {}), bucket(asset)]],
  (asset) => [
    'derived.flow',
    [hour(asset, { hour: H + HOUR, buy: 5, sell: 1, open_time: H + HOUR, close_time: H + HOUR + 1, v: 11 })],
  ],
]

function orders<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((item, index) => orders(items.toSpliced(index, 1)).map((rest) => [item, ...rest]))
}

const range = `start = '${iso(H - 3 * HOUR).slice(0, -1)}', end = '${iso(H + 3 * HOUR).slice(0, -1)}'`

/** Waits for so many candles, and for what is told of their hours, which comes a moment later. */
async function arrived(rows: number, where = '1'): Promise<void> {
  await world.soon(`SELECT count() AS rows FROM venue_candles WHERE ${where}`, [{ rows }])
  const days = `SELECT groupBitOr(hours) AS hours FROM venue_past_days WHERE ${where} GROUP BY asset, instrument, day`
  await world.soon(`SELECT sum(bitCount(hours)) AS rows FROM (${days})`, [{ rows }])
}

it('tells one series of candles, archives and trades, each hour of one source and once, whatever came first', async () => {
  // Each topic is read on its own: what may differ is the order within it.
  const all = orders(past).flatMap((first) => orders(flow).map((second) => [...first, ...second]))
  const assets = all.map((_, index) => `asset${index}`)
  for (const [index, order] of all.entries()) {
    for (const part of order) {
      const [topic, values] = part(assets[index] ?? '')
      await world.append(topic, values)
    }
  }
  await arrived(4 * all.length)
  await world.soon('SELECT count() AS rows FROM flow_1h', [{ rows: 2 * all.length }])
  for (const asset of assets) {
    const read = (columns: string, view: string, seconds: number): Promise<unknown[]> =>
      world.rows(`SELECT ${columns} FROM ${view}, seconds = ${seconds}, ${range})`)
    const candles = `ohlcv(asset = '${asset}', venue = 'binance'`
    expect(await read('*', candles, 3600)).toEqual([
      { ...told(-2), open: 5, high: 6, low: 4, close: 5.5, volume: 100, buy_volume: 58, sell_volume: 42, trades: 50 },
      {
        ...told(-1, 'archive'),
        open: 6,
        high: 7,
        low: 5,
        close: 6.5,
        volume: 80,
        buy_volume: 62,
        sell_volume: 18,
        trades: 7,
      },
      { ...told(0), open: 7, high: 8, low: 6, close: 7.5, volume: 100, buy_volume: 60, sell_volume: 40, trades: 50 },
      {
        ...told(1, 'trades'),
        open: 10,
        high: 12,
        low: 9,
        close: 11,
        volume: 6,
        buy_volume: 5,
        sell_volume: 1,
        trades: 3,
      },
    ])
    expect(await read('volume, source', candles, 86_400)).toEqual([{ volume: 286, source: 'mixed' }])
    // The total is that of all trades, also of those whose hour is the venue's; before them the curve goes on.
    expect(await read('time, delta, cvd, source', `cvd(asset = '${asset}'`, 3600)).toEqual([
      { ...told(-2), delta: 16, cvd: -62 },
      { ...told(-1, 'archive'), delta: 44, cvd: -18 },
      { ...told(0), delta: 20, cvd: 2 },
      { ...told(1, 'trades'), delta: 4, cvd: 6 },
    ])
    // A part of it that ends before the first trade has the same totals.
    const part = `start = '${iso(H - 3 * HOUR).slice(0, -1)}', end = '${iso(H).slice(0, -1)}'`
    const before = `SELECT time, delta, cvd FROM cvd(asset = '${asset}', seconds = 3600, ${part})`
    expect(await world.rows(before)).toEqual([
      { time: iso(H - 2 * HOUR), delta: 16, cvd: -62 },
      { time: iso(H - HOUR), delta: 44, cvd: -18 },
    ])
  }
  // Of an archive the worth is known, of a candle it is its volume at its mean price.
  expect(
    await world.rows(`SELECT buy_usd, sell_usd FROM cvd(asset = 'asset0', seconds = 3600, ${range}) LIMIT 2`),
  ).toEqual([
    { buy_usd: 58 * (15.5 / 3), sell_usd: 42 * (15.5 / 3) },
    { buy_usd: 630, sell_usd: 170 },
  ])
})

function told(hours: number, source = 'venue_candles'): { time: string; source: string } {
  return { time: iso(H + hours * HOUR), source }
}

it('says of a venue that does not tell who took that it does not, and gives no flow of it', async () => {
  const silent = { instrument: 'bybit:perp:BTCUSDT', taker_buy: null, trades: null }
  await world.append('market.history', [candle('silent', -1, silent), candle('silent', 0, silent)])
  await arrived(2, "asset = 'silent'")
  expect(await world.rows(`SELECT * FROM ohlcv(asset = 'silent', venue = 'all', seconds = 7200, ${range})`)).toEqual([
    {
      time: iso(H - HOUR),
      open: 6,
      high: 8,
      low: 5,
      close: 7.5,
      volume: 200,
      buy_volume: null,
      sell_volume: null,
      trades: null,
      source: 'venue_candles',
    },
  ])
  expect(await world.rows(`SELECT * FROM cvd(asset = 'silent', seconds = 3600, ${range})`)).toEqual([])
})

it('gives the flow of those hours alone of which a venue tells who took, where it does not of others', async () => {
  const okx = { instrument: 'okx:perp:BTC-USDT-SWAP' }
  const silent = { ...okx, taker_buy: null }
  await world.append('market.history', [
    candle('partly', -3, silent),
    candle('partly', -2, silent),
    candle('partly', -1, okx),
    candle('partly', 0, okx),
  ])
  await arrived(4, "asset = 'partly'")
  const flow = (columns: string, seconds: number): Promise<unknown[]> =>
    world.rows(`SELECT ${columns} FROM cvd(asset = 'partly', seconds = ${seconds}, ${range})`)
  expect(await flow('time, delta, cvd, sell_volume, source', 3600)).toEqual([
    { ...told(-1), delta: 18, cvd: -20, sell_volume: 41 },
    { ...told(0), delta: 20, cvd: 0, sell_volume: 40 },
  ])
  expect(await flow('delta, sell_volume', 86_400)).toEqual([{ delta: 38, sell_volume: 81 }])
})

it('has no candle of a time in which nothing was traded, although a venue tells one', async () => {
  const quiet = {
    instrument: 'kraken:spot:BTC/USD',
    volume: 0,
    taker_buy: null,
    trades: 0,
    high: 99,
    low: 1,
    close: 50,
  }
  await world.append('market.history', [candle('quiet', -1, quiet), candle('quiet', 0, quiet), candle('quiet', 0)])
  await arrived(3, "asset = 'quiet'")
  expect(await world.rows(`SELECT * FROM ohlcv(asset = 'quiet', venue = 'all', seconds = 3600, ${range})`)).toEqual([
    {
      time: iso(H),
      open: 7,
      high: 8,
      low: 6,
      close: 7.5,
      volume: 100,
      buy_volume: 60,
      sell_volume: 40,
      trades: 50,
      source: 'venue_candles',
    },
  ])
})
