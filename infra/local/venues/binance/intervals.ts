const MINUTE_MS = 60_000

const minutesOf: Readonly<Record<string, number>> = {
  '1m': 1,
  '3m': 3,
  '5m': 5,
  '15m': 15,
  '30m': 30,
  '1h': 60,
  '2h': 120,
  '4h': 240,
  '6h': 360,
  '8h': 480,
  '12h': 720,
  '1d': 1_440,
}

/** Length of a candle, ms; undefined where there is no such interval. */
export function intervalMsOf(name: string | null): number | undefined {
  const minutes = minutesOf[name ?? '']
  return minutes === undefined ? undefined : minutes * MINUTE_MS
}
