import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CvdTestDriver } from '../processors/cvd/testing/records.ts'
import { periods, windowOf, type PeriodName } from '../processors/cvd/periods.ts'
import { periodNames } from '../processors/cvd/state.ts'
import { takeIn } from '../processors/present/present.ts'
import { emptyPresent, loadPresent, savePresent, type PresentState } from '../processors/present/state.ts'
import type { Flow } from '../schemas/records.ts'
import { partsOf } from '../schemas/venues.ts'
import { Present } from './present.ts'
import { batches, rowsOf } from './testing/flow-logs.ts'
import { flowTime, sumsOf, type InstrumentSums } from './views/cvd.ts'
import { bounded, LAW_MS } from '../processors/kernel/testing/law.ts'

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
