import { estimateOf, secondsOf, subjectsOf, type FindInstrument } from '../../processors/feeds/facts/past-estimate.ts'
import { beyondLimit, orderKey, ordersOf, PastOrders } from '../../processors/feeds/facts/past-orders.ts'
import type { BackfillOrder, Instrument, Backfill } from '../../schemas/records.ts'
import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import type { LogReader } from '../../infra/kafka/seam.ts'
import type { CoveredPast } from '../../processors/feeds/facts/backfill-plan.ts'
import { UndecodableError } from '../../schemas/codec.ts'
import { within } from '../log/log-connection.ts'
import { findAsset } from '../present/catalogue.ts'
import { ApiError } from '../request/errors.ts'
import { jsonReply } from '../request/reply.ts'
import { route, type Call, type Route } from '../request/route.ts'
import { array, boolean, instant, integer, nullableInteger, object, text } from '../request/schema.ts'
import type { Services } from '../services.ts'
import type { LogAccess } from '../present/wants.ts'

const SYMBOLS_MAX = 500
/** Nobody who orders waits longer for the log, milliseconds. */
const DEADLINE_MS = 3_000
const RETRY_AFTER_SECONDS = 10

const schema = object(
  'Which past is to be read back',
  {
    symbols: array(text('Symbol as in all routes'), `Of which assets, at most ${SYMBOLS_MAX}`),
    days: integer('The last so many days; 90 where neither it nor `from` is given'),
    from: instant('In place of `days`: the first day, UTC'),
    to: instant('The end of the archives, exclusive; candles are read up to now'),
    archives: boolean('The venues’ archives of trades too'),
    dry_run: boolean('Say what it comes to, and order nothing'),
  },
  ['days', 'from', 'to', 'archives', 'dry_run'],
)

const ordered = object('The order', {
  ordered: boolean('It stands in the log; false: it was a dry run'),
  assets: array(text('Asset'), 'Of which assets'),
  from: instant('The first day'),
  to: instant('The end of the archives, exclusive'),
  archives: boolean('The venues’ archives of trades too'),
  estimate: object('What is not in the log yet', {
    markets: integer('Markets of venues whose trades count'),
    candles: integer('Hourly candles'),
    other_rows: integer('Settled rates, open interest, marks, ratios, at most'),
    archives: integer('Files'),
    bytes: integer('Disk that it will take, log and ClickHouse'),
    seconds: nullableInteger('How long it takes; null: that depends on the size of the files'),
  }),
  progress: text('Where it is told how far it is'),
})

/** What operators alone may ask for: the console's API has it beside all routes, behind its token or on loopback. Free. */
export function backfillRoute(access: () => Promise<OrderLog>, deadlineMs = DEADLINE_MS): Route {
  return route({
    method: 'POST',
    path: '/backfill',
    name: 'backfill',
    description:
      'Order the past of symbols: it is read back in the background, now and after each restart, until it is there',
    priceUsdc: 0,
    limit: 'none',
    ttlMs: 0,
    input: {},
    body: { schema, example: { symbols: ['BTC'], days: 30, archives: true }, optional: false },
    outputs: {
      200: { description: 'What it would come to', type: 'application/json', schema: ordered },
      202: { description: 'Ordered', type: 'application/json', schema: ordered },
    },
    errors: ['invalid_body', 'symbol_not_found', 'data_unavailable'],
    prepare: (call) => Promise.resolve(() => order(call, () => within(deadlineMs, known(access), away))),
  })
}

/** The log, and what stands in it. */
async function known(access: () => Promise<OrderLog>): Promise<Known> {
  const log = await access()
  return { log, standing: await readOrders(log.reader, log.codec) }
}

interface Known {
  readonly log: OrderLog
  readonly standing: KnownOrders
}

function away(): ApiError {
  const message = 'The log does not answer, so that nothing was ordered; try again in a moment.'
  return new ApiError('data_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}

async function order({ body = {}, services }: Call, look: () => Promise<Known>) {
  const { archives = false, dry_run: isDry = false } = body
  if (typeof archives !== 'boolean') throw refusal('archives', 'must be true or false')
  if (typeof isDry !== 'boolean') throw refusal('dry_run', 'must be true or false')
  const assets = assetsOf(body, services)
  const [days, from, to] = [numberOf(body, 'days'), timeOf(body, 'from'), timeOf(body, 'to')]
  const orders = ordersOf({ assets, days, from, to, archives }, services.now() * 1_000)
  if (typeof orders === 'string') throw refusal('days', orders)
  const { log, standing } = await look()
  const { writer, codec } = log
  const beyond = beyondLimit(standing.orders, orders)
  if (beyond !== undefined) throw refusal('symbols', beyond)
  const records = orders.map((one) => {
    return { key: orderKey(one), value: codec.encode('control.backfill', 'backfill_order', one), time: services.now() }
  })
  if (!isDry) await writer.send('control.backfill', 0, records)
  const [first] = orders
  const iso = (time = 0): string => new Date(time / 1_000).toISOString()
  return jsonReply(isDry ? 200 : 202, {
    ordered: !isDry,
    assets,
    from: iso(first?.from),
    to: iso(first?.to),
    archives,
    estimate: estimated(services, orders, standing),
    progress: '/healthz',
  })
}

function assetsOf({ symbols }: Readonly<Record<string, unknown>>, services: Services): string[] {
  const given: readonly unknown[] = Array.isArray(symbols) ? symbols : []
  const texts = given.filter((symbol) => typeof symbol === 'string')
  if (texts.length === 0 || texts.length !== given.length || texts.length > SYMBOLS_MAX)
    throw refusal('symbols', `must be a list of 1 to ${SYMBOLS_MAX} symbols`)
  const catalogue = services.present().catalogue(services.counted)
  return [...new Set(texts.map((symbol) => findAsset(symbol.toUpperCase(), catalogue).asset))]
}

function estimated(services: Services, orders: readonly BackfillOrder[], { covered }: KnownOrders): object {
  const listed = new Map<string, Instrument>()
  for (const one of services.present().common.instrument.values()) {
    const key = `${one.venue}|${one.market}|${one.asset}`
    if (one.status === 'live' && !listed.has(key)) listed.set(key, one)
  }
  const find: FindInstrument = (venue, market, asset) => listed.get(`${venue}|${market}|${asset}`)
  const counted = services.counted.map(({ venue }) => venue)
  const subjects = subjectsOf(orders, counted, find)
  const estimate = estimateOf(subjects, covered, services.now() * 1_000)
  const { candles, facts: other_rows, archives, bytes } = estimate
  const seconds = archives > 0 ? null : secondsOf(estimate, 0)
  return { markets: subjects.length, candles, other_rows, archives, bytes, seconds }
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
  const time = typeof value === 'string' ? Date.parse(value) * 1_000 : NaN
  // The log's times are whole numbers below 2^53: until the middle of 2255.
  if (!Number.isSafeInteger(time)) throw refusal(name, 'must be a date, as 2026-03-01')
  return time
}

function refusal(field: string, words: string): ApiError {
  return new ApiError('invalid_body', `${field}: ${words}.`, { field })
}

/** Where orders of the past are written, and read. */
export interface OrderLog extends LogAccess {
  readonly reader: Pick<LogReader, 'toEnd'>
  readonly codec: RegistryCodec
}

/** What stands in `control.backfill` as of now. */
export interface KnownOrders {
  readonly orders: PastOrders
  /** The keys that hold orders. */
  readonly keys: ReadonlySet<string>
  /** What the log has of the past, by `instrument|series`. */
  readonly covered: ReadonlyMap<string, CoveredPast>
}

export async function readOrders(reader: Pick<LogReader, 'toEnd'>, codec: RegistryCodec): Promise<KnownOrders> {
  const orders = new PastOrders()
  const keys = new Set<string>()
  const covered = new Map<string, CoveredPast>()
  for await (const records of reader.toEnd('control.backfill', 0)) {
    for (const { key: bytes, value } of records) {
      const key = bytes?.toString('utf8') ?? ''
      if (key.startsWith('order|')) {
        const message = value === null ? null : await codec.read(value)
        orders.apply(key, message?.type === 'backfill_order' ? message.value : null)
        if (value === null) keys.delete(key)
        else keys.add(key)
      } else if (value !== null) {
        const known = await coveredOf(codec, value)
        if (known !== undefined) covered.set(`${known.instrument}|${known.series}`, known)
      }
    }
  }
  return { orders, keys, covered }
}

type Covered = CoveredPast & Pick<Backfill, 'instrument' | 'series'>

/** Undefined: it cannot be read here; the feeds set it aside and read that past again. */
async function coveredOf(codec: RegistryCodec, value: Buffer): Promise<Covered | undefined> {
  try {
    const message = await codec.read(value)
    if (message.type !== 'backfill') return undefined
    const { instrument, series, covered_from: from, covered_to: to, rows } = message.value
    return { instrument, series, from, to, rows }
  } catch (error) {
    if (error instanceof UndecodableError) return undefined
    throw error
  }
}
