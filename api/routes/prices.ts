import { priceVenues } from '../../schemas/venues.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Draft } from '../route.ts'
import { keptOf, type Kept } from '../kept.ts'
import { dataClock, type Services } from '../services.ts'
import type { Aged } from '../views/legs.ts'
import { spotOf } from '../views/spots.ts'
import { readTickersOf, type TickerRow } from '../views/tickers.ts'
import { readTokens, type TokenRow } from '../views/tokens.ts'
import { iso } from '../views/time.ts'
import type { World } from '../views/world.ts'
import { batchSymbols } from '../params.ts'
import { answerCut, draft, noData, type Row } from './answers.ts'

/** Registry entries older than this are stale. */
export const REGISTRY_STALE: Micros = 300_000_000
export const REGISTRY = 'coingecko'

interface Entry extends Aged {
  /** `"btc":{...}` */
  readonly text: string
}

/** The batch's symbols as JSON text: one pair of queries, from which every selection is answered. */
export type PriceBoard = ReadonlyMap<string, Entry>

/** `/api/v1/prices`: `symbols` are supported ones, each once. */
export async function pricesAnswer(services: Services, row: Row, symbols: readonly string[]): Promise<Draft> {
  return draft(async () => {
    const board = await services.boards.prices.get('all', row.ttlMs, () => readBoard(services))
    const clock = dataClock(services, await services.world())
    const entries = symbols.flatMap((symbol) => board.value.get(symbol) ?? [])
    if (entries.length === 0) throw noData('price of any of these symbols')
    return answerCut(services, row, { key: symbols, clock, board }, () => cut(entries, symbols.length))
  })
}

/** As stale as the stalest of the entries. */
function cut(entries: readonly Entry[], requested: number): Kept {
  const data = entries.map(({ text }) => text).join(',')
  const meta = `"count":${entries.length},"requested":${requested}`
  const asOf = Math.max(...entries.map((entry) => entry.asOf))
  const freshUntil = Math.min(...entries.map((entry) => entry.freshUntil))
  return keptOf(`{"success":true,"data":{${data}},"meta":{${meta}`, '}}', { asOf, freshUntil })
}

async function readBoard(services: Services): Promise<PriceBoard> {
  const [tickers, tokens, world] = await Promise.all([
    readTickersOf(services.database, batchSymbols),
    readTokens(services.database),
    services.world(),
  ])
  const clock = dataClock(services, world)
  const entries = batchSymbols.flatMap((asset) => {
    const own = tickers.filter((row) => row.asset === asset)
    const token = tokens.find((row) => row.asset === asset)
    const chosen = choose(quotesOf(own, token, world), clock)
    return chosen === undefined ? [] : [[asset, entryOf(asset, chosen, token)] as const]
  })
  return new Map(entries)
}

/** What one source says of an asset, USD. */
interface Quote extends Aged {
  readonly source: string
  readonly price: number
  readonly change24h: number | null
  readonly volume24h: number | null
}

/** The chain in its order, the registry last. A venue's busiest market speaks for it. */
function quotesOf(tickers: readonly TickerRow[], token: TokenRow | undefined, world: World): Quote[] {
  const venues = priceVenues.flatMap((venue): Quote[] => {
    const ticker = tickers.find((row) => row.venue === venue)
    return ticker === undefined ? [] : [{ ...ticker, source: venue, ...spotOf(ticker, world) }]
  })
  if (token === undefined || token.price === null) return venues
  const { price, change24h, volume24h, received } = token
  const age = { asOf: received, freshUntil: received + REGISTRY_STALE }
  return [...venues, { source: REGISTRY, price, change24h, volume24h, ...age }]
}

/** The first that is fresh; where none is, the one heard last. */
function choose(quotes: readonly Quote[], clock: Micros): Quote | undefined {
  return quotes.find(({ freshUntil }) => freshUntil >= clock) ?? quotes.toSorted((a, b) => b.asOf - a.asOf)[0]
}

function entryOf(asset: string, quote: Quote, token: TokenRow | undefined): Entry {
  const { price, change24h, volume24h, source, asOf, freshUntil } = quote
  const supply = token?.circulatingSupply ?? null
  const body = {
    price,
    change_24h: change24h,
    volume_24h: volume24h,
    market_cap: supply === null ? null : price * supply,
    source,
    as_of: iso(asOf),
  }
  return { text: `"${asset}":${JSON.stringify(body)}`, asOf, freshUntil }
}
