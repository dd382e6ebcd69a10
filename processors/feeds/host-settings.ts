import type { Venue } from './venue.ts'

/** What a feed process reads of the settings table. */
export const hostSettings = [
  'KAFKA_BROKERS',
  'SCHEMA_REGISTRY_URL',
  'NAMESPACE',
  'PARTITIONS',
  'FEED_NAME',
  'FEED_CLOCK',
  'VENUES',
  'SYMBOLS',
  'BINANCE_WS_URL',
  'BINANCE_REST_URL',
  'BYBIT_WS_URL',
  'BYBIT_REST_URL',
  'OKX_WS_URL',
  'OKX_REST_URL',
  'COINBASE_WS_URL',
  'COINBASE_REST_URL',
  'FRAMES_DIR',
  'FRAMES_MAX_GB',
  'MEMBERSHIP',
  'OPS_HOST',
  'OPS_PORT',
] as const

type BaseName = Extract<(typeof hostSettings)[number], `${string}_WS_URL` | `${string}_REST_URL`>

/** Where a venue is found; `replaced`: not at its own REST address. */
export interface Bases {
  readonly ws: string
  readonly rest: string
  readonly replaced: boolean
}

const prefixes = { binance: 'BINANCE', bybit: 'BYBIT', okx: 'OKX', coinbase: 'COINBASE' } as const

/** The configured addresses of a venue, its own where they are left empty. */
export function basesOf(config: Readonly<Record<BaseName, string>>, venue: Venue): Bases {
  const ws = config[`${prefixes[venue.name]}_WS_URL`]
  const rest = config[`${prefixes[venue.name]}_REST_URL`]
  return {
    ws: bare(ws === '' ? venue.urls.ws : ws),
    rest: bare(rest === '' ? venue.urls.rest : rest),
    replaced: rest !== '',
  }
}

function bare(url: string): string {
  return url.replace(/\/+$/, '')
}
