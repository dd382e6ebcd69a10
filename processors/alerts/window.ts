import type { CompositePrice, Micros } from '../../schemas/records.ts'
import type { AlertsState, PriceSeen } from './state.ts'

const SECOND: Micros = 1_000_000

/**
 * How far the low and high of a composite price reach back at most: a record takes in tickers of the 5 s before it, and
 * the ticker of an asset that nobody wants covers 5 s, written a second later at the latest.
 */
const LOOK_BACK: Micros = 11 * SECOND
/** Without a price for this long no venue counts: candles may tell of the time. */
const SILENT: Micros = 15 * SECOND
/** Candles are of whole minutes, and the last venue is heard some seconds before the last price: bounds may be this old. */
const CANDLE: Micros = 90 * SECOND
/** Silences that begin within this time may be told of as one. */
const JOINED: Micros = 300 * SECOND

/** Since when a record's low and high may be. Call it before `notePrice`. */
export function windowStart(state: AlertsState, price: CompositePrice): Micros {
  if (!price.late) return price.time - LOOK_BACK
  const seen = state.prices.get(price.asset)
  const silence = seen === undefined ? null : silenceAt(seen, price.time)
  return silence === null ? -Infinity : silence - CANDLE
}

/** Begin of the silence that a late record of `time` tells of: one that has ended, or one that is not over yet. */
function silenceAt({ price, silentSince }: PriceSeen, time: Micros): Micros | null {
  return price.time < time ? joined(silentSince, price.time) : silentSince
}

/** Remembers the newest price, and the silence before it; a silence that was told of is over. */
export function notePrice(state: AlertsState, price: CompositePrice): void {
  const seen = state.prices.get(price.asset)
  if (seen === undefined) {
    if (!price.late) note(state, { price, silentSince: null })
  } else if (price.late) note(state, { ...seen, silentSince: null })
  else if (price.time >= seen.price.time) {
    const isSilence = price.time - seen.price.time > SILENT
    note(state, { price, silentSince: isSilence ? joined(seen.silentSince, seen.price.time) : seen.silentSince })
  }
}

/** Not without end: a quiet asset has silences all the time. */
function joined(before: Micros | null, since: Micros): Micros {
  return before !== null && before > since - JOINED ? before : since
}

function note(state: AlertsState, seen: PriceSeen): void {
  state.prices.set(seen.price.asset, seen)
  state.changed.prices.add(seen.price.asset)
}
