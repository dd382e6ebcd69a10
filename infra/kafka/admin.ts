import './wire/patch.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { Kafka, type Admin, type ITopicConfig } from 'kafkajs'
import type { Logger } from '../log.ts'
import { quietLog, isMissingTopic, apis, Encoder, findCoordinator, Link } from './wire/internals.ts'
import { LogError } from './seam.ts'

const REQUEST_MS = 15_000
/** A broker on a busy machine may need more than half a minute for many new topics. */
const READY_MS = 120_000
const LOOK_EVERY_MS = 20
const ELECT_MS = 30_000
const PREFERRED = 0
const ALL = -1
const PROBE_MS = 3_000

export interface AdminOptions {
  readonly brokers: readonly string[]
  readonly clientId: string
  readonly log?: Logger | undefined
}

/** Runs `work` with a client for topics and settings. */
export async function asAdmin<Result>(
  { brokers, clientId, log }: AdminOptions,
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  const kafka = new Kafka({
    brokers: [...brokers],
    clientId,
    requestTimeout: REQUEST_MS,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 20 },
    logCreator: quietLog(log),
  })
  const admin = kafka.admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}

/** What is needed of kafkajs' admin client. */
export type TopicAdmin = Pick<Admin, 'createTopics' | 'fetchTopicMetadata'>

/**
 * Makes topics and resolves when each partition has a leader. kafkajs' own `waitForLeaders` gives up at a broker that
 * has not heard of the new topic yet, and its retries do not cover a moment in which no broker is known to be alive.
 */
export async function createTopics(admin: TopicAdmin, topics: readonly ITopicConfig[]): Promise<void> {
  if (topics.length === 0) return
  const deadline = Date.now() + READY_MS
  while (!(await areCreated(admin, topics, Date.now() > deadline))) await delay(LOOK_EVERY_MS)
  const names = topics.map(({ topic }) => topic)
  while (!(await haveLeaders(admin, names))) {
    if (Date.now() > deadline) throw new LogError('unavailable', `no leaders of ${names.join(', ')} in ${READY_MS} ms`)
    await delay(LOOK_EVERY_MS)
  }
}

/** False: no broker is alive for the controller, as after a pause of all of them. Throws where that is so at the `last` try. */
async function areCreated(admin: TopicAdmin, topics: readonly ITopicConfig[], last: boolean): Promise<boolean> {
  try {
    await admin.createTopics({ topics: [...topics], waitForLeaders: false, timeout: REQUEST_MS })
    return true
  } catch (error) {
    if (last || !isWithoutBroker(error)) throw error
    return false
  }
}

function isWithoutBroker(error: unknown): boolean {
  const { name, errors } = error as { name?: string; errors?: readonly { type?: string }[] }
  return name === 'KafkaJSBrokerNotFound' || errors?.some(({ type }) => type === 'INVALID_REPLICATION_FACTOR') === true
}

async function haveLeaders(admin: TopicAdmin, topics: string[]): Promise<boolean> {
  try {
    const metadata = await admin.fetchTopicMetadata({ topics })
    return metadata.topics.every(({ partitions }) => partitions.every(({ leader }) => leader >= 0))
  } catch (error) {
    if (isMissingTopic(error) || (error as { type?: unknown }).type === 'LEADER_NOT_AVAILABLE') return false
    throw error
  }
}

/** How the replicas of each partition of each topic stand. */
export interface Replicas {
  readonly topic: string
  readonly partition: number
  readonly leader: number
  readonly replicas: readonly number[]
  readonly inSync: readonly number[]
}

/** Of every topic, the brokers' own included. */
export async function readReplicas(options: AdminOptions): Promise<Replicas[]> {
  return asAdmin(options, async (admin) => {
    const { topics } = await admin.fetchTopicMetadata()
    return topics.flatMap(({ name, partitions }) =>
      partitions.map(({ partitionId, leader, replicas, isr }) => {
        return { topic: name, partition: partitionId, leader, replicas, inSync: isr }
      }),
    )
  })
}

/** Makes the next of its replicas the leader of every partition, while all goes on. */
export async function moveLeaders(options: AdminOptions): Promise<void> {
  const topics = Map.groupBy(await readReplicas(options), ({ topic }) => topic)
  await asAdmin(options, (admin) =>
    admin.alterPartitionReassignments({
      topics: [...topics].map(([topic, partitions]) => ({
        topic,
        partitionAssignment: partitions.map(({ partition, leader, replicas }) => {
          return { partition, replicas: nextFirst(replicas, leader) }
        }),
      })),
    }),
  )
  const link = new Link(options)
  try {
    await link.connect()
    const body = new Encoder().writeInt8(PREFERRED).writeInt32(ALL).writeInt32(ELECT_MS)
    await link.call('any', { key: apis.electLeaders, version: 1, name: 'ElectLeaders', body, withinMs: ELECT_MS })
  } finally {
    await link.close()
  }
}

function nextFirst(replicas: readonly number[], leader: number): number[] {
  const from = replicas.indexOf(leader) + 1
  return [...replicas.slice(from), ...replicas.slice(0, from)]
}

/**
 * Whether a broker at `address` (host:port) can be worked with: it answers, and has coordinators for groups and for
 * claims, whose topics it makes at the first question for them. Never throws.
 */
export async function brokerAnswers(address: string): Promise<boolean> {
  const link = new Link({ brokers: [address], clientId: 'probe' })
  const asked = Promise.all((['group', 'transaction'] as const).map((kind) => findCoordinator(link, kind, 'probe')))
    .then((found) => found.every((node) => node !== undefined))
    .catch(() => false)
  const late = new Promise<false>((resolve) => {
    setTimeout(() => resolve(false), PROBE_MS).unref()
  })
  const answer = await Promise.race([asked, late])
  void asked.then(() => link.close()).catch(() => undefined) // whatever it was, it was only a look
  return answer
}
