import { describe, expect, it } from 'vitest'
import type { Position, Slice } from '../../infra/kafka/seam.ts'
import { counted, given, marks, tallyRow, type Given } from './given.ts'
import { Slot } from './slot.ts'

const IN = 'market.trades'

function open(begun: Given): Slot {
  const nothing = (): void => undefined
  return new Slot(tallyRow, 0, { ...begun, onWant: nothing, onWorked: nothing, onFatal: nothing })
}

/** What it wants, once it wants something. */
async function wanted(slot: Slot): Promise<readonly Position[]> {
  await expect.poll(() => slot.state).toBe('idle')
  return slot.wants() ?? []
}

function fetch({ ports }: Given, positions: readonly Position[]): Promise<Slice[]> {
  return ports.reader.fetch(positions, { maxWaitMs: 0, maxBytesPerPartition: 1e6 })
}

describe('a slot', () => {
  it('takes one batch while another is worked on, and no more', async () => {
    const begun = given()
    const slot = open(begun)
    const first = await wanted(slot)
    begun.broker.append(IN, 0, marks(5))
    slot.offer(first, await fetch(begun, first))
    const second = slot.wants() ?? []
    expect(second).toEqual([{ topic: IN, partition: 0, offset: 1 }])
    begun.broker.append(IN, 0, marks(6))
    const slices = begun.broker.at(IN, 0).slice({ topic: IN, partition: 0, offset: 1 }, 1e6)
    slot.offer(second, [slices])
    expect(slot.wants()).toBeUndefined()
    await expect.poll(() => counted(begun.broker)).toEqual([1, 2])
    expect(slot.wants()).toEqual([{ topic: IN, partition: 0, offset: 2 }])
  })

  it('lets go of what was fetched for a task that has failed since: the next one stands further back', async () => {
    const begun = given()
    const slot = open(begun)
    const first = await wanted(slot)
    begun.broker.append(IN, 0, marks(5))
    const slices = await fetch(begun, first)
    await begun.broker.connect().claim('tally-0', [])
    slot.offer(first, slices)
    const ahead = slot.wants() ?? []
    expect(ahead).toEqual([{ topic: IN, partition: 0, offset: 1 }])
    begun.broker.append(IN, 0, marks(6))
    const tooFar = await fetch(begun, ahead)
    expect(await wanted(slot)).toEqual(first)
    slot.offer(ahead, tooFar)
    expect(slot.wants()).toEqual(first)
    expect(counted(begun.broker)).toEqual([])
  })

  it('takes nothing once it was dropped', async () => {
    const begun = given()
    const slot = open(begun)
    const first = await wanted(slot)
    begun.broker.append(IN, 0, marks(5))
    slot.drop()
    slot.offer(first, await fetch(begun, first))
    expect(slot.wants()).toBeUndefined()
    expect(counted(begun.broker)).toEqual([])
  })
})
