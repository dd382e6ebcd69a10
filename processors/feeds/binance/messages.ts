import { factEvent, alive } from '../fact-fields.ts'
import { isRecord, jsonOf, notAnObject, notJson } from '../fields.ts'
import type { FactRow } from '../source.ts'
import type { FrameEvent } from '../venue.ts'
import { readControl } from './requests.ts'

/** Reads a message of a channel; undefined: of a market or state that we do not follow. */
type Read = (message: Record<string, unknown>) => FactRow | undefined

/**
 * Reads the frames of a channel whose messages are `e: event`: one message or an array of them, raw or in the envelope
 * of a combined stream. Each element of an array is judged alone.
 */
export function parserOf(event: string, read: Read): (frame: string) => FrameEvent[] {
  return (frame) => {
    const value = jsonOf(frame)
    if (value === undefined) return [notJson]
    if (!isRecord(value)) return Array.isArray(value) ? eventsOf(value, event, read) : [notAnObject]
    const { stream, data } = value
    if (stream === undefined) return [eventOf(value, event, read)]
    if (Array.isArray(data)) return eventsOf(data, event, read)
    return [isRecord(data) ? eventOf(data, event, read, stream) : notAnObject]
  }
}

/** A frame of which nothing is for us still says that the channel lives; so does an empty one. */
function eventsOf(list: readonly unknown[], event: string, read: Read): FrameEvent[] {
  const events = list
    .map((element) => (isRecord(element) ? eventOf(element, event, read) : notAnObject))
    .filter((found) => found !== alive)
  return events.length === 0 ? [alive] : events
}

function eventOf(message: Record<string, unknown>, event: string, read: Read, stream?: unknown): FrameEvent {
  if (message['e'] !== event) return readControl(message, stream)
  const row = read(message)
  return row === undefined ? alive : factEvent(row)
}
