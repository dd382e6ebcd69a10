import { createHash } from 'node:crypto'

/** The id of an authorization, also its key in all payment topics. */
export function paymentId(chainId: number, asset: string, from: string, nonce: string): string {
  return `${chainId}:${asset}:${from}:${nonce}`.toLowerCase()
}

/** The partition of a webhook's receiver (host and port): all that goes to one receiver has one place. */
export function receiverPartition(receiver: string, partitions: number): number {
  return createHash('sha256').update(receiver).digest().readUInt32BE(0) % partitions
}
