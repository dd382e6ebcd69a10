/** What a taker bought and sold of an instrument in a stretch of time, base units. */
export interface OurVolume {
  readonly buy: number
  readonly sell: number
  /** Trade records; a venue may have merged several fills into one. */
  readonly trades: number
}

/** What a venue's candle says of the same stretch, base units. */
export interface TheirVolume {
  readonly volume: number
  /** The part that takers bought; null: the venue does not publish it. */
  readonly taker_buy: number | null
  /** Fills; null: not said. */
  readonly trades: number | null
}

/** The fields of an audit record that follow from the two; documented in `schemas/records/audit.avsc`. */
export interface Comparison {
  readonly ours_volume: number
  readonly theirs_volume: number
  readonly volume_difference: number
  readonly ours_delta: number
  readonly theirs_delta: number | null
  readonly delta_difference: number | null
  readonly ours_trades: number
  readonly theirs_trades: number | null
  readonly state: 'equal' | 'different'
}

/** Sums of doubles in another order differ by less; the smallest trade of a busy minute is far more. */
export const TOLERANCE = 1e-9

/**
 * Our volume and delta beside a venue's candle. Counts stand beside each other and decide nothing: ours are records,
 * theirs fills.
 */
export function compareWithCandle(ours: OurVolume, theirs: TheirVolume): Comparison {
  const ours_volume = ours.buy + ours.sell
  const ours_delta = ours.buy - ours.sell
  const theirs_delta = theirs.taker_buy === null ? null : 2 * theirs.taker_buy - theirs.volume
  const volume_difference = relative(ours_volume - theirs.volume, theirs.volume)
  const delta_difference = theirs_delta === null ? null : relative(ours_delta - theirs_delta, theirs.volume)
  const isEqual = Math.abs(volume_difference) <= TOLERANCE && Math.abs(delta_difference ?? 0) <= TOLERANCE
  return {
    ours_volume,
    theirs_volume: theirs.volume,
    volume_difference,
    ours_delta,
    theirs_delta,
    delta_difference,
    ours_trades: ours.trades,
    theirs_trades: theirs.trades,
    state: isEqual ? 'equal' : 'different',
  }
}

/** Fraction of `whole`; 1 with the sign of the difference where there is no whole to compare with. */
function relative(difference: number, whole: number): number {
  return whole === 0 ? Math.sign(difference) : difference / whole
}
