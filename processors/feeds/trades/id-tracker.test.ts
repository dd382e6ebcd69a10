import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IdTracker, maxIntervals, reorderGraceMs } from './id-tracker.ts'

/** A tracker that saw `ids` at their own numbers as venue time, at host time 0. */
function saw(ids: readonly number[], now = 0): IdTracker {
  const tracker = new IdTracker()
  for (const id of ids) tracker.observe(id, id * 1_000, now)
  return tracker
}

describe('ids that go up by one', () => {
  it('are new once and duplicates from then on', () => {
    const tracker = saw([7, 8])
    expect(tracker.observe(8, 8_000, 0)).toBe('duplicate')
    expect(tracker.observe(9, 9_000, 0)).toBe('new')
  })

  it('leave a hole that is handed out once its grace is over, once', () => {
    const tracker = saw([7, 10], 100)
    expect(tracker.due(100 + reorderGraceMs - 1)).toEqual([])
    expect(tracker.due(100 + reorderGraceMs)).toEqual([{ from: 8, to: 9, fromTime: 7_000, toTime: 10_000 }])
    expect(tracker.due(1e9)).toEqual([])
  })

  it('are missing behind the position that the log told, though it has no trade of before', () => {
    const tracker = new IdTracker()
    tracker.stand(7, 7_000)
    tracker.absorb(saw([10, 11]))
    expect(tracker.due(0)).toEqual([{ from: 8, to: 9, fromTime: 7_000, toTime: 10_000 }])
    const known = saw([10, 11])
    known.stand(7, 7_000)
    expect(known.due(0)).toEqual([{ from: 8, to: 9, fromTime: 7_000, toTime: 10_000 }])
  })

  it('tell a position that no missing id is below', () => {
    const tracker = saw([7, 8, 10, 12])
    expect(tracker.position).toEqual({ last_id: 8, time: 12_000 })
    tracker.seen(9, 9, 9_000)
    tracker.lose(11, 11, 11_000)
    expect(tracker.position).toEqual({ last_id: 12, time: 12_000 })
  })

  it('that only came out of order leave no hole', () => {
    const tracker = saw([7, 10, 9, 8])
    expect(tracker.due(1e9)).toEqual([])
  })

  it('from before the first trade are taken within the grace, as a venue may reorder its first ones', () => {
    const tracker = saw([7])
    expect(tracker.observe(5, 5_000, reorderGraceMs)).toBe('new')
    expect(tracker.due(1e9)).toEqual([{ from: 6, to: 6, fromTime: 7_000, toTime: 7_000 }])
    expect(tracker.observe(3, 3_000, reorderGraceMs + 1)).toBe('duplicate')
  })

  it('that the venue tells of without a trade are missing', () => {
    const tracker = saw([7])
    tracker.tell(9, 20_000, 50)
    expect(tracker.due(50 + reorderGraceMs)).toEqual([{ from: 8, to: 9, fromTime: 7_000, toTime: 20_000 }])
  })

  it('that the venue tells of before the first trade begin there', () => {
    const tracker = new IdTracker()
    tracker.tell(9, 1_000, 0)
    tracker.observe(11, 11_000, 10)
    expect(tracker.due(1e9)).toEqual([{ from: 10, to: 10, fromTime: 1_000, toTime: 11_000 }])
  })

  it('that nobody serves are no hole any more, but still welcome', () => {
    const tracker = saw([7, 10])
    tracker.lose(8, 9, 7_000)
    expect(tracker.missing(7, 10)).toEqual([])
    expect(tracker.observe(8, 8_000, 5)).toBe('new')
    expect(tracker.observe(8, 8_000, 6)).toBe('duplicate')
  })

  it('count on from what the venue knows where one far above it came, also as the first', () => {
    for (const tracker of [saw([7, 8, 1e9]), saw([1e9, 2e9])]) {
      tracker.distrust(20, { id: 8, time: 8_000 })
      expect(tracker.observe(11, 11_000, 10)).toBe('new')
      expect(tracker.observe(1e9, 1e12, 10)).toBe('duplicate')
      expect(tracker.due(1e9)).toEqual([{ from: 9, to: 10, fromTime: 8_000, toTime: 11_000 }])
      expect(tracker.position).toEqual({ last_id: 8, time: 11_000 })
    }
  })

  it('of the log and of the live stream are joined, with the hole between them due at once', () => {
    const log = saw([1, 2, 4], 1e12) // the log’s times are no ticks of this process
    const live = saw([9, 11], 1_000)
    log.absorb(live)
    expect(log.due(reorderGraceMs)).toEqual([
      { from: 3, to: 3, fromTime: 2_000, toTime: 4_000 },
      { from: 5, to: 8, fromTime: 4_000, toTime: 9_000 },
    ])
    expect(log.observe(11, 11_000, 2_000)).toBe('duplicate')
    expect(log.observe(12, 12_000, 2_000)).toBe('new')
    expect(log.due(1_000 + reorderGraceMs)).toEqual([{ from: 10, to: 10, fromTime: 9_000, toTime: 11_000 }])
  })

  it('that begin anew below what is known are told of once a hundred came, each later than all before', () => {
    const tracker = saw([5_000, 5_001])
    for (let id = 1; id < 100; id++) expect(tracker.observe(id, 6_000_000 + id, 1e9)).toBe('duplicate')
    expect(tracker.anew).toBeUndefined()
    tracker.observe(100, 6_000_100, 1e9)
    expect(tracker.anew).toEqual({ from: 5_001_000, to: 6_000_100 })
    tracker.observe(101, 6_000_099, 1e9)
    expect(tracker.anew).toEqual({ from: 5_001_000, to: 6_000_100 })
    tracker.observe(5_002, 6_000_101, 1e9)
    expect(tracker.anew).toBeUndefined()
  })

  it('that come again, however many, do not begin anew', () => {
    const ids = range(5_000, 5_200)
    const tracker = saw(ids)
    for (const id of ids) tracker.observe(id, id * 1_000, 0)
    for (const id of range(1, 200)) tracker.observe(id, id * 1_000, 1e9)
    expect(tracker.anew).toBeUndefined()
  })

  it('of one moment that come again, however many, do not begin anew', () => {
    const tracker = new IdTracker()
    for (let round = 0; round < 2; round++) for (const id of range(1, 200)) tracker.observe(id, 7_000, 0)
    expect(tracker.anew).toBeUndefined()
  })

  it('that began anew are known to whoever takes the live stream over', () => {
    const live = saw([5_000])
    for (const id of range(1, 100)) live.observe(id, 6_000_000 + id, 1e9)
    const log = saw([4_999])
    log.absorb(live)
    expect(log.anew).toEqual({ from: 5_000_000, to: 6_000_100 })
  })

  it('beyond the bound of holes share one, and nothing missing is forgotten', () => {
    const tracker = new IdTracker()
    for (let id = 0; id <= maxIntervals + 5; id++) tracker.observe(id * 2, id, 0)
    const holes = tracker.due(1e9)
    expect(holes.at(-1)).toMatchObject({ from: (maxIntervals + 5) * 2 - 1 })
    const missing = tracker.missing(0, (maxIntervals + 5) * 2)
    expect(holes.map(({ from, to }) => ({ from, to }))).toEqual(missing)
    // What is forgotten counts as seen.
    expect(tracker.observe(0, 1, 1e9)).toBe('duplicate')
  })

  it('that two reports lack are one hole', () => {
    const log = saw([7, 10])
    log.absorb(saw([7, 10]))
    expect(log.due(1e9).map(({ from, to }) => [from, to])).toEqual([[8, 9]])
  })

  it('that the log has below those that it told first count from there on', () => {
    const tracker = new IdTracker()
    tracker.seen(10, 10, 10_000)
    tracker.seen(5, 5, 5_000)
    expect(tracker.missing(0, 10)).toEqual([{ from: 6, to: 9 }])
  })

  it('that were given up below one that is not believed are missing again', () => {
    const tracker = saw([7, 8, 1e9])
    tracker.lose(9, 1e9 - 1, 8_000)
    tracker.distrust(8, { id: 8, time: 8_000 })
    tracker.observe(11, 11_000, 10)
    expect(tracker.due(1e9).map(({ from, to }) => [from, to])).toEqual([[9, 10]])
  })

  it('are partitioned into seen and missing, whatever was lost, doubled and reordered', () => {
    const arrivals = fc.array(fc.integer({ min: 100, max: 160 }), { minLength: 1, maxLength: 120 })
    fc.assert(
      fc.property(arrivals, (ids) => {
        const tracker = new IdTracker()
        const taken = ids.filter((id) => tracker.observe(id, id, 0) === 'new')
        expect(taken.toSorted((a, b) => a - b)).toEqual([...new Set(ids)].toSorted((a, b) => a - b))
        const missing = tracker.due(1e9).flatMap(({ from, to }) => range(from, to))
        const [least, most] = [Math.min(...ids), Math.max(...ids)]
        expect(missing.toSorted((a, b) => a - b)).toEqual(range(least, most).filter((id) => !ids.includes(id)))
      }),
    )
  })
})

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
