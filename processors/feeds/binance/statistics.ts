import { isAmount, refusedField } from '../fact-fields.ts'
import { badBody, countOf, isCount, isDecimal, isRecord, microsOf } from '../fields.ts'
import type { FactRow } from '../source.ts'
import type { RestAnswer } from '../venue.ts'
import { rowsOf } from './answers.ts'
import { refusal } from './backfill.ts'

/**
 * `/futures/data/*` has no weight, but 1000 calls in 5 minutes per address. At this cost the weight's own budget (10,200
 * in 5 minutes) cannot pay for more than 927.
 */
export const STATISTICS_COST = 11
/** Shares are rounded to four decimals: their sum may miss 1 by two of the last, and stale halves by no more. */
const SUM_OFF_MAX = 0.001
/** Digits of a mark that is the quotient of a value of that many and a size. */
const MARK_DIGITS = 12

/** `openInterest`: one market, base units, one side. */
export function parseOpenInterest(symbol: string, body: unknown): RestAnswer<FactRow> {
  if (!isRecord(body) || body['openInterest'] === undefined) return refusal(body) ?? badBody('an open interest')
  return { kind: 'rows', rows: [readOpenInterest(symbol, body)] }
}

function readOpenInterest(asked: string, { symbol, openInterest: size, time: ms }: Record<string, unknown>): FactRow {
  const time = isCount(ms) ? microsOf(ms) : undefined
  if (symbol !== asked || !isAmount(size) || time === undefined) return refusedField
  return { kind: 'derivative', symbol: asked, openInterest: { size, time } }
}

/**
 * `openInterestHist`: open interest at the end of each 5 minutes, ascending. Its value is in dollars at the mark, so each
 * row has the mark of its time too: what entered then, entered there.
 */
export function parseOpenInterestHistory(asked: string, body: unknown): RestAnswer<FactRow> {
  return rowsOf(body, (row) => {
    if (!isRecord(row) || row['symbol'] !== asked) return refusedField
    const { sumOpenInterest: size, sumOpenInterestValue: value, timestamp } = row
    const time = timeOf(timestamp)
    if (time === undefined || !isAmount(size) || !isAmount(value)) return refusedField
    const mark = decimalText(Number(value) / Number(size))
    const prices = isDecimal(mark) ? { mark: { mark, index: null, time } } : {}
    return { kind: 'derivative', symbol: asked, openInterest: { size, time }, ...prices }
  })
}

/** Empty where there is no quotient. Without exponent, which `toPrecision` writes for what is very small or large. */
function decimalText(value: number): string {
  if (!(value > 0 && value < Infinity)) return ''
  const decimals = MARK_DIGITS - 1 - Math.floor(Math.log10(value))
  return value.toFixed(Math.min(18, Math.max(0, decimals)))
}

/**
 * `topLongShortPositionRatio`: of the top 20 % of users by margin, shares of position size, whatever the names say. Its
 * shares are rounded, so they are scaled to add up to 1. The time is a number today, a text in the documentation.
 */
export function parseTopPositions(asked: string, body: unknown): RestAnswer<FactRow> {
  return rowsOf(body, (row) => {
    if (!isRecord(row) || row['symbol'] !== asked) return refusedField
    const { longShortRatio: ratio, longAccount, shortAccount, timestamp } = row
    const time = timeOf(timestamp)
    if (time === undefined || !isDecimal(ratio) || !isDecimal(longAccount) || !isDecimal(shortAccount))
      return refusedField
    const sum = Number(longAccount) + Number(shortAccount)
    if (Math.abs(sum - 1) > SUM_OFF_MAX) return refusedField
    const long = Number(longAccount) / sum
    const shares = { long, short: 1 - long, ratio: Number(ratio) }
    return { kind: 'ratio', symbol: asked, cohort: 'top_traders', basis: 'positions', ...shares, time }
  })
}

function timeOf(value: unknown): number | undefined {
  return microsOf((isCount(value) ? value : countOf(value)) ?? 0)
}
