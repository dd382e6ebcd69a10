import { ApiError } from '../errors.ts'
import type { Draft } from '../route.ts'
import type { Services } from '../services.ts'
import type { Aged } from '../views/legs.ts'
import { readPrice, type PriceRow } from '../views/prices.ts'
import { readTickers, type TickerRow } from '../views/tickers.ts'
import { iso, isoOrNull } from '../views/time.ts'
import { readTokens, type TokenRow } from '../views/tokens.ts'
import { answerKept, draft, noData, sceneOf, type Built, type Row, type Scene } from './answers.ts'
import { compositeAge } from './price.ts'
import { REGISTRY, REGISTRY_STALE } from './prices.ts'

/** `/api/v1/market/:id`: the registry's details, with our own price, change and volume where they are fresh. */
export async function marketAnswer(services: Services, row: Row, id: string): Promise<Draft> {
  const scene = await sceneOf(services)
  const tokens = (await services.boards.tokens.get('all', row.ttlMs, () => readTokens(services.database))).value
  const token = tokens.find((candidate) => candidate.id === id)
  if (token === undefined)
    throw tokens.length === 0
      ? noData('word from the token registry')
      : new ApiError('market_not_found', `The registry ids that we know are lower-case names such as bitcoin.`, {
          field: 'id',
        })
  return draft(() =>
    answerKept(services, row, { key: [id], clock: scene.clock }, () => buildMarket(services, scene, token)),
  )
}

async function buildMarket(services: Services, scene: Scene, token: TokenRow): Promise<Built> {
  const { asset } = token
  const [price, tickers] =
    asset === null
      ? [undefined, []]
      : await Promise.all([readPrice(services.database, asset), readTickers(services.database, asset)])
  const registry = { asOf: token.received, freshUntil: token.received + REGISTRY_STALE }
  const own = price === undefined ? undefined : ownOf(price, tickers, scene)
  // The registry stands in where no exchange can be heard, unless it is the one that was heard longer ago.
  const isOwn = own !== undefined && (own.freshUntil >= scene.clock || own.asOf >= registry.asOf)
  const body = { success: true, data: { ...detailsOf(token), ...(isOwn ? own.figures : registryFigures(token)) } }
  const oldest = Math.min(registry.freshUntil, isOwn ? own.freshUntil : Infinity)
  return { body, asOf: Math.max(registry.asOf, isOwn ? own.asOf : 0), freshUntil: oldest }
}

/** Price and change of the composite, volume of the venues that it is of. */
function ownOf(price: PriceRow, tickers: readonly TickerRow[], { world }: Scene): Aged & { readonly figures: object } {
  const venues = price.parts.map(({ exchange }) => exchange)
  const volumes = tickers
    .filter(({ venue }) => venues.includes(venue))
    .flatMap(({ volume24h }) => (volume24h === null ? [] : [volume24h]))
  const figures = {
    price: price.price,
    change_24h: price.change24h,
    ...(volumes.length === 0 ? {} : { volume_24h: volumes.reduce((sum, volume) => sum + volume, 0) }),
    source: `composite of ${venues.join(', ')}; details from ${REGISTRY}`,
  }
  return { ...compositeAge(price, world), figures }
}

function registryFigures({ price, change24h }: TokenRow): object {
  return { price, change_24h: change24h, source: REGISTRY }
}

function detailsOf(token: TokenRow): object {
  return {
    id: token.id,
    symbol: token.symbol,
    name: token.name,
    price: token.price,
    change_24h: token.change24h,
    change_7d: token.change7d,
    change_30d: token.change30d,
    volume_24h: token.volume24h,
    market_cap: token.marketCap,
    market_cap_rank: token.marketCapRank,
    circulating_supply: token.circulatingSupply,
    total_supply: token.totalSupply,
    ath: token.ath,
    ath_date: isoOrNull(token.athDate),
    atl: token.atl,
    atl_date: isoOrNull(token.atlDate),
    last_updated: iso(token.lastUpdated),
  }
}
