/** The volume delta of each venue, and of all, since the beginning of the first point that is shown. Pure. */

export interface CvdPoint {
  /** Start of the bucket. */
  readonly time: string
  readonly exchanges: Readonly<
    Record<string, { readonly delta: number; readonly cvd: number; readonly source?: string | null }>
  >
}

/** The venues that points tell of, in their order; the usual ones where there is no point. */
export function venuesOf([first]: readonly CvdPoint[]): readonly string[] {
  return first === undefined ? ['binance', 'bybit', 'okx', 'coinbase'] : Object.keys(first.exchanges)
}

/** At the end of each point; a point in which the venue is not told of repeats the one before. */
export function lineOf(points: readonly CvdPoint[], venue: string): number[] {
  const first = points[0]?.exchanges[venue]
  // What was traded in the first bucket is part of what is shown: the line begins where that bucket does.
  const base = first === undefined ? 0 : first.cvd - first.delta
  let last = 0
  return points.map((point) => {
    const there = point.exchanges[venue]
    if (there !== undefined) last = there.cvd - base
    return last
  })
}

/** The sum over all venues at the end of each point. */
export function totalOf(points: readonly { readonly cvd: number; readonly delta: number }[]): number[] {
  const [first] = points
  const base = first === undefined ? 0 : first.cvd - first.delta
  return points.map(({ cvd }) => cvd - base)
}
