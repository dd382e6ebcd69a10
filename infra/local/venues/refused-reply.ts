import type { FaultKind } from './fault-kinds.ts'
import type { VenueName } from './markets.ts'
import { secondsText } from './query.ts'
import type { RestReply } from './venue-server.ts'

/** What a venue answers to a caller it does not serve now, each in its own words. */
export function refusedReply(kind: FaultKind, venue: VenueName, leftMs: number): RestReply | undefined {
  switch (kind) {
    case 'rest_429':
      return tooMany[venue](secondsText(leftMs))
    case 'rest_418':
      // Only Binance has this status; the others ban with 403.
      return venue === 'binance'
        ? {
            ...limited(
              418,
              -1003,
              `Way too many requests; IP banned until ${leftMs} ms from now.`,
              secondsText(leftMs),
            ),
          }
        : forbidden
    case 'rest_403':
      return forbidden
    case 'rest_451':
      return {
        status: 451,
        body: {
          code: 0,
          msg: "Service unavailable from a restricted location according to 'b. Eligibility' in https://www.binance.com/en/terms. Please contact customer service if you believe you received this message in error.",
        },
      }
    default:
      return undefined
  }
}

const forbidden: RestReply = { status: 403, body: '<html><head><title>403 Forbidden</title></head></html>' }

const tooMany: Readonly<Record<VenueName, (seconds: string) => RestReply>> = {
  binance: (seconds) =>
    limited(429, -1003, 'Too many requests; current limit of IP is 2400 requests per minute.', seconds),
  // Bybit says so within HTTP 200.
  bybit: () => ({
    status: 200,
    body: {
      retCode: 10006,
      retMsg: 'Too many visits. Exceeded the API Rate Limit.',
      result: {},
      retExtInfo: {},
      time: 0,
    },
  }),
  okx: () => ({ status: 429, body: { code: '50011', msg: 'Too Many Requests', data: [] } }),
  coinbase: () => ({ status: 429, body: { message: 'Public rate limit exceeded' } }),
  // Kraken says so within HTTP 200.
  kraken: () => ({ status: 200, body: { error: ['EAPI:Rate limit exceeded'] } }),
  gate: () => ({ status: 429, body: { label: 'TOO_MANY_REQUESTS', message: 'Request Rate limit Exceeded' } }),
  coingecko: (seconds) => ({
    status: 429,
    headers: { 'retry-after': seconds },
    body: {
      status: {
        error_code: 429,
        error_message: "You've exceeded the Rate Limit. Please visit https://www.coingecko.com/en/api/pricing.",
      },
    },
  }),
}

function limited(status: number, code: number, msg: string, seconds: string): RestReply {
  return { status, headers: { 'retry-after': seconds }, body: { code, msg } }
}
