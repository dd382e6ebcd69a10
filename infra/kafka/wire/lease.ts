import kafkajs, { type Admin } from 'kafkajs'
import { ConfigError } from '../../config/config.ts'
import type { Logger } from '../../log.ts'
import { retrying } from './retry.ts'

/** A longer freeze makes an owner ask before it writes, whatever the broker remembers. */
const LEASE_MS_MAX = 600_000
/** Of the broker's memory; the other half is for clocks that differ, and for what is on its way. */
const LEASE_OF_MEMORY = 1 / 2
/** Two renewals may fail. */
const RENEWALS_OF_LEASE = 3
/** With less a renewal would not be there in time on a busy machine. */
const MEMORY_MS_MIN = 5_000

/** A moment on both clocks of the host, milliseconds. */
export interface ClockReading {
  /** Can be set back. */
  readonly wall: number
  /** Stands still while the machine is suspended. */
  readonly steady: number
}

export function readHostClocks(): ClockReading {
  return { wall: Date.now(), steady: performance.now() }
}

/**
 * How long something may be relied on after the broker has last confirmed it, since the broker itself forgets in time: an
 * owner's claim, and what keeps a replaced owner out; a follower's place, and the tombstones behind it.
 */
export class Lease {
  readonly #ms: number
  readonly #now: () => ClockReading
  #since: ClockReading

  /** `since`: before the broker was asked. */
  constructor(ms: number, since: ClockReading, now = readHostClocks) {
    this.#ms = ms
    this.#since = since
    this.#now = now
  }

  renewed(since: ClockReading): void {
    this.#since = since
  }

  get holds(): boolean {
    const { wall, steady } = this.#now()
    return Math.max(wall - this.#since.wall, steady - this.#since.steady) < this.#ms
  }
}

/** What keeps a replaced owner out, and how long: the first is how a claim finds the owner before it. */
const memories = { 'transactional.id.expiration.ms': 604_800_000, 'producer.id.expiration.ms': 86_400_000 } as const
const IDLE = 'connections.max.idle.ms'
const IDLE_MS = 600_000
const READ_MS = 30_000

export interface LeaseSettings {
  /** How long an owner may write without a renewal of its claim, milliseconds. */
  readonly leaseMs: number
  readonly renewEveryMs: number
}

/** A broker's settings as it tells them, by name; what it does not tell has Kafka's default. */
export interface BrokerSettings {
  readonly broker: string
  readonly settings: Readonly<Record<string, string | undefined>>
}

/**
 * How claims are renewed on these brokers. Throws `ConfigError` where one of them forgets too soon, with what to raise.
 * `warn`: a connection without a word outlives the memory, so that a write which was frozen on its way may still arrive.
 */
export function leaseSettingsOf(
  brokers: readonly BrokerSettings[],
  warn: (fields: object, message: string) => void,
): LeaseSettings {
  let memoryMs = Infinity
  for (const { broker, settings } of brokers) {
    for (const [name, usual] of Object.entries(memories)) {
      const ms = Number(settings[name] ?? usual)
      if (ms < MEMORY_MS_MIN) {
        throw new ConfigError(
          `Kafka broker ${broker} forgets the owner of a partition after ${name}=${ms}, too soon to renew its claim; ` +
            `set it to ${MEMORY_MS_MIN} or more, best leave it at ${usual}`,
        )
      }
      memoryMs = Math.min(memoryMs, ms)
    }
  }
  const leaseMs = Math.min(LEASE_MS_MAX, memoryMs * LEASE_OF_MEMORY)
  for (const { broker, settings } of brokers) {
    const idleMs = Number(settings[IDLE] ?? IDLE_MS)
    if (idleMs < 0 || idleMs > memoryMs - leaseMs)
      warn({ broker, [IDLE]: idleMs, most: memoryMs - leaseMs }, `${IDLE} is longer than a frozen write is kept out`)
  }
  return { leaseMs, renewEveryMs: leaseMs / RENEWALS_OF_LEASE }
}

/** Asks every broker for its settings; for a moment there may be none. */
export function readLeaseSettings(admin: Admin, log: Logger | undefined): Promise<LeaseSettings> {
  return retrying('reading the brokers’ settings', READ_MS, () => read(admin, log))
}

async function read(admin: Admin, log: Logger | undefined): Promise<LeaseSettings> {
  const { brokers } = await admin.describeCluster()
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: brokers.map(({ nodeId }) => ({
      type: kafkajs.ConfigResourceTypes.BROKER,
      name: String(nodeId),
      configNames: [...Object.keys(memories), IDLE],
    })),
  })
  const told = resources.map(({ resourceName, configEntries }) => ({
    broker: resourceName,
    settings: Object.fromEntries(configEntries.map(({ configName, configValue }) => [configName, configValue])),
  }))
  return leaseSettingsOf(told, (fields, message) => log?.warn(fields, message))
}
