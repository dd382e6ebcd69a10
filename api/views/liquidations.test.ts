import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { takeIn } from '../../processors/present/present.ts'
import { emptyPresent, STRETCH, type LoggedLiquidation } from '../../processors/present/state.ts'
import { emptyFields } from '../../schemas/codec.ts'
import type { Liquidation } from '../../schemas/records.ts'
import { Present } from '../present/present.ts'
import { countableOf, countedOf, liquidationsOf, observedOf } from './liquidations.ts'

const T0 = 6_000_000 * STRETCH
const PARTITIONS = 2

interface Event extends Pick<Liquidation, 'asset' | 'side' | 'value' | 'time' | 'received'> {
  readonly partition: number
}

/** What a log of these is. */
function presentOf(events: readonly Event[]): Present {
  const states = Array.from({ length: PARTITIONS }, emptyPresent)
  for (const [offset, { partition, ...event }] of events.entries()) {
    const value = {
      ...emptyFields('liquidation'),
      ...event,
      id: String(offset),
      instrument: 'okx:perp:X',
    } as Liquidation
    const state = states[partition]
    if (state !== undefined)
      takeIn(state, { topic: 'market.liquidations', offset, message: { type: 'liquidation', value } })
  }
  return new Present(() => states, emptyPresent())
}

const time = fc.nat(5 * STRETCH).map((at) => T0 + at)
const event = fc
  .record({
    partition: fc.nat(PARTITIONS - 1),
    asset: fc.constantFrom('btc', 'eth'),
    side: fc.constantFrom('long' as const, 'short' as const),
    value: fc.integer({ min: 1, max: 1_000 }),
    time,
    late: fc.nat(STRETCH),
  })
  .map(({ late, ...row }): Event => ({ ...row, received: row.time + late }))

function heldOf(present: Present): (LoggedLiquidation & { partition: number })[] {
  return present.states.flatMap(({ liquidations }, partition) =>
    [...liquidations.values()].flat().map((row) => ({ ...row, partition })),
  )
}

describe('liquidations of now', () => {
  it('are those of a plain look through all of them, and so are their figures', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), time, time, (events, from, now) => {
        const present = presentOf(events)
        const plain = heldOf(present).filter((row) => row.time >= from && row.received <= now)
        const sorted = plain.toSorted((a, b) => b.time - a.time || b.offset - a.offset || b.partition - a.partition)
        const told = [...liquidationsOf(present, null, { from, now })]
        expect(told).toEqual(sorted.map((row) => ({ ...row, venue: 'okx' })))
        const sumOf = (side: string): number =>
          plain.filter((row) => row.side === side).reduce((sum, { value }) => sum + value, 0)
        const [longUsd, shortUsd] = [sumOf('long'), sumOf('short')]
        for (let look = 0; look < 2; look += 1)
          expect(countedOf(countableOf(present, null, { from, now }).sums)).toMatchObject({
            events: plain.length,
            longUsd,
            shortUsd,
            usd: longUsd + shortUsd,
          })
      }),
    )
  })

  it('are observed of a model’s time alone', () => {
    const at = (hours: number, side: 'long' | 'short'): Event => {
      const time = T0 + hours
      return { asset: 'btc', side, value: 2, time, received: time, partition: 0 }
    }
    const present = new Present(
      () => [presentOf([0, 5, 9].map((n) => at(n, 'long'))).states[0] ?? emptyPresent()],
      emptyPresent(),
    )
    expect(observedOf(present, 'btc', { since: T0 + 1, until: T0 + 8 })).toEqual({ longUsd: 2, shortUsd: 0 })
  })

  it('are told and counted without a look at each of those before', () => {
    const events = [0, 1, 4].map((at): Event => {
      const time = T0 + at * STRETCH
      return { asset: 'btc', side: 'long', value: 1, time, received: time, partition: 0 }
    })
    const present = presentOf(events)
    const bounds = { from: T0 - STRETCH, now: T0 + 9 * STRETCH }
    const first = countedOf(countableOf(present, null, bounds).sums)
    const [old] = present.states[0]?.liquidations.values() ?? []
    if (old === undefined) throw new Error('it is held')
    const looks = (['filter', 'map', Symbol.iterator] as const).map((name) =>
      vi.spyOn(old as LoggedLiquidation[], name),
    )
    expect(liquidationsOf(present, null, bounds).next().value?.time).toBe(T0 + 4 * STRETCH)
    expect(countedOf(countableOf(present, null, bounds).sums)).toEqual(first)
    expect(looks.map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0])
  })
})
