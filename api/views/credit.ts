import { Row, type Database } from './database.ts'

/** What a key was charged on a day by a route. */
interface Usage {
  readonly day: string
  readonly route: string
  readonly requests: number
  readonly usdc: number
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

/**
 * A key's invoice as CSV: each purchase, and what each route was charged for on each day; `month`: `2026-11`. Amounts are
 * exact, charges below zero.
 */
export async function readInvoice(database: Database, key: string, month: string): Promise<string> {
  const rows = await database.query(
    `SELECT toString(toDate(time, 'UTC')) AS day, any(payer) AS owner, toString(route) AS asked,
  sum(requests) AS requests, toString(sum(if(kind = 'bought', amount_usd, -amount_usd))) AS usd,
  ifNull(payment_id, '') AS payment
FROM credit_entries WHERE ${within}
GROUP BY day, kind, route, payment ORDER BY day, kind, route, payment LIMIT ${ROWS_MAX}`,
    { key, first: firstOf(month) },
  )
  const lines = rows.map((each) => {
    const row = new Row(each)
    const [day, payer, route] = [row.text('day'), row.text('owner'), row.text('asked')]
    return [day, key, payer, route, row.number('requests'), row.text('usd'), row.text('payment')].join(',')
  })
  return ['date,key_id,payer,route,requests,amount_usdc,payment_id', ...lines, ''].join('\r\n')
}

/** Keys and their routes that are shown at once. */
const SHOWN_MAX = 200
const KEYS_MAX = 20

/** What a key was charged in a month by a route, with what is left of its credit, USD. */
export interface Customer {
  readonly key_id: string
  readonly payer: string
  readonly balance: number
  readonly route: string
  readonly requests: number
  readonly usd: number
}

/** The keys that were charged most in a month (`2026-11`), each by route. */
export async function readCustomers(database: Database, month: string): Promise<Customer[]> {
  const rows = await database.query(
    `WITH charged AS (SELECT key_id, route, sum(key_usage.requests) AS answers, sum(key_usage.usd) AS cost FROM key_usage
    WHERE day >= toDate({first:String}) AND day < addMonths(toDate({first:String}), 1) GROUP BY key_id, route),
  most AS (SELECT key_id, sum(cost) AS whole FROM charged GROUP BY key_id ORDER BY whole DESC, key_id LIMIT ${KEYS_MAX})
SELECT charged.key_id AS key, payer, toFloat64(balance_usd) AS balance, toString(charged.route) AS asked,
  charged.answers AS requests, toFloat64(charged.cost) AS usd
FROM charged INNER JOIN most ON most.key_id = charged.key_id
INNER JOIN (SELECT * FROM key_balances WHERE key_id IN (SELECT key_id FROM most)) AS held ON held.key_id = charged.key_id
ORDER BY whole DESC, key, usd DESC, asked LIMIT ${SHOWN_MAX}`,
    { first: `${month}-01` },
  )
  return rows.map((each) => {
    const row = new Row(each)
    const named = { key_id: row.text('key'), payer: row.text('payer'), route: row.text('asked') }
    return { ...named, balance: row.number('balance'), requests: row.number('requests'), usd: row.number('usd') }
  })
}

function firstOf(month: string): string {
  return `${month}-01 00:00:00`
}
