import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { normalizeTrades } from 'tardis-dev'
import { fromStream, normaliser, type Normalise } from '../../processors/feeds/trades/stream.ts'
import { bySymbol, resolveInstruments } from '../../processors/feeds/venues/instruments.ts'
import { tradeStreams } from '../../processors/feeds/venues/venues.ts'
import type { Bench, Figure } from '../figure.ts'
import { readRecordedMessage } from '../normalize/normalizer.ts'
import { startCost } from './system/cost.ts'

/** Frames a round reads, and rounds of which the median counts; the ways take turns, so that all see the same machine. */
const FRAMES_PER_ROUND = 30_000
const ROUNDS = 11

/** When each frame came: the same for all ways, later than any frame. */
const RECEIVED_MS = 1_900_000_000_000

/** Reads one frame and says how many trades it held. */
type Way = (frame: string) => number

/**
 * Frames a second of processor time from text to normalised trade, against `JSON.parse` alone of the same frames, and
 * against JSON.parse with the trade mapper of tardis-dev, which makes a trade without contract sizes of the same frame.
 */
const bench: Bench = () => {
  const measured = frameSets().map((set) => ({ set, rates: ratesOf(set) }))
  const shared = measured.filter(({ rates }) => rates.tardis !== undefined).map(({ rates }) => rates)
  const figures = measured.flatMap(({ set, rates }) =>
    figuresOf(`${set.venue} ${set.channel} (${set.source})`, rates, FRAMES_PER_ROUND * ROUNDS),
  )
  return Promise.resolve([
    ...figures,
    ...figuresOf('all that tardis-dev has, equal parts', together(shared), FRAMES_PER_ROUND * ROUNDS * shared.length),
  ])
}
export default bench

/** Frames a processor second of each way. */
interface Rates {
  readonly ours: number
  readonly json: number
  readonly tardis?: number
}

function ratesOf(set: FrameSet): Rates {
  const ways = [byUs(set), byJson, ...(set.tardis === undefined ? [] : [byTardis(set.tardis)])]
  const [ours = NaN, json = NaN, tardis] = rates(set.frames, ways)
  return { ours, json, ...(tardis === undefined ? {} : { tardis }) }
}

/** The rate of a stream that has as many frames of each. */
function together(of: readonly Rates[]): Rates {
  const mean = (rate: (rates: Rates) => number): number =>
    of.length / of.reduce((sum, rates) => sum + 1 / rate(rates), 0)
  return { ours: mean(({ ours }) => ours), json: mean(({ json }) => json), tardis: mean(({ tardis = NaN }) => tardis) }
}

function figuresOf(what: string, { ours, json, tardis }: Rates, n: number): Figure[] {
  const figure = (against: string, baseline: number): Figure => ({
    metric: `${what} against ${against}`,
    value: ours,
    unit: 'frames/cpu s',
    baseline,
    n,
  })
  return [figure('JSON.parse', json), ...(tardis === undefined ? [] : [figure('tardis-dev', tardis)])]
}

function byUs({ venue: name }: FrameSet): Way {
  const venue = tradeStreams[name]
  const normalisers = normalisersOf(name)
  return (frame) => {
    let trades = 0
    for (const event of venue.parse(frame)) {
      if (event.kind !== 'trade') continue
      const normalise = normalisers.get(event.trade.symbol)
      if (normalise !== undefined && normalise(event.trade, RECEIVED_MS * 1000, fromStream).size > 0) trades++
    }
    return trades
  }
}

/** The seeds, and every other symbol of the recordings as the venue's rules read it. */
function normalisersOf(name: FrameSet['venue']): ReadonlyMap<string, Normalise> {
  const venue = tradeStreams[name]
  const { market, listing } = venue
  const symbols = frameSets()
    .filter((set) => set.venue === name)
    .flatMap(({ frames }) => frames.flatMap((frame) => venue.parse(frame)))
    .flatMap((event) => (event.kind === 'trade' ? [event.trade.symbol] : []))
  const rows = [...new Set(symbols)].map((symbol) => listing.fromSymbol(symbol)).filter((row) => row !== undefined)
  const { instruments } = resolveInstruments([{ venue: name, market, source: 'seed', rows, prices: [] }], new Map(), 0)
  return new Map([...(bySymbol(instruments).get(name) ?? [])].map(([symbol, row]) => [symbol, normaliser(row)]))
}

function byJson(frame: string): number {
  return JSON.parse(frame) === null ? 0 : 1
}

function byTardis(exchange: NonNullable<FrameSet['tardis']>): Way {
  const mapper = normalizeTrades(exchange, new Date(RECEIVED_MS))
  return (frame) => {
    const message: unknown = JSON.parse(frame)
    let trades = 0
    if (mapper.canHandle(message))
      for (const trade of mapper.map(message, new Date(RECEIVED_MS)) ?? []) if (trade.amount > 0) trades++
    return trades
  }
}

/** Frames a processor second of each way, the median of the rounds after one to warm up. */
function rates(frames: readonly string[], ways: readonly Way[]): number[] {
  const rounds = Array.from({ length: ROUNDS + 1 }, () => ways.map((way) => rate(frames, way))).slice(1)
  return ways.map((_, at) => median(rounds.map((round) => round[at] ?? 0)))
}

function rate(frames: readonly string[], way: Way): number {
  let trades = 0
  const ended = startCost()
  for (let n = 0; n < FRAMES_PER_ROUND; n++) trades += way(frames[n % frames.length] ?? '')
  const { cpu } = ended()
  if (trades === 0) throw new Error('the frames held no trade: nothing was measured')
  return FRAMES_PER_ROUND / cpu
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

const recorded = path.resolve(import.meta.dirname, '../../../../shared/data')

/** Trade frames of one venue and channel, recorded where recordings are at hand, else made in the same shape. */
export interface FrameSet {
  readonly venue: 'binance' | 'bybit' | 'okx' | 'coinbase'
  readonly channel: string
  readonly source: 'recorded' | 'generated'
  readonly frames: readonly string[]
  /** Name of the exchange in tardis-dev; undefined where it has no mapper for the channel. */
  readonly tardis?: 'binance-futures' | 'bybit' | 'okex-swap' | 'coinbase'
}

export function frameSets(): FrameSet[] {
  return [
    {
      ...frames('binance/usdm-trade/btcusdt_20240808_hftbacktest.jsonl.gz', rawTrade),
      venue: 'binance',
      channel: 'trade',
      tardis: 'binance-futures',
    },
    { ...frames('binance/usdm-aggTrade/20210405_cryptofeed.jsonl', aggTrade), venue: 'binance', channel: 'aggTrade' },
    {
      ...frames('bybit/linear-publicTrade/20260809_cryptofeed.jsonl', publicTrade),
      venue: 'bybit',
      channel: 'publicTrade',
      tardis: 'bybit',
    },
    { ...made(allTrades), venue: 'okx', channel: 'trades-all', tardis: 'okex-swap' },
    {
      ...frames('coinbase/exchange-match/live_flashbook_btc_eth_202607.jsonl', match),
      venue: 'coinbase',
      channel: 'matches',
      tardis: 'coinbase',
    },
  ]
}

type Frames = Pick<FrameSet, 'source' | 'frames'>

const MADE = 2000

function frames(file: string, make: (n: number) => object): Frames {
  const found = path.join(recorded, file)
  if (!existsSync(found)) return made(make)
  const bytes = readFileSync(found)
  const lines = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString().split('\n')
  const texts = lines.filter((line) => line !== '').map((line) => readRecordedMessage(line).text)
  return { source: 'recorded', frames: texts.map(flat) }
}

function made(make: (n: number) => object): Frames {
  return { source: 'generated', frames: Array.from({ length: MADE }, (_, n) => flat(JSON.stringify(make(n)))) }
}

/** A string of its own, as a socket gives one: not a slice of a larger text. */
function flat(text: string): string {
  return Buffer.from(text).toString()
}

const START = 1_790_000_000_000

function price(n: number): string {
  return (65_000 + ((n * 37) % 1000) / 10).toFixed(2)
}

function size(n: number): string {
  return (((n * 13) % 997) / 1000 + 0.001).toFixed(3)
}

function rawTrade(n: number): object {
  const data = { e: 'trade', E: START + n, T: START + n, s: 'BTCUSDT', t: 5_266_583_935 + n, p: price(n), q: size(n) }
  return { stream: 'btcusdt@trade', data: { ...data, X: 'MARKET', m: n % 2 === 0 } }
}

function aggTrade(n: number): object {
  const ids = { e: 'aggTrade', E: START + n, a: 3_404_749_954 + n, s: 'BTCUSDT', p: price(n), q: size(n), nq: size(n) }
  return {
    stream: 'btcusdt@aggTrade',
    data: { ...ids, f: 7_960_913_511 + n, l: 7_960_913_511 + n, T: START + n, m: n % 2 === 0, st: 1 },
  }
}

function publicTrade(n: number): object {
  const data = Array.from({ length: 1 + (n % 5) }, (_, at) => ({
    T: START + n,
    s: 'BTCUSDT',
    S: n % 2 === 0 ? 'Buy' : 'Sell',
    v: size(n + at),
    p: price(n),
    L: 'ZeroMinusTick',
    i: `${(n * 0x1f3a5 + 0x10000000).toString(16)}-82bc-50de-be60-03eedbe3cd${String(10 + at)}`,
    BT: false,
    RPI: false,
    seq: 753_843_954_913 + n,
  }))
  return { topic: 'publicTrade.BTCUSDT', type: 'snapshot', ts: START + n, data }
}

function allTrades(n: number): object {
  const instId = 'BTC-USDT-SWAP'
  const sz = String((((n * 13) % 997) + 1) / 100)
  const side = n % 2 === 0 ? 'buy' : 'sell'
  const data = [{ instId, tradeId: String(84_834_539 + n), px: price(n), sz, side, ts: String(START + n), source: '0' }]
  return { arg: { channel: 'trades-all', instId }, data }
}

function match(n: number): object {
  return {
    type: 'match',
    trade_id: 1_052_119_289 + n,
    maker_order_id: '15bc13f2-e38c-4693-8c0b-e8c6152b9c1d',
    taker_order_id: '13d7d08f-7396-421b-9dba-94eac92f3d78',
    side: n % 2 === 0 ? 'buy' : 'sell',
    size: `0.${String((n * 7919) % 100_000_000).padStart(7, '0')}1`,
    price: price(n),
    product_id: 'BTC-USD',
    sequence: 132_235_026_010 + n * 17,
    time: new Date(START + n).toISOString().replace('Z', '123Z'),
  }
}
