import { describe, expect, it } from 'vitest'
import { receiverPartition } from '../../schemas/keys.ts'
import { Outputs, UnsavedOutputs } from './outputs.ts'
import type { Output } from './processor.ts'
import { codec, mark } from './testing/task.ts'

const OUT = 'derived.flow'

const said: Output = { topic: OUT, key: 'key', message: mark(5) }

describe('what a processor emits', () => {
  const outputs = (): Outputs => new Outputs(codec, { outputs: [OUT] }, { own: 3, partitions: 12 })
  const taken = (of: Outputs): unknown[] => of.take().map(({ topic, partition, count }) => [topic, partition, count])

  it('goes to its own partition, or that of the receiver', () => {
    const of = outputs()
    const receiver = ['a', 'b', 'c'].find((each) => receiverPartition(each, 12) !== 3) ?? ''
    for (const more of [{}, { receiver }, {}]) of.emit({ ...said, ...more })
    expect(taken(of)).toEqual([
      [OUT, 3, 2],
      [OUT, receiverPartition(receiver, 12), 1],
    ])
    expect(taken(of)).toEqual([])
  })

  it('is taken back as far as it was emitted behind a place', () => {
    const of = outputs()
    of.emit(said)
    const undo = of.mark()
    for (const more of [{}, { receiver: 'a' }, { receiver: 'b' }]) of.emit({ ...said, ...more })
    undo()
    expect(taken(of)).toEqual([[OUT, 3, 1]])
  })

  it('is cut into sends of 2,000', () => {
    const of = outputs()
    for (let n = 0; n < 4_001; n++) of.emit(said)
    expect(of.take().flatMap(({ sends }) => sends.map(({ length }) => length))).toEqual([2_000, 2_000, 1])
  })
})

describe('what was written since the state was', () => {
  const records = (...keys: string[]): { key: string; value: Buffer; time: number }[] =>
    keys.map((key) => ({ key, value: Buffer.from(key), time: 0 }))
  const lost = (unsaved: UnsavedOutputs): unknown[] =>
    unsaved.takeLost().map(({ first, records: of }) => [first, of.map(({ key }) => key).join('')])

  it('counts the bytes of its values until the state is written', () => {
    const unsaved = new UnsavedOutputs()
    unsaved.wrote(OUT, 0, 10, records('ab', 'cde'))
    expect(unsaved.bytes).toBe(5)
    unsaved.clear()
    unsaved.lose({ topic: OUT, partition: 0, next: 0 })
    expect([unsaved.bytes, lost(unsaved)]).toEqual([0, []])
  })

  it('is nothing to write again where the log has lost what lies behind it', () => {
    const unsaved = new UnsavedOutputs()
    unsaved.wrote(OUT, 0, 10, records('a', 'b'))
    unsaved.lose({ topic: OUT, partition: 0, next: 12 })
    unsaved.lose({ topic: OUT, partition: 1, next: 0 })
    expect(lost(unsaved)).toEqual([])
  })

  it('is written again from where the log lost it, as often as it does', () => {
    const unsaved = new UnsavedOutputs()
    unsaved.wrote(OUT, 0, 10, records('a', 'b', 'c'))
    unsaved.lose({ topic: OUT, partition: 0, next: 12 })
    expect(lost(unsaved)).toEqual([[12, 'c']])
    unsaved.wrote(OUT, 0, 12, records('c'))
    unsaved.lose({ topic: OUT, partition: 0, next: 10 })
    expect(lost(unsaved)).toContainEqual([10, 'abc'])
  })

  it('is written again with what took its place, so that the last of a key stays the last', () => {
    const unsaved = new UnsavedOutputs()
    unsaved.wrote(OUT, 0, 10, records('a', 'b', 'c'))
    unsaved.wrote(OUT, 0, 11, records('d'))
    expect(lost(unsaved)).toEqual([
      [11, 'bc'],
      [11, 'd'],
    ])
  })
})
