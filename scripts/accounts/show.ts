import type { LogGap } from '../../schemas/records.ts'
import { partsOf } from '../../schemas/venues.ts'
import type { Difference, Row } from './compare.ts'
import { decimalText, type SourceTotals, type Totals } from './totals.ts'
import { isSound, type Report } from './reconcile.ts'

/** The report for people: one line an instrument, all four accounts where they differ; its gaps; what it comes to. */
export function reportText(report: Report, sourceName: string): string {
  const head = ['venue', 'symbol', 'account', 'trades', 'buy', 'sell', 'verdict']
  const cells = [head, ...report.rows.flatMap((row) => rowCells(row, sourceName))]
  const widths = head.map((_title, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const aligned = (cell: string, column: number): string =>
    column >= 3 && column <= 5 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  const table = cells.map((line) => line.map(aligned).join('  ').trimEnd())
  const lost = report.logGaps.map(logGapLine)
  const buckets = report.rows.flatMap(bucketLines)
  return [...table, ...buckets, ...report.rows.flatMap(gapLines), ...lost, '', conclusion(report)].join('\n')
}

function rowCells(row: Row, sourceName: string): string[][] {
  const { venue, symbol } = partsOf(row.instrument)
  if (row.verdict === 'OK') return [[venue, symbol, 'all four', ...figures(row.source), row.verdict]]
  if (row.verdict === 'no candles read') return [[venue, symbol, 'ours', ...figures(row.log), row.verdict]]
  const line = (account: 'log' | 'clickhouse' | 'flow'): string[] => {
    const differences = row.differences.filter((candidate) => candidate.account === account)
    return ['', '', account, ...figures(row[account]), differences.map(differenceText).join('; ')]
  }
  const source = [venue, symbol, sourceName, ...figures(row.source), row.verdict]
  return [source, line('log'), line('clickhouse'), line('flow')]
}

/** What is left when everything that lies within gaps has been taken out of both sides. */
function differenceText({ trades, buy, sell, inGaps = false }: Difference): string {
  const parts = [
    trades === null ? '' : `${signed(trades)} trades`,
    `buy ${decimalText(buy)}`,
    `sell ${decimalText(sell)}`,
  ]
  return parts.filter((part) => part !== '').join(', ') + (inGaps ? ' within gaps' : '')
}

/** What differs that no gap explains, one line an account, and the first buckets. */
export function faultsOf({ rows }: Report): string[] {
  return rows.flatMap((row) => [
    ...row.differences.map((difference) => `${row.instrument}, ${difference.account}: ${differenceText(difference)}`),
    ...bucketLines(row),
  ])
}

function bucketLines({ instrument, buckets: { off, first } }: Row): string[] {
  const lines = first.map(({ account, bucket, trades, buy, sell, quote, low, high, times }) => {
    const figures = Object.entries({ buy, sell, quote, low, high, times }).flatMap(([name, value]) =>
      value === undefined ? [] : `, ${name} ${figure(value)}`,
    )
    return `bucket  ${instrument}  ${time(bucket)}  ${account}: ${signed(trades)} trades${figures.join('')}`
  })
  return off > first.length ? [...lines, `bucket  ${instrument}  ${off} buckets differ`] : lines
}

/** A difference of doubles; their last places are noise. */
function figure(value: number): string {
  return String(Number(value.toPrecision(12)))
}

function figures(totals: SourceTotals | 'unread' | undefined): string[] {
  if (totals === undefined || totals === 'unread') return ['-', '-', '-']
  if ('volume' in totals) return ['-', decimalText(totals.volume), '(both)']
  return ['count' in totals ? String(totals.count) : '-', decimalText(totals.buy), decimalText(totals.sell)]
}

function signed(value: number): string {
  return value > 0 ? `+${value}` : String(value)
}

function gapLines({ instrument, gaps }: Row): string[] {
  return gaps.map((gap) => {
    const ids = gap.from_id === null ? '' : ` ids ${gap.from_id} to ${gap.to_id}`
    return `gap  ${instrument}  ${gap.state} (${gap.reason})  ${time(gap.from_time)} to ${time(gap.to_time)}${ids}`
  })
}

function logGapLine({ reader, topic, partition, reason, position, next, from_time, to_time }: LogGap): string {
  return `gap of the log  ${topic}-${partition}  ${reason}, told by ${reader}  ${time(from_time)} to ${time(to_time)} offsets ${position} to ${next}`
}

function time(micros: number): string {
  return new Date(micros / 1000).toISOString()
}

function conclusion(report: Report): string {
  const count = (verdict: Row['verdict']): number => report.rows.filter((row) => row.verdict === verdict).length
  const unread = count('no candles read')
  const total = (of: 'compared' | 'off'): number => report.rows.reduce((sum, { buckets }) => sum + buckets[of], 0)
  const until = Number.isFinite(report.window.to) ? ` until ${time(report.window.to)}` : ' to the last trade'
  const since = report.window.from > 0 ? ` since ${time(report.window.from)}` : ''
  return [
    `${isSound(report) ? 'OK' : 'WRONG'}${since}${until}: ${count('OK')} equal, ${count('explained by gap')} explained by a gap, ${count('WRONG')} wrong${unread > 0 ? `, ${unread} without candles: ours held against each other alone` : ''}.`,
    ...(report.rows.length === 0 ? ['Nothing was recorded: there is no trade to compare.'] : []),
    `Buckets of 10 s: ${total('compared')} compared, ${total('off')} differ.`,
    `In the log: ${report.duplicates} records twice, ${report.refused} overlapping; counted once and never.`,
    ...(report.stale > 0 ? [`derived.flow: ${report.stale} keys end with an older version than they had.`] : []),
    ...(report.sumsOff > 0
      ? [`derived.flow: ${report.sumsOff} hours or five minutes differ from their buckets or are missing.`]
      : []),
  ].join('\n')
}

/** The report for programs; volumes are decimal text, times microseconds. */
export function reportJson(report: Report, sourceName: string): object {
  return {
    ok: isSound(report),
    source: sourceName,
    from: report.window.from,
    to: Number.isFinite(report.window.to) ? report.window.to : null,
    duplicates: report.duplicates,
    refused: report.refused,
    stale: report.stale,
    sums_off: report.sumsOff,
    log_gaps: report.logGaps,
    rows: report.rows.map((row) => ({
      ...partsOf(row.instrument),
      verdict: row.verdict,
      source: row.source === undefined || row.source === 'unread' ? null : plain(row.source),
      log: plain(row.log),
      clickhouse: plain(row.clickhouse),
      flow: plain(row.flow),
      in_gaps: Object.fromEntries(
        Object.entries(row.inGaps).map(([account, totals]) => [account, plain(totals as Totals)]),
      ),
      gaps: row.gaps,
      buckets: row.buckets,
      differences: row.differences.map(({ account, trades, buy, sell, inGaps = false }) => ({
        account,
        in_gaps: inGaps,
        trades,
        buy: decimalText(buy),
        sell: decimalText(sell),
      })),
    })),
  }
}

function plain(totals: SourceTotals | Totals): object {
  if ('volume' in totals) return { volume: decimalText(totals.volume) }
  return {
    ...('count' in totals && { trades: totals.count }),
    buy: decimalText(totals.buy),
    sell: decimalText(totals.sell),
  }
}
