import { priceVenues } from '../../schemas/venues.ts'
import type { Output } from '../route.ts'
import { batchSymbols } from '../params.ts'
import {
  array,
  boolean,
  instant,
  integer,
  keyed,
  nullableInstant,
  nullableInteger,
  nullableNumber,
  number,
  object,
  oneOf,
  text,
} from '../schema.ts'
import { legStatuses } from '../views/legs.ts'
import { agedBy, stamped } from './shared.ts'

export const priceOutput: Output = {
  says: 'Composite price',
  type: 'application/json',
  schema: object('Median of the chain venues’ spot prices', {
    symbol: text('Base asset'),
    price: number('USD'),
    change_24h: nullableNumber('Median of the used venues’ own changes, percent; null: none says'),
    low: number('Lowest since the composite before, USD'),
    high: number('Highest since the composite before, USD'),
    quality: oneOf(['good', 'degraded', 'unknown'], 'degraded: one source only, or sources more than 1 % apart'),
    sources: array(text('Venue'), 'Venues that the price is made of'),
    exchanges: keyed(
      priceVenues,
      object('One venue', {
        price: nullableNumber('Middle of its book in USD, or its last price; null: not known'),
        age_ms: nullableInteger('How long ago it last changed, milliseconds; a quiet market is not a dead one'),
        used: boolean('Whether it is part of the price'),
        status: oneOf(legStatuses, 'live; stale: not heard for 15 s; unavailable: nothing is known; unlisted'),
      }),
      'The chain venues',
    ),
    ...agedBy('15 s'),
    ...stamped,
  }),
}

const entry = object('One symbol', {
  price: number('USD'),
  change_24h: nullableNumber('Percent; null: the source does not say'),
  volume_24h: nullableNumber('USD, of the source; null: it does not say'),
  market_cap: nullableNumber('Price x last known supply, USD; null: the supply is not known'),
  source: oneOf([...priceVenues, 'coingecko'], 'Who answered: the first of the chain that is alive, else the registry'),
  as_of: instant('Time of the price'),
})

const optional = Object.fromEntries(batchSymbols.map((symbol) => [symbol, entry]))

export const pricesOutput: Output = {
  says: 'Prices of up to 20 symbols',
  type: 'application/json',
  schema: object('Prices', {
    success: boolean('Always true'),
    data: object('By lower-case symbol; a symbol that nobody can price is left out', optional, batchSymbols),
    meta: object('About the answer', {
      count: integer('Symbols in the answer', { minimum: 0 }),
      requested: integer('Symbols asked for', { minimum: 1 }),
      ...agedBy('exchanges 15 s, the registry 5 min; of any symbol of the answer'),
      ...stamped,
    }),
  }),
}

export const marketOutput: Output = {
  says: 'Details of a token',
  type: 'application/json',
  schema: object('Market details', {
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
    ...agedBy('prices 15 s, the registry 5 min'),
    ...stamped,
  }),
}
