import { ApiError } from '../request/errors.ts'
import type { Services } from '../services.ts'
import { coveredOf, missingOf, type Missing } from '../views/covered.ts'
import { toldOver, isUntold, sourceOf } from '../views/held-past.ts'
import { coverageOf, isOfVenue } from '../views/gaps.ts'
import { readCandles, type CandleRow } from '../views/ohlcv.ts'
import { readPast, sinceOf, withPast, type Past } from '../views/past.ts'
import { bucketRange, intervals, nextPage, wholenessOf, type Range } from '../views/range.ts'
import { iso } from '../views/time.ts'
import { ageOf, isHole, viewVenues } from '../views/venues.ts'
import type { View } from '../request/reply.ts'
import { firstOf, type TradeContext } from './data.ts'
import { newestByVenue, rangeOf, type Asked } from './history.ts'

export interface AskedCandles extends Asked {
  /** One of those whose trades count, or `all`. */
  readonly exchange: string
}

interface Facts {
  readonly candles: readonly CandleRow[]
  readonly missing: Missing
}

/** Throws `invalid_exchange` where the venue's trades do not count here. */
export function refuseUncounted({ counted }: Services, { exchange }: Pick<AskedCandles, 'exchange'>): void {
  const names = [...counted.map(({ venue }) => venue), 'all']
  if (names.some((name) => name === exchange)) return
  throw new ApiError('invalid_exchange', `exchange must be one of ${names.join(', ')}.`, { field: 'exchange' })
}

/** Reads and builds the answer of `/ohlcv/:symbol`. */
export async function readOhlcv(services: Services, context: TradeContext, asked: AskedCandles): Promise<View> {
  const past = await readPast(services, context, intervals[asked.interval])
  const own = ofExchange({ ...context, past }, asked)
  return ohlcvView(own, asked, await readRange(services, own, asked))
}

/**
 * `limit` candles are wanted, however far they lie; where the nearest `limit` buckets do not hold that many, all that may
 * hold one is asked once. What is missing is asked of the same time.
 */
async function readRange(services: Services, context: WithPast, asked: AskedCandles): Promise<Facts> {
  const { asset, traded, positions, past } = context
  const instruments = [...new Set([...traded, ...past].map(({ instrument }) => instrument))]
  const query = { asset, instruments, positions, past, width: intervals[asked.interval], limit: asked.limit }
  const side = asked.start === undefined ? 'newest' : 'oldest'
  const read = async (range: Range): Promise<Facts> => {
    const [candles, missing] = await Promise.all([
      readCandles(services.database, { ...query, ...range }, side),
      missingOf(services, context, range),
    ])
    return { candles, missing }
  }
  const near = rangeOf(context, asked)
  const all = candleRange(context, asked)
  const facts = await read(near)
  const isAll = near.from <= all.from && near.to >= all.to
  return isAll || facts.candles.length === asked.limit ? facts : read(all)
}

/** All buckets that may hold one of the candles asked for: `limit` counts candles, not buckets. */
function candleRange({ now, since }: TradeContext, asked: AskedCandles): Range {
  const start = asked.start === undefined ? undefined : asked.start * 1000
  const end = asked.end === undefined ? undefined : asked.end * 1000
  return bucketRange({ start, end, limit: Infinity, width: intervals[asked.interval], now, since: since ?? now })
}

/** The answer that follows from the rows. */
function ohlcvView(context: WithPast, asked: AskedCandles, { candles, missing }: Facts): View {
  const { symbol, now, since, traded, past } = context
  const { gaps, unsubscribed } = missing
  const { exchange, interval } = asked
  const width = intervals[interval]
  const mine = gaps.filter((gap) => exchange === 'all' || isOfVenue(gap, exchange))
  const facts = { ...context, partitionTime: now, newest: newestByVenue(traded), gaps: mine }
  const venues = viewVenues(facts).filter(({ venue }) => exchange === 'all' || venue === exchange)
  const shown = shownRange(context, asked, candles)
  const inRange = mine.filter((gap) => gap.to >= shown.from && gap.from < shown.to)
  const holes = inRange.filter(isHole)
  const instruments = coveredOf(withPast(traded, past), { holes, unsubscribed })
  const allHeard = venues.every(({ listed, status }) => !listed || status === 'live' || status === 'gap')
  const body = {
    symbol,
    interval,
    exchange,
    candles: candles.map((row) => ({
      ...candleBody(row),
      ...wholenessOf({ ...row, width }, { since: since ?? now, now, gaps: mine, instruments }),
    })),
    next: nextPage(asked.start, pageRange(context, asked, candles), candleRange(context, asked)),
    coverage: coverageOf({
      asked: shown,
      instruments,
      now,
      holes,
      allHeard,
      toldOver: (hole) => toldOver(context.present, context.asset, hole),
    }),
  }
  return { body, ...ageOf(venues) }
}

/** The buckets from the first to the last candle of a full page, or all of them. */
function pageRange(context: TradeContext, asked: AskedCandles, candles: readonly CandleRow[]): Range {
  const [first, last] = candles.length === asked.limit ? [candles[0], candles.at(-1)] : []
  if (first === undefined || last === undefined) return candleRange(context, asked)
  return { from: first.time, to: last.time + intervals[asked.interval] }
}

/** What the candles tell of: up to the last one where there are more, else all that was asked for. */
function shownRange(context: TradeContext, asked: AskedCandles, candles: readonly CandleRow[]): Range {
  const { from, to } = candleRange(context, asked)
  const width = intervals[asked.interval]
  const [first, last] = candles.length === asked.limit ? [candles[0], candles.at(-1)] : []
  if (asked.start !== undefined) return { from: asked.start * 1000, to: last === undefined ? to : last.time + width }
  return { from: first?.time ?? Math.min(from, to - asked.limit * width), to }
}

interface WithPast extends TradeContext {
  readonly past: readonly Past[]
}

/** The subject as one exchange sees it: its own instruments, its first candle or trade. */
function ofExchange(context: WithPast, { exchange }: AskedCandles): WithPast {
  const isOwn = ({ venue }: { readonly venue: string }): boolean => exchange === 'all' || venue === exchange
  const traded = context.traded.filter(isOwn)
  const past = context.past.filter(isOwn)
  return { ...context, traded, past, since: sinceOf(firstOf(traded), past) }
}

function candleBody(row: CandleRow): object {
  const isTold = !isUntold(row.made)
  return {
    time: iso(row.time),
    open: row.open,
    high: row.high,
    low: row.low,
    close: row.close,
    volume: row.buy + row.sell,
    buy_volume: isTold ? row.buy : null,
    sell_volume: isTold ? row.sell : null,
    trades: isTold ? row.trades : null,
    source: sourceOf(row.made),
  }
}
