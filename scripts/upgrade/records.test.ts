import { beforeAll, describe, expect, it } from 'vitest'
import { creditRow } from '../../processors/credit/credit.ts'
import { Fold } from '../../processors/kernel/fold.ts'
import type { Output } from '../../processors/kernel/processor.ts'
import { StateFold } from '../../processors/kernel/snapshot.ts'
import { topology } from '../../processors/topology.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Message, Snapshot } from '../../schemas/records.ts'
import { keys } from '../../schemas/topics.ts'
import { codecOver, openRelease, releases, type Release } from './testing/former-release.ts'

const rows = [...topology, creditRow]

describe.each(releases)('the records of %s', (name) => {
  let release: Release
  let codec: Codec
  beforeAll(async () => {
    release = await openRelease(name)
    codec = codecOver(release.schemas)
  })

  it('are all read', () => {
    const types = new Set<string>()
    for (const records of release.log.values())
      for (const { value } of records) if (value !== null) types.add(codec.decode(value).type)
    expect([...types]).toEqual(expect.arrayContaining(['trade', 'alert', 'command', 'pending', 'api_key', 'snapshot']))
  })

  it('have the keys that are documented', () => {
    const others = new Set<string>()
    for (const records of release.log.values())
      for (const { key, value } of records) {
        if (value === null) continue
        const message = codec.decode(value)
        if (!isDocumented(String(key), message)) others.add(`${message.type} ${String(key)}`)
      }
    // where a dispatcher is, beside what waits there
    expect([...others]).toEqual(['pending position'])
  })

  it.each(rows.map((row) => [row.name, row] as const))('are folded on by %s, from its state', async (_, row) => {
    const state = new StateFold((value) => Promise.resolve(codec.decode(value).value as Snapshot))
    await state.add(release.log.get(row.state) ?? [])
    const found = state.found(row)
    const isOlder = found.kind === 'none' && (found.writtenBy ?? row.generation) < row.generation
    expect(found.kind === 'state' || isOlder).toBe(true)
    const fold =
      found.kind === 'state'
        ? new Fold(row, 0, { ...found.position, state: row.core.load(found.parts) })
        : Fold.empty(row, 0)

    // what there is comes once more, behind what the state has applied: it is written as this code writes
    let read = 0
    const emit = ({ topic, key, message }: Output): void => {
      if (message === null) return
      codec.encode(topic, message.type, message.value)
      expect([message.type, key, isDocumented(key, message)]).toEqual([message.type, key, true])
    }
    for (const topic of row.inputs)
      for (const record of release.log.get(topic) ?? [])
        if (record.value !== null) {
          fold.apply(topic, record, codec.decode(record.value), emit)
          read += 1
        }
    fold.flush(emit)
    for (const [key] of row.core.save(fold.state)) expect(key).not.toBe('')
    expect(read).toBeGreaterThan(0)
  })
})

/** Whether the key is as documented; one that is not made of the record's fields is. */
function isDocumented(key: string, { type, value }: Message): boolean {
  if (keys[type].includes(' ')) return true
  const fields = new Map<string, unknown>(Object.entries(value))
  const parts = keys[type].split('|').map((word) => (word.startsWith('"') ? word.slice(1, -1) : fields.get(word)))
  return parts.join('|') === key
}
