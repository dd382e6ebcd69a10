import { Row, type Database } from './database.ts'

/** What a key was charged on a day by a route. */
interface Usage {
  readonly day: string
  readonly route: string
  readonly requests: number
  readonly usdc: number
}

/** A line of an invoice; amounts are exact texts. */
interface InvoiceLine {
  readonly day: string
  readonly kind: string
  readonly route: string
  readonly requests: number
  readonly usd: string
  /** Of a purchase. */
  readonly payment: string
}

/** No key asks so many routes on so many days. */
const ROWS_MAX = 50_000

const within = `key_id = {key:String} AND time >= toDateTime64({first:String}, 6, 'UTC')
  AND time < addMonths(toDateTime64({first:String}, 6, 'UTC'), 1)`

/** `month`: `2026-11`. */
export async function readUsage(database: Database, key: string, month: string): Promise<Usage[]> {
  const rows = await database.query(
    `SELECT toString(toDate(time, 'UTC')) AS day, route, sum(requests) AS requests, toFloat64(sum(amount_usd)) AS usdc
FROM credit_entries WHERE ${within} AND kind = 'charged'
GROUP BY day, route ORDER BY day, route LIMIT ${ROWS_MAX}`,
    { key, first: firstOf(month) },
  )
  return rows.map((each) => {
    const row = new Row(each)
    return {
      day: row.text('day'),
      route: row.text('route'),
      requests: row.number('requests'),
      usdc: row.number('usdc'),
    }
  })
}

/** Each purchase, and what each route was charged for on each day; `month`: `2026-11`. */
export async function readEntries(database: Database, key: string, month: string): Promise<InvoiceLine[]> {
  const rows = await database.query(
    `SELECT toString(toDate(time, 'UTC')) AS day, toString(kind) AS kind, toString(route) AS route,
  sum(requests) AS requests, toString(sum(amount_usd)) AS usd, ifNull(payment_id, '') AS payment
FROM credit_entries WHERE ${within}
GROUP BY day, kind, route, payment ORDER BY day, kind, route, payment LIMIT ${ROWS_MAX}`,
    { key, first: firstOf(month) },
  )
  return rows.map((each) => {
    const row = new Row(each)
    const texts = { day: row.text('day'), kind: row.text('kind'), route: row.text('route') }
    return { ...texts, requests: row.number('requests'), usd: row.text('usd'), payment: row.text('payment') }
  })
}

function firstOf(month: string): string {
  return `${month}-01 00:00:00`
}
