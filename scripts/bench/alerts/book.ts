import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { alerts } from '../../../processors/alerts/alerts.ts'
import type { AlertsState } from '../../../processors/alerts/state.ts'
import { mark } from '../../../processors/alerts/testing/records.ts'
import { localCodec } from '../../../schemas/codec.ts'
import type { Message } from '../../../schemas/records.ts'

const codec = localCodec()

/** Gives how many alerts it rang. */
export function apply(state: AlertsState, message: Message): number {
  const entry = { topic: 'alerts.inputs', offset: 1, time: 0, message } as const
  let rang = 0
  alerts.apply(state, entry, { partition: 0, v: 1, partitionTime: 0 }, ({ topic }) => {
    rang += Number(topic === 'alerts.triggers')
  })
  return rang
}

/** A state of `count` creations that were read from their bytes as in life, and what each takes of the heap. */
export function bookOf(
  count: number,
  creation: (n: number) => Message<'command'>,
): { readonly state: AlertsState; readonly bytes: number } {
  const before = usedBytes()
  const state = alerts.empty()
  apply(state, mark(0))
  for (let n = 0; n < count; n++)
    apply(state, codec.decode(codec.encode('alerts.inputs', 'command', creation(n).value)))
  save(state)
  return { state, bytes: (usedBytes() - before) / count }
}

/** Microseconds for each of `updates` that these messages bring, and how often they rang. */
export function walk(
  state: AlertsState,
  way: Iterable<Message>,
  updates: number,
): { readonly us: number; readonly rang: number } {
  const messages = [...way]
  let rang = 0
  const startedAt = performance.now()
  for (const message of messages) rang += apply(state, message)
  const us = ((performance.now() - startedAt) * 1_000) / updates
  save(state)
  return { us, rang }
}

/** What has changed since the last save. */
export function save(state: AlertsState): Map<string, Buffer> {
  const parts = new Map<string, Buffer>()
  for (const [key, part] of alerts.save(state)) if (part !== null) parts.set(key, part)
  return parts
}

export function saveWhole(state: AlertsState): Map<string, Buffer> {
  for (const id of state.alerts.keys()) state.changed.alerts.add(id)
  return save(state)
}

/** Seconds to have `count` alerts again. */
export function secondsToStart(parts: ReadonlyMap<string, Buffer>, count: number): number {
  const startedAt = performance.now()
  const { alerts: loaded } = alerts.load(parts)
  const seconds = (performance.now() - startedAt) / 1_000
  if (loaded.size !== count) throw new Error(`${loaded.size} of ${count} alerts came back`)
  return seconds
}

/** What the heap holds when all that can go has gone. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
