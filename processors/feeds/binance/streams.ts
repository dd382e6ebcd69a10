import type { DataStream } from '../source.ts'
import type { SocketRules } from '../venue.ts'
import { readForceOrder } from './liquidations.ts'
import { readMarkPrice } from './mark-price.ts'
import { parserOf } from './messages.ts'
import { requestsOf } from './requests.ts'
import { readTicker } from './tickers.ts'
import { binance } from './venue.ts'

/** As for trades, below `/market` too. */
const futuresSocket: SocketRules = { ...binance.socket, copies: 1 }

const spotSocket: SocketRules = {
  path: '/stream',
  copies: 1,
  // "A single connection is only valid for 24 hours."
  lifetimeMs: 24 * 3_600_000,
  silentAfterMs: 30_000,
  // "A single connection can listen to a maximum of 1024 streams"; fewer keep a lost connection small.
  maxSymbolsPerConnection: 200,
  // "WebSocket connections have a limit of 5 incoming messages per second", and pongs count.
  minFrameSpacingMs: 300,
  // 300 connection attempts in 5 minutes per address.
  minConnectSpacingMs: 1_000,
}

/** Once a second for each pair on which something happened. */
export const spotTickers: DataStream = {
  name: 'spot-tickers',
  host: 'spotWs',
  topic: 'market.tickers',
  subjects: { of: 'catalogue', market: 'spot' },
  socket: spotSocket,
  ...requestsOf((symbol) => `${symbol.toLowerCase()}@ticker`),
  parse: parserOf('24hrTicker', readTicker),
}

/** One array a second of all markets (of shares and metals in another). */
export const markPrices: DataStream = {
  name: 'mark-price',
  host: 'ws',
  topic: 'market.funding',
  subjects: { of: 'whole', symbol: '!markPrice@arr@1s', market: 'perp' },
  socket: { ...futuresSocket, silentAfterMs: 15_000 },
  ...requestsOf((stream) => stream),
  parse: parserOf('markPriceUpdate', readMarkPrice),
}

/** Silent while nobody is liquidated: ten minutes of it in the whole market have not been seen. */
export const liquidations: DataStream = {
  name: 'liquidations',
  host: 'ws',
  topic: 'market.liquidations',
  subjects: { of: 'whole', symbol: '!forceOrder@arr', market: 'perp' },
  socket: { ...futuresSocket, silentAfterMs: 600_000 },
  ...requestsOf((stream) => stream),
  parse: parserOf('forceOrder', readForceOrder),
}
