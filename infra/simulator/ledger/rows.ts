import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Micros, Trade } from '../market/trade.ts'

/** Rows of one file; a full one is closed and the next begun, so that old history can be dropped in one piece. */
const ROWS_PER_FILE = 262_144
const READ_ROWS_MAX = 8_192

interface Segment {
  /** Number of its first row, counted over all files. */
  readonly start: number
  readonly file: string
  readonly fd: number
  rows: number
}

/**
 * A market's trades on disk, oldest first: appended before anything is sent, so that what a subscriber has seen is
 * still known after a kill. Rows are read back one at a time or in pages; none are held in memory.
 */
export class RowFile {
  private readonly folder: string
  private readonly rowsPerFile: number
  private readonly segments: Segment[]

  /** Opens what `folder` holds; a row that was cut in half by a crash is taken off. */
  constructor(folder: string, rowsPerFile = ROWS_PER_FILE) {
    this.folder = folder
    this.rowsPerFile = rowsPerFile
    mkdirSync(folder, { recursive: true })
    const starts = readdirSync(folder)
      .filter((name) => /^\d{12}\.rows$/.test(name))
      .map((name) => Number.parseInt(name, 10))
      .sort((left, right) => left - right)
    this.segments = (starts.length === 0 ? [0] : starts).map((start) => openSegment(folder, start))
  }

  /** Number of the oldest row still kept. */
  get begin(): number {
    return this.segments[0]?.start ?? 0
  }

  /** Rows ever written: the number that the next one gets. */
  get end(): number {
    const last = this.segments.at(-1)
    return last === undefined ? 0 : last.start + last.rows
  }

  /** How many files there are: it changes when a new one was begun. */
  get files(): number {
    return this.segments.length
  }

  append(trades: readonly Trade[]): void {
    let from = 0
    while (from < trades.length) {
      const segment = this.writable()
      const count = Math.min(trades.length - from, this.rowsPerFile - segment.rows)
      const bytes = Buffer.allocUnsafe(count * ROW_BYTES)
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
      for (let index = 0; index < count; index += 1) {
        const trade = trades[from + index]
        if (trade !== undefined) writeRow(view, index * ROW_BYTES, trade)
      }
      writeAll(segment.fd, bytes, segment.rows * ROW_BYTES)
      segment.rows += count
      from += count
    }
  }

  /** Rows numbered from `from` up to, not including, `to`, in pages. */
  *pages(from: number, to: number): Generator<Trade[]> {
    let next = Math.max(from, this.begin)
    const end = Math.min(to, this.end)
    while (next < end) {
      const page = this.page(next, Math.min(end, next + READ_ROWS_MAX))
      next += page.length
      yield page
    }
  }

  read(from: number, to: number): Trade[] {
    return [...this.pages(from, to)].flat()
  }

  /** Number of the first row with an id of at least `id`. */
  firstWithId(id: number): number {
    return this.search((view) => idOfRow(view, 0) >= id)
  }

  /** Number of the first row at or after `time`. */
  firstAt(time: Micros): number {
    return this.search((view) => timeOfRow(view, 0) >= time)
  }

  /** Deletes whole files whose newest row is older than `time`. */
  dropBefore(time: Micros): void {
    while (this.segments.length > 1) {
      const [oldest, second] = this.segments
      if (oldest === undefined || second === undefined || this.firstAt(time) < second.start) return
      closeSync(oldest.fd)
      rmSync(oldest.file)
      this.segments.shift()
    }
  }

  close(): void {
    for (const segment of this.segments) closeSync(segment.fd)
  }

  private writable(): Segment {
    const last = this.segments.at(-1)
    if (last !== undefined && last.rows < this.rowsPerFile) return last
    const next = openSegment(this.folder, this.end)
    this.segments.push(next)
    return next
  }

  private page(from: number, to: number): Trade[] {
    const segment = this.segments.findLast((candidate) => candidate.start <= from)
    if (segment === undefined) return []
    const count = Math.min(to, segment.start + segment.rows) - from
    const bytes = Buffer.allocUnsafe(count * ROW_BYTES)
    readSync(segment.fd, bytes, 0, bytes.length, (from - segment.start) * ROW_BYTES)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    return Array.from({ length: count }, (_, index) => readRow(view, index * ROW_BYTES))
  }

  /** Binary search: number of the first row that `reached` holds for; rows are in order of time and of id. */
  private search(reached: (row: DataView) => boolean): number {
    const bytes = Buffer.alloc(ROW_BYTES)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    let low = this.begin
    let high = this.end
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const segment = this.segments.findLast((candidate) => candidate.start <= middle)
      if (segment === undefined) return low
      readSync(segment.fd, bytes, 0, ROW_BYTES, (middle - segment.start) * ROW_BYTES)
      if (reached(view)) high = middle
      else low = middle + 1
    }
    return low
  }
}

function openSegment(folder: string, start: number): Segment {
  const file = join(folder, `${String(start).padStart(12, '0')}.rows`)
  const fd = openSync(file, existsSync(file) ? 'r+' : 'w+')
  const rows = Math.floor(fstatSync(fd).size / ROW_BYTES)
  ftruncateSync(fd, rows * ROW_BYTES)
  return { start, file, fd, rows }
}

function writeAll(fd: number, bytes: Buffer, position: number): void {
  let done = 0
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done, position + done)
}

/** Bytes of one trade on disk; little endian: time f64, price f64, size f64, id f64, 16 bytes of ids, sequence u48, flags u8, direction i8. */
export const ROW_BYTES = 56

const BUY = 1
const BLOCK = 2
const RPI = 4
const UUID = 8

/** Writes `trade` at `offset`. */
function writeRow(view: DataView, offset: number, trade: Trade): void {
  view.setFloat64(offset, trade.time, true)
  view.setFloat64(offset + 8, trade.price, true)
  view.setFloat64(offset + 16, trade.size, true)
  view.setFloat64(offset + 24, trade.id, true)
  if (trade.uuid === undefined) {
    view.setFloat64(offset + 32, trade.first, true)
    view.setFloat64(offset + 40, trade.last, true)
  } else {
    trade.uuid.forEach((word, index) => view.setUint32(offset + 32 + 4 * index, word, true))
  }
  view.setUint32(offset + 48, trade.sequence % 0x1_0000_0000, true)
  view.setUint16(offset + 52, Math.floor(trade.sequence / 0x1_0000_0000), true)
  view.setUint8(offset + 54, flagsOf(trade))
  view.setInt8(offset + 55, trade.direction)
}

/** Reads the trade at `offset`. */
function readRow(view: DataView, offset: number): Trade {
  const flags = view.getUint8(offset + 54)
  const named = (flags & UUID) !== 0
  const word = (index: number): number => view.getUint32(offset + 32 + 4 * index, true)
  return {
    time: timeOfRow(view, offset),
    price: view.getFloat64(offset + 8, true),
    size: view.getFloat64(offset + 16, true),
    id: idOfRow(view, offset),
    first: named ? 0 : view.getFloat64(offset + 32, true),
    last: named ? 0 : view.getFloat64(offset + 40, true),
    uuid: named ? [word(0), word(1), word(2), word(3)] : undefined,
    sequence: view.getUint32(offset + 48, true) + view.getUint16(offset + 52, true) * 0x1_0000_0000,
    buy: (flags & BUY) !== 0,
    block: (flags & BLOCK) !== 0,
    rpi: (flags & RPI) !== 0,
    direction: view.getInt8(offset + 55),
  }
}

function timeOfRow(view: DataView, offset: number): number {
  return view.getFloat64(offset, true)
}

function idOfRow(view: DataView, offset: number): number {
  return view.getFloat64(offset + 24, true)
}

function flagsOf(trade: Trade): number {
  return (
    (trade.buy ? BUY : 0) | (trade.block ? BLOCK : 0) | (trade.rpi ? RPI : 0) | (trade.uuid === undefined ? 0 : UUID)
  )
}
