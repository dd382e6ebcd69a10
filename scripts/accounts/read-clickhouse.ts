import type { Clickhouse } from '../../infra/clickhouse/client.ts'
import { decimalOf } from './decimal.ts'
import type { Totals, Window } from './totals.ts'

interface TotalsRow {
  readonly instrument: string
  readonly trades: string
  readonly buy: string
  readonly sell: string
}

/** The text of a double is its shortest exact form, so the decimal made of it is the venue's own. */
const query = `
SELECT instrument, toString(count()) AS trades,
  toString(sumIf(toDecimal256(toString(size), 18), taker = 'buy')) AS buy,
  toString(sumIf(toDecimal256(toString(size), 18), taker = 'sell')) AS sell
FROM trades
WHERE toUnixTimestamp64Micro(time) >= {from:Int64} AND toUnixTimestamp64Micro(time) < {to:Int64}
GROUP BY instrument`

/** Totals by instrument of the `trades` view. */
export async function clickhouseTotals(
  clickhouse: Pick<Clickhouse, 'rows'>,
  window: Window,
): Promise<Map<string, Totals>> {
  const to = Number.isFinite(window.to) ? window.to : Number.MAX_SAFE_INTEGER
  const lines = await clickhouse.rows<TotalsRow>(query, { from: window.from, to })
  return new Map(
    lines.map(({ instrument, trades, buy, sell }) => [
      instrument,
      { count: Number(trades), buy: decimalOf(buy), sell: decimalOf(sell) },
    ]),
  )
}
