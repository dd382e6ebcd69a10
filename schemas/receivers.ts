import { createHash } from 'node:crypto'

/** The partition of a webhook's receiver (host and port): all that goes to one receiver has one place. */
export function receiverPartition(receiver: string, partitions: number): number {
  return createHash('sha256').update(receiver).digest().readUInt32BE(0) % partitions
}
