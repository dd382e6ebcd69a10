import type { Micros } from '../../schemas/records.ts'
import { tradeVenues } from '../../schemas/venues.ts'
import type { Database } from '../views/database.ts'
import { floorTo } from '../views/range.ts'
import type { AttemptRow } from '../views/attempts.ts'
import type { GapRow } from '../views/gaps.ts'
import type { LogGapRow } from '../views/log-gaps.ts'
import { FakeMarket, marketKindOf } from './fake-market.ts'
import type { ChannelRow, InstrumentRow, SubscriptionRow, VenueReport } from '../views/world.ts'

const HOUR: Micros = 3_600_000_000
const DAY: Micros = 24 * HOUR

/** One part of one 10 s bucket, as the view `flow_10s` has it. */
export interface FakeFlow {
  readonly asset: string
  readonly venue: string
  readonly bucket: Micros
  readonly part: number
  readonly buy: number
  readonly sell: number
  readonly price: number
  readonly open_time: Micros
  readonly close_time: Micros
}

/** A candle of a venue's past, as the view `venue_candles` has it. */
export interface FakeCandle {
  readonly asset: string
  readonly venue: string
  readonly start: Micros
  readonly seconds: number
  readonly open: number
  readonly close: number
  readonly volume: number
  /** Null: the venue does not say. */
  readonly takerBuy: number | null
  /** Made of the venue's archive; without: the venue's own. */
  readonly isArchive?: true
}

type Params = Readonly<Record<string, unknown>>

/** The views in memory: answers the queries of `api/views` by the plainest computation there is. */
export class FakeDatabase implements Database {
  flows: FakeFlow[] = []
  pasts: FakeCandle[] = []
  gaps: (Omit<GapRow, 'instrument' | 'venue'> & { asset: string; venue: string })[] = []
  logGaps: LogGapRow[] = []
  /** Rows of the query about promises, as it is answered. */
  promises: object[] = []
  /** Subscriptions that ended, and the first trade behind it; 0: none. */
  unsubscribed: { asset: string; venue: string; from: Micros; next: Micros }[] = []
  reports: VenueReport[] = []
  subscriptions: SubscriptionRow[] = []
  channels: ChannelRow[] = []
  instruments: InstrumentRow[] = []
  attempts: (AttemptRow & { alert_id: string })[] = []
  triggers: { alert_id: string; trigger_id: string; partition: number; offset: number }[] = []
  times: { topic: string; partition: number; time: Micros }[] = []
  /** Newest mark of each processor, the same in all partitions. */
  derived: { processor: string; time: Micros }[] = []
  /** Queries so far, by what they ask for. */
  readonly asked: string[] = []
  readonly market = new FakeMarket()
  /** Set: every query fails with it. */
  failure: Error | undefined
  /** Set: queries wait for it. */
  gate: Promise<void> | undefined

  async query(sql: string, params: Params): Promise<readonly unknown[]> {
    const kind = marketKindOf(sql) ?? kindOf(sql)
    this.asked.push(kind)
    await this.gate
    if (this.failure !== undefined) throw this.failure
    const side = sql.includes(' DESC') ? 'newest' : 'oldest'
    return this.market.answer(kind, { ...params, side }) ?? this.#answer(kind, params, sql)
  }

  count(kind: string): number {
    return this.asked.filter((asked) => asked === kind).length
  }

  #unsubscribedOf({ asset, instruments }: Params): object[] {
    return this.unsubscribed
      .filter((row) => row.asset === asset && Array.isArray(instruments) && instruments.includes(instrumentOf(row)))
      .map((row) => ({ instrument: instrumentOf(row), from_us: row.from, next_us: row.next }))
  }

  #answer(kind: string, params: Params, sql: string): unknown[] {
    const mine = toldRows(
      this.flows.filter((flow) => flow.asset === params['asset']),
      this.pasts.filter((candle) => candle.asset === params['asset']),
      params,
    )
    switch (kind) {
      case 'here':
        return [{ here: 1 }]
      case 'disk':
        return [{ free: 2e9 }]
      case 'partition-time':
        return this.times
          .filter(({ topic, partition }) => topic === params['topic'] && partition === params['partition'])
          .map(({ time }) => ({ time_us: time }))
      case 'partition-times':
        return this.times.map(({ topic, partition, time }) => ({ topic, partition, time_us: time }))
      case 'gaps':
        return this.#gapRows(params)
      case 'promises':
        return this.promises
      case 'log-gaps':
      case 'lost-trades':
        return this.#logGapRows(kind, params)
      case 'ended':
        return [{ ended: this.#unsubscribedOf(params).length }]
      case 'unsubscribed':
        return this.#unsubscribedOf(params)
      case 'past':
        return pastRows(this.pasts, params)
      case 'first-minute':
      case 'past-candles':
        return pastCandles(this.pasts, params)
      case 'flow':
        return flowRows(mine, params)
      case 'attempts':
      case 'attempt-counts':
        return attemptRows(this.attempts, params)
      case 'triggers':
        return this.triggers.filter((row) => row.alert_id === params['id'] && row.trigger_id === params['trigger'])
      default:
        return candleRows(mine, params, sql.includes('DESC') ? 'newest' : 'oldest')
    }
  }

  #logGapRows(kind: 'log-gaps' | 'lost-trades', { reader, partition, from, to }: Params): unknown[] {
    const isLost = (gap: LogGapRow): boolean =>
      [gap.reader, gap.topic, gap.partition].join() === [reader, 'market.trades', partition].join() &&
      gap.reason !== 'output_cut' &&
      gap.to >= Number(from) &&
      gap.from < Number(to)
    return this.logGaps
      .filter((gap) => kind === 'log-gaps' || isLost(gap))
      .toSorted((a, b) => (kind === 'log-gaps' ? b.time - a.time : b.from - a.from))
      .map((gap) => ({ ...gap, from_us: gap.from, to_us: gap.to, time_us: gap.time, told: this.logGaps.length }))
  }

  #gapRows({ asset, from, to }: Params): unknown[] {
    return this.gaps
      .filter((gap) => gap.asset === asset && gap.to >= Number(from) && gap.from < Number(to))
      .toSorted((a, b) => b.from - a.from)
      .map((gap) => ({ ...gap, instrument: instrumentOf(gap), from_us: gap.from, to_us: gap.to }))
  }
}

/** The venue's one instrument of the asset. */
export function instrumentOf({ venue, asset }: { readonly venue: string; readonly asset: string }): string {
  return `${venue}:${tradeVenues.find((row) => row.venue === venue)?.market ?? 'perp'}:${asset.toUpperCase()}`
}

function kindOf(sql: string): string {
  if (sql.includes('FROM promise_minutes')) return 'promises'
  if (sql.includes('FROM subscription_changes_log')) return 'ended'
  if (sql.includes('FROM subscription_changes')) return 'unsubscribed'
  if (sql.includes('FROM venue_past_days')) return 'past'
  if (sql.includes('FROM venue_candles_log WHERE')) return 'first-minute'
  if (/FROM venue_candles_log FINAL WHERE[^]*GROUP BY start_us/.test(sql)) return 'past-candles'
  if (sql.includes('AS here')) return 'here'
  if (sql.includes('FROM system.disks')) return 'disk'
  if (sql.includes('FROM partition_times')) return sql.includes('{topic:String}') ? 'partition-time' : 'partition-times'
  if (sql.includes('FROM log_gaps')) return sql.includes('{reader:String}') ? 'lost-trades' : 'log-gaps'
  if (sql.includes('FROM gaps')) return 'gaps'
  if (sql.includes('FROM webhook_attempts')) return sql.includes('AS attempts') ? 'attempt-counts' : 'attempts'
  if (sql.includes('FROM triggers')) return 'triggers'
  return sql.includes('argMin') ? 'candles' : 'flow'
}

/** A flow, or a candle in its place; `past` as `sourceSql` has it. */
interface ToldRow extends FakeFlow {
  readonly past: number
  readonly close: number
  /** Its instrument's trades count from then on. */
  readonly until: Micros
}

/** Flows, and the candles that are told in the place of some of them. */
function toldRows(flows: readonly FakeFlow[], candles: readonly FakeCandle[], params: Params): ToldRow[] {
  const { past = [], until = [], unit } = params as { past?: string[]; until?: number[]; unit?: number }
  const untilOf = (row: { venue: string; asset: string }): number => until[past.indexOf(instrumentOf(row))] ?? 0
  const isTold = (candle: FakeCandle): boolean => candle.seconds === unit && candle.start < untilOf(candle)
  return [
    ...flows.map((flow) => ({ ...flow, past: 0, close: flow.price, until: untilOf(flow) })),
    ...candles.filter(isTold).map(rowOfCandle),
  ]
}

function rowOfCandle({ asset, venue, start, seconds, open, close, volume, takerBuy, isArchive }: FakeCandle): ToldRow {
  const buy = takerBuy ?? 0
  const times = { bucket: start, open_time: start, close_time: start + seconds * 1_000_000 - 1 }
  const past = isArchive === true ? 1 : takerBuy === null ? 3 : 2
  return { asset, venue, ...times, part: 0, buy, sell: volume - buy, price: open, close, past, until: 0 }
}

function pastRows(candles: readonly FakeCandle[], { asset, unit }: Params): unknown[] {
  const mine = candles.filter((candle) => candle.asset === asset && candle.seconds === unit)
  return [...Map.groupBy(mine, instrumentOf)].map(([instrument, rows]) => {
    const starts = rows.map(({ start }) => start)
    const told = rows.filter(({ takerBuy }) => takerBuy !== null).map(({ start }) => start)
    const days = [...new Set(starts.map((start) => Math.floor(start / DAY)))]
    return {
      instrument,
      days,
      hours: days.map((day) => hourBits(starts, day)),
      taker_hours: days.map((day) => hourBits(told, day)),
      since: Math.min(...starts),
      newest: Math.max(...starts),
      taker_since: Math.min(...told, 2 ** 62),
      taker_newest: Math.max(...told, 0),
    }
  })
}

/** Hours of a day in which something starts, a bit each, the lowest is the first. */
function hourBits(starts: readonly Micros[], day: number): number {
  const mine = starts.filter((start) => Math.floor(start / DAY) === day)
  return mine.reduce((bits, start) => bits | (1 << Math.floor((start % DAY) / HOUR)), 0)
}

/** Candles by their start; those of an hour, unless others are asked for. */
function pastCandles(candles: readonly FakeCandle[], { asset, from, to, seconds = 60 }: Params): unknown[] {
  const isMine = (one: FakeCandle): boolean =>
    one.asset === asset &&
    one.seconds === seconds &&
    one.start >= Number(from) &&
    one.start < Number(to) &&
    one.volume > 0
  const mine = candles.filter(isMine).toSorted((a, b) => a.start - b.start)
  return [...Map.groupBy(mine, ({ start }) => start)].map(([start, rows]) => ({
    first_us: start,
    start_us: start,
    instruments: rows.map(instrumentOf),
    lows: rows.map(({ open, close }) => Math.min(open, close)),
    highs: rows.map(({ open, close }) => Math.max(open, close)),
    closes: rows.map(({ close }) => close),
    volumes: rows.map(({ volume }) => volume),
    quotes: rows.map(({ volume, close }) => volume * close),
    bought: rows.map(({ takerBuy }) => takerBuy ?? -1),
    bought_quote: rows.map(({ takerBuy, close }) => (takerBuy ?? 0) * close),
    archived: rows.map(({ isArchive }) => Number(isArchive === true)),
  }))
}

function pastOf(rows: readonly ToldRow[]): { past_least: number; past_most: number } {
  const all = rows.map(({ past }) => past)
  return { past_least: Math.min(...all), past_most: Math.max(...all) }
}

function groups<Key>(flows: readonly ToldRow[], key: (flow: ToldRow) => Key): [Key, ToldRow[]][] {
  return [...Map.groupBy(flows, key)]
}

function sum(flows: readonly FakeFlow[], value: (flow: FakeFlow) => number): number {
  return flows.reduce((total, flow) => total + value(flow), 0)
}

/** Of hours and five minutes the backfills are in the sum, late trades beside it. */
function lateParts(flows: readonly FakeFlow[], { hours, fives, begun, whole = 0 }: Params): number {
  const isBucket = ({ bucket }: FakeFlow): boolean =>
    bucket >= Number(fives) || bucket < Number(whole) || (bucket >= Number(hours) && bucket < Number(begun))
  return flows.filter((flow) => flow.part < 0 || (flow.part > 0 && isBucket(flow))).length
}

function within(flows: readonly ToldRow[], { from, to, end = to }: Params): ToldRow[] {
  const before = ({ past }: ToldRow): number => Number(past > 0 ? end : to)
  return flows.filter((row) => row.bucket >= Number(from) && row.bucket < before(row) && row.bucket >= row.until)
}

function bucketOf(flow: FakeFlow, { width }: Params): Micros {
  return floorTo(flow.bucket, Number(width))
}

function flowRows(flows: readonly ToldRow[], params: Params): unknown[] {
  const { to, from, anchor, end } = params
  const told = flows.filter(({ bucket, until, past }) => past !== 3 && (anchor === undefined || bucket >= until))
  const isRead = ({ bucket, until }: ToldRow): boolean =>
    bucket < Number(to) || (anchor === undefined && bucket < Math.min(until, Number(params['untold'] ?? 0)))
  const trades = told.filter((row) => row.past === 0 && isRead(row) && row.bucket >= Number(anchor ?? 0))
  const candles = told.filter(({ past, bucket }) => past > 0 && bucket >= Number(anchor ?? from))
  // The total is that of trades: a candle that counts is taken off before the range.
  const taken = candles.map((row) => ({ ...row, buy: -row.buy, sell: -row.sell, bucket: -1 }))
  const shown = candles.filter(({ bucket }) => bucket < Number(end))
  const known = [...trades, ...shown, ...(anchor === undefined ? taken : [])]
  const time = (row: ToldRow): number => (row.bucket < Math.max(Number(from), row.until) ? -1 : bucketOf(row, params))
  return groups(known, (flow) => `${flow.venue}|${time(flow)}`).map(([key, rows]) => ({
    venue: key.split('|')[0],
    time_us: Number(key.split('|')[1]),
    buy_sum: sum(rows, (flow) => flow.buy),
    sell_sum: sum(rows, (flow) => flow.sell),
    late_parts: lateParts(rows, params),
    ...pastOf(rows),
  }))
}

function candleRows(flows: readonly ToldRow[], params: Params, side: 'oldest' | 'newest'): unknown[] {
  const { instruments, limit } = params
  const mine = within(flows, params).filter(
    (flow) => Array.isArray(instruments) && instruments.includes(instrumentOf(flow)) && isTraded(flow),
  )
  const candles = groups(mine, (flow) => bucketOf(flow, params))
    .toSorted(([a], [b]) => a - b)
    .map(([time, rows]) => ({
      time_us: time,
      o: rows.toSorted((a, b) => a.open_time - b.open_time)[0]?.price,
      h: Math.max(...rows.flatMap(({ price, close }) => [price, close])),
      l: Math.min(...rows.flatMap(({ price, close }) => [price, close])),
      c: rows.toSorted((a, b) => b.close_time - a.close_time)[0]?.close,
      buy_sum: sum(rows, (flow) => flow.buy),
      sell_sum: sum(rows, (flow) => flow.sell),
      trades_sum: rows.filter(({ past }) => past !== 3).length,
      late_parts: lateParts(rows, params),
      ...pastOf(rows),
    }))
  return side === 'oldest' ? candles.slice(0, Number(limit)) : candles.slice(-Number(limit)).toReversed()
}

/** Some venues tell candles of a time in which nothing was traded. */
function isTraded({ past, buy, sell }: ToldRow): boolean {
  return past === 0 || buy + sell > 0
}

function attemptRows(attempts: FakeDatabase['attempts'], { id, ids, started, limit }: Params): object[] {
  if (id === undefined) {
    const counted = attempts.filter(({ alert_id, number }) => String(ids).split(',').includes(alert_id) && number > 0)
    return [...Map.groupBy(counted, (row) => row.alert_id)].map(([alert_id, rows]) => ({
      alert_id,
      attempts: String(rows.length),
    }))
  }
  return attempts
    .filter((row) => row.alert_id === id && row.started < Number(started))
    .toSorted((a, b) => b.started - a.started)
    .slice(0, Number(limit))
    .map(({ position, ...row }) => {
      const times = { started_us: row.started, finished_us: row.finished, due_us: row.due, triggered_us: row.triggered }
      return { ...row, ...position, ...times, is_test: row.test ? 1 : 0 }
    })
}
