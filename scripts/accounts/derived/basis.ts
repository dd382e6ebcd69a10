import type { BasisAnswer } from './answers.ts'
import { perpVenues, RATE, ratesOf } from './funding.ts'
import { middleOf, rowOf, type LedgerState } from './ledger.ts'
import { marketOf } from './prices.ts'
import { near, nearest, oneOf, same, type DerivedRow } from './row.ts'

/** Prices are rounded to the venue's decimals, percent of the spot price. */
const PRICE_PART = 1e-5

/** `/futures/basis/:symbol`: mark against Binance's USDT spot pair; nothing is converted. */
export function basisRows(answer: BasisAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
  const market = marketOf(ledger, asset, 'binance')
  if (market === undefined) return [same('basis, spot market', asset, 'answered', 'none')]
  const spot = middleOf(market)
  const trades = perpVenues.flatMap((venue) => {
    const perp = rowOf(ledger.perp, asset, venue)
    if (perp === undefined) return []
    const usd = perp.mark - spot
    const pct = (100 * usd) / spot
    return [{ venue, perp, usd, pct, year: (pct * 24 * 365) / perp.intervalHours, shown: answer.exchanges[venue] }]
  })
  const rows = trades.flatMap(({ venue, perp, usd, pct, year, shown }) => {
    const whose = `${asset} ${venue}`
    const pctRoom = 100 * PRICE_PART
    const words = Math.abs(pct) <= pctRoom ? ['contango', 'backwardation'] : [pct > 0 ? 'contango' : 'backwardation']
    return [
      near('mark price', whose, shown?.perp_price, perp.mark, { part: PRICE_PART }),
      near('basis, USD', whose, shown?.basis_usd, usd, { by: spot * PRICE_PART }),
      near('basis, %', whose, shown?.basis_pct, pct, { by: pctRoom }),
      near('basis a year, %', whose, shown?.basis_annualized_pct, year, { by: (pctRoom * 8760) / perp.intervalHours }),
      oneOf('basis, direction', whose, shown?.direction, words),
    ]
  })
  const best = Math.max(...trades.map(({ year }) => year))
  const room = (100 * PRICE_PART * 8760) / Math.min(...trades.map(({ perp }) => perp.intervalHours))
  const carried = trades.filter(({ year }) => year >= best - 2 * room).map(({ venue }) => venue)
  return [
    near('spot of the basis, USDT', asset, answer.spot_price, spot, { part: PRICE_PART }),
    ...rows,
    oneOf('best carry, venue', asset, answer.best_carry_trade?.exchange, carried),
    ...carryRows(answer, asset, ledger),
  ]
}

/** Its yield is the funding that the short side is paid, by the year. */
function carryRows({ best_carry_trade: trade, as_of }: BasisAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
  const perp = trade === null ? undefined : rowOf(ledger.perp, asset, trade.exchange)
  if (trade === null || perp === undefined) return [same('best carry', asset, trade, 'one that is listed')]
  const whose = `${asset} ${perp.venue}`
  const rates = ratesOf(ledger, perp, as_of, trade.next_funding_time)
  return [
    nearest('best carry, rate', whose, trade.funding_rate, rates, RATE),
    near(
      'best carry, % a year',
      whose,
      trade.annualized_yield_pct,
      (trade.funding_rate * 8760 * 100) / perp.intervalHours,
      { by: 1e-9 },
    ),
  ]
}
