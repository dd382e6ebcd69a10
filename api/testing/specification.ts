import type { Endpoint } from './specification/endpoint.ts'
import { flowEndpoints } from './specification/flow.ts'
import { fundingEndpoints } from './specification/funding.ts'
import { liquidationsEndpoints } from './specification/liquidations.ts'
import { spotEndpoints } from './specification/spot.ts'

export type { FieldType } from './specification/endpoint.ts'

/** The service specification's tables as data: nothing here is taken from the code that it judges. */
export const endpoints: readonly Endpoint[] = [
  ...flowEndpoints,
  ...fundingEndpoints,
  ...spotEndpoints,
  ...liquidationsEndpoints,
]

/** Taker buys, taker sells, signal: both sides of each bound. A bound belongs to the milder class. */
export const cvdSignals: readonly (readonly [number, number, string])[] = [
  [57.5, 42.5, 'bullish_pressure'],
  [57.51, 42.49, 'strong_bullish_pressure'],
  [52.5, 47.5, 'neutral'],
  [52.51, 47.49, 'bullish_pressure'],
  [50, 50, 'neutral'],
  [47.5, 52.5, 'neutral'],
  [47.49, 52.51, 'bearish_pressure'],
  [42.5, 57.5, 'bearish_pressure'],
  [42.49, 57.51, 'strong_bearish_pressure'],
  [0, 0, 'insufficient_data'],
]

/** Rate as a fraction, signal, label. */
export const fundingSignals: readonly (readonly [number, string, string])[] = [
  [0.00050001, 'extreme_bullish', 'Extremely bullish'],
  [0.0005, 'bullish', 'Bullish'],
  [0.00010001, 'bullish', 'Bullish'],
  [0.0001, 'slightly_bullish', 'Slightly bullish'],
  [0.00003001, 'slightly_bullish', 'Slightly bullish'],
  [0.00003, 'neutral', 'Neutral'],
  [0, 'neutral', 'Neutral'],
  [-0.00003, 'neutral', 'Neutral'],
  [-0.00003001, 'slightly_bearish', 'Slightly bearish'],
  [-0.0001, 'slightly_bearish', 'Slightly bearish'],
  [-0.00010001, 'bearish', 'Bearish'],
  [-0.0005, 'bearish', 'Bearish'],
  [-0.00050001, 'extreme_bearish', 'Extremely bearish'],
]

/** Longs over shorts, sentiment. */
export const sentimentBounds: readonly (readonly [number, string])[] = [
  [2.0078125, 'Extremely bullish'],
  [2, 'Bullish'],
  [1.5078125, 'Bullish'],
  [1.5, 'Slightly bullish'],
  [1.03125, 'Slightly bullish'],
  [1.015625, 'Neutral'],
  [1, 'Neutral'],
  [0.984375, 'Neutral'],
  [0.96875, 'Slightly bearish'],
  [0.671875, 'Slightly bearish'],
  [0.6640625, 'Bearish'],
  [0.5, 'Bearish'],
  [0.4921875, 'Extremely bearish'],
]
