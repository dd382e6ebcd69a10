import { jsonOutput, dataRoute, type Run } from '../request/route.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import { priceVenues } from '../../schemas/venues.ts'
import type { Micros, Token } from '../../schemas/records.ts'
import { ageOf, jsonReply, type Reply, type ReplyMeta } from '../request/reply.ts'
import type { Aged } from '../views/legs.ts'
import { spotOf, tickersOf, type TickerRow } from '../views/prices.ts'
import { iso } from '../views/time.ts'
import type { Present } from '../present/present.ts'
import { noData, positionHeader, viewContext, type Asking, type ViewContext, agedBy, stamped } from './answers.ts'
import { boolean, instant, integer, nullableNumber, number, object, oneOf } from '../request/schema.ts'
import { symbols } from './parameters.ts'
import { batchSymbols } from '../request/params.ts'

const entry = object('One symbol', {
  price: number('USD'),
  change_24h: nullableNumber('Percent; null: the source does not say'),
  volume_24h: nullableNumber('USD, of the source; null: it does not say'),
  market_cap: nullableNumber('Price x last known supply, USD; null: the supply is not known'),
  source: oneOf([...priceVenues, 'coingecko'], 'Who answered: the first of the chain that is alive, else the registry'),
  as_of: instant('Time of the price'),
})

const optional = Object.fromEntries(batchSymbols.map((symbol) => [symbol, entry]))

const pricesOutput = jsonOutput(
  'Prices of up to 20 symbols',
  object('Prices', {
    success: boolean('Always true'),
    data: object('By lower-case symbol; a symbol that nobody can price is left out', optional, batchSymbols),
    meta: object('About the answer', {
      count: integer('Symbols in the answer', { minimum: 0 }),
      requested: integer('Symbols asked for', { minimum: 1 }),
      ...agedBy('exchanges 15 s, the registry 5 min; of any symbol of the answer'),
      ...stamped,
    }),
  }),
)

export const prices = dataRoute({
  path: '/api/v1/prices',
  name: 'prices',
  description: 'Prices of up to 20 symbols',
  priceUsdc: 0.005,
  ttlMs: 10_000,
  input: { symbols: symbols },
  outputs: { 200: pricesOutput },
  errors: ['data_unavailable'],
  prepare: async (call) => replyPrices(call, call.input.symbols),
})

/** Registry entries older than this are stale. */
export const REGISTRY_STALE: Micros = 300_000_000
export const REGISTRY = 'coingecko'

interface Entry extends Aged {
  readonly asset: string
  readonly shown: object
}

/** `/api/v1/prices`: `symbols` are supported ones, each once. */
function replyPrices(call: Asking, symbols: readonly string[]): Run {
  return async () => {
    const context = viewContext(call.services)
    const entries = symbols.flatMap((symbol) => entryOf(symbol, context) ?? [])
    if (entries.length === 0) throw noData('price of any of these symbols')
    const reply = cut(entries, { requested: symbols.length, context, freshForMs: call.route.ttlMs })
    return { ...reply, ...positionHeader(call, context) }
  }
}

/** As stale as the stalest of the entries. */
function cut(
  entries: readonly Entry[],
  {
    requested,
    context,
    freshForMs,
  }: Pick<ReplyMeta, 'freshForMs'> & {
    readonly requested: number
    readonly context: ViewContext
  },
): Reply {
  const asOf = Math.max(...entries.map((entry) => entry.asOf))
  const freshUntil = Math.min(...entries.map((entry) => entry.freshUntil))
  const age = ageOf({ asOf, freshUntil }, context.clock)
  const data = Object.fromEntries(entries.map(({ asset, shown }) => [asset, shown]))
  const meta = {
    count: entries.length,
    requested,
    as_of: iso(asOf),
    ...age,
    timestamp: context.timestamp,
    cached: false,
  }
  return jsonReply(200, { success: true, data, meta }, { cached: false, freshForMs, isFree: age.stale })
}

function entryOf(asset: string, { present, clock }: ViewContext): Entry | undefined {
  const token = [...present.common.token.values()].find((row) => row.asset === asset)
  const chosen = choose(quotesOf(tickersOf(present, asset), token, present), clock)
  return chosen === undefined ? undefined : shown(asset, chosen, token)
}

/** What one source says of an asset, USD. */
interface Quote extends Aged {
  readonly source: string
  readonly price: number
  readonly change24h: number | null
  readonly volume24h: number | null
}

/** The chain in its order, the registry last. A venue's busiest market speaks for it. */
function quotesOf(tickers: readonly TickerRow[], token: Token | undefined, present: Present): Quote[] {
  const venues = priceVenues.flatMap((venue): Quote[] => {
    const ticker = tickers.find((row) => row.venue === venue)
    return ticker === undefined ? [] : [{ ...ticker, source: venue, ...spotOf(ticker, present) }]
  })
  if (token === undefined || token.price === null) return venues
  const { price, change_24h: change24h, volume_24h: volume24h, received } = token
  const age = { asOf: received, freshUntil: received + REGISTRY_STALE }
  return [...venues, { source: REGISTRY, price, change24h, volume24h, ...age }]
}

/** The first that is fresh; where none is, the one heard last. */
function choose(quotes: readonly Quote[], clock: Micros): Quote | undefined {
  return quotes.find(({ freshUntil }) => freshUntil >= clock) ?? quotes.toSorted((a, b) => b.asOf - a.asOf)[0]
}

function shown(asset: string, quote: Quote, token: Token | undefined): Entry {
  const { price, change24h, volume24h, source, asOf, freshUntil } = quote
  const supply = token?.circulating_supply ?? null
  const body = {
    price,
    change_24h: change24h,
    volume_24h: volume24h,
    market_cap: supply === null ? null : asDecimal(price * supply),
    source,
    as_of: iso(asOf),
  }
  return { asset, shown: body, asOf, freshUntil }
}
