import { normalizeTrades } from 'tardis-dev'
import { fromStream, normaliser, type Normalise } from '../../processors/feeds/trades/stream.ts'
import { bySymbol, resolveInstruments } from '../../processors/feeds/venues/instruments.ts'
import { tradeStreams } from '../../processors/feeds/venues/venues.ts'
import type { Bench, Figure } from '../figure.ts'
import { frameSets, type FrameSet } from './parse/frames.ts'

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
    bench: 'parse',
    metric: `${what} against ${against}`,
    value: ours,
    unit: 'frames/cpu s',
    baseline,
    ratio: ours / baseline,
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
  const before = process.cpuUsage()
  for (let n = 0; n < FRAMES_PER_ROUND; n++) trades += way(frames[n % frames.length] ?? '')
  const { user, system } = process.cpuUsage(before)
  if (trades === 0) throw new Error('the frames held no trade: nothing was measured')
  return (FRAMES_PER_ROUND * 1e6) / (user + system)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}
