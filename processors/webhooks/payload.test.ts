import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { payloadOf } from './payload.ts'
import { triggerTo } from './testing/world.ts'

const said = (...given: Parameters<typeof triggerTo>): Record<string, unknown> =>
  JSON.parse(payloadOf(triggerTo(...given), 'live').toString()) as Record<string, unknown>

describe('a webhook’s payload', () => {
  it('gives times as ISO 8601 with milliseconds, on any day', () => {
    const time = fc.integer({ min: 0, max: 4_102_444_800_000_000 })
    fc.assert(
      fc.property(time, (micros) => {
        const timestamp = new Date(Math.floor(micros / 1_000)).toISOString()
        expect(said('https://localhost/', { time: micros })).toMatchObject({ timestamp })
      }),
    )
  })

  it('says test and demo only where they are true', () => {
    expect(said('https://localhost/')).not.toHaveProperty('test')
    expect(said('https://localhost/')).not.toHaveProperty('demo')
    expect(said('https://localhost/', { test: true })).toMatchObject({ test: true, data: { triggered: false } })
    const demo = JSON.parse(payloadOf(triggerTo('https://localhost/'), 'demo').toString()) as unknown
    expect(demo).toMatchObject({ demo: true })
  })

  it('leaves out sources that have no figure of its kind', () => {
    const source = { exchange: 'okx', price: null, open_interest_usd: 5, time: 0 }
    const sources = [source, { ...source, exchange: 'bybit', price: 7, open_interest_usd: null }]
    const timestamp = '1970-01-01T00:00:00.000Z'
    expect(said('https://localhost/', { sources })).toMatchObject({
      data: { sources: [{ exchange: 'bybit', price: 7, timestamp }] },
    })
    expect(said('https://localhost/', { sources, kind: 'liquidation' })).toMatchObject({
      data: { sources: [{ exchange: 'okx', open_interest_usd: 5, timestamp }] },
    })
  })
})
