import type { MarketAnswer, PriceAnswer, PricesAnswer } from '../../clients/typescript/src/api.ts'
import { dollarsOf, medianOf, middleOf, type LedgerState, type Spot } from './ledger.ts'
import { entryOf, near, nearest, same, type DerivedRow } from './row.ts'

/** In the order in which one stands in for another. */
const chain = ['binance', 'coinbase', 'okx', 'bybit', 'kraken']
/** Of the venues that quote in it, the first that they list: USDT on some, USD on others. */
const quotesOf: Readonly<Record<string, readonly Spot['quote'][]>> = {
  binance: ['USDT'],
  okx: ['USDT'],
  bybit: ['USDT'],
  coinbase: ['USD', 'USDC', 'USDT'],
  kraken: ['USD', 'USDC', 'USDT'],
}

/** Their tickers tell a day's trading in base units only: the last price says what it was worth. */
const inBaseUnits = new Set(['coinbase', 'kraken'])

/** What the registry calls an asset today. */
const renamed: Readonly<Record<string, string>> = { MATIC: 'POL', TON: 'GRAM' }

/** A price stands, what a coin is worth moves: a ticker keeps the worth that it came with. */
const PRICE = { part: 5e-5 }
/** Venues write changes of a day with two or three decimals, Coinbase its volume as it was a moment ago. */
const CHANGE = { by: 0.02 }
const VOLUME = { part: 0.01 }
/** The registry is asked once a minute, and is a minute old then. */
const REGISTRY = { by: 0.6 }

/** `/price/:symbol`: each venue's middle in dollars, and the median of them. */
export function priceRows(answer: PriceAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
  const markets = chain.flatMap((venue) => marketOf(ledger, asset, venue) ?? [])
  return [
    ...markets.map((market) =>
      nearest(
        'spot price, USD',
        `${asset} ${market.venue}`,
        entryOf(answer.exchanges, market.venue)?.price,
        usdOf(ledger, market),
        PRICE,
      ),
    ),
    nearest('composite price, USD', asset, answer.price, compositesOf(ledger, markets), PRICE),
    near('change of a day, %', asset, answer.change_24h, medianOf(markets.map(changeOf)), CHANGE),
    same(
      'venues in the composite',
      asset,
      usedIn(answer),
      markets
        .map(({ venue }) => venue)
        .sort()
        .join(' '),
    ),
  ]
}

/** `/api/v1/prices`: the first of the chain that lists it. */
export function batchRows(answer: Pick<PricesAnswer, 'data'>, asset: string, ledger: LedgerState): DerivedRow[] {
  const entry = entryOf(answer.data, asset.toLowerCase())
  const market = chain.flatMap((venue) => marketOf(ledger, asset, venue) ?? [])[0]
  if (market === undefined) return [same('batch source', asset, entry?.source, 'coingecko')]
  const ticker = (renamed[asset] ?? asset).toLowerCase()
  const token = ledger.tokens.find(({ symbol }) => symbol === ticker)
  const [price] = usdOf(ledger, market)
  return [
    same('batch source', asset, entry?.source, market.venue),
    near('batch price, USD', asset, entry?.price, price, PRICE),
    near('batch change, %', asset, entry?.change_24h, changeOf(market), CHANGE),
    near('batch volume, USD', asset, entry?.volume_24h, dayUsdOf(ledger, market), VOLUME),
    near('batch market cap, USD', asset, entry?.market_cap, token && price * token.circulating, PRICE),
  ]
}

/** `/api/v1/market/:id`: composite price and sum of volumes, and the registry's words. */
export function marketRows({ data }: MarketAnswer, id: string, ledger: LedgerState): DerivedRow[] {
  const token = ledger.tokens.find((row) => row.id === id)
  const asset = (token?.symbol ?? '').toUpperCase()
  const markets = chain.flatMap((venue) => marketOf(ledger, asset, venue) ?? [])
  const volume = markets.reduce((sum, market) => sum + dayUsdOf(ledger, market), 0)
  return [
    nearest('market price, USD', id, data.price, compositesOf(ledger, markets), PRICE),
    near('market volume, USD', id, data.volume_24h, volume, VOLUME),
    same('market rank', id, data.market_cap_rank, token?.rank),
    same('market supply', id, [data.circulating_supply, data.total_supply], [token?.circulating, token?.total]),
    near('market change of 7 days, %', id, data.change_7d, token?.change7d, REGISTRY),
    near('market change of 30 days, %', id, data.change_30d, token?.change30d, REGISTRY),
    near('market highest ever, USD', id, data.ath, token?.ath, { part: 1e-9 }),
    same('market time of that', id, Date.parse(data.ath_date ?? ''), (token?.athTime ?? 0) / 1000),
  ]
}

/** The market that speaks for an asset on a venue. */
export function marketOf(ledger: LedgerState, asset: string, venue: string): Spot | undefined {
  const listed = ledger.spot.filter((row) => row.asset === asset && row.venue === venue)
  return (quotesOf[venue] ?? []).flatMap((quote) => listed.filter((row) => row.quote === quote))[0]
}

/** The middle; of Coinbase also the last price, which is all that its whole-market call tells. */
function usdOf(ledger: LedgerState, market: Spot): [number, ...number[]] {
  const worth = dollarsOf(ledger, market.quote)
  return [middleOf(market) * worth, ...(market.venue === 'coinbase' ? [market.last * worth] : [])]
}

function compositesOf(ledger: LedgerState, markets: readonly Spot[]): number[] {
  const values = markets.map((market) => usdOf(ledger, market))
  return [medianOf(values.map(([middle]) => middle)), medianOf(values.map((own) => own.at(-1) ?? own[0]))]
}

function dayUsdOf(ledger: LedgerState, market: Spot): number {
  const volume = inBaseUnits.has(market.venue) ? market.volume24h * market.last : market.quoteVolume24h
  return volume * dollarsOf(ledger, market.quote)
}

function changeOf({ last, open24h }: Spot): number {
  return (100 * (last - open24h)) / open24h
}

function usedIn({ exchanges }: PriceAnswer): string {
  const used = Object.entries(exchanges).flatMap(([venue, row]) => (row.used ? [venue] : []))
  return used.sort().join(' ')
}
