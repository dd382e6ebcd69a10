import type { LongShortAnswer } from './answers.ts'
import type { LedgerState } from './ledger.ts'
import { near, oneOf, type DerivedRow } from './row.ts'

const ratioVenues = ['binance', 'okx', 'gate']
/** Binance writes ratios and shares with four decimals. */
const ROOM = 1e-4

/** `/futures/long-short/:symbol`: each venue's five minutes as it names them. */
export function longShortRows(answer: LongShortAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
  const known = ratioVenues.map((venue) => {
    const shown = answer.exchanges[venue]
    const time = Date.parse(shown?.as_of ?? '') * 1000
    const row = ledger.ratios.find((each) => each.venue === venue && each.asset === asset && each.time === time)
    return { whose: `${asset} ${venue}`, shown, ratio: row?.positions }
  })
  const mean = known.reduce((sum, { ratio }) => sum + (ratio ?? NaN), 0) / known.length
  return [
    ...known.flatMap(({ whose, shown, ratio }) => {
      const long = ratio === undefined ? undefined : ratio / (1 + ratio)
      return [
        near('long over short', whose, shown?.ls_ratio, ratio, { by: ROOM }),
        near('share of longs', whose, shown?.long_ratio, long, { by: ROOM }),
        near('share of shorts', whose, shown?.short_ratio, long === undefined ? undefined : 1 - long, { by: ROOM }),
      ]
    }),
    near('mean of long over short', asset, answer.aggregate.avg_ls_ratio, mean, { by: ROOM }),
    oneOf('sentiment', asset, answer.aggregate.sentiment, [
      ...new Set([sentimentOf(mean - ROOM), sentimentOf(mean + ROOM)]),
    ]),
  ]
}

/** The specification's table; a bound belongs to the milder class. */
function sentimentOf(ratio: number): string {
  if (ratio > 2) return 'Extremely bullish'
  if (ratio > 1.5) return 'Bullish'
  if (ratio > 1.02) return 'Slightly bullish'
  if (ratio < 0.5) return 'Extremely bearish'
  if (ratio < 0.67) return 'Bearish'
  if (ratio < 0.98) return 'Slightly bearish'
  return 'Neutral'
}
