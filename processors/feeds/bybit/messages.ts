import { alive } from '../fact-fields.ts'
import { isRecord, jsonOf, notAnObject, notJson, unknownEvent } from '../fields.ts'
import type { FrameEvent } from '../venue.ts'
import { readReply } from './requests.ts'

/** What a message of a topic says; undefined fields are for the reader to judge. */
export type ReadMessage = (message: Record<string, unknown>) => FrameEvent[]

/** Reads a frame of a stream of `topic`: its messages by `read`, all else here. */
export function parserOf(topic: string, read: ReadMessage): (frame: string) => FrameEvent[] {
  return (frame) => {
    const message = jsonOf(frame)
    if (message === undefined) return [notJson]
    if (!isRecord(message)) return [notAnObject]
    if (message['op'] !== undefined) return replied(readReply(message))
    const name = message['topic']
    return typeof name === 'string' && name.startsWith(`${topic}.`) ? read(message) : [unknownEvent]
  }
}

/** These channels may have nothing to say for long: that our ping was answered is what shows that they live. */
function replied(reply: FrameEvent): FrameEvent[] {
  return reply.kind === 'pong' ? [reply, alive] : [reply]
}
