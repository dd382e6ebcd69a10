import { PartitionWriters } from './partition-writers.ts'
import type { Identity } from './partition-writer.ts'
import { apis, Encoder, type Decoder, type Link } from './internals.ts'
import { verdictOf } from './codes.ts'
import { again, retrying } from './retry.ts'
import type { Appender } from './produce.ts'
import type { Writer } from './seam.ts'

/** A broker that is away for less costs nothing but time. */
const GIVE_UP_MS = 10 * 60_000
const IDENTIFY_MS = 30_000
/** Kafka wants one; it bounds an open transaction, and ours are empty and closed at once. */
const TRANSACTION_MS = 10_000

export interface WriterOptions {
  readonly link: Link
  readonly appender: Appender
  readonly namespace: string
  readonly giveUpMs?: number
}

/** A plain idempotent writer: each batch is in the log once, in the order of the calls, however often it was sent. */
export function openWriter({ link, appender, namespace, giveUpMs = GIVE_UP_MS }: WriterOptions): Writer {
  let shared: Promise<Identity> | undefined
  const identify = async (spent: Identity | undefined): Promise<Identity> => {
    const current = shared === undefined ? undefined : await shared
    if (shared === undefined || (spent !== undefined && current?.id === spent.id)) {
      shared = initProducer(link, 'any', null)
      shared.catch(() => {
        shared = undefined
      })
    }
    return shared
  }
  const writers = new PartitionWriters({ link, appender, namespace, giveUpMs, identify })
  return {
    send: (topic, partition, records) => writers.send(topic, partition, records),
    close: () => writers.close(),
  }
}

/** A producer id and epoch of the broker; for a transactional id the next epoch of it, which ends what came before. */
export async function initProducer(
  link: Link,
  node: number | 'any',
  transactionalId: string | null,
): Promise<Identity> {
  return retrying('producer id', IDENTIFY_MS, async () => {
    const body = new Encoder().writeString(transactionalId).writeInt32(TRANSACTION_MS)
    const answer = await link.call(node, { key: apis.initProducerId, version: 1, name: 'InitProducerId', body })
    const { code, ...identity } = readIdentity(answer)
    return verdictOf(code) === 'ok' ? identity : again
  })
}

function readIdentity(answer: Decoder): Identity & { code: number } {
  answer.forward(4) // throttle time
  const code = answer.readInt16()
  return { code, id: BigInt(answer.readInt64().toString()), epoch: answer.readInt16() }
}
