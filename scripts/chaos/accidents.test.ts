import { describe, expect, it } from 'vitest'
import type { LogGap } from '../../schemas/records.ts'
import { unexplainedGaps, type Accident } from './accidents.ts'

const NOON = 1_786_104_000_000
const cut: Accident = { kind: 'cut', topic: 'market.trades', partition: 3, from: 90, to: 100, time: NOON }
const marks: Accident = { ...cut, partition: 5, behind: 85 }
const trim: Accident = { ...cut, kind: 'trim', from: 0, to: 200, time: NOON + 60_000 }

function gap(more: Partial<LogGap>): LogGap {
  const place = { reader: 'cvd', topic: 'market.trades', partition: 3, reason: 'cut', position: 98, next: 90 } as const
  const times = { from_time: 0, to_time: 0, time: (NOON + 20_000) * 1_000 }
  return { ...place, shift: 0, missing: 0, ...times, ...more }
}

describe('a gap of the log', () => {
  it.each<[string, Partial<LogGap>]>([
    ['a tail that was read up to some place in it', {}],
    ['a tail that was read to its end', { position: 100 }],
    ['a tail with nothing that anybody reads before it', { partition: 5, next: 87 }],
    ['what was written to a tail', { reason: 'output_cut', position: 95, next: 92 }],
    [
      'retention that overtook a reader',
      { reason: 'retention', position: 150, next: 200, time: (NOON + 70_000) * 1_000 },
    ],
  ])('is explained by its accident: %s', (_what, more) => {
    expect(unexplainedGaps([gap(more)], [cut, trim, marks])).toEqual([])
  })

  it.each<[string, Partial<LogGap>]>([
    ['of another partition', { partition: 4 }],
    ['of another topic', { topic: 'market.funding' }],
    ['from before it', { time: (NOON - 20_000) * 1_000 }],
    ['that begins elsewhere', { next: 91 }],
    ['that reaches further', { position: 101 }],
    ['of a reader that had not come so far', { position: 90 }],
    ['that takes it for another log', { reason: 'replaced' }],
    ['of retention where a tail was cut', { reason: 'retention', position: 80, next: 90 }],
    ['of retention that goes on elsewhere', { reason: 'retention', next: 199, time: (NOON + 70_000) * 1_000 }],
  ])('is not explained: %s', (_what, more) => {
    expect(unexplainedGaps([gap(more)], [cut, trim])).toHaveLength(1)
  })
})
