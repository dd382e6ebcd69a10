import { asAdmin, type AdminOptions } from './admin.ts'
import { apis, Encoder, Link } from './internals.ts'

const ELECT_MS = 30_000
const PREFERRED = 0
const ALL = -1

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
