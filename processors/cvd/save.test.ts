import { describe, expect, it } from 'vitest'
import { CvdTestDriver, gap, longAgo, mark, SECOND, T0, trade } from './testing/records.ts'
import { HORIZON } from './state.ts'

const bybit = { instrument: 'bybit:perp:BTCUSDT' }

/** Keys of a save, with what they hold. */
function saved(fed: CvdTestDriver): Record<string, unknown> {
  return Object.fromEntries(
    [...fed.core.save(fed.state)].map(([key, part]) => [key, part && JSON.parse(part.toString())]),
  )
}

describe('a saved state', () => {
  it('holds only what changed since the last', () => {
    const fed = new CvdTestDriver().batch(trade(), trade({ asset: 'eth', instrument: 'okx:perp:ETH-USDT-SWAP' }))
    fed.save(new Map())
    fed.batch(trade({ first_id: 2 }))
    expect(Object.keys(saved(fed)).sort()).toEqual([
      `bucket|btc|binance:perp:BTCUSDT|${T0 / (10 * SECOND)}`,
      'clock',
      'coverage|btc|binance:perp:BTCUSDT',
    ])
  })

  it('writes rings and classes when a bucket closes', () => {
    const fed = new CvdTestDriver().batch(longAgo(), trade())
    fed.save(new Map())
    fed.batch(mark(T0 + 20 * SECOND))
    const kinds = Object.keys(saved(fed)).map((key) => key.split('|')[0])
    expect(kinds.filter((kind) => kind === 'ring')).toHaveLength(4)
    expect(kinds).toContain('classes')
  })

  it('holds nothing of what was forgotten as changed', () => {
    const fed = new CvdTestDriver().batch(
      trade(),
      trade(bybit),
      mark(T0 + 20 * SECOND),
      mark(T0 + HORIZON + 300 * SECOND),
    )
    fed.core.forget?.(fed.state)
    expect(Object.keys(saved(fed))).toEqual(['clock'])
    expect(Object.keys(saved(fed.batch(trade({ ...bybit, time: T0 + HORIZON + 300 * SECOND }))))).toHaveLength(2)
  })

  it.each([
    ['a gap that was filled', gap({ ...bybit, from_time: T0, to_time: T0 + SECOND, state: 'filled' })],
    ['a trade that was refused', trade({ ...bybit, time: T0 - HORIZON })],
  ])('knows an instrument that only %s has named', (_, named) => {
    const fed = new CvdTestDriver().batch(mark(T0 + 20 * SECOND), named).restart(new Map())
    expect([...fed.state.instruments.keys()]).toEqual([bybit.instrument])
  })

  it('erases buckets that have left the horizon', () => {
    const fed = new CvdTestDriver().batch(trade())
    const parts = new Map<string, Buffer>()
    fed.save(parts)
    fed.batch(mark(T0 + HORIZON + 300 * SECOND)).save(parts)
    expect([...parts.keys()].filter((key) => key.startsWith('bucket'))).toEqual([])
  })

  it('erases a ring’s chunk when all of it is older than the period', () => {
    const fed = new CvdTestDriver().batch(trade(), mark(T0 + 20 * SECOND))
    const parts = new Map<string, Buffer>()
    fed.save(parts)
    const rings = (): number => [...parts.keys()].filter((key) => key.startsWith('ring')).length
    expect(rings()).toBe(4)
    fed.batch(mark(T0 + 8 * 24 * 3_600 * SECOND)).save(parts)
    expect(rings()).toBe(0)
  })

  it('keeps doubles to the last bit and ids of 52 bits', () => {
    const size = 0.1 + 0.2
    const first_id = 2 ** 52 - 1
    const fed = new CvdTestDriver().batch(trade({ ...bybit, size, first_id })).restart(new Map())
    fed.batch(trade({ ...bybit, size, first_id }), trade({ ...bybit, size: 0.1, first_id: 5 }))
    expect(fed.row?.buy).toBe(size + 0.1)
    expect(fed.refused.duplicate).toBe(1)
  })

  it('stays small: five seconds of a busy partition are some kilobytes', () => {
    const fed = new CvdTestDriver()
    const parts = new Map<string, Buffer>()
    const trades = Array.from({ length: 500 }, (_, n) => trade({ first_id: n, time: T0 + n * 10_000 }))
    fed.batch(...trades).save(parts)
    expect([...parts.values()].reduce((sum, part) => sum + part.length, 0)).toBeLessThan(2_000)
  })
})
