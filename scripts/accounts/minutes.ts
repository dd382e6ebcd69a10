import type { Clickhouse } from '../../infra/clickhouse/client.ts'
import {
  compareWithCandle,
  TOLERANCE,
  type Comparison,
  type OurVolume,
  type TheirVolume,
} from '../../processors/audit/compare.ts'
import { partsOf } from '../../schemas/venues.ts'
import type { Candles } from './source-candles.ts'
import type { Report } from './reconcile.ts'
import type { Stretch, Window } from './totals.ts'

const MINUTE_MICROS = 60_000_000

/** One minute that differs from the venue's candle. */
interface MinuteDifference {
  readonly instrument: string
  /** Start, microseconds. */
  readonly minute: number
  readonly comparison: Comparison
}

/** How far CVD by candles is from CVD by trades, of minutes that no gap touches and whose candle says what takers bought. */
interface Methods {
  readonly venue: string
  readonly minutes: number
  /** Sum and largest of how far the delta of a minute is from the candle's, each as a share of its volume. */
  readonly sum: number
  readonly largest: number
}

/** Our minutes beside the venues' candles, one by one, by the code of the audit. */
export interface MinutesReport {
  readonly compared: number
  /** Minutes of which ours is less than the candle and that a recorded gap touches. */
  readonly explained: number
  /** The others; none in a sound system. The worst first. */
  readonly unexplained: readonly MinuteDifference[]
  /** By venue. */
  readonly methods: readonly Methods[]
}

interface MinuteRow {
  readonly instrument: string
  readonly minute: string
  readonly buy: number
  readonly sell: number
  readonly trades: number
}

const query = `
SELECT instrument, toString(intDiv(toUnixTimestamp64Micro(bucket), ${MINUTE_MICROS}) * ${MINUTE_MICROS}) AS minute,
  sum(buy) AS buy, sum(sell) AS sell, sum(buy_count + sell_count) AS trades
FROM flow_10s
WHERE toUnixTimestamp64Micro(bucket) >= {from:Int64} AND toUnixTimestamp64Micro(bucket) < {to:Int64}
GROUP BY instrument, minute`

/** Compares every minute of the report's window with the venue's candle. */
export async function compareMinutes(
  clickhouse: Pick<Clickhouse, 'rows'>,
  candles: Candles,
  report: Report,
): Promise<MinutesReport> {
  const ours = new Map<string, Map<number, OurVolume>>()
  for (const line of await clickhouse.rows<MinuteRow>(query, { from: report.window.from, to: report.window.to })) {
    const { instrument, minute, ...volume } = line
    const minutes = ours.get(instrument) ?? new Map<number, OurVolume>()
    ours.set(instrument, minutes.set(Number(minute), volume))
  }
  const parts: MinutesReport[] = []
  for (const { instrument, gaps, leftOut, source } of report.rows) {
    if (source === undefined || source === 'unread') continue
    const theirs = await candles.minutes(instrument, report.window)
    const stretches = [...gaps.map((gap) => ({ from: gap.from_time, to: gap.to_time })), ...leftOut]
    parts.push(judge(instrument, report.window, ours.get(instrument) ?? new Map(), theirs, stretches))
  }
  return {
    compared: parts.reduce((sum, part) => sum + part.compared, 0),
    explained: parts.reduce((sum, part) => sum + part.explained, 0),
    unexplained: parts.flatMap((part) => part.unexplained).sort((a, b) => size(b) - size(a)),
    methods: [
      ...Map.groupBy(
        parts.flatMap((part) => part.methods),
        ({ venue }) => venue,
      ).values(),
    ].map(together),
  }
}

function together(all: readonly Methods[]): Methods {
  return {
    venue: all[0]?.venue ?? '',
    minutes: all.reduce((sum, { minutes }) => sum + minutes, 0),
    sum: all.reduce((total, { sum }) => total + sum, 0),
    largest: Math.max(...all.map(({ largest }) => largest)),
  }
}

const nothing: OurVolume = { buy: 0, sell: 0, trades: 0 }

/** The minutes of one instrument; one that neither side has is equal. */
export function judge(
  instrument: string,
  window: Window,
  ours: ReadonlyMap<number, OurVolume>,
  theirs: ReadonlyMap<number, TheirVolume>,
  gaps: readonly Stretch[],
): MinutesReport {
  const different: MinuteDifference[] = []
  const deltas: number[] = []
  let compared = 0
  for (let minute = window.from; minute < window.to; minute += MINUTE_MICROS) {
    const candle = theirs.get(minute) ?? { volume: 0, taker_buy: null, trades: null }
    const comparison = compareWithCandle(ours.get(minute) ?? nothing, candle)
    compared += 1
    const { delta_difference: delta, theirs_volume } = comparison
    if (delta !== null && theirs_volume > 0 && !isTouched(gaps, minute)) deltas.push(Math.abs(delta))
    if (comparison.state === 'different') different.push({ instrument, minute, comparison })
  }
  // A gap explains what is missing alone.
  const isExplained = ({ minute, comparison }: MinuteDifference): boolean =>
    isTouched(gaps, minute) && comparison.volume_difference < -TOLERANCE
  const unexplained = different.filter((minute) => !isExplained(minute))
  const sum = deltas.reduce((total, delta) => total + delta, 0)
  const largest = deltas.reduce((most, delta) => Math.max(most, delta), 0)
  const { venue } = partsOf(instrument)
  const methods = deltas.length === 0 ? [] : [{ venue, minutes: deltas.length, sum, largest }]
  return { compared, explained: different.length - unexplained.length, unexplained, methods }
}

function isTouched(gaps: readonly Stretch[], minute: number): boolean {
  return gaps.some(({ from, to }) => from < minute + MINUTE_MICROS && to >= minute)
}

function size({ comparison }: MinuteDifference): number {
  return Math.max(Math.abs(comparison.volume_difference), Math.abs(comparison.delta_difference ?? 0))
}

/** For people: what was compared, the worst minutes that nothing explains, and how far CVD by candles is from ours. */
export function minutesText({ compared, explained, unexplained, methods }: MinutesReport): string {
  const head = `Minutes beside the venues' candles: ${compared} compared, ${explained + unexplained.length} different, ${explained} of these explained by a gap.`
  return [head, ...unexplained.slice(0, SHOWN).map(lineOf), ...methods.map(methodsLine)].join('\n')
}

function methodsLine({ venue, minutes, sum, largest }: Methods): string {
  const share = (value: number): string => (value < TOLERANCE ? '0' : `${(value * 100).toPrecision(3)} %`)
  const figures = `mean ${share(sum / minutes)}, largest ${share(largest)} of the volume`
  return `CVD by candles beside CVD by trades: ${venue}, ${minutes} minutes, ${figures}`
}

const SHOWN = 10

function lineOf({ instrument, minute, comparison }: MinuteDifference): string {
  const { ours_volume, theirs_volume, volume_difference, delta_difference } = comparison
  const delta = delta_difference === null ? '' : `, delta ${percent(delta_difference)} of the volume`
  const start = new Date(minute / 1000).toISOString()
  return `${start}  ${instrument}  ours ${ours_volume}, theirs ${theirs_volume} (${percent(volume_difference)})${delta}`
}

function percent(fraction: number): string {
  return `${fraction > 0 ? '+' : ''}${(fraction * 100).toPrecision(3)} %`
}
