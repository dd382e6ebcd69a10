import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Lanes } from './lanes.ts'

/** Receivers whose attempts are taken until nothing may start any more. */
function takeAll(lanes: Lanes<number>): string[] {
  const taken: string[] = []
  for (let next = lanes.take(); next !== undefined; next = lanes.take()) taken.push(next.receiver)
  return taken
}

function lanesOf(counts: Readonly<Record<string, number>>, limits = { slots: 16, perReceiver: 8 }): Lanes<number> {
  const lanes = new Lanes<number>(limits)
  for (const [receiver, count] of Object.entries(counts)) {
    for (let item = 0; item < count; item++) lanes.offer(receiver, item)
  }
  return lanes
}

describe('lanes', () => {
  it('give a receiver that is not known a quarter of its slots, and all once it is good', () => {
    const lanes = lanesOf({ a: 100 })
    expect(takeAll(lanes)).toHaveLength(2)
    lanes.know('a', 'good')
    lanes.release('a')
    expect(takeAll(lanes)).toHaveLength(7)
    expect(lanes.inFlight).toBe(8)
  })

  it('serve receivers in turn', () => {
    const lanes = lanesOf({ a: 10, b: 10, c: 1 })
    expect(takeAll(lanes)).toEqual(['a', 'b', 'c', 'a', 'b'])
  })

  it('keep room for the good ones whatever the others do', () => {
    const lanes = lanesOf(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`x${n}`, 10])))
    expect(takeAll(lanes)).toHaveLength(8)
    for (let n = 0; n < 8; n++) lanes.know(`x${n}`, 'slow')
    takeAll(lanes)
    lanes.offer('good', 1)
    lanes.know('good', 'good')
    expect(takeAll(lanes)).toContain('good')
  })

  it('remember the pace of a receiver that rests', () => {
    const lanes = lanesOf({ a: 1 })
    takeAll(lanes)
    lanes.know('a', 'good')
    lanes.release('a')
    for (let item = 0; item < 20; item++) lanes.offer('a', item)
    expect(takeAll(lanes)).toHaveLength(8)
  })

  it('let none of the others wait for receivers that never answer', () => {
    const lanes = new Lanes<number>({ slots: 64, perReceiver: 16 })
    const waits: number[] = []
    const ends: { at: number; receiver: string }[] = []
    for (let now = 0; now < 20_000; now++) {
      for (const { at, receiver } of ends.splice(0)) {
        if (at > now) ends.push({ at, receiver })
        else {
          lanes.know(receiver, receiver.startsWith('good') ? 'good' : 'slow')
          lanes.release(receiver)
        }
      }
      for (let n = 0; n < 5; n++) lanes.offer(`bad ${n}`, now)
      if (now % 10 === 0) for (let n = 0; n < 5; n++) lanes.offer(`good ${n}`, now)
      for (let next = lanes.take(); next !== undefined; next = lanes.take()) {
        const isGood = next.receiver.startsWith('good')
        if (isGood) waits.push(now - next.item)
        ends.push({ at: now + (isGood ? 5 : 10_000), receiver: next.receiver })
      }
    }
    expect(waits).toHaveLength(10_000)
    expect(Math.max(...waits)).toBe(0)
  })

  it('lose nothing, keep each receiver’s order and every limit, for any history', () => {
    const receiver = fc.constantFrom('a', 'b', 'c')
    const action = fc.oneof(
      fc.record({ kind: fc.constant('offer' as const), receiver }),
      fc.record({ kind: fc.constant('take' as const) }),
      fc.record({ kind: fc.constant('release' as const), receiver }),
      fc.record({
        kind: fc.constant('know' as const),
        receiver,
        pace: fc.constantFrom('good' as const, 'slow' as const),
      }),
    )
    fc.assert(
      fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
        const lanes = new Lanes<number>({ slots: 6, perReceiver: 4 })
        const offered: Record<string, number[]> = { a: [], b: [], c: [] }
        const taken: Record<string, number[]> = { a: [], b: [], c: [] }
        const held: Record<string, number> = { a: 0, b: 0, c: 0 }
        const take = (): boolean => {
          const next = lanes.take()
          if (next === undefined) return false
          taken[next.receiver]?.push(next.item)
          held[next.receiver] = (held[next.receiver] ?? 0) + 1
          return true
        }
        const release = (from: string): void => {
          if ((held[from] ?? 0) === 0) return
          held[from] = (held[from] ?? 0) - 1
          lanes.release(from)
        }
        for (const [index, step] of actions.entries()) {
          if (step.kind === 'offer') {
            offered[step.receiver]?.push(index)
            lanes.offer(step.receiver, index)
          } else if (step.kind === 'take') take()
          else if (step.kind === 'release') release(step.receiver)
          else lanes.know(step.receiver, step.pace)
          expect(lanes.inFlight).toBe(Object.values(held).reduce((a, b) => a + b))
          expect(lanes.inFlight).toBeLessThanOrEqual(6)
          expect(Math.max(...Object.values(held))).toBeLessThanOrEqual(4)
        }
        for (let left = true; left;) {
          left = take()
          for (const each of ['a', 'b', 'c']) {
            left ||= (held[each] ?? 0) > 0
            release(each)
          }
        }
        expect(taken).toEqual(offered)
        expect(lanes.waiting).toBe(0)
      }),
    )
  })
})
