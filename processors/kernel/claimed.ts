import type { Claim, Log, TopicPartition } from '../../infra/kafka/seam.ts'

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
