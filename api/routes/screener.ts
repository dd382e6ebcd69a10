import { jsonOutput, dataRoute } from '../request/route.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { Micros } from '../../schemas/records.ts'
import { fundingVenues } from '../../schemas/venues.ts'
import { limitOf } from './parameters.ts'
import { choice, optional, shape, type Param } from '../request/params.ts'
import type { View } from '../request/reply.ts'
import { array, integer, nullable, nullableNumber, object, oneOf, text } from '../request/schema.ts'
import type { Services } from '../services.ts'
import { readInterestBefore, type PastInterest } from '../views/perpetuals.ts'
import { figureNames, screened, screenOf, type Figure, type Screened } from '../views/screener.ts'
import { heardOn, settledTime } from '../views/world.ts'
import { noData, replyScanned, viewContext, agedBy, stamped } from './answers.ts'

/** All symbols are looked through at most so often, milliseconds. */
const SCAN_MS = 1_000
/** What was so an hour and a day ago is read at most so often, milliseconds. */
const PAST_MS = 60_000
const HOUR: Micros = 3_600_000_000
/** Silence of all venues on funding for longer makes the answer stale. */
const STALE: Micros = 120_000_000
/** An answer waits so long for it at most: the rest is of memory, milliseconds. */
const PAST_WAIT_MS = 500
const CONDITIONS_MAX = 8

const names = figureNames.join('|')
const condition = `(?:${names})[<>]-?\\d{1,15}(?:\\.\\d{1,12})?`

const sort = {
  in: 'query',
  rule: choice(['symbol', ...figureNames], 'open_interest_usd'),
  error: 'invalid_sort',
  description: 'What the symbols are sorted by; those that do not say it come last',
  example: 'funding_rate_pct',
} satisfies Param

const order = {
  in: 'query',
  rule: choice(['desc', 'asc'], 'desc'),
  error: 'invalid_sort',
  description: 'Largest first, or smallest first',
  example: 'asc',
} satisfies Param

const where = {
  in: 'query',
  rule: optional(
    shape(
      new RegExp(`^${condition}(?:,${condition}){0,${CONDITIONS_MAX - 1}}$`),
      `up to ${CONDITIONS_MAX} conditions, separated by commas, each a figure of the answer, > or <, and a number, as open_interest_usd>1000000`,
    ),
  ),
  error: 'invalid_where',
  description: `Only symbols that meet all of these conditions (at most ${CONDITIONS_MAX}); one that does not say a figure does not meet it`,
  example: 'open_interest_usd>1000000,funding_rate_pct<0',
} satisfies Param

const output = jsonOutput(
  'All symbols with the figures that they are picked by',
  object('Screener', {
    known: integer('Symbols that venues list', { minimum: 0 }),
    matching: integer('Those that meet the conditions', { minimum: 0 }),
    symbols: array(
      object('One symbol', {
        symbol: text('Base asset'),
        funding_exchange: nullable(oneOf(fundingVenues, 'Whose running rate it is; null: none is known')),
        ...Object.fromEntries(figureNames.map((name) => [name, nullableNumber(screened[name])])),
      }),
      'In the order that was asked for, at most `limit`',
    ),
    ...agedBy('120 s without word from any venue on funding'),
    ...stamped,
  }),
)

export const screener = dataRoute({
  path: '/screener',
  name: 'screener',
  description: 'Funding, CVD, open interest and liquidations of all symbols, sorted and filtered',
  priceUsdc: 0.05,
  ttlMs: 5_000,
  input: { sort, order, where, limit: limitOf(100) },
  outputs: { 200: output },
  errors: ['data_unavailable'],
  prepare: async (call) => {
    const { services, input } = call
    return replyScanned(call, async () => {
      const scan = await services.cache.get('screener_scan', SCAN_MS, () => scanOf(services))
      return cut(scan.value, input)
    })
  },
})

interface Scan {
  readonly asOf: Micros
  readonly rows: readonly Screened[]
}

interface Asked {
  readonly sort: Figure | 'symbol'
  readonly order: 'asc' | 'desc'
  readonly where: string | undefined
  readonly limit: number
}

async function scanOf(services: Services): Promise<Scan> {
  const { present, counted, catalogue, clock, world } = viewContext(services)
  const [hour, day] = await Promise.all([pastOf(services, clock - HOUR), pastOf(services, clock - 24 * HOUR)])
  const assets = new Set([...catalogue.named, ...services.preSubscribed])
  const asOf = Math.max(0, ...fundingVenues.map((venue) => heardOn(world, 'market.funding', venue)))
  if (asOf === 0) throw noData('word from any venue')
  const liquidatedTo = settledTime(world, 'market.liquidations')
  return { asOf, rows: screenOf({ present, counted, assets, clock, liquidatedTo, past: { hour, day } }) }
}

/** Open interest at a minute of the past; undefined where the views cannot be asked: then the change is not said. */
async function pastOf(services: Services, time: Micros): Promise<PastInterest | undefined> {
  const { cache, database, log } = services
  const ago = Math.round((services.now() * 1000 - time) / HOUR)
  const load = (): Promise<PastInterest> => readInterestBefore(database, time)
  const read = async (): Promise<PastInterest | undefined> =>
    load().catch((error: unknown) => {
      log.warn({ err: error }, 'open interest of the past cannot be read; the screener tells no change of it')
      return undefined
    })
  const late = new AbortController()
  const known = cache.get(`interest_before|${ago}`, PAST_MS, read).then(({ value }) => value)
  const soon = await Promise.race([known, delay(PAST_WAIT_MS, undefined, { signal: late.signal, ref: false })])
  late.abort()
  return soon
}

function cut({ rows, asOf }: Scan, asked: Asked): View {
  const conditions = conditionsOf(asked.where)
  const matching = rows.filter((row) => conditions.every((isMet) => isMet(row)))
  const body = {
    known: rows.length,
    matching: matching.length,
    symbols: matching.toSorted((a, b) => compare(a, b, asked)).slice(0, asked.limit),
  }
  return { body, asOf, freshUntil: asOf + STALE }
}

/** The conditions of a text that has the shape of the parameter. */
function conditionsOf(text: string | undefined): ((row: Screened) => boolean)[] {
  return (text?.split(',') ?? []).map((one) => {
    const at = one.search(/[<>]/)
    const name = one.slice(0, at) as Figure // the shape allows no other
    const bound = Number(one.slice(at + 1))
    return (row) => {
      const value = row[name]
      return value !== null && (one[at] === '>' ? value > bound : value < bound)
    }
  })
}

/** Of equal ones the symbol decides; what is not said comes last either way. */
function compare(a: Screened, b: Screened, { sort: by, order: way }: Asked): number {
  const [x, y] = [a[by], b[by]]
  if (x === y) return a.symbol < b.symbol ? -1 : 1
  if (x === null) return 1
  if (y === null) return -1
  return (x < y ? -1 : 1) * (way === 'asc' ? 1 : -1)
}
