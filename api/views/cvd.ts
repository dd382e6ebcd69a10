import { classify } from '../../processors/cvd/signal.ts'
import { tradeVenues } from '../../schemas/venues.ts'
import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql, timeParam } from './time.ts'

/** Sums of one instrument; volumes in base units, `Usd` in quote units, which are taken for USD. */
export interface InstrumentSums {
  readonly instrument: string
  readonly venue: string
  readonly totalBuy: number
  readonly totalSell: number
  readonly totalBuyUsd: number
  readonly totalSellUsd: number
  readonly buy: number
  readonly sell: number
  readonly buyUsd: number
  readonly sellUsd: number
  /** Time of the first and of the newest trade. */
  readonly first: Micros
  readonly newest: Micros
}

const inPeriod = `bucket >= ${timeParam('from')} AND bucket < ${timeParam('to')}`

/** Sums are compensated, so they do not depend on the order in which the server reads its parts. */
const sumsSql = `SELECT venue, instrument,
  sumKahan(buy) AS total_buy, sumKahan(sell) AS total_sell,
  sumKahan(buy_quote) AS total_buy_usd, sumKahan(sell_quote) AS total_sell_usd,
  sumKahanIf(buy, ${inPeriod}) AS period_buy,
  sumKahanIf(sell, ${inPeriod}) AS period_sell,
  sumKahanIf(buy_quote, ${inPeriod}) AS period_buy_usd,
  sumKahanIf(sell_quote, ${inPeriod}) AS period_sell_usd,
  ${microsSql('min(open_time)')} AS first_us, ${microsSql('max(close_time)')} AS newest_us
  FROM flow_10s WHERE asset = {asset:String} AND bucket < ${timeParam('to')} GROUP BY venue, instrument`

/** Each instrument's running total up to `to`, and its period from `from` on; those without a trade are not there. */
export async function readSums(
  database: Database,
  asset: string,
  { from, to }: { from: Micros; to: Micros },
): Promise<InstrumentSums[]> {
  const rows = await database.query(sumsSql, { asset, from, to })
  return rows.map((raw) => {
    const row = new Row(raw)
    return {
      instrument: row.text('instrument'),
      venue: row.text('venue'),
      totalBuy: row.number('total_buy'),
      totalSell: row.number('total_sell'),
      totalBuyUsd: row.number('total_buy_usd'),
      totalSellUsd: row.number('total_sell_usd'),
      buy: row.number('period_buy'),
      sell: row.number('period_sell'),
      buyUsd: row.number('period_buy_usd'),
      sellUsd: row.number('period_sell_usd'),
      first: row.number('first_us'),
      newest: row.number('newest_us'),
    }
  })
}

export interface Figures {
  readonly cvd: number
  readonly period_cvd: number
  readonly buy_volume: number
  readonly sell_volume: number
  readonly cvd_usd: number
  readonly period_cvd_usd: number
  readonly buy_volume_usd: number
  readonly sell_volume_usd: number
}

export const noFigures: Figures = {
  cvd: 0,
  period_cvd: 0,
  buy_volume: 0,
  sell_volume: 0,
  cvd_usd: 0,
  period_cvd_usd: 0,
  buy_volume_usd: 0,
  sell_volume_usd: 0,
}

/** One instrument's figures. */
function figuresOf(sums: InstrumentSums): Figures {
  return {
    cvd: sums.totalBuy - sums.totalSell,
    period_cvd: sums.buy - sums.sell,
    buy_volume: sums.buy,
    sell_volume: sums.sell,
    cvd_usd: sums.totalBuyUsd - sums.totalSellUsd,
    period_cvd_usd: sums.buyUsd - sums.sellUsd,
    buy_volume_usd: sums.buyUsd,
    sell_volume_usd: sums.sellUsd,
  }
}

/**
 * Totals, markets and venues. Totals are the sums of the venues' figures in the venues' order, so that whoever adds the
 * shown figures up in that order gets the same doubles. `covered`: the share of the period that the log holds.
 */
export function aggregate(
  rows: readonly InstrumentSums[],
  covered: number,
): {
  total: Figures
  markets: { spot: Figures; perp: Figures }
  exchanges: Map<string, Figures>
  signal: string
} {
  const own = (name: string): Figures =>
    rows
      .filter(({ venue }) => venue === name)
      .map(figuresOf)
      .reduce(add, noFigures)
  const exchanges = new Map(tradeVenues.map(({ venue }) => [venue as string, own(venue)]))
  const of = (market: string | undefined): Figures =>
    tradeVenues
      .filter((row) => market === undefined || row.market === market)
      .map(({ venue }) => exchanges.get(venue) ?? noFigures)
      .reduce(add, noFigures)
  const total = of(undefined)
  return {
    total,
    markets: { spot: of('spot'), perp: of('perp') },
    exchanges,
    signal: classify(total.period_cvd, total.buy_volume + total.sell_volume, covered),
  }
}

function add(a: Figures, b: Figures): Figures {
  return {
    cvd: a.cvd + b.cvd,
    period_cvd: a.period_cvd + b.period_cvd,
    buy_volume: a.buy_volume + b.buy_volume,
    sell_volume: a.sell_volume + b.sell_volume,
    cvd_usd: a.cvd_usd + b.cvd_usd,
    period_cvd_usd: a.period_cvd_usd + b.period_cvd_usd,
    buy_volume_usd: a.buy_volume_usd + b.buy_volume_usd,
    sell_volume_usd: a.sell_volume_usd + b.sell_volume_usd,
  }
}
