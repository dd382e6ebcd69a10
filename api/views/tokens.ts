import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql } from './time.ts'

/** What the token registry says of a token. USD, percent, tokens. */
export interface TokenRow {
  readonly id: string
  readonly asset: string | null
  readonly symbol: string
  readonly name: string
  readonly price: number | null
  readonly change24h: number | null
  readonly change7d: number | null
  readonly change30d: number | null
  readonly volume24h: number | null
  readonly marketCap: number | null
  readonly marketCapRank: number | null
  readonly circulatingSupply: number | null
  readonly totalSupply: number | null
  readonly ath: number | null
  readonly athDate: Micros | null
  readonly atl: number | null
  readonly atlDate: Micros | null
  readonly lastUpdated: Micros
  /** When our feed had it. */
  readonly received: Micros
}

const tokensSql = `SELECT id, asset, symbol, name, price, change_24h, change_7d, change_30d, volume_24h, market_cap,
  market_cap_rank, circulating_supply, total_supply, ath, ${microsSql('ath_date')} AS ath_us, atl,
  ${microsSql('atl_date')} AS atl_us, ${microsSql('last_updated')} AS updated_us, ${microsSql('received')} AS received_us
  FROM tokens`

/** All tokens that the registry was asked for. */
export async function readTokens(database: Database): Promise<TokenRow[]> {
  const rows = await database.query(tokensSql, {})
  return rows.map((raw) => {
    const row = new Row(raw)
    return {
      id: row.text('id'),
      asset: row.nullableText('asset'),
      symbol: row.text('symbol'),
      name: row.text('name'),
      price: row.nullableNumber('price'),
      change24h: row.nullableNumber('change_24h'),
      change7d: row.nullableNumber('change_7d'),
      change30d: row.nullableNumber('change_30d'),
      volume24h: row.nullableNumber('volume_24h'),
      marketCap: row.nullableNumber('market_cap'),
      marketCapRank: row.nullableNumber('market_cap_rank'),
      circulatingSupply: row.nullableNumber('circulating_supply'),
      totalSupply: row.nullableNumber('total_supply'),
      ath: row.nullableNumber('ath'),
      athDate: row.nullableNumber('ath_us'),
      atl: row.nullableNumber('atl'),
      atlDate: row.nullableNumber('atl_us'),
      lastUpdated: row.number('updated_us'),
      received: row.number('received_us'),
    }
  })
}
