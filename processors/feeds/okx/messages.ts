import { alive, factEvent } from '../fact-fields.ts'
import { badBody, badField, isRecord, jsonOf, notAnObject, notJson, unknownEvent } from '../fields.ts'
import type { FactRow } from '../source.ts'
import type { FrameEvent, RestAnswer } from '../venue.ts'
import { dataOf, refusal } from './backfill.ts'
import { readReply } from './requests.ts'

/** What a row of a channel or of a call says; none: it is not of our markets. */
export type ReadRow = (row: unknown) => readonly FactRow[]

/** Reads a frame of a stream of one channel. */
export function parserOf(channel: string, read: ReadRow): (frame: string) => FrameEvent[] {
  return (frame) => {
    // The answer to our ping, and what shows that a channel with nothing to say lives.
    if (frame === 'pong') return [{ kind: 'pong' }, alive]
    const message = jsonOf(frame)
    if (message === undefined) return [notJson]
    if (!isRecord(message)) return [notAnObject]
    const { arg, data, event } = message
    if (event !== undefined) return readReply(message)
    if (!isRecord(arg) || arg['channel'] !== channel) return [unknownEvent]
    return Array.isArray(data) ? data.flatMap(read).map(factEvent) : [badField]
  }
}

/** Reads the answer of a call. */
export function answerOf(body: unknown, read: ReadRow): RestAnswer<FactRow> {
  const data = dataOf(body)
  if (data === undefined) return refusal(body) ?? badBody('data')
  return { kind: 'rows', rows: data.flatMap(read) }
}
