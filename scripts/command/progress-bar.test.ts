import { describe, expect, it } from 'vitest'
import { lineOf, ProgressBar } from './progress-bar.ts'

describe('progress', () => {
  it('says events, the time reached, the rate and what remains', () => {
    const step = { records: 2_000, total: 10_000, time: 1_772_323_200_000 }
    expect(lineOf(step, 2)).toBe('20.0 %  2,000 of 10,000 events  at 2026-03-01T00:00:00  1,000/s  8 s left')
  })

  it('is a bar in place on a terminal, else a line now and then', () => {
    let now = 0
    const shown = (isTerminal: boolean): string[] => {
      const texts: string[] = []
      const bar = new ProgressBar({ isTerminal, write: (text) => void texts.push(text) }, () => now)
      for (let step = 0; step < 100; step++) {
        now += 100
        void bar.step({ records: step, total: 100, time: 0 })
      }
      return texts
    }
    expect(shown(false).length).toBe(2)
    const bars = shown(true)
    expect(bars.length).toBe(100)
    expect(bars[50]).toMatch(/^\r.*\[#{14}\.{14}\] 50\.0 %/)
  })
})
