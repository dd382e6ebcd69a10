import { emptyFields } from '../../schemas/codec.ts'
import type { CompositePrice, Mark, PriceRange } from '../../schemas/records.ts'
import type { Entry, Output, Processor } from '../kernel/processor.ts'
import { gatherRange } from './gaps.ts'
import { forgetChanges, loadState, saveState } from './save.ts'
import { emptyState, type PricesState } from './state.ts'
import { applyTicker, priceVenueOf } from './tickers.ts'
import { advanceTime, hear } from './time.ts'

type Emitted = Output<'alerts.inputs'>
type Emit = (output: Emitted) => void

/** Name in the topology and in the marks that it forwards. */
export const PRICES = 'prices'

/**
 * From spot tickers: the composite price of each asset in USD, one record for each input that changes it, and one a second
 * while none does. A sequence, not an upsert: alerts are decided by it.
 */
export const prices: Processor<PricesState, Emitted> = {
  empty: emptyState,

  apply(state, { message }: Entry, { v }, emit) {
    if (message.type === 'spot_ticker') emitPrice(applyTicker(state, message.value, v), emit)
    else if (message.type === 'price_range') applyRange(state, message.value)
    else if (message.type === 'mark') applyMark(state, message.value, v, emit)
  },

  save: saveState,
  forget: forgetChanges,
  load: loadState,

  counts: ({ refused, assets }) => ({ ...refused, assets: assets.size }),
}

function applyRange(state: PricesState, range: PriceRange): void {
  const venue = priceVenueOf(range.instrument)
  const asset = state.assets.get(range.asset)
  const isUsed = venue !== undefined && asset !== undefined && range.low > 0 && gatherRange(state, asset, venue, range)
  if (!isUsed) state.refused.range += 1
}

/**
 * Prices first, then the mark: who reads the mark has read everything that its time has changed. One that is not later, of
 * a feed beside others, is heard; what follows is told with the next that is.
 */
function applyMark(state: PricesState, mark: Mark, v: number, emit: Emit): void {
  if (mark.time <= state.time) return hear(state, mark)
  for (const price of advanceTime(state, mark, v)) emitPrice(price, emit)
  const value: Mark = {
    ...emptyFields('mark'),
    writer: PRICES,
    run: 0,
    time: mark.time,
  }
  emit({ topic: 'alerts.inputs', key: PRICES, message: { type: 'mark', value } })
}

function emitPrice(value: CompositePrice | undefined, emit: Emit): void {
  if (value === undefined) return
  emit({ topic: 'alerts.inputs', key: value.asset, message: { type: 'composite_price', value } })
}
