/** WebSocket v2 says BTC and DOGE; REST and the names in its list still say XBT and XDG. Ours are those of v2: BTC/USD. */
const renamed = [
  ['XBT', 'BTC'],
  ['XDG', 'DOGE'],
] as const

/** BTC/USD for XBT/USD. */
export function symbolOf(wsname: string): string {
  return wsname
    .split('/')
    .map((name) => renamed.find(([old]) => old === name)?.[1] ?? name)
    .join('/')
}

/**
 * The symbol of a key of `Ticker`. With `assetVersion=1` keys are names like BTC/USD; without it XXBTZUSD, USDTZUSD,
 * XBTUSD or SOLUSD, of which only those in dollars are told.
 */
export function symbolOfKey(key: string): string | undefined {
  if (key.includes('/')) return symbolOf(key)
  const base = /^X(\w{3})ZUSD$/.exec(key)?.[1] ?? /^(USDT)ZUSD$/.exec(key)?.[1] ?? /^(\w+)USD$/.exec(key)?.[1]
  return base === undefined ? undefined : symbolOf(`${base}/USD`)
}

/** XBTUSD for BTC/USD: what REST takes for a pair. */
export function pairOf(symbol: string): string {
  return symbol
    .split('/')
    .map((name) => renamed.find(([, now]) => now === name)?.[0] ?? name)
    .join('')
}
