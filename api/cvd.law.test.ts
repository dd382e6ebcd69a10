import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fed, mark, SECOND, T0, trade } from '../processors/cvd/given.ts'
import { periods, windowOf, type PeriodName } from '../processors/cvd/periods.ts'
import { periodNames } from '../processors/cvd/state.ts'
import { takeIn } from '../processors/present/present.ts'
import { emptyPresent, loadPresent, savePresent, type PresentState } from '../processors/present/state.ts'
import type { Flow, Message } from '../schemas/records.ts'
import { partsOf } from '../schemas/venues.ts'
import { Present } from './present.ts'
import { flowTime, sumsOf, type InstrumentSums } from './views/cvd.ts'

/** A machine under load tries fewer logs rather than none. */
const bounded = { interruptAfterTimeLimit: 20_000 }

const markets = [
  { asset: 'btc', instrument: 'binance:perp:BTCUSDT' },
  { asset: 'btc', instrument: 'bybit:perp:BTCUSDT' },
  { asset: 'eth', instrument: 'okx:perp:ETH-USDT-SWAP' },
]

/** Around the bounds of every period's buckets, sometimes ahead of time or long behind it. */
const seconds = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 3_500, max: 3_700 }) },
  { weight: 1, arbitrary: fc.integer({ min: -90_000, max: 20_000 }) },
)

/** Sizes are eighths and the price is whole, so that sums are exact in any order. */
const trades = fc
  .record({
    market: fc.constantFrom(...markets),
    id: fc.nat(500),
    at: seconds,
    eighths: fc.integer({ min: 1, max: 80 }),
    taker: fc.constantFrom('buy' as const, 'sell' as const),
    gap: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 4 }),
  })
  .map(({ market, id, at, eighths, taker, gap }) => {
    const from = gap === null ? ({} as const) : ({ origin: 'backfill', gap_id: gap } as const)
    return trade({ ...market, ...from, first_id: id, time: T0 + at * SECOND, size: eighths / 8, taker })
  })

const marks = fc
  .oneof(
    { weight: 8, arbitrary: fc.integer({ min: 3_500, max: 3_700 }) },
    { weight: 1, arbitrary: fc.integer({ min: 3_500, max: 800_000 }) },
  )
  .map((at) => mark(T0 + at * SECOND))

const step = fc.oneof({ weight: 4, arbitrary: trades }, { weight: 1, arbitrary: marks })
const batches = fc.array(fc.array<Message>(step, { minLength: 1, maxLength: 12 }), { maxLength: 20, size: 'max' })

/** The newest version of each row. */
function rowsOf(fed: Fed): Flow[] {
  const rows = new Map<string, Flow>()
  for (const { key, message } of fed.emitted) {
    const { v = 0 } = rows.get(key) ?? {}
    if (message?.type === 'flow' && message.value.v >= v) rows.set(key, message.value)
  }
  return [...rows.values()]
}

/** By adding up rows, as a reader of ClickHouse's `flow_10s` does. */
function plainSums(rows: readonly Flow[], asset: string, period: PeriodName, now: number): InstrumentSums[] {
  const { from, to } = windowOf(periods[period], now)
  const known = rows.filter((row) => row.asset === asset && row.bucket < to)
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
      first: Math.min(...own.map(({ open_time }) => open_time)),
      newest: Math.max(...own.map(({ close_time }) => close_time)),
    }
  })
}

const byName = (sums: readonly InstrumentSums[]): InstrumentSums[] =>
  sums.toSorted((a, b) => (a.instrument < b.instrument ? -1 : 1))

describe('CVD from memory', () => {
  it('is at every moment what adding up the rows gives, wherever it was written down and whatever came twice', () => {
    fc.assert(
      fc.property(batches, fc.nat(20), fc.nat(20), (log, savedAt, againFrom) => {
        const fed = new Fed()
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
  })
})

function compare(fed: Fed, state: PresentState): void {
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
