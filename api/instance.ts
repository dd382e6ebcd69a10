import type { Server } from 'node:http'
import type { Config } from '../infra/config/config.ts'
import { clickhouseAccess, clickhouseSettings } from '../infra/config/clickhouse.ts'
import { serviceSecrets, serviceSecretSettings } from '../infra/config/secrets.ts'
import type { SettingName } from '../infra/config/settings.ts'
import { sharedCodec, type RegistryCodec } from '../infra/kafka/codec.ts'
import { connectLog } from '../infra/kafka/kafkajs.ts'
import type { Log, LogReader } from '../infra/kafka/seam.ts'
import type { Logger } from '../infra/log.ts'
import { furtherAuthority, mailServer, mailSettings, openMailer } from '../infra/mail.ts'
import { packageVersion } from '../infra/version.ts'
import type { ServiceSecrets } from '../processors/alerts/secrets.ts'
import { reachOf } from '../processors/webhooks/address.ts'
import { knownAsset, knownAssets } from '../schemas/catalogue.ts'
import { tradeVenues } from '../schemas/venues.ts'
import { testLimit, type Alerts } from './alerts/alerts.ts'
import { EmailCodes } from './alerts/email-codes.ts'
import { Wallets } from './alerts/wallet.ts'
import { KafkaAlerts } from './alerts/kafka-alerts.ts'
import { openDatabase } from './views/clickhouse.ts'
import { RateLimiter } from './request/limits.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import type { Payments } from './payments/payments.ts'
import { PresentTable, type RecordListener } from './present/present-table.ts'
import { peersOf } from './peers.ts'
import { createServices, type Services } from './services.ts'
import { channelBoard } from './stream/channels.ts'
import type { Unread } from './log/unread.ts'
import { sharedAccess, wantWriter, type LogAccess, Wants, type WriteWant } from './present/wants.ts'

/** What every instance of the routes reads, whoever it answers. */
export const instanceSettings = [
  'MODE',
  'NAMESPACE',
  'PARTITIONS',
  'KAFKA_BROKERS',
  'SCHEMA_REGISTRY_URL',
  ...clickhouseSettings,
  'CLICKHOUSE_DATABASE',
  'API_SERVICES',
  'SYMBOLS',
  'CVD_VENUES',
  'ALERT_CONTROL',
  'WEBHOOK_ALLOW_PRIVATE',
  ...mailSettings,
  ...serviceSecretSettings,
] as const satisfies readonly SettingName[]

export type InstanceConfig = Config<(typeof instanceSettings)[number]>

/** The caller waits for the log; a want that comes too late is not worth the wait, milliseconds. */
const WANT_DEADLINE_MS = 3_000
/** The first requests wait for the present so long, milliseconds: without the log there are other answers. */
const READ_MS = 10_000
/** Requests that are being answered at a stop get this long, milliseconds. */
const DRAIN_MS = 3_000

export interface Closing {
  close(): Promise<void>
}

export interface InstanceOptions {
  /** How it is called among the log's clients. */
  readonly clientId: string
  /** null: all is free. */
  readonly payments: Payments | null
  readonly unread: Unread
  /** What has to be closed at the end is added here. */
  readonly toClose: Closing[]
  /** Who else is told what is folded into the present. */
  readonly listeners?: readonly RecordListener[]
  /** What it writes wants by; left out: a connection of its own. */
  readonly connected?: () => Promise<LogAccess>
  /** As the present's. */
  readonly everyMs?: number
  /** As the services'. */
  readonly tries?: RateLimiter
}

/** What handlers work with, over the real log and views. Connects when it is needed, and again where that is lost. */
export async function openServices(config: InstanceConfig, log: Logger, options: InstanceOptions): Promise<Services> {
  const { toClose, payments, unread } = options
  const metrics = createMetrics()
  const database = openDatabase(databaseOptions(config), metrics)
  toClose.push(database)
  const write = counted(metrics, wantWriter(options.connected ?? sharedAccess(() => openLog(config, log, options))))
  const alerts = await openAlerts(config, log, options)
  const wants = new Wants(write)
  const channels = channelBoard(config.PARTITIONS)
  const source = openPresent(config, log, { ...options, listeners: [channels, ...(options.listeners ?? [])] })
  await source.read(READ_MS)
  const parts = { ...partsOf(config), log, metrics, database, alerts, payments, wants, unread, source }
  return createServices({ ...parts, board: channels.board, tries: options.tries })
}

/** Where nothing is paid no wallet owns anything. */
const NO_URL = 'http://127.0.0.1'

async function openAlerts(
  config: InstanceConfig,
  log: Logger,
  { toClose, unread, payments }: InstanceOptions,
): Promise<Alerts> {
  const secrets = serviceSecrets(config)
  const control = config.ALERT_CONTROL === 'open' ? 'open' : 'token'
  const emailCodes = await openEmailCodes(config, log, secrets)
  if (emailCodes !== null) toClose.push({ close: () => Promise.resolve(emailCodes.close()) })
  const kafka = new KafkaAlerts({ ...logOf(config), log, now: Date.now, unread })
  toClose.push(kafka)
  return {
    log: kafka,
    secrets,
    control,
    reach: reachOf({ mode: config.MODE, allowPrivate: config.WEBHOOK_ALLOW_PRIVATE }),
    hasMail: emailCodes !== null,
    // Where anyone may cancel any alert nobody is a stranger.
    ...(control === 'token' && { isMailCode: (address, code) => emailCodes?.isCode(address, code) === true }),
    emailCodes,
    wallets: new Wallets({
      secrets,
      baseUrl: payments?.publicUrl ?? NO_URL,
      chainId: payments?.seller.network.chainId,
      hasSigned: payments?.hasSigned,
    }),
    tests: new RateLimiter(testLimit),
  }
}

async function openEmailCodes(
  config: InstanceConfig,
  log: Logger,
  secrets: ServiceSecrets,
): Promise<EmailCodes | null> {
  const server = mailServer(config)
  if (server === undefined) return null
  const mailer = await openMailer({ ...server, ca: furtherAuthority(config, log) })
  return new EmailCodes({ secrets, mailer, mode: config.MODE })
}

function openPresent(
  config: InstanceConfig,
  log: Logger,
  { toClose, unread, clientId, listeners = [], everyMs }: InstanceOptions,
): PresentTable {
  const table = new PresentTable({
    ...logOf(config),
    clientId: `${clientId}-present`,
    log,
    unread,
    listeners,
    everyMs,
  })
  toClose.push(table)
  return table
}

/** Where the log is. */
function logOf({ KAFKA_BROKERS, NAMESPACE, SCHEMA_REGISTRY_URL, PARTITIONS }: InstanceConfig): {
  readonly brokers: readonly string[]
  readonly namespace: string
  readonly registryUrl: string
  readonly partitions: number
} {
  return {
    brokers: KAFKA_BROKERS,
    namespace: NAMESPACE,
    registryUrl: SCHEMA_REGISTRY_URL,
    partitions: PARTITIONS,
  }
}

function counted({ wants }: Metrics, write: WriteWant): WriteWant {
  return async (asset, times) => {
    try {
      await write(asset, times)
      wants.inc({ result: 'written' })
    } catch (error) {
      wants.inc({ result: 'failed' })
      throw error
    }
  }
}

function databaseOptions(config: InstanceConfig): Parameters<typeof openDatabase>[0] {
  return { ...clickhouseAccess(config), database: config.CLICKHOUSE_DATABASE }
}

function partsOf(
  config: InstanceConfig,
): Pick<Services, 'mode' | 'version' | 'partitions' | 'preSubscribed' | 'counted' | 'peers' | 'now'> {
  const { MODE } = config
  const streamed = knownAssets.filter((asset) => asset.streamed === true).map(({ id }) => id)
  const named = config.SYMBOLS.map((symbol) => knownAsset(symbol)?.id ?? symbol.toLowerCase())
  return {
    mode: MODE === 'live' || MODE === 'tape' ? MODE : 'demo',
    version: packageVersion(),
    partitions: config.PARTITIONS,
    preSubscribed: new Set(named.length === 0 ? streamed : named),
    counted: tradeVenues.filter(({ venue }) => config.CVD_VENUES.includes(venue)),
    peers: peersOf(config.API_SERVICES),
    now: Date.now,
  }
}

export async function openLog(
  config: InstanceConfig,
  log: Logger,
  { clientId, toClose }: InstanceOptions,
): Promise<LogAccess & { readonly reader: LogReader; readonly codec: RegistryCodec }> {
  const codec = await sharedCodec(config.SCHEMA_REGISTRY_URL)
  const kafka: Log = await connectLog({
    brokers: config.KAFKA_BROKERS,
    namespace: config.NAMESPACE,
    clientId,
    log,
    giveUpMs: WANT_DEADLINE_MS,
  })
  toClose.push(kafka)
  return { reader: kafka.reader(), writer: kafka.writer(), codec }
}

/** Stops listening; what is being answered gets its time. */
export function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
    server.close(() => {
      clearTimeout(cut)
      resolve()
    })
    server.closeIdleConnections()
  })
}
