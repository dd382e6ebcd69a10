import { PRICES } from '../../../processors/prices/prices.ts'
import type { Output, Processor, ProcessorRow } from '../../../processors/kernel/processor.ts'
import { emptyFields } from '../../../schemas/codec.ts'
import type { CompositePrice, Mark, Micros, Trade } from '../../../schemas/records.ts'
import { partsOf } from '../../../schemas/venues.ts'

type Emitted = Output<'alerts.inputs'>

interface State {
  time: Micros
  /** By asset. */
  readonly prices: Map<string, Price>
}

/** Trades of the instrument that was seen first, since the mark before. */
interface Price {
  readonly instrument: string
  last: number
  low: number
  high: number
  /** Of the last trade. */
  time: Micros
  isTold: boolean
}

/** In an archive's trades: a price of each asset for each mark, with its low and high, as `prices` makes it of tickers. */
const core: Processor<State, Emitted> = {
  empty: () => ({ time: 0, prices: new Map() }),

  apply(state, { message }, { v }, emit) {
    if (message.type === 'trade') applyTrade(state, message.value)
    if (message.type !== 'mark' || message.value.time <= state.time) return
    state.time = message.value.time
    for (const asset of [...state.prices.keys()].sort()) {
      const value = takePrice(state, asset, v)
      if (value !== undefined) emit({ topic: 'alerts.inputs', key: asset, message: { type: 'composite_price', value } })
    }
    const value: Mark = { ...emptyFields('mark'), writer: PRICES, run: 0, time: state.time }
    emit({ topic: 'alerts.inputs', key: PRICES, message: { type: 'mark', value } })
  },

  save: () => [],
  load: () => core.empty(),
}

function applyTrade({ prices }: State, { asset, instrument, price, time }: Trade): void {
  const known = prices.get(asset)
  if (known === undefined) prices.set(asset, { instrument, last: price, low: price, high: price, time, isTold: false })
  if (known?.instrument !== instrument) return
  known.low = known.isTold ? price : Math.min(known.low, price)
  known.high = known.isTold ? price : Math.max(known.high, price)
  known.last = price
  known.time = Math.max(known.time, time)
  known.isTold = false
}

function takePrice({ prices }: State, asset: string, v: number): CompositePrice | undefined {
  const known = prices.get(asset)
  if (known === undefined || known.isTold) return undefined
  known.isTold = true
  const { instrument, last: price, low, high, time } = known
  const source = { exchange: partsOf(instrument).venue, instrument, price, low, high, time }
  return {
    asset,
    price,
    low,
    high,
    change_24h: null,
    sources: [source],
    quality: 'degraded',
    late: false,
    bounds_from: 0,
    time,
    v,
  }
}

/** Stands in the place of `prices` where an archive is replayed, which has no tickers. */
export const archivePrices: ProcessorRow = {
  name: PRICES,
  inputs: ['market.trades'],
  outputs: ['alerts.inputs'],
  state: 'state.prices',
  generation: 1,
  reason: 'prices of an archive are those of its trades',
  core,
}
