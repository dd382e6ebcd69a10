import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { median } from '../../processors/prices/median.ts'
import { flow, NOW, startHarness, type Harness } from '../testing/harness.ts'
import { routesOfNow } from '../testing/routes-of-now.ts'

const SECOND = 1_000_000
const PLACE = 'derived.flow=7,9; market.tokens=3'
/** A scan that is kept for a moment; whether it is ready. */
const isOfNoMoment = /extreme|readyz/

let api: Harness
beforeEach(async () => {
  api = await startHarness()
})
afterEach(() => api.stop())

/** Every venue's ticker again, `seconds` later and `by` higher: newer than what was derived of them. */
function tickersMoveOn(seconds: number, by: number): void {
  const { market } = api.database
  const later = market.tickers.map((row) => ({
    ...row,
    price: row.price + by,
    time: row.time + seconds * SECOND,
    received: row.received + seconds * SECOND,
  }))
  market.tickers.push(...later)
}

describe('an answer is cut from one moment:', () => {
  it('a composite price stands beside the prices that made it, though tickers are newer', async () => {
    tickersMoveOn(5, 40)
    const { price, exchanges, sources } = await api.body('/price/BTC')
    const venues = Object.entries(exchanges as Record<string, { price: number; used: boolean }>)
    const used = venues.filter(([, venue]) => venue.used)
    expect(used.map(([name]) => name)).toEqual(sources)
    expect(median(used.map(([, venue]) => venue.price))).toBe(price)
    expect(price).toBe(102)
  })

  it('which is told to whoever asks for it, where there is one', async () => {
    const asked = async (path: string, prefer: string): Promise<(string | null)[]> => {
      const { status, headers } = await api.get(path, { headers: { prefer } })
      expect([path, status]).toEqual([path, 200])
      return [headers.get('log-position'), headers.get('preference-applied')]
    }
    for (const path of routesOfNow.filter((each) => !isOfNoMoment.test(each))) {
      expect([path, ...(await asked(path, 'respond-async, log-position'))]).toEqual([path, PLACE, 'log-position'])
      expect(await asked(path, 'respond-async')).toEqual([null, null])
    }
    for (const path of routesOfNow.filter((each) => isOfNoMoment.test(each)))
      expect(await asked(path, 'log-position')).toEqual([null, null])
  })

  it('a venue that the composite leaves out has a price of no later time', async () => {
    const { market } = api.database
    market.prices = market.prices.map((row) => ({ ...row, sources: row.sources.slice(0, 4) }))
    expect(await api.body('/price/BTC')).toMatchObject({ exchanges: { kraken: { price: 104, used: false } } })
    tickersMoveOn(5, 40)
    api.advance(3_000)
    expect(await api.body('/price/BTC')).toMatchObject({ exchanges: { kraken: { price: null, age_ms: null } } })
  })

  it('a volume is that of the venues that the price names', async () => {
    const { market } = api.database
    market.prices = market.prices.map((row) => ({ ...row, sources: row.sources.slice(0, 1) }))
    const { data } = await api.body('/api/v1/market/bitcoin')
    expect(data).toMatchObject({ volume_24h: 10_000, source: 'composite of binance; details from coingecko' })
  })

  it('the spot price of a basis is as of the record that the perpetuals are of', async () => {
    tickersMoveOn(5, 40)
    api.advance(6_000)
    expect(await api.body('/futures/basis/BTC')).toMatchObject({
      spot_price: 100,
      spot_age_ms: 6_000,
      exchanges: { bybit: { perp_price: 100, basis_usd: 0 } },
    })
  })

  it('the last settled rate is the newest of the history', async () => {
    const { market } = api.database
    const settlements = market.settlements
    const { settled_time: time } = market.funding[0]?.exchanges[0] ?? {}
    const shown = async (): Promise<unknown[]> => {
      const {
        funding_history: history,
        last_settled_rate: rate,
        last_settled_time: at,
      } = await api.body('/futures/predicted-funding/BTC')
      expect((history as object[])[0]).toEqual({ time: at, rate })
      expect(rate).toBe(-0.0003)
      api.advance(31_000)
      return history as unknown[]
    }
    // The table of settlements lags behind the record, or is ahead of it.
    market.settlements = settlements.filter((row) => row.time !== time)
    expect(await shown()).toHaveLength(10)
    const newer = settlements.slice(0, 1).map((row) => ({ ...row, time: NOW - SECOND, settled_rate: 0.9 }))
    market.settlements = [...settlements, ...newer]
    expect(await shown()).not.toContainEqual(expect.objectContaining({ rate: 0.9 }))
  })

  it('the running volume delta ends with the period, whatever came behind it', async () => {
    const bucket = NOW - (NOW % (10 * SECOND))
    api.database.flows = [flow({ bucket, buy: 5, sell: 2 }), flow({ bucket: bucket + 10 * SECOND, buy: 100, sell: 0 })]
    expect(await api.body('/cvd/BTC')).toMatchObject({ cvd: 3, period_cvd: 3, exchanges: { binance: { cvd: 3 } } })
  })

  it('liquidations that were observed end where those that were swept do', async () => {
    const { market } = api.database
    const before = (await api.body('/liquidation/heatmap/BTC'))['calibration']
    market.liquidations = market.liquidations.concat(
      market.liquidations.map((row) => ({ ...row, id: `${row.id}-later`, time: NOW + SECOND })),
    )
    api.advance(16_000)
    expect((await api.body('/liquidation/heatmap/BTC'))['calibration']).toEqual(before)
  })

  it('liquidations and their statistics end with the mark that all partitions have reached', async () => {
    const { market, times } = api.database
    const late = times.find(({ topic, partition }) => topic === 'market.liquidations' && partition === 7)
    if (late === undefined) throw new Error('each partition has a mark')
    late.time = NOW - 15 * SECOND
    const { events, stats } = await api.body('/liquidation/recent')
    // The newest was received 9 s ago.
    expect(market.liquidations[0]?.received).toBeGreaterThan(late.time)
    expect(events).toHaveLength(2)
    expect(stats).toMatchObject({ last_1h: { total_events: 1 }, last_24h: { total_events: 2 } })
  })
})
