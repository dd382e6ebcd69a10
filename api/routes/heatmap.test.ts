import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NOW, startHarness, type Harness } from '../testing/harness.ts'

const HOUR = 3_600_000_000

let api: Harness
beforeEach(async () => {
  api = await startHarness()
})
afterEach(() => api.stop())

describe('/liquidation/heatmap', () => {
  it('tells distances with their sign and what was swept beside what was seen', async () => {
    const answer = await api.body('/liquidation/heatmap/BTC')
    const clusters = answer['leverage_clusters'] as { leverage: string; side: string; distance_pct: number }[]
    expect(clusters).toHaveLength(10)
    expect(clusters[0]).toMatchObject({ leverage: '100x', side: 'long', distance_pct: -1 })
    expect(clusters[1]).toMatchObject({ leverage: '100x', side: 'short', distance_pct: 1 })
    // Swept 400 and 200; seen since two hours ago: longs 50 and 49, a short 49.5.
    expect(answer['calibration']).toMatchObject({ observed_long_usd: 99, observed_short_usd: 49.5 })
    expect(answer['calibration']).toMatchObject({ observed_to_swept: (99 + 49.5) / 600 })
    expect(answer['risk_summary']).toMatchObject({ total_oi_at_risk_10pct_usd: 700, oi_at_risk_10pct_pct: 7 })
  })

  it.each([
    [2, 6, 7, 'medium', '7.00 % of open interest is at risk within 10 % of the price, 5 % or more. The levels start'],
    [23.9, 10.5, 30, 'high', '10.50 % of open interest is at risk within 5 % of the price, more than 10 %. The levels'],
    [24, 2, 3, 'low', '3.00 % of open interest is at risk within 10 % of the price, less than 5 %.'],
  ])('%d h after its start, with %d and %d %% at risk, is %s by that rule', async (hours, in5, in10, risk, reason) => {
    const since = NOW - hours * HOUR
    const known = api.database.market.risks[0]
    if (known === undefined) throw new Error('there is a risk')
    api.database.market.risks[0] = { ...known, since, time: NOW, at_risk_5_pct: in5, at_risk_10_pct: in10 }
    const answer = await api.body('/liquidation/heatmap/BTC')
    const iso = new Date(since / 1000).toISOString()
    expect(answer).toMatchObject({ cascade_risk: risk, levels_since: iso, risk_summary: { cascade_risk: risk } })
    const said = String((answer['risk_summary'] as Record<string, unknown>)['cascade_risk_reason'])
    expect(said.startsWith(reason)).toBe(true)
    expect(said.includes(`The levels start where the service started, at ${iso}`)).toBe(hours < 24)
  })
})

describe('/liquidation/heatmap/history', () => {
  interface Column {
    readonly time: string
    readonly price: number | null
    readonly levels: readonly { readonly price: number; readonly long_usd: number; readonly short_usd: number }[]
  }

  const columns = async (query: string): Promise<Column[]> =>
    (await api.body(`/liquidation/heatmap/history/BTC${query}`))['points'] as Column[]

  it('has a column for each bucket since open interest is known, longs below the price and shorts above', async () => {
    const all = await columns('?interval=1h')
    const known = all.filter(({ price }) => price !== null)
    expect(known.length).toBeGreaterThan(0)
    for (const { price, levels } of known) {
      expect(levels.length).toBeGreaterThan(0)
      const offs = levels.map((level) => ({ ...level, off: level.price / Number(price) - 1 }))
      expect(offs.filter(({ off }) => Math.abs(off) > 0.105)).toEqual([])
      expect(offs.filter(({ off, short_usd }) => off < -0.005 && short_usd > 0)).toEqual([])
      expect(offs.filter(({ off, long_usd }) => off > 0.005 && long_usd > 0)).toEqual([])
    }
  })

  it('gives the same column whatever page it is on', async () => {
    const all = await columns('?interval=1m&limit=1000')
    expect(all.length).toBeLessThanOrEqual(400)
    const last = all.at(-1)
    expect((await columns('?interval=1m&limit=2')).at(-1)).toEqual(last)
  })

  it.each(['4h', '8h', '12h', '1d', '1w'])('tells of the open bucket of %s what is so now', async (interval) => {
    const now = (await columns('?interval=1h')).at(-1)
    const open = (await columns(`?interval=${interval}`)).at(-1)
    expect(now?.price).toBeTypeOf('number')
    expect(open).toEqual({ ...now, time: open?.time })
  })
})
