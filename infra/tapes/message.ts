import { HEADER_BYTES, UndecodableError, type Codec } from '../../schemas/codec.ts'
import type { Message } from '../../schemas/records.ts'
import { topicOf, type TopicName } from '../../schemas/topics.ts'
import type { Tape } from './tape.ts'

/** What a record of a topic says; undefined: it cannot be read. What another release wrote has a schema of its own. */
export async function readMessage(tape: Tape, topic: TopicName, value: Buffer): Promise<Message | undefined> {
  if (value.length < HEADER_BYTES || value[0] !== 0) return undefined
  const id = value.readInt32BE(1)
  if (!tape.codec.knows(id)) await tape.lookUp(id)
  return messageIn(tape.codec, topic, value)
}

/** The same, of what the codec knows. */
export function messageIn(codec: Codec, topic: TopicName, value: Buffer): Message | undefined {
  try {
    const message = codec.decode(value)
    return topicOf(topic).records.some((record) => record === message.type) ? message : undefined
  } catch (error) {
    if (error instanceof UndecodableError) return undefined
    throw error
  }
}

/** Where a record lies in a log. */
export interface Place {
  readonly topic: TopicName
  readonly partition: number
  readonly offset: number
}

const PLACES_SHOWN_MAX = 20

/** What people are told of records that could not be read: lines of text, none where there are none. */
export function leftOut(places: readonly Place[]): readonly string[] {
  if (places.length === 0) return []
  const shown = places
    .slice(0, PLACES_SHOWN_MAX)
    .map(({ topic, partition, offset }) => `${topic}/${partition} ${offset}`)
  const rest = places.length > shown.length ? `, and ${places.length - shown.length} more` : ''
  return [`${places.length} records left out that cannot be read, at ${shown.join(', ')}${rest}`]
}
