import { setTimeout as delay } from 'node:timers/promises'
import type { Admin, ITopicConfig } from 'kafkajs'
import { isMissingTopic } from './internals.ts'
import { LogError } from './seam.ts'

const READY_MS = 30_000
const LOOK_EVERY_MS = 20
const REQUEST_MS = 15_000

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
