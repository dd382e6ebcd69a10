import { describe, expect, it } from 'vitest'
import { emptyFields } from '../../schemas/codec.ts'
import type { LogGap } from '../../schemas/records.ts'
import { InputGaps } from './log-gaps.ts'

/** Gaps in the order of the journal. */
function gapsOf(...told: readonly Pick<LogGap, 'reason' | 'position' | 'next' | 'shift'>[]): InputGaps {
  const gaps = new InputGaps()
  const place = { reader: 'tally', topic: 'market.trades', partition: 0 }
  const nothing = { ...emptyFields('log_gap'), from_time: 0, to_time: 0, time: 0 }
  for (const [offset, gap] of told.entries()) gaps.add({ offset, gap: { ...nothing, ...place, ...gap } })
  return gaps
}

const retention = { reason: 'retention', position: 3, next: 10, shift: 0 } as const
const cut = { reason: 'cut', position: 20, next: 5, shift: 16 } as const

describe('gaps of an input', () => {
  it('are those of the log as it is: behind a cut there is nothing of before', () => {
    expect([gapsOf(retention).skips(9), gapsOf(retention, cut).skips(9)]).toEqual([true, false])
  })

  it('that lead to one place are taken in once', () => {
    expect(gapsOf(retention, retention).before(10, -1)).toMatchObject([{ offset: 1 }])
  })

  it.each([
    ['a cut, whoever stood before where it was told', cut, [15, 20, 21], [true, true, false]],
    ['another, whoever stood behind where it was told', retention, [2, 3, 9], [false, true, true]],
  ])('know %s', (_, gap, positions, known) => {
    expect(positions.map((position) => gapsOf(gap).knows(position, gap.next))).toEqual(known)
    expect(gapsOf(gap).knows(gap.position, gap.next + 1)).toBe(false)
  })

  it.each([
    ['all that was read', gapsOf(), 20, 5, 16],
    ['all that another has read since', gapsOf(cut), 3, 2, 20],
    ['all that was ever read, whatever was told since', gapsOf(cut, { ...retention, position: 1, next: 3 }), 2, 1, 21],
    ['what a gap of before has shifted, where nothing comes again', gapsOf(cut), 30, 100, 16],
  ])('shift versions above %s', (_, gaps, position, next, shift) => {
    expect(gaps.shiftBehind(position, next)).toBe(shift)
  })
})
