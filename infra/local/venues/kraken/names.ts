import type { SpotMarket } from '../economy.ts'

/** Assets of the venue's first years are written with a letter more in REST: X for coins, Z for money. */
const oldCoins: ReadonlySet<string> = new Set(['XBT', 'ETH', 'LTC', 'XRP', 'XDG', 'XLM', 'XMR', 'ZEC', 'ETC'])
const ownNames: Readonly<Record<string, string>> = { XBT: 'BTC', XDG: 'DOGE' }

/** XXBT, ZUSD, SOL. */
export function assetCode(name: string): string {
  if (name === 'USD') return 'ZUSD'
  return oldCoins.has(name) ? `X${name}` : name
}

/** The key of a pair in REST results: XXBTZUSD, USDTZUSD, but XDGUSD, SOLUSD and XBTUSDT. */
export function canonicalName({ base, quote, symbol }: SpotMarket): string {
  if (quote !== 'USD') return symbol
  if (base === 'USDT') return 'USDTZUSD'
  return oldCoins.has(base) && base !== 'XDG' ? `X${base}ZUSD` : symbol
}

/** XBT/USD, as REST names the pair of the first WebSocket version. */
export function slashName({ base, quote }: SpotMarket): string {
  return `${base}/${quote}`
}

/** BTC/USD, as the second WebSocket version names it. */
export function socketName({ base, quote }: SpotMarket): string {
  return `${ownNames[base] ?? base}/${quote}`
}
