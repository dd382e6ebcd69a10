import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs } from '../time/backoff.ts'
import { ConnectLimiter, type Limiter } from './connect-limiter.ts'
import { nextPageMs, pageEveryMs } from '../trades/page-repair.ts'
import { rotateAfterMs } from './reconnecting-socket.ts'
import { retryAfterMs } from './connection.ts'
import { TokenBucket } from './request-queue.ts'

describe('a token bucket', () => {
  it('never gives out more than its capacity and its refill since', () => {
    const asked = fc.array(fc.record({ cost: fc.integer({ min: 1, max: 20 }), after: fc.nat({ max: 500 }) }))
    fc.assert(
      fc.property(asked, (calls) => {
        const bucket = new TokenBucket({ capacity: 40, refillPerSecond: 30 })
        let [now, spent] = [0, 0]
        for (const { cost, after } of calls) {
          now += after
          if (bucket.take(cost, now) === 0) spent += cost
        }
        expect(spent).toBeLessThanOrEqual(40 + (now * 30) / 1_000)
      }),
    )
  })

  it('says exactly how long to wait', () => {
    const bucket = new TokenBucket({ capacity: 10, refillPerSecond: 5 })
    expect(bucket.take(10, 0)).toBe(0)
    expect(bucket.take(5, 0)).toBe(1_000)
    expect(bucket.take(5, 999)).toBe(1)
    expect(bucket.take(5, 1_000)).toBe(0)
  })

  it('lets a call through that costs more than it holds, once it is full', () => {
    const bucket = new TokenBucket({ capacity: 10, refillPerSecond: 10 })
    expect(bucket.take(20, 0)).toBe(0)
    expect(bucket.take(1, 1_000)).toBe(100)
  })

  it('gives nothing while the venue says "too many", and begins empty afterwards', () => {
    const bucket = new TokenBucket({ capacity: 10, refillPerSecond: 10 })
    bucket.block(5_000, 0)
    expect(bucket.take(1, 1_000)).toBe(4_000)
    expect(bucket.take(1, 5_000)).toBe(100)
    expect(bucket.take(1, 5_100)).toBe(0)
  })
})

describe('waiting', () => {
  it.each([
    [0, 1, 250],
    [1, 1, 500],
    [3, 0.5, 1_000],
    [7, 1, 30_000],
    [1_000, 1, 30_000],
    [5, 0, 0],
  ])('before attempt %i with the dice at %f is %i ms', (attempt, random, expected) => {
    expect(backoffMs(attempt, random, { firstMs: 250, maxMs: 30_000 })).toBe(expected)
  })

  it('for a turn keeps attempts apart, and all away while the limiter is closed', () => {
    const limiter = new ConnectLimiter(100)
    expect([0, 99, 100].map((now) => limiter.tryNow(now))).toEqual([true, false, true])
    limiter.blockUntil(5_000)
    expect([4_999, 5_000].map((now) => limiter.tryNow(now))).toEqual([false, true])
  })

  it('behind a limiter comes when nobody at its front has asked lately', () => {
    const limiter = new ConnectLimiter(100)
    const enter = (who: Limiter, ...times: readonly number[]): boolean[] => times.map((now) => who.tryNow(now))
    expect(enter(limiter.behind, 0)).toEqual([true])
    expect(enter(limiter, 50)).toEqual([false])
    expect(enter(limiter.behind, 100)).toEqual([false])
    expect(enter(limiter, 100)).toEqual([true])
    expect(enter(limiter.behind, 199, 200)).toEqual([false, true])
    expect(enter(limiter, 250)).toEqual([false])
    expect(enter(limiter.behind, 700, 750)).toEqual([false, true])
  })

  it.each([
    ['120', 120_000],
    ['0', 0],
    ['Thu, 01 Jan 1970 00:01:00 GMT', 60_000],
    ['259200', 259_200_000],
    ['1764195000', undefined],
    ['Thu, 01 Jan 1971 00:00:00 GMT', undefined],
    ['soon', undefined],
    [null, undefined],
  ])('as Retry-After: %s says is %s ms', (header, expected) => {
    expect(retryAfterMs(header, 0)).toBe(expected)
  })

  it.each([
    [undefined, 0, Infinity],
    [86_400_000, 0, 82_800_000],
    [86_400_000, 1, 74_520_000],
    [60_000, 0, 45_000],
  ])('for the rotation of a connection that lives %s ms, dice at %i, is %s ms', (lifetime, random, expected) => {
    expect(rotateAfterMs(lifetime, random)).toBe(expected)
  })

  it.each([
    [0, pageEveryMs.min],
    [8_000_000, 2_000],
    [3_600_000_000, pageEveryMs.max],
  ])('for the next page after one of %i microseconds is %i ms', (span, expected) => {
    expect(nextPageMs(span)).toBe(expected)
  })
})
