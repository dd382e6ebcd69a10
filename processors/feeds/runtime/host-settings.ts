import { hostname } from 'node:os'
import { readConfig, type Config } from '../../../infra/config/config.ts'
import {
  addresses,
  addressSettingOf,
  hostsOf,
  type AddressSetting,
  type HostName,
  type VenueName,
} from '../../../schemas/venues.ts'

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
  'CVD_VENUES',
  'SYMBOLS',
  ...addresses.map(({ setting }) => setting),
  'LISTINGS_SECONDS',
  'BACKFILL_DAYS',
  'BACKFILL_MINUTE_DAYS',
  'BACKFILL_ARCHIVE_DAYS',
  'ARCHIVE_DIR',
  'FRAMES_DIR',
  'FRAMES_MAX_GB',
  'MEMBERSHIP',
  'OPS_HOST',
  'OPS_PORT',
] as const

export type HostConfig = Config<(typeof hostSettings)[number]>

/** The settings of a feed process, which has a name in any case. Throws `ConfigError`. */
export function readHostConfig(env: Readonly<Record<string, string | undefined>>): HostConfig {
  const config = readConfig(env, hostSettings)
  return { ...config, FEED_NAME: config.FEED_NAME || `feeds-${hostname()}` }
}

/** What replaces venues' addresses; empty: the venue's own. */
export type Addresses = Readonly<Record<AddressSetting, string>>

/** The configured address of a host, its own where that is left empty. `replaced`: it is not its own. */
export function addressOf(
  configured: Addresses,
  venue: VenueName,
  host: HostName,
): { readonly base: string; readonly replaced: boolean } {
  const own = hostsOf(venue)[host]
  if (own === undefined) throw new Error(`${venue} has no address for ${host}`)
  const replacement = configured[addressSettingOf(venue, host)]
  return { base: (replacement === '' ? own : replacement).replace(/\/+$/, ''), replaced: replacement !== '' }
}
