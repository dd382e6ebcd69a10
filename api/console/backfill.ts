import { findAsset } from '../catalogue.ts'
import { ApiError } from '../errors.ts'
import { jsonReply } from '../reply.ts'
import { route, type Call, type Route } from '../route.ts'
import { array, boolean, instant, integer, object, text } from '../schema.ts'
import { beyondLimit, orderKey, ordersOf } from '../../processors/feeds/facts/past-orders.ts'
import { type OrderLog, readOrders } from './order-log.ts'

const SYMBOLS_MAX = 500

const schema = object(
  'Which past is to be read back',
  {
    symbols: array(text('Symbol as in all routes'), `Of which assets, at most ${SYMBOLS_MAX}`),
    days: integer('The last so many days; 90 where neither it nor `from` is given'),
    from: instant('In place of `days`: the first day, UTC'),
    to: instant('The end of the archives, exclusive; candles are read up to now'),
    archives: boolean('The venues’ archives of trades too'),
  },
  ['days', 'from', 'to', 'archives'],
)

/** What operators alone may ask for: the console's API has it beside all routes, behind its token or on loopback. Free. */
export function backfillRoute(access: () => Promise<OrderLog>): Route {
  return route({
    method: 'POST',
    path: '/backfill',
    name: 'backfill',
    says: 'Order the past of symbols: it is read back in the background, now and after each restart, until it is there',
    priceUsdc: 0,
    limit: 'none',
    ttlMs: 0,
    input: {},
    body: { schema, example: { symbols: ['BTC'], days: 30, archives: true }, optional: false },
    outputs: { 202: { says: 'Ordered', type: 'application/json', schema: object('The order', {}) } },
    errors: ['invalid_body', 'symbol_not_found', 'data_unavailable'],
    prepare: (call) => Promise.resolve(() => order(call, access)),
  })
}

async function order({ body = {}, services }: Call, access: () => Promise<OrderLog>) {
  const { symbols, archives = false } = body
  if (!Array.isArray(symbols) || symbols.length === 0 || symbols.length > SYMBOLS_MAX)
    throw refusal('symbols', `must be a list of 1 to ${SYMBOLS_MAX} symbols`)
  if (typeof archives !== 'boolean') throw refusal('archives', 'must be true or false')
  const catalogue = services.present().catalogue(services.counted)
  const assets = symbols.map((symbol) => findAsset(String(symbol).toUpperCase(), catalogue).asset)
  const [days, from, to] = [numberOf(body, 'days'), timeOf(body, 'from'), timeOf(body, 'to')]
  const now = services.now() * 1_000
  const orders = ordersOf({ assets: [...new Set(assets)], days, from, to, archives }, now)
  if (typeof orders === 'string') throw refusal('days', orders)
  const { reader, writer, codec } = await access()
  const beyond = beyondLimit((await readOrders(reader, codec)).orders, orders)
  if (beyond !== undefined) throw refusal('symbols', beyond)
  const records = orders.map((one) => {
    return { key: orderKey(one), value: codec.encode('control.backfill', 'backfill_order', one), time: services.now() }
  })
  await writer.send('control.backfill', 0, records)
  const [first] = orders
  const iso = (time = 0): string => new Date(time / 1_000).toISOString()
  return jsonReply(202, {
    assets: [...new Set(assets)],
    from: iso(first?.from),
    to: iso(first?.to),
    archives,
    progress: '/healthz',
  })
}

function numberOf(body: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = body[name]
  if (value === undefined) return undefined
  if (typeof value !== 'number') throw refusal(name, 'must be a number')
  return value
}

function timeOf(body: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = body[name]
  if (value === undefined) return undefined
  const time = typeof value === 'string' ? Date.parse(value) : NaN
  if (Number.isNaN(time)) throw refusal(name, 'must be a date, as 2026-03-01')
  return time * 1_000
}

function refusal(field: string, words: string): ApiError {
  return new ApiError('invalid_body', `${field}: ${words}.`, { field })
}
