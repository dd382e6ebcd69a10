import type { Entry } from './board.ts'
import { vectorOf, vectorText, type Vector } from './vector.ts'

/** One server-sent event; without an id it says nothing of where a reader is. */
export function eventText(event: string, data: string, id?: string): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`
}

/** Where a reader is, and when that was so, milliseconds. */
export interface Seen {
  readonly time: number
  readonly vector: Vector
}

/** The id of an event: a reader that comes back with it says what it has seen, to any instance. */
export function idOf({ time, vector }: Seen): string {
  return `${time.toString(36)}.${vectorText(vector)}`
}

/** What an id says; undefined where it is none of ours. */
export function seenOf(id: string): Seen | undefined {
  const [, time, text] = /^([0-9a-z]{1,10})\.([\w-]+)$/.exec(id) ?? []
  const vector = vectorOf(text ?? '')
  return time === undefined || vector === undefined ? undefined : { time: Number.parseInt(time, 36), vector }
}

/** In the order of their places, each with the position behind it: who has heard it and all before it is there. */
export function inLogOrder(entries: readonly Entry[], from: Vector, to: Vector): (readonly [Entry, Vector])[] {
  const reached = from.map((offsets) => [...offsets])
  const inOrder = entries.toSorted(byPosition)
  return inOrder.map((entry, index) => {
    const { topic, partition, offset } = entry.place
    for (let before = 0; before < topic; before += 1) reached[before] = [...(to[before] ?? [])]
    const offsets = reached[topic] ?? []
    for (let before = 0; before < partition; before += 1) offsets[before] = to[topic]?.[before] ?? 0
    const next = inOrder[index + 1]
    // Of what one record says, the last alone is behind it.
    offsets[partition] = next !== undefined && byPosition(entry, next) === 0 ? offset : offset + 1
    return [entry, reached.map((each) => [...each])] as const
  })
}

function byPosition({ place: a }: Entry, { place: b }: Entry): number {
  return a.topic - b.topic || a.partition - b.partition || a.offset - b.offset
}
