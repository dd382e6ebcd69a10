import type { SourceName } from '../../schemas/venues.ts'
import type { HostName } from './source.ts'

/** What a feed process reads of the settings table. */
export const hostSettings = [
  'MODE',
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
  'BINANCE_SPOT_WS_URL',
  'BINANCE_SPOT_REST_URL',
  'KRAKEN_WS_URL',
  'KRAKEN_REST_URL',
  'GATE_REST_URL',
  'COINGECKO_REST_URL',
  'LISTINGS_SECONDS',
  'FRAMES_DIR',
  'FRAMES_MAX_GB',
  'MEMBERSHIP',
  'OPS_HOST',
  'OPS_PORT',
] as const

type BaseName = Extract<(typeof hostSettings)[number], `${string}_WS_URL` | `${string}_REST_URL`>

export type Bases = Readonly<Record<BaseName, string>>

/** The setting that replaces each host. A spot host without one of its own goes with the venue's. */
const settingOf = {
  binance: {
    ws: 'BINANCE_WS_URL',
    rest: 'BINANCE_REST_URL',
    spotWs: 'BINANCE_SPOT_WS_URL',
    spotRest: 'BINANCE_SPOT_REST_URL',
  },
  bybit: { ws: 'BYBIT_WS_URL', rest: 'BYBIT_REST_URL', spotWs: 'BYBIT_WS_URL', spotRest: 'BYBIT_REST_URL' },
  okx: { ws: 'OKX_WS_URL', rest: 'OKX_REST_URL', spotWs: 'OKX_WS_URL', spotRest: 'OKX_REST_URL' },
  coinbase: {
    ws: 'COINBASE_WS_URL',
    rest: 'COINBASE_REST_URL',
    spotWs: 'COINBASE_WS_URL',
    spotRest: 'COINBASE_REST_URL',
  },
  kraken: { ws: 'KRAKEN_WS_URL', rest: 'KRAKEN_REST_URL', spotWs: 'KRAKEN_WS_URL', spotRest: 'KRAKEN_REST_URL' },
  gate: { ws: undefined, rest: 'GATE_REST_URL', spotWs: undefined, spotRest: 'GATE_REST_URL' },
  coingecko: { ws: undefined, rest: 'COINGECKO_REST_URL', spotWs: undefined, spotRest: 'COINGECKO_REST_URL' },
} as const satisfies Record<SourceName, Record<HostName, BaseName | undefined>>

/** The configured address of a host, its own where that is left empty. `replaced`: it is not its own. */
export function baseOf(
  bases: Bases,
  source: SourceName,
  host: HostName,
  own: string,
): { base: string; replaced: boolean } {
  const setting = settingOf[source][host]
  const replacement = setting === undefined ? '' : bases[setting]
  return { base: bare(replacement === '' ? own : replacement), replaced: replacement !== '' }
}

function bare(url: string): string {
  return url.replace(/\/+$/, '')
}
