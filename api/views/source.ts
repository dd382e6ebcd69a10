/** What a figure is made of: our trades, the venues' archives of trades, their own candles, or several, each for its own time. */
export const sources = ['trades', 'archive', 'venue_candles', 'mixed'] as const
export type Source = (typeof sources)[number]

/** What is read of a row: 0: a trade, 1: an archive, 2: a candle, 3: a candle that does not say what takers bought. */
export interface SourceRange {
  readonly least: number
  readonly most: number
}

export const ofTrades: SourceRange = { least: 0, most: 0 }

export function sourceOf({ least, most }: SourceRange): Source {
  if (most === 0) return 'trades'
  if (least > 1) return 'venue_candles'
  return least === 1 && most === 1 ? 'archive' : 'mixed'
}

/** Whether a part of it does not say what takers bought. */
export function isUntold({ most }: SourceRange): boolean {
  return most === 3
}

export function joinedRange(a: SourceRange, b: SourceRange): SourceRange {
  return { least: Math.min(a.least, b.least), most: Math.max(a.most, b.most) }
}
