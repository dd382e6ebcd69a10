/** A coin of the token registry (CoinGecko) that is an asset of ours. */
export interface RegistryToken {
  /** The registry's id as of today. */
  readonly id: string
  /** Ids that it had before and that callers still use; the registry keeps some of them with figures of their own. */
  readonly formerly: readonly string[]
  readonly asset: string
}

/**
 * The checked-in map from registry ids to assets. Never by ticker: the registry has many coins of one ticker. MATIC
 * became `polygon-ecosystem-token` when it was renamed POL; TON kept its id when it was renamed GRAM.
 */
export const registryTokens: readonly RegistryToken[] = [
  token('bitcoin', 'btc'),
  token('ethereum', 'eth'),
  token('solana', 'sol'),
  token('ripple', 'xrp'),
  token('binancecoin', 'bnb'),
  token('dogecoin', 'doge'),
  token('chainlink', 'link'),
  token('arbitrum', 'arb'),
  token('cardano', 'ada'),
  token('avalanche-2', 'avax'),
  token('polkadot', 'dot'),
  token('polygon-ecosystem-token', 'matic', 'matic-network'),
  token('uniswap', 'uni'),
  token('aptos', 'apt'),
  token('optimism', 'op'),
  token('sui', 'sui'),
  token('near', 'near'),
  token('cosmos', 'atom'),
  token('pepe', 'pepe'),
  token('shiba-inu', 'shib'),
  token('the-open-network', 'ton'),
  token('tron', 'trx'),
  token('litecoin', 'ltc'),
  token('tether', 'usdt'),
  token('usd-coin', 'usdc'),
]

function token(id: string, asset: string, ...formerly: string[]): RegistryToken {
  return { id, formerly, asset }
}

/** Every id that the registry is asked for. */
export const registryIds: readonly string[] = registryTokens.flatMap(({ id, formerly }) => [id, ...formerly])
