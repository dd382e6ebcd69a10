import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { flow, NOW, startHarness, type Harness } from '../../../api/testing/harness.ts'
import type { FakeDatabase } from '../../../api/testing/fake-database.ts'
import { simulatedMarkets, type Market } from '../../../infra/simulator/market/markets.ts'
import { SimulatedEconomy } from '../../../infra/simulator/market/simulated-economy.ts'

const HOUR = 3_600_000_000
const DAY = 24 * HOUR
/** As far back as `npm start` reads the venues' past. */
const DAYS = 90
const SEED = 7
/** The venues’ own candles say what takers bought there alone. */
const SAYS_TAKERS = 'binance'

/**
 * The API over 90 days of BTC of the simulated market, as the demo's venues tell them: hourly candles and settled rates. It is
 * in memory, of one seed and one time, so that it is the same in every run.
 */
export async function startSeededMarket(): Promise<Harness> {
  const folder = mkdtempSync(path.join(tmpdir(), 'market-'))
  const economy = new SimulatedEconomy({ folder, seed: SEED, rate: 100, now: NOW, newest: [], fillers: 0 })
  const api = await startHarness()
  try {
    for (const market of simulatedMarkets.filter(({ asset }) => asset === 'BTC'))
      fillPast(api.database, economy, market)
    const price = api.database.pasts.findLast(({ venue }) => venue === SAYS_TAKERS)?.close ?? 0
    api.database.flows = [flow({ bucket: NOW - (NOW % HOUR), price })]
    fillSettlements(api.database, economy)
  } finally {
    economy.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return api
}

function fillPast(database: FakeDatabase, economy: SimulatedEconomy, market: Market): void {
  const [from, to] = [(NOW - DAYS * DAY) / 1000, (NOW - (NOW % HOUR)) / 1000]
  const price = (units: number): number => Number(`${units}e-${market.priceDecimals}`)
  const size = (units: number): number => Number(`${units}e${market.factor - market.sizeDecimals}`)
  for (const candle of economy.pastCandles(market, { intervalMs: HOUR / 1000, fromMs: from, toMs: to, untilMs: to }))
    database.pasts.push({
      asset: 'btc',
      venue: market.venue,
      start: candle.startMs * 1000,
      seconds: 3600,
      open: price(candle.open),
      close: price(candle.close),
      volume: size(candle.buy + candle.sell),
      takerBuy: market.venue === SAYS_TAKERS ? size(candle.buy) : null,
    })
}

function fillSettlements({ market }: FakeDatabase, economy: SimulatedEconomy): void {
  market.settlements = market.settlements.filter(({ asset }) => asset !== 'btc')
  for (const venue of ['binance', 'bybit', 'okx'] as const)
    for (const perp of economy.perps(venue).filter(({ asset }) => asset === 'BTC'))
      for (const { time, rate, mark } of economy.settlements(perp, DAYS * 3))
        market.settlements.push({
          instrument: `${venue}:perp:BTCUSDT`,
          asset: 'btc',
          settled_rate: rate,
          mark,
          time,
          received: time,
        })
}
