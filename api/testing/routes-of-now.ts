/** Every route that tells of now. */
export const routesOfNow = [
  '/price/BTC',
  '/api/v1/prices?symbols=btc',
  '/api/v1/market/bitcoin',
  '/funding-rate/BTC',
  '/funding-rate/extreme',
  '/futures/funding-compare/BTC',
  '/futures/predicted-funding/BTC',
  '/futures/basis/BTC',
  '/futures/long-short/BTC',
  '/liquidation/heatmap/BTC',
  '/cvd/BTC',
  '/liquidation/recent',
  '/readyz',
]
