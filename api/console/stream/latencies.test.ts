import { describe, expect, it } from 'vitest'
import { Latencies } from './latencies.ts'

describe('latencies', () => {
  it('are of every one that was seen', () => {
    const latencies = new Latencies()
    for (let ms = 1; ms <= 100; ms += 1) latencies.seen('a', ms, 0)
    latencies.seen('a', 123_456, 0)
    expect(latencies.percentiles(0)).toEqual({ a: { count: 101, p50: 51, p95: 96, p99: 100, max: 123_456 } })
  })

  it('are told for five minutes at least and ten at most', () => {
    const latencies = new Latencies()
    latencies.seen('a', 7, 0)
    latencies.seen('a', 9, 299_999)
    expect(latencies.percentiles(300_000)['a']).toMatchObject({ count: 2, max: 9 })
    latencies.seen('a', 1, 600_000)
    expect(latencies.percentiles(600_000)['a']).toEqual({ count: 1, p50: 1, p95: 1, p99: 1, max: 1 })
  })

  it('of nothing are not said', () => {
    expect(new Latencies().percentiles(0)).toEqual({})
  })
})
