import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reorderGraceMs } from './id-tracker.ts'
import { maxSeenIds, PageTracker } from './page-tracker.ts'
import type { VenueTrade } from '../venues/events.ts'

const second = 1_000_000
const base = 1_700_000_000 * second

/** Trade number `n`, one a second. */
function trade(n: number): VenueTrade {
  return {
    symbol: 'X',
    id: n,
    count: 1,
    sequence: n,
    price: '1',
    size: '1',
    taker: 'buy',
    time: base + n * second,
  }
}

function trades(from: number, to: number): VenueTrade[] {
  return Array.from({ length: to - from + 1 }, (_, index) => trade(from + index))
}

function saw(...numbers: readonly number[]): PageTracker {
  const tracker = new PageTracker()
  for (const n of numbers) tracker.observe(n, trade(n).time)
  return tracker
}

describe('trades without ordered ids', () => {
  it('are new once and duplicates from then on', () => {
    const tracker = saw(1)
    expect(tracker.observe(1, trade(1).time)).toBe('duplicate')
  })

  it('that a page has and the stream has not brought after the grace are missing, between their neighbours', () => {
    const tracker = saw(1, 2, 5)
    expect(tracker.compare(trades(1, 5), false, 0).unknown).toBeUndefined()
    expect(tracker.due(reorderGraceMs - 1)).toBeUndefined()
    expect(tracker.due(reorderGraceMs)).toEqual({
      fromTime: trade(2).time,
      toTime: trade(5).time,
      trades: [trade(3), trade(4)],
    })
    expect(tracker.due(1e9)).toBeUndefined()
    expect(tracker.observe(3, trade(3).time)).toBe('duplicate')
  })

  it('that the stream brings within the grace are not missing', () => {
    const tracker = saw(1)
    tracker.compare(trades(1, 2), false, 0)
    expect(tracker.observe(2, trade(2).time)).toBe('new')
    expect(tracker.due(1e9)).toBeUndefined()
  })

  it('from before the first one that the stream brought are not ours', () => {
    const tracker = saw(5)
    tracker.compare(trades(1, 5), false, 0)
    expect(tracker.due(1e9)).toBeUndefined()
  })

  it('begin where the venue said that it streams, also when the stream is silent', () => {
    const tracker = new PageTracker()
    tracker.begin(trade(5).time)
    tracker.compare(trades(1, 9), false, 0)
    expect(tracker.due(1e9)?.trades).toEqual(trades(6, 9))
  })

  it('are compared from where the log says that it had all, though it has none of them any more', () => {
    const before = saw(1, 2, 3)
    before.compare(trades(1, 4), false, 0)
    expect(before.position).toEqual({ last_id: null, time: trade(4).time - 0.75 * second })
    before.due(reorderGraceMs)
    const tracker = new PageTracker()
    tracker.stand(before.position?.time ?? 0)
    tracker.resume()
    tracker.compare(trades(1, 6), false, 0)
    expect(tracker.due(1e9)?.trades).toEqual(trades(4, 6))
  })

  it('of pages that were asked before the venue streams are not ours', () => {
    const tracker = new PageTracker()
    tracker.compare(trades(1, 5), false, 0)
    tracker.begin(trade(7).time)
    tracker.observe(8, trade(8).time)
    tracker.compare(trades(1, 9), false, 10)
    expect(tracker.due(1e9)?.trades).toEqual([trade(9)])
  })

  it('do not begin anew when a connection is acknowledged again', () => {
    const tracker = saw(1)
    tracker.begin(trade(5).time)
    tracker.compare(trades(1, 3), false, 0)
    expect(tracker.due(1e9)?.trades).toEqual(trades(2, 3))
  })

  it('are unknown where a full page does not reach back to what was compared', () => {
    const tracker = saw(1)
    const { unknown } = tracker.compare(trades(4, 9), true, 0)
    expect(unknown).toEqual({ fromTime: trade(1).time, toTime: trade(4).time, isTooOld: false })
    expect(tracker.compare(trades(4, 9), true, 0).unknown).toBeUndefined()
    expect(tracker.due(1e9)?.trades).toEqual(trades(4, 9))
  })

  it('are known where the page is not full: the venue has no older ones', () => {
    expect(saw(1).compare(trades(4, 9), false, 0).unknown).toBeUndefined()
  })

  it('tell what the log had before a restart from what the restarted stream has brought since', () => {
    const log = saw(1, 2, 90, 91)
    expect([log.newest, log.newestBut(saw(90, 91))]).toEqual([trade(91).time, trade(2).time])
  })

  it('are compared again after a restart, all that the log and the page have', () => {
    const tracker = saw(10, 90, 92, 94, 100)
    tracker.resume()
    tracker.compare(trades(60, 101), true, 0)
    const back = trades(60, 101).filter(({ id }) => ![90, 92, 94, 100].includes(id))
    expect(tracker.due(1e9)?.trades).toEqual(back)
  })

  it('are unknown after a restart from where the log says that nothing was compared', () => {
    const tracker = saw(1, 99, 100)
    tracker.resume(new PageTracker(), trade(50).time)
    expect(tracker.compare(trades(80, 119), true, 0).unknown?.toTime).toBe(trade(80).time)
  })

  it('are unknown after a restart where the page does not reach what was compared', () => {
    const tracker = saw(1, 99, 100)
    tracker.resume()
    const { unknown } = tracker.compare(trades(99, 119), true, 0)
    expect(unknown).toEqual({ fromTime: trade(100).time - 9_500_000, toTime: trade(99).time, isTooOld: false })
  })

  it('beyond the bound of memory leave what was not compared unknown', () => {
    const tracker = new PageTracker()
    for (let n = 0; n <= maxSeenIds; n++) tracker.observe(n, base + n)
    tracker.observe(-1, base + maxSeenIds + 1)
    const { unknown } = tracker.compare([{ ...trade(0), time: base }], false, 0)
    expect(unknown).toMatchObject({ fromTime: base, isTooOld: false })
    expect(unknown?.toTime).toBeGreaterThan(base)
    expect(unknown?.toTime).toBeLessThan(base + maxSeenIds / 2)
  })

  it('that wait for the stream are not stated as complete', () => {
    const tracker = saw(1, 5)
    tracker.compare(trades(1, 5), false, 0)
    expect(tracker.settled).toBe(trade(4).time)
    expect(tracker.position?.time).toBe(trade(2).time - 1)
    tracker.due(reorderGraceMs)
    expect(tracker.position?.time).toBe(trade(4).time)
  })

  it('that are more than wait at most are missing at once', () => {
    const tracker = saw(0)
    tracker.compare(trades(1, 10_000), false, 0)
    expect(tracker.due(0)).toBeUndefined()
    tracker.compare(trades(1, 10_001), false, 0)
    expect(tracker.due(0)?.trades).toHaveLength(10_001)
  })

  it('that may have been forgotten are not written again, though the page has them behind a restart', () => {
    const tracker = new PageTracker()
    for (let n = 0; n <= maxSeenIds; n++) tracker.observe(n, base + n)
    tracker.resume()
    tracker.compare(
      [0, 1, maxSeenIds].map((n) => ({ ...trade(n), time: base + n })),
      false,
      0,
    )
    expect(tracker.due(1e9)).toBeUndefined()
  })

  it('come out exactly once by stream or page, whatever the stream lost, as long as pages overlap', () => {
    const losses = fc.array(fc.boolean(), { minLength: 10, maxLength: 80 })
    fc.assert(
      fc.property(losses, fc.integer({ min: 1, max: 8 }), (lost, every) => {
        const tracker = saw(0)
        const out = [0]
        const drain = (now: number): void => {
          for (const { id } of tracker.due(now)?.trades ?? []) out.push(id)
        }
        lost.forEach((isLost, index) => {
          const n = index + 1
          if (!isLost && tracker.observe(n, trade(n).time) === 'new') out.push(n)
          if (n % every === 0) tracker.compare(trades(Math.max(0, n - 20), n), true, n * 1_000)
          drain(n * 1_000)
        })
        tracker.compare(trades(Math.max(0, lost.length - 20), lost.length), true, 1e6)
        drain(1e9)
        expect(out.toSorted((a, b) => a - b)).toEqual(trades(0, lost.length).map(({ id }) => id))
      }),
    )
  })
})
