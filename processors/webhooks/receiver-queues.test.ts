import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IN_LINE_COUNTED } from './limits.ts'
import { ReceiverQueues } from './receiver-queues.ts'

/** Receivers whose attempts are taken until nothing may start any more. */
function takeAll(queues: ReceiverQueues<number>): string[] {
  const taken: string[] = []
  for (let next = queues.take(); next !== undefined; next = queues.take()) taken.push(next.receiver)
  return taken
}

function queuesOf(
  counts: Readonly<Record<string, number>>,
  limits = { slots: 16, perReceiver: 8 },
): ReceiverQueues<number> {
  const queues = new ReceiverQueues<number>(limits)
  for (const [receiver, count] of Object.entries(counts)) {
    for (let item = 0; item < count; item++) queues.offer(receiver, item)
  }
  return queues
}

describe('queues', () => {
  it('give a receiver that is not known a quarter of its slots, and all once it is good', () => {
    const queues = queuesOf({ a: 100 })
    expect(takeAll(queues)).toHaveLength(2)
    queues.know('a', 'good')
    queues.release('a')
    expect(takeAll(queues)).toHaveLength(7)
    expect(queues.inFlight).toBe(8)
  })

  it('give nothing of a receiver that is held, which keeps its place, and one at a time once it is free', () => {
    const queues = queuesOf({ a: 2, b: 2 })
    queues.hold('a')
    queues.offer('a', 2)
    expect(takeAll(queues)).toEqual(['b', 'b'])
    queues.free('a')
    expect(takeAll(queues)).toEqual(['a'])
    queues.release('a')
    expect(takeAll(queues)).toEqual(['a'])
    queues.hold('c')
    queues.offer('c', 0)
    queues.hold('a')
    queues.release('a')
    expect([takeAll(queues), queues.waiting]).toEqual([[], 2])
    for (const receiver of ['a', 'c', 'c']) queues.free(receiver)
    expect(takeAll(queues).sort()).toEqual(['a', 'c'])
    queues.release('a')
    queues.offer('a', 3)
    queues.offer('a', 4)
    expect(takeAll(queues)).toEqual(['a', 'a'])
  })

  it('count what waits for receivers that are good, of each so many at most', () => {
    const queues = queuesOf({ a: IN_LINE_COUNTED + 10, b: 3 }, { slots: 16, perReceiver: 4 })
    expect(queues.waitingForGood).toBe(0)
    queues.know('a', 'good')
    expect(queues.waitingForGood).toBe(IN_LINE_COUNTED)
    queues.know('b', 'good')
    expect(queues.waitingForGood).toBe(IN_LINE_COUNTED + 3)
    expect(takeAll(queues)).toEqual(['a', 'b', 'a', 'b', 'a', 'b', 'a'])
    expect([queues.waiting, queues.waitingForGood]).toEqual([IN_LINE_COUNTED + 6, IN_LINE_COUNTED])
    queues.offer('b', 3)
    queues.offer('a', 4)
    expect(queues.waitingForGood).toBe(IN_LINE_COUNTED + 1)
    queues.know('a', 'slow')
    expect(queues.waitingForGood).toBe(1)
  })

  it('serve receivers in turn', () => {
    const queues = queuesOf({ a: 10, b: 10, c: 1 })
    expect(takeAll(queues)).toEqual(['a', 'b', 'c', 'a', 'b'])
  })

  it('keep room for the good ones whatever the others do', () => {
    const queues = queuesOf(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`x${n}`, 10])))
    expect(takeAll(queues)).toHaveLength(8)
    for (let n = 0; n < 8; n++) queues.know(`x${n}`, 'slow')
    takeAll(queues)
    queues.offer('good', 1)
    queues.know('good', 'good')
    expect(takeAll(queues)).toContain('good')
  })

  it('remember the pace of a receiver that rests', () => {
    const queues = queuesOf({ a: 1 })
    takeAll(queues)
    queues.know('a', 'good')
    queues.release('a')
    for (let item = 0; item < 20; item++) queues.offer('a', item)
    expect(takeAll(queues)).toHaveLength(8)
  })

  it('let none of the others wait for receivers that never answer', () => {
    const queues = new ReceiverQueues<number>({ slots: 64, perReceiver: 16 })
    const waits: number[] = []
    const ends: { at: number; receiver: string }[] = []
    for (let now = 0; now < 20_000; now++) {
      for (const { at, receiver } of ends.splice(0)) {
        if (at > now) ends.push({ at, receiver })
        else {
          queues.know(receiver, receiver.startsWith('good') ? 'good' : 'slow')
          queues.release(receiver)
        }
      }
      for (let n = 0; n < 5; n++) queues.offer(`bad ${n}`, now)
      if (now % 10 === 0) for (let n = 0; n < 5; n++) queues.offer(`good ${n}`, now)
      for (let next = queues.take(); next !== undefined; next = queues.take()) {
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
        const queues = new ReceiverQueues<number>({ slots: 6, perReceiver: 4 })
        const offered: Record<string, number[]> = { a: [], b: [], c: [] }
        const taken: Record<string, number[]> = { a: [], b: [], c: [] }
        const held: Record<string, number> = { a: 0, b: 0, c: 0 }
        const take = (): boolean => {
          const next = queues.take()
          if (next === undefined) return false
          taken[next.receiver]?.push(next.item)
          held[next.receiver] = (held[next.receiver] ?? 0) + 1
          return true
        }
        const release = (from: string): void => {
          if ((held[from] ?? 0) === 0) return
          held[from] = (held[from] ?? 0) - 1
          queues.release(from)
        }
        for (const [index, step] of actions.entries()) {
          if (step.kind === 'offer') {
            offered[step.receiver]?.push(index)
            queues.offer(step.receiver, index)
          } else if (step.kind === 'take') take()
          else if (step.kind === 'release') release(step.receiver)
          else queues.know(step.receiver, step.pace)
          expect(queues.inFlight).toBe(Object.values(held).reduce((a, b) => a + b))
          expect(queues.inFlight).toBeLessThanOrEqual(6)
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
        expect(queues.waiting).toBe(0)
      }),
    )
  })
})
