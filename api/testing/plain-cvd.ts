import { BUCKET } from '../../processors/cvd/bucket.ts'
import { periods, windowOf } from '../../processors/cvd/periods.ts'
import { LATENESS, periodNames } from '../../processors/cvd/state.ts'
import type { Cvd, Flow, InstrumentVolume, Micros, PeriodVolume } from '../../schemas/records.ts'

const HOUR: Micros = 3_600_000_000

interface CountedAt {
  /** Partition time. */
  readonly now: Micros
  readonly unsubscribed?: readonly { readonly instrument: string; readonly from: Micros; readonly to: Micros }[]
}

/** What the processor counts of an asset at a time, by adding up its rows: the plainest computation of it. */
export function plainCvd(asset: string, rows: readonly Flow[], { now, unsubscribed = [] }: CountedAt): Cvd {
  const closed = Math.floor((now - LATENESS) / BUCKET) * BUCKET
  const instruments = [
    ...Map.groupBy(
      rows.filter(({ bucket }) => bucket < closed),
      (row) => row.instrument,
    ),
  ]
  return {
    asset,
    closed,
    instruments: instruments.map(([instrument, own]): InstrumentVolume => ({
      instrument,
      since: Math.min(...own.map(({ open_time }) => open_time)),
      newest: Math.max(...own.map(({ close_time }) => close_time)),
      volumes: [
        volumeOf('all', closed, own),
        firstHour(own),
        ...periodNames.map((name) => plainPeriod(name, own, now)),
      ],
      unsubscribed: unsubscribed
        .filter((row) => row.instrument === instrument)
        .map(({ from, to }) => ({ from, to: to > from ? to : null })),
    })),
    v: 1,
  }
}

function firstHour(rows: readonly Flow[]): PeriodVolume {
  const first = Math.min(...rows.map(({ open_time }) => open_time))
  const from = first - (first % HOUR)
  return volumeOf(
    'first',
    from + HOUR,
    rows.filter(({ bucket }) => bucket >= from && bucket < from + HOUR),
  )
}

function plainPeriod(name: keyof typeof periods, rows: readonly Flow[], now: Micros): PeriodVolume {
  const { from, to } = windowOf(periods[name], now)
  return volumeOf(
    name,
    to,
    rows.filter(({ bucket }) => bucket >= from && bucket < to),
  )
}

function volumeOf(period: string, to: Micros, rows: readonly Flow[]): PeriodVolume {
  const sum = (name: 'buy' | 'sell' | 'buy_quote' | 'sell_quote'): number =>
    rows.reduce((total, row) => total + row[name], 0)
  return { period, to, buy: sum('buy'), sell: sum('sell'), buy_quote: sum('buy_quote'), sell_quote: sum('sell_quote') }
}
