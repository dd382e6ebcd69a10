import { describe, expect, it } from 'vitest'
import { createTopics, type TopicAdmin } from './admin.ts'

/** An admin client whose creations end as told, one after the other, and whose topics have leaders. */
function adminWith(...ends: readonly (Error | undefined)[]): { admin: TopicAdmin; tries: () => number } {
  let tries = 0
  const createTopics = async (): Promise<boolean> => {
    const end = ends[tries++]
    if (end !== undefined) throw end
    return true
  }
  const partition = { partitionErrorCode: 0, partitionId: 0, leader: 1, replicas: [1], isr: [1] }
  const fetchTopicMetadata = async () => ({ topics: [{ name: 'in', partitions: [partition] }] })
  return { admin: { createTopics, fetchTopicMetadata }, tries: () => tries }
}

const nobody = Object.assign(new Error('no broker'), { name: 'KafkaJSBrokerNotFound' })
const fenced = Object.assign(new Error('topic errors'), { errors: [{ type: 'INVALID_REPLICATION_FACTOR' }] })
const refused = Object.assign(new Error('topic errors'), { errors: [{ type: 'TOPIC_AUTHORIZATION_FAILED' }] })

describe('making topics', () => {
  it('is tried again while no broker is known to be alive', async () => {
    const { admin, tries } = adminWith(nobody, fenced, undefined)
    await createTopics(admin, [{ topic: 'in' }])
    expect(tries()).toBe(3)
  })

  it('is not tried again where it is refused', async () => {
    const { admin, tries } = adminWith(refused)
    await expect(createTopics(admin, [{ topic: 'in' }])).rejects.toBe(refused)
    expect(tries()).toBe(1)
  })
})
