import { describe, expect, it } from 'vitest'
import { RestLine, type Lane } from './rest-line.ts'

/** Moves a line through time, each call ending at once; returns the lanes in the order of their turns with the times. */
function drive(line: RestLine, joins: readonly (readonly [Lane, number])[], untilMs: number) {
  const turns: { lane: Lane; at: number }[] = []
  let now = 0
  for (const [lane, cost] of joins) line.join(lane, cost, () => turns.push({ lane, at: now }))
  for (; now <= untilMs; now += 10) {
    for (let before = -1; before !== turns.length;) {
      before = turns.length
      line.move(now)
      for (const { lane } of turns.slice(before)) line.left(lane)
    }
  }
  return turns
}

describe('the line before a host', () => {
  it('lets repairs and polls go before history', () => {
    const line = new RestLine({ capacity: 2, refillPerSecond: 10 })
    const turns = drive(
      line,
      [
        ['back', 1],
        ['back', 1],
        ['poll', 1],
        ['repair', 1],
        ['poll', 1],
      ],
      2_000,
    )
    expect(turns.map(({ lane }) => lane)).toEqual(['repair', 'poll', 'poll', 'back', 'back'])
    expect(line.length).toBe(0)
  })

  it('keeps the repair within its share, while polls go on', () => {
    const line = new RestLine({ capacity: 100, refillPerSecond: 100 }, { capacity: 20, refillPerSecond: 10 })
    const joins = Array.from({ length: 40 }, (_, index) => [index % 2 === 0 ? 'repair' : 'poll', 10] as const)
    const turns = drive(line, joins, 10_000)
    const repairs = turns.filter(({ lane, at }) => lane === 'repair' && at <= 5_000)
    expect(repairs.length * 10).toBeLessThanOrEqual(20 + 5 * 10)
    const polls = turns.filter(({ lane }) => lane === 'poll')
    expect(polls).toHaveLength(20)
    expect(polls.at(-1)?.at).toBeLessThanOrEqual(2_500)
  })

  it('leaves a part of the budget that history cannot take', () => {
    const line = new RestLine({ capacity: 100, refillPerSecond: 1 })
    const turns = drive(
      line,
      Array.from({ length: 200 }, () => ['back', 1] as const),
      1_000,
    )
    expect(turns.length).toBeGreaterThanOrEqual(75)
    expect(turns.length).toBeLessThanOrEqual(77)
    expect(drive(line, [['poll', 20]], 1_010)[0]?.at).toBe(0)
  })

  it('gives history two places of four', () => {
    const line = new RestLine({ capacity: 100, refillPerSecond: 100 })
    const gone: Lane[] = []
    for (const lane of ['back', 'back', 'back', 'poll', 'poll', 'poll'] as const)
      line.join(lane, 1, () => gone.push(lane))
    line.move(0)
    expect(gone.toSorted()).toEqual(['back', 'poll', 'poll', 'poll'])
    line.left('poll')
    line.left('poll')
    line.move(0)
    expect(gone.filter((lane) => lane === 'back')).toHaveLength(2)
  })

  it('waits as long as the venue asks', () => {
    const line = new RestLine({ capacity: 10, refillPerSecond: 10 })
    line.block(3_000, 0)
    expect(drive(line, [['poll', 1]], 5_000)[0]?.at).toBeGreaterThanOrEqual(3_000)
  })
})
