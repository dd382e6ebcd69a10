import { randomUUID } from 'node:crypto'
import kafkajs, { type Admin } from 'kafkajs'
import { mapHash } from '../../schemas/catalogue.ts'
import type { Layout } from '../../schemas/records.ts'
import { topics, type Topic } from '../../schemas/topics.ts'
import { ConfigError } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { asAdmin, createTopics } from './admin.ts'
import type { RegistryCodec } from './codec.ts'
import { again, retrying } from './wire/retry.ts'
import { FencedError, type Log, type LogReader } from './seam.ts'
import { readLeaseSettings } from './wire/lease.ts'
import { partitionsOf, settingsOf, type TopicSizes } from './topic-settings.ts'

const LAYOUT_TOPIC = 'control.layout'
const LAYOUT_KEY = 'layout'
/** As long as a few other starts may take to settle the same layout. */
const SETTLE_MS = 30_000

export interface PrepareOptions extends TopicSizes {
  readonly brokers: readonly string[]
  readonly namespace: string
  /** Same brokers and namespace. */
  readonly log: Log
  readonly codec: RegistryCodec
  readonly report?: Logger | undefined
}

/**
 * Makes every topic of the topic table that is missing, compares those that are there, and writes the layout record of
 * a new log. Does nothing the second time. Throws `LayoutError` before it changes anything where the log was made for
 * another partition count, another asset map or newer code, or where a topic has other partitions, another cleanup or
 * fewer replicas than are set; `ConfigError` where the brokers forget owners too soon.
 */
export async function prepareTopics(options: PrepareOptions): Promise<Layout> {
  return asAdmin({ brokers: options.brokers, clientId: 'prepare', log: options.report }, async (admin) => {
    await readLeaseSettings(admin, options.report)
    const there = new Set(await admin.listTopics())
    const known = there.has(options.namespace + LAYOUT_TOPIC) ? await readLayout(options) : undefined
    if (known !== undefined) checkLayout(known, options.partitions)
    const [old, missing] = partition(topics, ({ name }) => there.has(options.namespace + name))
    await compare(admin, old, options)
    await create(admin, missing, options)
    return settleLayout(options)
  })
}

/**
 * Makes the topics of the topic table, without a record in them: what a restored log is put into. Throws `ConfigError`
 * where `replicationFactor` is undefined and there are several brokers.
 */
export async function createEmptyTopics({
  replicationFactor,
  ...options
}: Omit<PrepareOptions, 'log' | 'codec' | 'replicationFactor'> & {
  readonly replicationFactor: number | undefined
}): Promise<void> {
  await asAdmin({ brokers: options.brokers, clientId: 'restore', log: options.report }, async (admin) => {
    if (replicationFactor === undefined) await refuseSeveral(admin)
    const there = new Set(await admin.listTopics())
    await create(
      admin,
      topics.filter(({ name }) => !there.has(options.namespace + name)),
      { ...options, replicationFactor: replicationFactor ?? 1 },
    )
  })
}

async function refuseSeveral(admin: Admin): Promise<void> {
  const { brokers } = await admin.describeCluster()
  if (brokers.length === 1) return
  throw new ConfigError(
    `there are ${brokers.length} brokers: set REPLICATION_FACTOR as for the services, 3 for instance`,
  )
}

async function create(
  admin: Admin,
  missing: readonly Topic[],
  options: Omit<PrepareOptions, 'log' | 'codec'>,
): Promise<void> {
  if (missing.length === 0) return
  const wanted = missing.map((topic) => ({
    topic: options.namespace + topic.name,
    numPartitions: partitionsOf(topic, options),
    replicationFactor: options.replicationFactor,
    configEntries: entries(settingsOf(topic, options)),
  }))
  await createTopics(admin, wanted)
  options.report?.info({ topics: missing.map(({ name }) => name) }, 'topics created')
}

const IN_SYNC = 'min.insync.replicas'

/**
 * Partitions and cleanup must be as in the table, replicas no fewer than are set. Every other setting becomes what we want:
 * one that was set anew, of an older release, or of a topic that somebody or the broker made.
 */
async function compare(admin: Admin, old: readonly Topic[], options: PrepareOptions): Promise<void> {
  if (old.length === 0) return
  const names = old.map(({ name }) => options.namespace + name)
  const metadata = await admin.fetchTopicMetadata({ topics: names })
  refuseFewReplicas(metadata.topics, options)
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: names.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
  })
  for (const topic of old) {
    const name = options.namespace + topic.name
    const partitions = metadata.topics.find((each) => each.name === name)?.partitions.length ?? 0
    const settings = resources.find((each) => each.resourceName === name)?.configEntries ?? []
    const own = Object.fromEntries(settings.filter(isOwn).map((entry) => [entry.configName, entry.configValue]))
    const all = Object.fromEntries(settings.map((entry) => [entry.configName, entry.configValue]))
    const wanted = settingsOf(topic, options)
    refuse(name, 'partitions', String(partitions), String(partitionsOf(topic, options)))
    refuse(name, 'cleanup.policy', all['cleanup.policy'] ?? '', wanted['cleanup.policy'] ?? '')
    const limits = Object.fromEntries(Object.entries(wanted).filter(([key, value]) => !suffices(key, all[key], value)))
    if (Object.keys(limits).length === 0) continue
    const configEntries = entries({ ...own, ...limits })
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name, configEntries }],
    })
    options.report?.info({ topic: name, limits }, 'limits changed')
  }
}

/** More replicas in sync than we ask for are the operator's choice. */
function suffices(setting: string, got: string | undefined, wanted: string): boolean {
  return setting === IN_SYNC ? Number(got) >= Number(wanted) : got === wanted
}

/** Set on the topic itself, neither inherited nor a default. */
function isOwn({ configSource }: { readonly configSource: number }): boolean {
  const TOPIC_CONFIG = 1
  return configSource === TOPIC_CONFIG
}

function refuse(topic: string, what: string, got: string, wanted: string): void {
  if (got === wanted) return
  throw new LayoutError(
    'topic',
    `topic ${topic} has ${what} ${got}, this release needs ${wanted}; ` +
      'delete the topic if its records are not needed, or start with another NAMESPACE',
  )
}

type TopicMetadata = Awaited<ReturnType<Admin['fetchTopicMetadata']>>['topics'][number]

function refuseFewReplicas(known: readonly TopicMetadata[], { replicationFactor }: TopicSizes): void {
  const few = known.filter(({ partitions }) => partitions.some(({ replicas }) => replicas.length < replicationFactor))
  if (few.length === 0) return
  throw new LayoutError(
    'topic',
    `${few.map(({ name }) => name).join(', ')} have fewer replicas than REPLICATION_FACTOR=${replicationFactor}: ` +
      'give them as many with kafka-reassign-partitions.sh of Kafka, or set REPLICATION_FACTOR to what they have',
  )
}

/** Reads the layout, and writes it where the log is new. */
async function settleLayout(options: PrepareOptions): Promise<Layout> {
  return retrying('settling the layout', SETTLE_MS, async () => {
    const known = await readLayout(options)
    if (known !== undefined) return checked(known, options)
    return writeLayout(options).catch((error: unknown) => {
      // Another start is doing the same: what it wrote is read then.
      if (error instanceof FencedError) return again
      throw error
    })
  })
}

/** One process at a time: what another wrote before our claim stands. */
async function writeLayout(options: PrepareOptions): Promise<Layout> {
  const claim = await options.log.claim('layout-0', [{ topic: LAYOUT_TOPIC, partition: 0 }])
  try {
    const known = await readLayout(options)
    if (known !== undefined) return checked(known, options)
    const { partitions } = options
    const time = Date.now()
    const layout = { log: randomUUID(), version: LAYOUT_VERSION, partitions, map: mapHash(), created: time * 1000 }
    const value = options.codec.encode(LAYOUT_TOPIC, 'layout', layout)
    await claim.send(LAYOUT_TOPIC, 0, [{ key: LAYOUT_KEY, value, time }])
    return layout
  } finally {
    await claim.close()
  }
}

function checked(layout: Layout, { partitions }: TopicSizes): Layout {
  checkLayout(layout, partitions)
  return layout
}

/** The log's layout; undefined: nothing was prepared on it. */
export async function readLayout({ log, codec }: Pick<PrepareOptions, 'log' | 'codec'>): Promise<Layout | undefined> {
  const reader = log.reader()
  try {
    return await newestLayout(reader, codec)
  } finally {
    await reader.close()
  }
}

async function newestLayout(reader: LogReader, codec: RegistryCodec): Promise<Layout | undefined> {
  let layout: Layout | undefined
  for await (const records of reader.toEnd(LAYOUT_TOPIC, 0)) {
    for (const { value } of records) {
      const message = value === null ? undefined : await codec.read(value)
      if (message?.type === 'layout') layout = message.value
    }
  }
  return layout
}

function entries(settings: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(settings).map(([name, value]) => ({ name, value }))
}

function partition<Item>(items: readonly Item[], test: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(test), items.filter((item) => !test(item))]
}

/** Raised when what lies in the log changes its meaning; older code must not touch it then. */
export const LAYOUT_VERSION = 1

/** The log was made by, or for, something that we are not: the message says what differs and what to do. */
export class LayoutError extends Error {
  readonly code: 'newer' | 'partitions' | 'map' | 'topic'
  constructor(code: LayoutError['code'], message: string) {
    super(message)
    this.code = code
  }
}

const WAY_OUT = 'start with an empty data folder or with another NAMESPACE'

/** Throws `LayoutError` where we must not start on a log of this layout. */
export function checkLayout(layout: Layout, partitions: number): void {
  if (layout.version > LAYOUT_VERSION) {
    throw new LayoutError(
      'newer',
      `the log ${layout.log} has layout version ${layout.version}, this release knows up to ${LAYOUT_VERSION}; ` +
        `run the newer release, or ${WAY_OUT}`,
    )
  }
  if (layout.partitions !== partitions) {
    throw new LayoutError(
      'partitions',
      `the log ${layout.log} was created with ${layout.partitions} partitions, PARTITIONS is ${partitions}; ` +
        `set PARTITIONS=${layout.partitions}, or ${WAY_OUT}`,
    )
  }
  if (layout.map !== mapHash()) {
    throw new LayoutError(
      'map',
      `the log ${layout.log} was written with another asset map (${layout.map}, ours is ${mapHash()}): assets would ` +
        `change partitions; run the release that wrote it, or ${WAY_OUT}`,
    )
  }
}
