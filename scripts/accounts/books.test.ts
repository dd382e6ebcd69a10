import { expect, it } from 'vitest'
import type { LogGap } from '../../schemas/records.ts'
import { lostTimes } from './books.ts'

const BUCKET = 10_000_000

function gap(more: Partial<LogGap>): LogGap {
  const place = { reader: 'cvd', topic: 'market.trades', partition: 3, reason: 'cut', position: 98, next: 90 } as const
  return { ...place, shift: 0, missing: 0, from_time: 7 * BUCKET, to_time: 9 * BUCKET, time: 0, ...more }
}

it('leaves out whole buckets, and what was received late, where trades were lost to the numbers made of them', () => {
  expect(lostTimes([gap({})], 3)).toEqual([{ from: 6 * BUCKET, to: 10 * BUCKET - 1 }])
})

it('leaves out nothing for another partition, another topic or another reader', () => {
  const gaps = [gap({ partition: 4 }), gap({ topic: 'market.funding' }), gap({ reader: 'audit' })]
  expect(lostTimes(gaps, 3)).toEqual([])
})
