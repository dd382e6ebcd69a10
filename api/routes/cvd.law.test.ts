import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CvdTestDriver, mark, SECOND, T0, trade } from '../../processors/cvd/testing/records.ts'
import { periods, windowOf, type PeriodName } from '../../processors/cvd/periods.ts'
import { periodNames } from '../../processors/cvd/state.ts'
import { takeIn } from '../../processors/present/present.ts'
import { emptyPresent, loadPresent, savePresent, type PresentState } from '../../processors/present/state.ts'
import type { Flow, VenueCandle } from '../../schemas/records.ts'
import { partsOf, usualTradeVenues } from '../../schemas/venues.ts'
import { Present } from '../present/present.ts'
import { batches, rowsOf } from '../testing/flow-logs.ts'
import { aggregate, flowTime, sumsOf, type InstrumentSums } from '../views/cvd.ts'
import { bounded, LAW_MS } from '../../processors/kernel/testing/law.ts'

/** Every period ends with the 10 s that `now` lies in. */
const endOf = (now: number): number => windowOf(periods['1h'], now).to

/** By adding up rows, as a reader of ClickHouse's `flow_10s` does. */
function plainSums(rows: readonly Flow[], asset: string, period: PeriodName, now: number): InstrumentSums[] {
  const { from } = windowOf(periods[period], now)
  const known = rows.filter((row) => row.asset === asset && row.bucket < endOf(now))
  return [...Map.groupBy(known, (row) => row.instrument)].map(([instrument, own]) => {
    const within = own.filter(({ bucket }) => bucket >= from)
    const sum = (of: readonly Flow[], name: 'buy' | 'sell' | 'buy_quote' | 'sell_quote'): number =>
      of.reduce((total, row) => total + row[name], 0)
    return {
      instrument,
      venue: partsOf(instrument).venue,
      totalBuy: sum(own, 'buy'),
      totalSell: sum(own, 'sell'),
      totalBuyUsd: sum(own, 'buy_quote'),
      totalSellUsd: sum(own, 'sell_quote'),
      buy: sum(within, 'buy'),
      sell: sum(within, 'sell'),
      buyUsd: sum(within, 'buy_quote'),
      sellUsd: sum(within, 'sell_quote'),
      traded: {
        buy: sum(within, 'buy'),
        sell: sum(within, 'sell'),
        buyUsd: sum(within, 'buy_quote'),
        sellUsd: sum(within, 'sell_quote'),
      },
      past: undefined,
      first: Math.min(...own.map(({ open_time }) => open_time)),
      newest: Math.max(...own.map(({ close_time }) => close_time)),
    }
  })
}

const byName = (sums: readonly InstrumentSums[]): InstrumentSums[] =>
  sums.toSorted((a, b) => (a.instrument < b.instrument ? -1 : 1))

describe('CVD from memory', () => {
  it(
    'is at every moment what adding up the rows gives, wherever it was written down and whatever came twice',
    { timeout: LAW_MS },
    () => {
      fc.assert(
        fc.property(batches, fc.nat(20), fc.nat(20), (log, savedAt, againFrom) => {
          const fed = new CvdTestDriver()
          let state: PresentState = emptyPresent()
          const parts = new Map<string, Buffer>()
          let told = 0
          for (const [index, batch] of log.entries()) {
            fed.batch(...batch)
            // A new owner writes again what followed its snapshot: older versions come once more.
            const from = index === savedAt ? Math.min(told, againFrom) : told
            for (const [at, { topic, message }] of fed.emitted.slice(from).entries())
              if (message !== null) takeIn(state, { topic, offset: at, message })
            told = fed.emitted.length
            for (const [key, part] of savePresent(state))
              if (part === null) parts.delete(key)
              else parts.set(key, part)
            if (index === savedAt) state = loadPresent(parts)
            compare(fed, state)
          }
        }),
        { ...bounded, numRuns: 300 },
      )
    },
  )
})

it('is one running total for every period, also right after the 10 s that a mark has told of', () => {
  const fed = new CvdTestDriver()
  fed.batch(trade({ time: T0 + SECOND, first_id: 1, size: 1 }), mark(T0 + 9.6 * SECOND))
  fed.batch(trade({ time: T0 + 10.2 * SECOND, first_id: 2, size: 5 }))
  const state = emptyPresent()
  for (const [offset, { topic, message }] of fed.emitted.entries())
    if (message !== null) takeIn(state, { topic, offset, message })
  const present = new Present(() => [state], emptyPresent())
  const told = periodNames.map((period) => {
    const sums = sumsOf(present, 'btc', period, flowTime(present, 'btc') ?? 0)
    const { cvd, cvd_usd, period_cvd } = aggregate(sums, { covered: 1, counted: usualTradeVenues }).total
    return [period, cvd, cvd_usd, period_cvd]
  })
  // The second trade is behind the last bucket of 1h, 10 s, and within those of the others, of a minute and more.
  expect(told).toEqual(periodNames.map((period) => [period, 1, 100, 1]))
})

const HOUR = 3_600 * SECOND

/** Candles of hours around the trades and before them; sizes are eighths, so that sums are exact in any order. */
const candles = fc.array(
  fc
    .record({
      instrument: fc.constantFrom('binance:perp:BTCUSDT', 'bybit:perp:BTCUSDT', 'okx:perp:BTC-USDT-SWAP'),
      hour: fc.oneof(fc.integer({ min: -6, max: 2 }), fc.integer({ min: -190, max: 2 })),
      seconds: fc.constantFrom(3_600, 3_600, 3_600, 60),
      volume: fc.integer({ min: 80, max: 160 }).map((eighths) => eighths / 8),
      bought: fc.option(
        fc.integer({ min: 0, max: 80 }).map((eighths) => eighths / 8),
        { freq: 4 },
      ),
      source: fc.constantFrom('archive' as const, 'venue_candles' as const),
    })
    .map(({ hour, bought, ...rest }): VenueCandle => {
      const prices = { open: 1, high: 1, low: 1, close: 1, quote: null, taker_buy_quote: null, trades: null }
      return { ...rest, ...prices, asset: 'btc', taker_buy: bought, start: T0 + hour * HOUR, received: T0 }
    }),
  { maxLength: 60, size: 'max' },
)

/** What one instrument's buys of a period are, hour by hour, each of one source. */
function plainBuys(rows: readonly Flow[], told: readonly VenueCandle[], window: { from: number; to: number }): object {
  const first = Math.min(...rows.map(({ open_time }) => open_time))
  const hours = Map.groupBy(
    told.filter(({ seconds, taker_buy }) => seconds === 3_600 && taker_buy !== null),
    ({ start }) => start,
  )
  const isPast = (start: number): boolean =>
    hours.has(start) && start < first && start >= window.from && start + HOUR <= window.to
  const past = [...hours].filter(([start]) => isPast(start))
  const chosen = past.map(([, all]) => all.find(({ source }) => source === 'archive') ?? all[0])
  const own = rows.filter(({ bucket }) => bucket >= window.from && bucket < window.to)
  const counted = own.filter(({ bucket }) => !isPast(bucket - (bucket % HOUR)))
  const traded = counted.reduce((sum, row) => sum + row.buy, 0)
  const of = (name: string): VenueCandle[] => chosen.filter((candle) => candle?.source === name) as VenueCandle[]
  const sumOf = (all: readonly VenueCandle[]): number => all.reduce((sum, { taker_buy }) => sum + (taker_buy ?? 0), 0)
  return { traded, archive: sumOf(of('archive')), venue_candles: sumOf(of('venue_candles')) }
}

describe('the past in front of the trades of a period', () => {
  it(
    'counts each hour of an instrument once, by its trades, its archive or its candle, whatever came first',
    { timeout: LAW_MS },
    () => {
      fc.assert(
        fc.property(batches, candles, fc.array(fc.nat(), { maxLength: 60 }), (log, past, order) => {
          const fed = new CvdTestDriver()
          fed.batch(mark(T0 + 3_500 * SECOND)) // what is asked about has begun
          for (const batch of log) fed.batch(...batch)
          const flow = fed.emitted.flatMap(({ topic, message }) => (message === null ? [] : [{ topic, message }]))
          const candlesAt = past.map((value, index) => ({ value, at: (order[index] ?? 0) % (flow.length + 1) }))
          const state = emptyPresent()
          const read: VenueCandle[] = []
          for (let at = 0; at <= flow.length; at++) {
            for (const { value } of candlesAt.filter((candle) => candle.at === at)) {
              read.push(value)
              takeIn(state, { topic: 'market.history', offset: read.length, message: { type: 'venue_candle', value } })
            }
            const next = flow[at]
            if (next !== undefined) takeIn(state, { ...next, offset: at })
          }
          comparePast(state, rowsOf(fed), read)
        }),
        { ...bounded, numRuns: 300 },
      )
    },
  )
})

function comparePast(state: PresentState, rows: readonly Flow[], read: readonly VenueCandle[]): void {
  const present = new Present(() => [state], emptyPresent())
  const now = flowTime(present, 'btc') ?? 0
  for (const period of periodNames) {
    const window = windowOf(periods[period], now)
    const sums = sumsOf(present, 'btc', period, now)
    for (const instrument of new Set(
      [...rows, ...read].filter(({ asset }) => asset === 'btc').map((row) => row.instrument),
    )) {
      const own = rows.filter((row) => row.instrument === instrument && row.bucket < endOf(now))
      const wanted = plainBuys(
        own,
        read.filter((row) => row.instrument === instrument),
        window,
      )
      const told = sums.find((row) => row.instrument === instrument)
      const by = (source: string): number =>
        (told?.past?.hours ?? []).reduce((sum, hour) => sum + (hour.source === source ? hour.buy : 0), 0)
      const is = { traded: told?.traded.buy ?? 0, archive: by('archive'), venue_candles: by('venue_candles') }
      expect(is).toEqual(wanted)
      expect(told?.buy ?? 0).toBe(is.traded + is.archive + is.venue_candles)
    }
  }
}

function compare(fed: CvdTestDriver, state: PresentState): void {
  const present = new Present(() => [state], emptyPresent())
  const rows = rowsOf(fed)
  for (const asset of ['btc', 'eth']) {
    const now = flowTime(present, asset)
    if (now === undefined) continue
    expect(now).toBe(state.time.get('derived.flow'))
    for (const period of periodNames)
      expect(byName(sumsOf(present, asset, period, now))).toEqual(byName(plainSums(rows, asset, period, now)))
  }
}
