import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { tapeTrades, type TapeTrade } from './tape-frames.ts'

/** Lines that gave no trade, by reason. */
export type Skipped = Map<string, number>

/** The tapes at `path`: itself, or every `.jsonl` and `.jsonl.gz` below it, in order of name. */
export function tapeFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true })
    .map((name) => join(path, String(name)))
    .filter((file) => /\.jsonl(\.gz)?$/.test(file))
    .sort()
}

/** Trades of one file in its order. */
export async function* fileTrades(file: string, skipped: Skipped): AsyncGenerator<TapeTrade> {
  const bytes = createReadStream(file)
  const input = file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    for (const trade of lineTrades(line, skipped)) yield trade
  }
}

/** Trades of all files by time; equal times in order of the files, and each file in its own order. */
export async function* mergedTrades(files: readonly string[], skipped: Skipped): AsyncGenerator<TapeTrade> {
  const heads: { trades: AsyncGenerator<TapeTrade>; next: TapeTrade }[] = []
  for (const file of files) {
    const trades = fileTrades(file, skipped)
    const { value, done } = await trades.next()
    if (done !== true) heads.push({ trades, next: value })
  }
  while (heads.length > 0) {
    const first = heads.reduce((best, head) => (head.next.time < best.next.time ? head : best))
    yield first.next
    const { value, done } = await first.trades.next()
    if (done === true) heads.splice(heads.indexOf(first), 1)
    else first.next = value
  }
}

function lineTrades(line: string, skipped: Skipped): TapeTrade[] {
  if (line === '') return []
  const trades = framesOf(line)
  if (typeof trades === 'string') {
    count(skipped, trades)
    return []
  }
  const good = trades.filter((trade) => Number.isFinite(trade.time) && Number.isFinite(trade.id) && trade.symbol !== '')
  if (good.length < trades.length) count(skipped, 'bad field')
  if (trades.length === 0) count(skipped, 'off book')
  return good
}

/** The recorder writes `raw` as JSON where it is JSON, else as text. */
function framesOf(line: string): TapeTrade[] | string {
  try {
    const { raw } = JSON.parse(line) as { raw?: unknown }
    const frame: unknown = typeof raw === 'string' ? JSON.parse(raw) : raw
    return tapeTrades(frame) ?? 'no trade frame'
  } catch {
    return 'not JSON'
  }
}

export function count(skipped: Skipped, reason: string): void {
  skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
}
