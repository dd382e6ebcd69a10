import type { SpotMinute } from './economy.ts'
import type { Micros } from './trade.ts'

const MINUTE: Micros = 60_000_000

/** Closed minutes and the open one, as venues show them: at `last`, with nothing traded yet. */
export function withOpenMinute(minutes: readonly SpotMinute[], last: number, now: Micros): SpotMinute[] {
  const start = Math.floor(now / MINUTE) * MINUTE
  const closed = minutes.filter((minute) => minute.start < start)
  const open = closed.at(-1)?.close ?? last
  const [high, low] = [Math.max(open, last), Math.min(open, last)]
  return [...closed, { start, open, high, low, close: last, volume: 0 }]
}

/** Minutes put together to candles of `intervalMs`; oldest first. */
export function longerCandles(minutes: readonly SpotMinute[], intervalMs: number): SpotMinute[] {
  const candles: SpotMinute[] = []
  for (const minute of minutes) {
    const start = Math.floor(minute.start / 1000 / intervalMs) * intervalMs * 1000
    const last = candles.at(-1)
    if (last?.start !== start) candles.push({ ...minute, start })
    else candles[candles.length - 1] = joined(last, minute)
  }
  return candles
}

function joined(left: SpotMinute, right: SpotMinute): SpotMinute {
  const { start, open } = left
  const [high, low] = [Math.max(left.high, right.high), Math.min(left.low, right.low)]
  return { start, open, high, low, close: right.close, volume: left.volume + right.volume }
}
