/** The volume delta of each venue since the beginning of the first point that is shown. Pure. */

export interface CvdPoint {
  /** Start of the bucket. */
  readonly time: string
  readonly exchanges: Readonly<
    Record<string, { readonly delta: number; readonly cvd: number; readonly source?: string | null }>
  >
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
