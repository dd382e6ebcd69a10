import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callerOf, RateLimiter } from './limits.ts'

function limiter(callersMax = 100): RateLimiter {
  return new RateLimiter({ perSecond: 20, burst: 40, callersMax })
}

describe('rate limit', () => {
  it('lets the burst pass, then one per 50 ms', () => {
    const limit = limiter()
    for (let n = 39; n >= 0; n--) expect(limit.take('a', 0)).toMatchObject({ kind: 'allowed', limit: 40, remaining: n })
    expect(limit.take('a', 49)).toEqual({
      kind: 'refused',
      limit: 40,
      remaining: 0,
      resetSeconds: 2,
      retryAfterSeconds: 1,
    })
    expect(limit.take('a', 50)).toMatchObject({ kind: 'allowed', remaining: 0 })
  })

  it('counts each caller alone', () => {
    const limit = limiter()
    for (let n = 0; n < 41; n++) limit.take('a', 0)
    expect(limit.take('b', 0)).toMatchObject({ kind: 'allowed', remaining: 39 })
  })

  it('is full again after two seconds, and never fuller', () => {
    const limit = limiter()
    for (let n = 0; n < 40; n++) limit.take('a', 0)
    expect(limit.take('a', 3_600_000)).toMatchObject({ remaining: 39, resetSeconds: 1 })
  })

  it('takes back what was taken for nothing, and is never fuller', () => {
    const limit = limiter()
    for (let n = 0; n < 40; n++) limit.take('a', 0)
    limit.giveBack('a', 0)
    expect(limit.take('a', 0)).toMatchObject({ kind: 'allowed', remaining: 0 })
    limit.giveBack('b', 0)
    expect(limit.take('b', 0)).toMatchObject({ remaining: 39 })
  })

  it('refuses with when to come again', () => {
    const limit = new RateLimiter({ perSecond: 0.1, burst: 1, callersMax: 1 })
    limit.admit('a', 0, 'Ask again')
    expect(() => limit.admit('a', 0, 'Ask again')).toThrow(
      expect.objectContaining({
        code: 'rate_limited',
        message: 'Ask again in 10 s.',
        detail: {
          retryAfterSeconds: 10,
          headers: { 'RateLimit-Limit': '1', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '10' },
        },
      }),
    )
    expect(limit.take('a', 4_000)).toMatchObject({ retryAfterSeconds: 6 })
  })

  it('looks at what there is and takes nothing', () => {
    const limit = new RateLimiter({ perSecond: 1, burst: 1, callersMax: 1 })
    expect([limit.look('a', 0).kind, limit.take('a', 0).kind, limit.look('a', 0).kind]).toEqual([
      'allowed',
      'allowed',
      'refused',
    ])
  })

  it('is off at 0 a second', () => {
    const limit = new RateLimiter({ perSecond: 0, burst: 0, callersMax: 1 })
    expect(limit.take('a', 0)).toEqual({ kind: 'unlimited' })
  })

  it('forgets the caller that was quiet for longest', () => {
    const limit = limiter(2)
    for (const caller of ['a', 'b', 'a', 'c']) limit.take(caller, 0)
    expect(limit.callers).toBe(2)
    expect(limit.take('a', 0)).toMatchObject({ remaining: 37 })
    expect(limit.take('b', 0)).toMatchObject({ remaining: 39 })
  })

  it('never lets more pass in any second than the burst and the rate', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 300 }), (gaps) => {
        const limit = limiter()
        let now = 0
        const passed = gaps.flatMap((gap) => {
          now += gap
          return limit.take('a', now).kind === 'allowed' ? [now] : []
        })
        for (const from of passed)
          expect(passed.filter((time) => time >= from && time < from + 1000).length).toBeLessThanOrEqual(60)
      }),
    )
  })
})

describe('a caller', () => {
  it.each([
    ['an IPv4 address', '10.1.2.3', undefined, '10.1.2.3'],
    ['IPv4 in IPv6', '::ffff:10.1.2.3', undefined, '10.1.2.3'],
    ['IPv4 in IPv6 in capitals', '::FFFF:10.1.2.3', undefined, '10.1.2.3'],
    ['an IPv6 /64', '2001:db8:1:2:3:4:5:6', undefined, '2001:db8:1:2::/64'],
    ['another of the same /64', '2001:0DB8:1:2:ffff::1', undefined, '2001:db8:1:2::/64'],
    ['a short one', '2001:db8::1', undefined, '2001:db8:0:0::/64'],
    ['one that ends as an IPv4 address', '::1:2:3:4:10.1.2.3', undefined, '0:0:1:2::/64'],
    ['loopback', '::1', undefined, '0:0:0:0::/64'],
    ['a link-local one with its zone', 'fe80::1%eth0', undefined, 'fe80:0:0:0::/64'],
    ['the last one that the proxy names', '10.0.0.1', '6.6.6.6, 7.7.7.7', '7.7.7.7'],
    ['the socket where the proxy names nonsense', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['nobody', undefined, undefined, ''],
  ])('is %s', (_, address, forwarded, expected) => {
    expect(callerOf(address, forwarded)).toBe(expected)
  })
})
