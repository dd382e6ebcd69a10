import type { CvdAnswer } from '../../clients/typescript/src/api.ts'
import { atMost, oneOf, type DerivedRow } from './row.ts'

const MINUTE = 60_000
/** Length and bucket of each period, milliseconds. */
const periods = {
  '1h': [60 * MINUTE, MINUTE / 6],
  '4h': [240 * MINUTE, MINUTE],
  '24h': [1_440 * MINUTE, 5 * MINUTE],
  '7d': [10_080 * MINUTE, 30 * MINUTE],
} as const

export type CvdPeriod = keyof typeof periods
export const cvdPeriods = Object.keys(periods) as CvdPeriod[]

/** What is held of the answer. */
export type FlowAnswer = Pick<CvdAnswer, 'buy_volume' | 'sell_volume' | 'signal' | 'sources' | 'coverage'>

/** Doubles are summed in another order. */
const ROOM = 1e-9

/**
 * `/cvd/:symbol`: the class of the volumes that it shows, where trades cover enough of the period, and no more covered than
 * the log reaches back. The volumes themselves are the flow account's.
 */
export function cvdRows(answer: FlowAnswer, asset: string, period: CvdPeriod): DerivedRow[] {
  const { coverage, sources, buy_volume: buy, sell_volume: sell, signal } = answer
  const [length, bucket] = periods[period]
  const [from, to] = [Date.parse(coverage.from), Date.parse(coverage.to)]
  const begin = to - (to % bucket) + bucket - length
  const whose = `${asset} ${period}`
  return [
    atMost('covered share of the period', whose, coverage.share, (to - from) / (to - begin)),
    oneOf('CVD signal', whose, signal, [
      ...new Set([-ROOM, ROOM].map((off) => classOf((buy - sell) / (buy + sell) + off, sources.trades.share))),
    ]),
  ]
}

/** The specification's table; a bound belongs to the milder class. */
function classOf(ratio: number, share: number): string {
  if (share < 0.25 || Number.isNaN(ratio)) return 'insufficient_data'
  const name = ratio > 0 ? 'bullish_pressure' : 'bearish_pressure'
  if (Math.abs(ratio) > 0.15) return `strong_${name}`
  return Math.abs(ratio) > 0.05 ? name : 'neutral'
}
