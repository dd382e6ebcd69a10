import type { Clickhouse } from '../../infra/clickhouse/client.ts'
import { BUCKET_MICROS, type Stretch, type Window } from './totals.ts'

/** What traded in one 10 s bucket, as doubles: takers' volumes in base units, and in quote units (price times size). */
export interface Sums {
  readonly count: number
  readonly buy: number
  readonly sell: number
  readonly buyQuote: number
  readonly sellQuote: number
  /** Of its prices. */
  readonly low: number
  readonly high: number
  /** How far its trades are behind its start, added up, microseconds; null: not told. */
  readonly times: number | null
}

/** By instrument and by the start of the bucket, microseconds. */
export type BucketsOf = Map<string, Map<number, Sums>>

const nothing = { count: 0, buy: 0, sell: 0, buyQuote: 0, sellQuote: 0 }
const noSums: Sums = { ...nothing, low: Infinity, high: -Infinity, times: 0 }

export function addTo(buckets: BucketsOf, instrument: string, start: number, more: Sums): void {
  let own = buckets.get(instrument)
  if (own === undefined) buckets.set(instrument, (own = new Map<number, Sums>()))
  const sums = own.get(start)
  own.set(start, sums === undefined ? more : plus(sums, more))
}

function plus(a: Sums, b: Sums): Sums {
  return {
    count: a.count + b.count,
    buy: a.buy + b.buy,
    sell: a.sell + b.sell,
    buyQuote: a.buyQuote + b.buyQuote,
    sellQuote: a.sellQuote + b.sellQuote,
    low: Math.min(a.low, b.low),
    high: Math.max(a.high, b.high),
    times: a.times === null || b.times === null ? null : a.times + b.times,
  }
}

/** The bucket that a time is in, by its start. */
export function bucketOf(time: number): number {
  return Math.floor(time / BUCKET_MICROS) * BUCKET_MICROS
}

function touches(stretches: readonly Stretch[], bucket: number): boolean {
  return stretches.some(({ from, to }) => from < bucket + BUCKET_MICROS && to >= bucket)
}

/** One bucket of an account that differs: ours minus the source's in the log, minus the log's in the others. */
interface BucketDifference {
  readonly account: 'log' | 'clickhouse' | 'flow'
  /** Its start, microseconds. */
  readonly bucket: number
  readonly trades: number
  readonly buy: number
  readonly sell: number
  readonly quote: number
  /** Where they differ. */
  readonly low?: number
  readonly high?: number
  readonly times?: number
}

/** What the buckets of an instrument came to. */
export interface BucketReport {
  readonly compared: number
  readonly off: number
  /** Trades that are missing in buckets, and too many, by the worst account. */
  readonly lost: number
  readonly doubled: number
  /** The first that differ. */
  readonly first: readonly BucketDifference[]
}

export const noBuckets: BucketReport = { compared: 0, off: 0, lost: 0, doubled: 0, first: [] }

/** Kept of each instrument. */
const FIRST_MAX = 10
/** So much is asked for at once: an answer of some megabytes where hundreds of instruments trade. */
const CHUNK_MICROS = 1_800_000_000

interface BucketBooks {
  readonly log: BucketsOf
  readonly flow: BucketsOf
  readonly clickhouse: (window: Window) => Promise<BucketsOf>
  /** undefined: the source tells no buckets. */
  readonly source: ((window: Window) => Promise<BucketsOf>) | undefined
  /** Most places behind the point of any size of an instrument. */
  readonly places: (instrument: string) => number
  /** Of these times no account is judged. */
  readonly leftOut: (instrument: string) => readonly Stretch[]
  /** Of these ours may have less than the source, and no more. */
  readonly gaps: (instrument: string) => readonly Stretch[]
  /** Of these the source is not held against ours. */
  readonly uncounted: (instrument: string) => readonly Stretch[]
}

/** Holds the buckets of ClickHouse and of the flow against the log's, and the log's against the source's. */
export async function compareBuckets(books: BucketBooks, window: Window): Promise<Map<string, BucketReport>> {
  const reports = new Map<string, BucketReport>()
  for (const from of chunksOf([books.log, books.flow], window)) {
    const part = { from: Math.max(from, window.from), to: Math.min(from + CHUNK_MICROS, window.to) }
    const [clickhouse, source] = [await books.clickhouse(part), await books.source?.(part)]
    for (const instrument of new Set([...books.log.keys(), ...books.flow.keys(), ...clickhouse.keys()])) {
      const accounts = { log: books.log, flow: books.flow, clickhouse, source }
      const report = reports.get(instrument) ?? noBuckets
      reports.set(instrument, together(report, compareOne(instrument, part, accounts, books)))
    }
  }
  return reports
}

/** Starts of the half hours in which the log or the flow has anything. */
function chunksOf(accounts: readonly BucketsOf[], { from, to }: Window): number[] {
  const chunks = new Set<number>()
  for (const buckets of accounts)
    for (const own of buckets.values())
      for (const bucket of own.keys())
        if (bucket >= from && bucket < to) chunks.add(Math.floor(bucket / CHUNK_MICROS) * CHUNK_MICROS)
  return [...chunks].sort((a, b) => a - b)
}

interface Accounts {
  readonly log: BucketsOf
  readonly flow: BucketsOf
  readonly clickhouse: BucketsOf
  readonly source: BucketsOf | undefined
}

function compareOne(instrument: string, { from, to }: Window, accounts: Accounts, books: BucketBooks): BucketReport {
  const [log, flow, clickhouse] = [accounts.log, accounts.flow, accounts.clickhouse].map((all) => all.get(instrument))
  const source = accounts.source?.get(instrument)
  const [leftOut, gaps, uncounted] = [books.leftOut, books.gaps, books.uncounted].map((of) => of(instrument))
  const places = books.places(instrument)
  const differences: BucketDifference[] = []
  let compared = 0
  for (let bucket = from; bucket < to; bucket += BUCKET_MICROS) {
    const [own, flows, rows, theirs] = [log, flow, clickhouse, source].map((all) => all?.get(bucket))
    if ((own ?? flows ?? rows ?? theirs) === undefined || touches(leftOut ?? [], bucket)) continue
    compared += 1
    const hold = (account: BucketDifference['account'], ours: Sums | undefined, expected: Sums | undefined): void => {
      const difference = differenceOf(ours ?? noSums, expected ?? noSums, places)
      if (difference !== undefined) differences.push({ account, bucket, ...difference })
    }
    const mayLack = touches(gaps ?? [], bucket) && (own?.count ?? 0) < (theirs?.count ?? 0)
    const expected = mayLack ? least(own ?? noSums, theirs ?? noSums) : theirs
    if (accounts.source !== undefined && !touches(uncounted ?? [], bucket)) hold('log', own, expected)
    hold('clickhouse', rows, own)
    hold('flow', flows, own)
  }
  return reportOf(compared, differences)
}

/** What is expected of a bucket of which something is missing: ours itself, as far as it is no more than the source's. */
function least(ours: Sums, theirs: Sums): Sums {
  return {
    count: Math.min(ours.count, theirs.count),
    buy: Math.min(ours.buy, theirs.buy),
    sell: Math.min(ours.sell, theirs.sell),
    buyQuote: Math.min(ours.buyQuote, theirs.buyQuote),
    sellQuote: Math.min(ours.sellQuote, theirs.sellQuote),
    low: Math.max(ours.low, theirs.low),
    high: Math.min(ours.high, theirs.high),
    times: ours.times === null || theirs.times === null ? null : Math.min(ours.times, theirs.times),
  }
}

function differenceOf(ours: Sums, theirs: Sums, places: number) {
  const names = ['buy', 'sell', 'buyQuote', 'sellQuote'] as const
  const step = 10 ** -places / 2
  const isNear = names.every((name) => {
    const rounded = (theirs.count + 4) * Number.EPSILON * Math.max(ours[name], theirs[name])
    const least = name === 'buy' || name === 'sell' ? step : 0
    return Math.abs(ours[name] - theirs[name]) <= Math.max(least, rounded)
  })
  const further = furtherOf(ours, theirs)
  if (ours.count === theirs.count && isNear && Object.keys(further).length === 0) return undefined
  return {
    trades: ours.count - theirs.count,
    buy: ours.buy - theirs.buy,
    sell: ours.sell - theirs.sell,
    quote: ours.buyQuote + ours.sellQuote - theirs.buyQuote - theirs.sellQuote,
    ...further,
  }
}

/** Prices and times that differ, of a bucket that both have. */
function furtherOf(ours: Sums, theirs: Sums): Pick<BucketDifference, 'low' | 'high' | 'times'> {
  if (ours.count === 0 || theirs.count === 0) return {}
  const [low, high] = [ours.low - theirs.low, ours.high - theirs.high]
  const times = ours.times === null || theirs.times === null ? 0 : ours.times - theirs.times
  const isFar = (difference: number): boolean => Math.abs(difference) > 4 * Number.EPSILON * theirs.high
  return { ...(isFar(low) && { low }), ...(isFar(high) && { high }), ...(times !== 0 && { times }) }
}

function reportOf(compared: number, differences: readonly BucketDifference[]): BucketReport {
  const worst = (sign: 1 | -1): number => {
    const byAccount = Map.groupBy(differences, ({ account }) => account)
    const sums = [...byAccount.values()].map((own) =>
      own.reduce((sum, { trades }) => sum + Math.max(0, sign * trades), 0),
    )
    return Math.max(0, ...sums)
  }
  const off = new Set(differences.map(({ bucket }) => bucket)).size
  return { compared, off, lost: worst(-1), doubled: worst(1), first: differences.slice(0, FIRST_MAX) }
}

function together(a: BucketReport, b: BucketReport): BucketReport {
  return {
    compared: a.compared + b.compared,
    off: a.off + b.off,
    lost: a.lost + b.lost,
    doubled: a.doubled + b.doubled,
    first: [...a.first, ...b.first].slice(0, FIRST_MAX),
  }
}

interface BucketRow {
  readonly instrument: string
  readonly bucket: number
  readonly trades: number
  readonly buy: number
  readonly sell: number
  readonly buy_quote: number
  readonly sell_quote: number
  readonly low: number
  readonly high: number
  readonly times: number
}

const query = `
SELECT instrument, toInt64(intDiv(toUnixTimestamp64Micro(time), ${BUCKET_MICROS})) * ${BUCKET_MICROS} AS bucket,
  count() AS trades, sumIf(size, taker = 'buy') AS buy, sumIf(size, taker = 'sell') AS sell,
  sumIf(price * size, taker = 'buy') AS buy_quote, sumIf(price * size, taker = 'sell') AS sell_quote,
  min(price) AS low, max(price) AS high, toInt64(sum(toUnixTimestamp64Micro(time) % ${BUCKET_MICROS})) AS times
FROM trades
WHERE toUnixTimestamp64Micro(time) >= {from:Int64} AND toUnixTimestamp64Micro(time) < {to:Int64}
GROUP BY instrument, bucket`

/** Buckets of the `trades` view. */
export async function clickhouseBuckets(clickhouse: Pick<Clickhouse, 'rows'>, window: Window): Promise<BucketsOf> {
  const buckets: BucketsOf = new Map()
  for (const row of await clickhouse.rows<BucketRow>(query, { from: window.from, to: window.to })) {
    const { instrument, bucket, trades: count, buy_quote: buyQuote, sell_quote: sellQuote, ...same } = row
    addTo(buckets, instrument, bucket, { count, buyQuote, sellQuote, ...same })
  }
  return buckets
}
