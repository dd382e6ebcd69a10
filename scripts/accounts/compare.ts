import type { Gap } from '../../schemas/records.ts'
import { noBuckets, type BucketReport } from './buckets.ts'
import { areEqual, minus, nothing, plus, type SourceTotals, type Stretch, type Totals } from './totals.ts'

/** What lies within recorded gaps, by each account. */
export interface Hole {
  readonly source: Totals
  readonly log: Totals
  readonly clickhouse: Totals
  readonly flow: Totals
}

export const noHole: Hole = { source: nothing, log: nothing, clickhouse: nothing, flow: nothing }

/** Everything that is known of one instrument, over the same window. */
export interface Accounts {
  readonly instrument: string
  /** undefined: the source does not know the instrument; unread: it cannot tell, and ours are held against each other. */
  readonly source: SourceTotals | 'unread' | undefined
  readonly log: Totals
  readonly clickhouse: Totals
  readonly flow: Totals
  /** Gaps that could not be filled, or are not yet. */
  readonly gaps: readonly Gap[]
  /** Times of which the log itself has lost something, as `control.gaps` tells: none of the accounts is judged there. */
  readonly leftOut: readonly Stretch[]
  /** What lies within those gaps and times, and is there all the same. */
  readonly inGaps: Hole
  /** The part within those gaps, of all of ours; undefined: the source does not tell it. */
  readonly inFeedGaps?: Pick<Hole, 'source' | 'log'> | undefined
}

type Verdict = 'OK' | 'explained by gap' | 'no candles read' | 'WRONG'

export interface Row extends Accounts {
  readonly verdict: Verdict
  /** Which account differs, and by how many trades where they are counted. */
  readonly differences: readonly Difference[]
  /** Bucket by bucket, where sums over the window may balance. */
  readonly buckets: BucketReport
}

export interface Difference {
  readonly account: 'log' | 'clickhouse' | 'flow'
  /** Ours minus what is expected; null where the source counts none. */
  readonly trades: number | null
  readonly buy: bigint
  readonly sell: bigint
  /** Ours have more than the source within recorded gaps. */
  readonly inGaps?: boolean
}

/** Compares ours with the source, what lies within recorded gaps taken out of both; there ours may have less, and no more. */
export function compare(accounts: Accounts): Row {
  const differences = [
    ...(['log', 'clickhouse', 'flow'] as const).map((account) => differenceOf(accounts, account)),
    surplusOf(accounts),
  ].filter((difference) => difference !== undefined)
  const { source, ...ours } = accounts.inGaps
  const isMissing = Object.values(ours).some((account) => !areEqual(source, account))
  const equal = accounts.source === 'unread' ? 'no candles read' : isMissing ? 'explained by gap' : 'OK'
  const verdict = differences.length > 0 ? 'WRONG' : equal
  return { ...accounts, verdict, differences, buckets: noBuckets }
}

/** A bucket that differs is WRONG whatever the sums over the window are. */
export function withBuckets(row: Row, buckets: BucketReport): Row {
  return { ...row, buckets, verdict: buckets.off > 0 ? 'WRONG' : row.verdict }
}

function differenceOf(accounts: Accounts, account: Difference['account']): Difference | undefined {
  const ours = minus(accounts[account], accounts.inGaps[account])
  const { source } = accounts
  if (source === undefined) {
    return ours.count === 0 ? undefined : { account, trades: ours.count, buy: ours.buy, sell: ours.sell }
  }
  const { log, inGaps } = accounts
  const difference = source === 'unread' ? against(log, inGaps.log, ours) : against(source, inGaps.source, ours)
  const isNone = (difference.trades ?? 0) === 0 && difference.buy === 0n && difference.sell === 0n
  return isNone ? undefined : { account, ...difference }
}

function surplusOf({ source, inFeedGaps }: Accounts): Difference | undefined {
  if (source === undefined || source === 'unread' || inFeedGaps === undefined) return undefined
  const { source: theirs, log } = inFeedGaps
  const { trades, buy, sell } = against(
    'volume' in source ? { volume: theirs.buy + theirs.sell } : theirs,
    nothing,
    log,
  )
  const isCounted = 'count' in source
  const more = (value: bigint): bigint => (value > 0n ? value : 0n)
  const surplus = { trades: isCounted ? Math.max(0, trades ?? 0) : null, buy: more(buy), sell: more(sell) }
  const isNone = (surplus.trades ?? 0) === 0 && surplus.buy === 0n && surplus.sell === 0n
  return isNone ? undefined : { account: 'log', ...surplus, inGaps: true }
}

function against(source: SourceTotals, inGaps: Totals, ours: Totals): Omit<Difference, 'account'> {
  if ('volume' in source) {
    return { trades: null, buy: ours.buy + ours.sell - (source.volume - inGaps.buy - inGaps.sell), sell: 0n }
  }
  const buy = ours.buy - (source.buy - inGaps.buy)
  const sell = ours.sell - (source.sell - inGaps.sell)
  return { trades: 'count' in source ? ours.count - (source.count - inGaps.count) : null, buy, sell }
}

/** The stretches of time that recorded gaps leave out of the comparison. */
export function stretchesOf(gaps: readonly Gap[]): Stretch[] {
  return gaps.map((gap) => ({ from: gap.from_time, to: gap.to_time }))
}

/** Gaps that explain a difference: what is missing in them is known to be missing. */
export function openGaps(gaps: Iterable<Gap>): Gap[] {
  return [...gaps].filter((gap) => gap.state !== 'filled')
}

/** Trades lost and counted twice over all rows, by the worst of each row's accounts. */
export function lostAndDoubled(rows: readonly Row[]): { lost: number; doubled: number } {
  const worst = (sign: 1 | -1, byBucket: 'lost' | 'doubled'): number =>
    rows.reduce((sum, { differences, buckets }) => {
      return sum + Math.max(buckets[byBucket], ...differences.map(({ trades }) => sign * (trades ?? 0)))
    }, 0)
  return { lost: worst(-1, 'lost'), doubled: worst(1, 'doubled') }
}

export function sum(totals: Iterable<Totals>): Totals {
  return [...totals].reduce(plus, { count: 0, buy: 0n, sell: 0n })
}
