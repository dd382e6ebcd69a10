import { describe, expect, it } from 'vitest'
import { type Priority, RequestQueue } from './request-queue.ts'

/** Moves a queue through time, each call ending at once; returns the priorities in the order of their turns with the times. */
function drive(queue: RequestQueue, joins: readonly (readonly [Priority, number])[], untilMs: number) {
  const turns: { priority: Priority; at: number }[] = []
  let now = 0
  for (const [priority, cost] of joins) queue.enqueue(priority, cost, () => turns.push({ priority, at: now }))
  for (; now <= untilMs; now += 10) {
    for (let before = -1; before !== turns.length;) {
      before = turns.length
      queue.release(now)
      for (const { priority } of turns.slice(before)) queue.ended(priority)
    }
  }
  return turns
}

describe('the queue before a host', () => {
  it('lets repairs and polls go before history', () => {
    const queue = new RequestQueue({ capacity: 2, refillPerSecond: 10 })
    const turns = drive(
      queue,
      [
        ['back', 1],
        ['back', 1],
        ['poll', 1],
        ['repair', 1],
        ['poll', 1],
      ],
      2_000,
    )
    expect(turns.map(({ priority }) => priority)).toEqual(['repair', 'poll', 'poll', 'back', 'back'])
    expect(queue.length).toBe(0)
  })

  it('keeps the repair within its share, while polls go on', () => {
    const queue = new RequestQueue({ capacity: 100, refillPerSecond: 100 }, { capacity: 20, refillPerSecond: 10 })
    const joins = Array.from({ length: 40 }, (_, index) => [index % 2 === 0 ? 'repair' : 'poll', 10] as const)
    const turns = drive(queue, joins, 10_000)
    const repairs = turns.filter(({ priority, at }) => priority === 'repair' && at <= 5_000)
    expect(repairs.length * 10).toBeLessThanOrEqual(20 + 5 * 10)
    const polls = turns.filter(({ priority }) => priority === 'poll')
    expect(polls).toHaveLength(20)
    expect(polls.at(-1)?.at).toBeLessThanOrEqual(2_500)
  })

  it('leaves a part of the budget that history cannot take', () => {
    const queue = new RequestQueue({ capacity: 100, refillPerSecond: 1 })
    const turns = drive(
      queue,
      Array.from({ length: 200 }, () => ['back', 1] as const),
      1_000,
    )
    expect(turns.length).toBeGreaterThanOrEqual(75)
    expect(turns.length).toBeLessThanOrEqual(77)
    expect(drive(queue, [['poll', 20]], 1_010)[0]?.at).toBe(0)
  })

  it('gives history two places of four', () => {
    const queue = new RequestQueue({ capacity: 100, refillPerSecond: 100 })
    const gone: Priority[] = []
    for (const priority of ['back', 'back', 'back', 'poll', 'poll', 'poll'] as const)
      queue.enqueue(priority, 1, () => gone.push(priority))
    queue.release(0)
    expect(gone.toSorted()).toEqual(['back', 'poll', 'poll', 'poll'])
    queue.ended('poll')
    queue.ended('poll')
    queue.release(0)
    expect(gone.filter((priority) => priority === 'back')).toHaveLength(2)
  })

  it('waits as long as the venue asks', () => {
    const queue = new RequestQueue({ capacity: 10, refillPerSecond: 10 })
    queue.block(3_000, 0)
    expect(drive(queue, [['poll', 1]], 5_000)[0]?.at).toBeGreaterThanOrEqual(3_000)
  })
})
