import { topics, type TopicName } from './topics.ts'

/** A record's place in the log: what `record` in a webhook and `GET /records/:id` name. */
export interface RecordPosition {
  readonly topic: TopicName
  readonly partition: number
  readonly offset: number
}

/** An opaque id of a place, safe in a path. */
export function recordId({ topic, partition, offset }: RecordPosition): string {
  return `rec_${Buffer.from(`${topic}/${partition}/${offset}`).toString('base64url')}`
}

/** The place that an id names; undefined where it is none. */
export function recordPosition(id: string): RecordPosition | undefined {
  const text = id.startsWith('rec_') ? Buffer.from(id.slice(4), 'base64url').toString() : ''
  const [, name, partition, offset] = /^([\w.]+)\/(\d{1,5})\/(\d{1,15})$/.exec(text) ?? []
  const topic = topics.find((candidate) => candidate.name === name)
  if (topic === undefined) return undefined
  const position = { topic: topic.name, partition: Number(partition), offset: Number(offset) }
  return recordId(position) === id ? position : undefined
}
