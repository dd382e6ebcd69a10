import type { Claim, Log, TopicPartition } from '../../infra/kafka/seam.ts'
import { topicOf } from '../../schemas/topics.ts'
import { DEAD_LETTERS } from './dead-letters.ts'
import { GAPS } from './log-gaps.ts'
import type { ProcessorRow } from './processor.ts'

/** Claims partitions and opens what needs the claim; lets go of it where that fails, since it would be renewed for ever. */
export async function claimed<Opened>(
  log: Log,
  owner: string,
  targets: readonly TopicPartition[],
  open: (claim: Claim) => Promise<Opened>,
): Promise<Opened> {
  const claim = await log.claim(owner, targets)
  try {
    return await open(claim)
  } catch (error) {
    await claim.close()
    throw error
  }
}

/** What a task claims: its own partition of each topic that it writes, all of those that are partitioned otherwise. */
export function targetsOf(row: ProcessorRow, own: number, partitions: number): TopicPartition[] {
  const all = Array.from({ length: partitions }, (_, partition) => partition)
  return [...row.outputs, row.state, DEAD_LETTERS, GAPS].flatMap((topic) =>
    (topicOf(topic).partitions === 'receiver' ? all : [own]).map((partition) => ({ topic, partition })),
  )
}
