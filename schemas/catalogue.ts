import { createHash } from 'node:crypto'

/** An asset that we know by name. Its id never changes; a venue's new ticker for it becomes an alias. */
export interface KnownAsset {
  /** Stable lower-case id: `asset` in every record. */
  readonly id: string
  /** Upper-case tickers that mean this asset on a venue or in a request; the first is the one that answers show. */
  readonly symbols: readonly [string, ...string[]]
  /** Streamed from the start. */
  readonly streamed?: true
}

/**
 * The checked-in map from tickers to assets. The order of the first `DEALT` is their partitions and never changes; entries
 * are only ever appended, with the ticker in lower case as id, which the asset had before. MATIC was renamed POL and TON
 * was renamed GRAM by their venues; the asset stayed the same.
 */
export const knownAssets: readonly KnownAsset[] = [
  { id: 'btc', symbols: ['BTC', 'XBT', 'XXBT'], streamed: true },
  { id: 'eth', symbols: ['ETH', 'XETH'], streamed: true },
  { id: 'sol', symbols: ['SOL'], streamed: true },
  { id: 'xrp', symbols: ['XRP'], streamed: true },
  { id: 'bnb', symbols: ['BNB'], streamed: true },
  { id: 'doge', symbols: ['DOGE', 'XDG'], streamed: true },
  { id: 'link', symbols: ['LINK'], streamed: true },
  { id: 'arb', symbols: ['ARB'], streamed: true },
  { id: 'ada', symbols: ['ADA'] },
  { id: 'avax', symbols: ['AVAX'] },
  { id: 'dot', symbols: ['DOT'] },
  { id: 'matic', symbols: ['MATIC', 'POL'] },
  { id: 'uni', symbols: ['UNI'] },
  { id: 'apt', symbols: ['APT'] },
  { id: 'op', symbols: ['OP'] },
  { id: 'sui', symbols: ['SUI'] },
  { id: 'near', symbols: ['NEAR'] },
  { id: 'atom', symbols: ['ATOM'] },
  { id: 'pepe', symbols: ['PEPE'] },
  { id: 'shib', symbols: ['SHIB'] },
  { id: 'ton', symbols: ['TON', 'TONCOIN', 'GRAM'] },
  { id: 'trx', symbols: ['TRX'] },
  { id: 'ltc', symbols: ['LTC'] },
  { id: 'usdt', symbols: ['USDT'] },
  { id: 'usdc', symbols: ['USDC'] },
]

/** So many assets have a partition by their place in the list, for good: each later one had one by its hash before. */
const DEALT = 25

const bySymbol = new Map(knownAssets.flatMap((asset) => asset.symbols.map((symbol) => [symbol, asset] as const)))
const byId = new Map(knownAssets.map((asset) => [asset.id, asset]))

/** The known asset that an upper-case ticker means, if it is one. */
export function knownAsset(symbol: string): KnownAsset | undefined {
  return bySymbol.get(symbol)
}

/** What answers show for an asset: BTC for btc; of an asset that we do not know by name, its id in upper case. */
export function symbolOf(asset: string): string {
  return byId.get(asset)?.symbols[0] ?? asset.toUpperCase()
}

/**
 * The partition of an asset, the same in every topic that is partitioned by asset.
 *
 * The first known assets are dealt out one by one, since a hash would leave some partitions empty and put busy ones
 * together; all others go by hash.
 */
export function partitionOf(asset: string, partitions: number, assets = knownAssets): number {
  const index = dealt(assets).findIndex(({ id }) => id === asset)
  return (index === -1 ? hash(asset) : index) % partitions
}

/** Identifies the asset-to-partition map; an asset that is added leaves it as it is. */
export function mapHash(assets = knownAssets): string {
  const text = dealt(assets)
    .map(({ id }) => id)
    .join(' ')
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** The assets whose partition is their place in this list, modulo the partition count. */
export function dealt(assets = knownAssets): readonly KnownAsset[] {
  return assets.slice(0, DEALT)
}

function hash(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0)
}
