import { jsonOutput, dataRoute, type Run } from '../request/route.ts'
import { ApiError } from '../request/errors.ts'
import type { CompositePrice, Token } from '../../schemas/records.ts'
import { registryTokens } from '../../schemas/tokens.ts'
import type { View } from '../request/reply.ts'
import type { Aged } from '../views/legs.ts'
import { compositeAge, priceOf, tickersOf, type TickerRow } from '../views/prices.ts'
import { iso, isoOrNull } from '../views/time.ts'
import { noData, replyNow, viewContext, type Asking, type ViewContext, agedBy, stamped } from './answers.ts'
import { REGISTRY, REGISTRY_STALE } from './prices.ts'
import {
  boolean,
  instant,
  nullable,
  nullableInstant,
  nullableInteger,
  nullableNumber,
  object,
  oneOf,
  text,
} from '../request/schema.ts'
import { tokenId } from './parameters.ts'

const marketOutput = jsonOutput(
  'Details of a token',
  object('Market details', {
    success: boolean('Always true'),
    data: object('The token; null: the registry does not say', {
      id: text('Registry id'),
      symbol: text('Lower case'),
      name: text('Name'),
      price: nullableNumber('Composite of the chain venues, else the registry’s, USD'),
      change_24h: nullableNumber('Percent, of the same origin as the price'),
      change_7d: nullableNumber('Percent'),
      change_30d: nullableNumber('Percent'),
      volume_24h: nullableNumber('Sum over the venues that `source` names, else the registry’s, USD'),
      market_cap: nullableNumber('USD'),
      market_cap_rank: nullableInteger('1 is the largest'),
      circulating_supply: nullableNumber('Tokens'),
      total_supply: nullableNumber('Tokens'),
      ath: nullableNumber('Highest price ever, USD'),
      ath_date: nullableInstant('When'),
      atl: nullableNumber('Lowest price ever, USD'),
      atl_date: nullableInstant('When'),
      last_updated: instant('The registry’s own time'),
      source: text('Where price and details come from'),
    }),
    quality: nullable(
      oneOf(['good', 'degraded', 'unknown'], 'Of the composite: degraded: one source only, or sources over 1 % apart'),
    ),
    ...agedBy('prices 15 s, the registry 5 min'),
    ...stamped,
  }),
)

export const market = dataRoute({
  path: '/api/v1/market/:id',
  name: 'market',
  description: 'Details of a token',
  priceUsdc: 0.005,
  ttlMs: 30_000,
  input: { id: tokenId },
  outputs: { 200: marketOutput },
  errors: ['market_not_found', 'data_unavailable'],
  prepare: (call) => replyMarket(call, call.input.id),
})

/** `/api/v1/market/:id`: the registry's details, with our own price, change and volume where they are fresh. */
async function replyMarket(call: Asking, id: string): Promise<Run> {
  tokenOf(viewContext(call.services), id)
  return replyNow(call, (context) => marketView(context, tokenOf(context, id)))
}

function tokenOf({ present }: ViewContext, id: string): Token {
  const { token: tokens } = present.common
  const token = tokens.get(id) ?? tokens.get(registryTokens.find(({ formerly }) => formerly.includes(id))?.id ?? '')
  if (token === undefined)
    throw tokens.size === 0
      ? noData('word from the token registry')
      : new ApiError('market_not_found', `The registry ids that we know are lower-case names such as bitcoin.`, {
          field: 'id',
        })
  return token
}

function marketView(context: ViewContext, token: Token): View {
  const { asset } = token
  const price = asset === null ? undefined : priceOf(context.present, asset)
  const tickers = asset === null ? [] : tickersOf(context.present, asset)
  const registry = { asOf: token.received, freshUntil: token.received + REGISTRY_STALE }
  const own = price === undefined ? undefined : ownOf(price, tickers, context)
  // The registry stands in where no exchange can be heard, unless it is the one that was heard longer ago.
  const isOwn = own !== undefined && (own.freshUntil >= context.clock || own.asOf >= registry.asOf)
  const data = { ...detailsOf(token), ...(isOwn ? own.figures : registryFigures(token)) }
  const body = { success: true, data, quality: isOwn ? (price?.quality ?? null) : null }
  const oldest = Math.min(registry.freshUntil, isOwn ? own.freshUntil : Infinity)
  return { body, asOf: Math.max(registry.asOf, isOwn ? own.asOf : 0), freshUntil: oldest }
}

/** Price and change of the composite, volume of the venues that it is of. */
function ownOf(
  price: CompositePrice,
  tickers: readonly TickerRow[],
  { present }: ViewContext,
): Aged & { readonly figures: object } {
  const venues = price.sources.map(({ exchange }) => exchange)
  const volumes = tickers
    .filter(({ venue }) => venues.includes(venue))
    .flatMap(({ volume24h }) => (volume24h === null ? [] : [volume24h]))
  const figures = {
    price: price.price,
    change_24h: price.change_24h,
    ...(volumes.length === 0 ? {} : { volume_24h: volumes.reduce((sum, volume) => sum + volume, 0) }),
    source: `composite of ${venues.join(', ')}; details from ${REGISTRY}`,
  }
  return { ...compositeAge(price, present), figures }
}

function registryFigures({ price, change_24h }: Token): object {
  return { price, change_24h, source: REGISTRY }
}

function detailsOf(token: Token): object {
  return {
    id: token.id,
    symbol: token.symbol,
    name: token.name,
    price: token.price,
    change_24h: token.change_24h,
    change_7d: token.change_7d,
    change_30d: token.change_30d,
    volume_24h: token.volume_24h,
    market_cap: token.market_cap,
    market_cap_rank: token.market_cap_rank,
    circulating_supply: token.circulating_supply,
    total_supply: token.total_supply,
    ath: token.ath,
    ath_date: isoOrNull(token.ath_date),
    atl: token.atl,
    atl_date: isoOrNull(token.atl_date),
    last_updated: iso(token.last_updated),
  }
}
