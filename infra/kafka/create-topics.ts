import { setTimeout as delay } from 'node:timers/promises'
import type { Admin, ITopicConfig } from 'kafkajs'
import { isMissingTopic } from './internals.ts'
import { LogError } from './seam.ts'

const READY_MS = 30_000
const LOOK_EVERY_MS = 20
const REQUEST_MS = 15_000

/**
 * Makes topics and resolves when each partition has a leader. kafkajs' own `waitForLeaders` gives up at a broker that
 * has not heard of the new topic yet.
 */
export async function createTopics(admin: Admin, topics: readonly ITopicConfig[]): Promise<void> {
  if (topics.length === 0) return
  await admin.createTopics({ topics: [...topics], waitForLeaders: false, timeout: REQUEST_MS })
  const names = topics.map(({ topic }) => topic)
  const deadline = Date.now() + READY_MS
  while (!(await haveLeaders(admin, names))) {
    if (Date.now() > deadline) throw new LogError('unavailable', `no leaders of ${names.join(', ')} in ${READY_MS} ms`)
    await delay(LOOK_EVERY_MS)
  }
}

async function haveLeaders(admin: Admin, topics: string[]): Promise<boolean> {
  try {
    const metadata = await admin.fetchTopicMetadata({ topics })
    return metadata.topics.every(({ partitions }) => partitions.every(({ leader }) => leader >= 0))
  } catch (error) {
    if (isMissingTopic(error) || (error as { type?: unknown }).type === 'LEADER_NOT_AVAILABLE') return false
    throw error
  }
}
