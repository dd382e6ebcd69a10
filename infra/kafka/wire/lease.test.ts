import { describe, expect, it } from 'vitest'
import { Lease, leaseSettingsOf } from './lease.ts'
import { ConfigError } from '../../config/config.ts'

describe('a lease', () => {
  const held = (wall: number, steady: number): boolean =>
    new Lease(1_000, { wall: 5_000, steady: 5_000 }, () => ({ wall, steady })).holds

  it('holds for its time', () => {
    expect(held(5_999, 5_999)).toBe(true)
    expect(held(6_000, 6_000)).toBe(false)
  })

  it('ends on a machine that was suspended, where the steady clock stood still', () => {
    expect(held(60_000, 5_001)).toBe(false)
  })

  it('ends though the clock was set back', () => {
    expect(held(1_000, 6_000)).toBe(false)
  })

  it('goes on from the moment before the broker was asked', () => {
    const lease = new Lease(1_000, { wall: 0, steady: 0 }, () => ({ wall: 1_500, steady: 1_500 }))
    expect(lease.holds).toBe(false)
    lease.renewed({ wall: 600, steady: 600 })
    expect(lease.holds).toBe(true)
  })
})

const warnings: object[] = []
const terms = (...settings: Readonly<Record<string, string>>[]) => {
  warnings.length = 0
  const brokers = settings.map((each, index) => ({ broker: String(index + 1), settings: each }))
  return leaseSettingsOf(brokers, (fields) => warnings.push(fields))
}

describe('how claims are renewed', () => {
  it('is well within ten minutes on brokers as they come', () => {
    expect(terms({})).toEqual({ leaseMs: 600_000, renewEveryMs: 200_000 })
    expect(warnings).toEqual([])
  })

  it('goes by the shortest memory of all brokers, of owners and of what they keep out', () => {
    const shortest = { leaseMs: 5_000, renewEveryMs: 5_000 / 3 }
    expect(terms({}, { 'transactional.id.expiration.ms': '10000', 'connections.max.idle.ms': '5000' })).toEqual(
      shortest,
    )
    expect(terms({ 'producer.id.expiration.ms': '10000', 'connections.max.idle.ms': '5000' }, {})).toEqual(shortest)
  })

  it.each(['transactional.id.expiration.ms', 'producer.id.expiration.ms'])(
    'is refused where %s leaves no time for it, with what to set',
    (name) => {
      expect(() => terms({}, { [name]: '4999' })).toThrow(ConfigError)
      expect(() => terms({}, { [name]: '4999' })).toThrow(
        `broker 2 forgets the owner of a partition after ${name}=4999, too soon to renew its claim; set it to 5000 or more`,
      )
    },
  )

  it('warns of connections that outlive what keeps a frozen write out', () => {
    terms({ 'transactional.id.expiration.ms': '10000', 'connections.max.idle.ms': '5001' })
    expect(warnings).toEqual([{ broker: '1', 'connections.max.idle.ms': 5_001, most: 5_000 }])
    terms({ 'connections.max.idle.ms': '-1' })
    expect(warnings).toHaveLength(1)
  })
})
