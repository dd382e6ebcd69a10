import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { BookState } from './book.ts'
import type { SimLiquidation } from './economy.ts'
import type { Micros } from './trade.ts'

/** Records of the same width at consecutive steps, in memory and on disk; a kill loses at most the newest. */
export class StepFile {
  private readonly fd: number
  private readonly width: number
  private readonly rows: Float32Array[] = []
  /** Step of the oldest record; the next one to be appended is `end`. */
  readonly first: number
  end: number

  /**
   * `file`: gets the width into its name, so that another layout begins anew. `from`: the step that comes first where
   * nothing is kept. `kept`: older records are forgotten at each opening.
   */
  constructor(file: string, { width, from, kept }: { width: number; from: number; kept: number }) {
    const name = `${file}.${width}`
    this.width = width
    const bytes = existsSync(name) ? readFileSync(name) : Buffer.alloc(0)
    const record = recordBytes(width)
    const count = Math.floor(bytes.length / record)
    const begin = Math.max(0, count - kept)
    for (let index = begin; index < count; index += 1) {
      const row = new Float32Array(width)
      for (let column = 0; column < width; column += 1) {
        row[column] = bytes.readFloatLE(index * record + 8 + 4 * column)
      }
      this.rows.push(row)
    }
    this.first = this.rows.length === 0 ? from : bytes.readDoubleLE(begin * record)
    this.end = this.first + this.rows.length
    // A torn record at the end goes, and so does what is too old.
    writeFileSync(name, bytes.subarray(begin * record, count * record))
    this.fd = openSync(name, 'a')
  }

  /** The number of `column` at `step`; undefined where there is no record. */
  at(step: number, column: number): number | undefined {
    return this.rows[step - this.first]?.[column]
  }

  /** The record of step `end`. */
  append(values: readonly number[]): void {
    const bytes = Buffer.alloc(recordBytes(this.width))
    bytes.writeDoubleLE(this.end, 0)
    values.forEach((value, column) => bytes.writeFloatLE(value, 8 + 4 * column))
    writeSync(this.fd, bytes)
    this.rows.push(Float32Array.from(values))
    this.end += 1
  }

  close(): void {
    closeSync(this.fd)
  }
}

function recordBytes(width: number): number {
  return 8 + 4 * width
}

/** Books on disk, a file each; a kill loses what happened since a book was last written, about a minute. */
export class BookFiles {
  private readonly folder: string

  constructor(folder: string) {
    this.folder = folder
    mkdirSync(folder, { recursive: true })
  }

  save(key: string, state: BookState): void {
    const file = this.file(key)
    writeFileSync(`${file}.new`, JSON.stringify(state))
    renameSync(`${file}.new`, file)
  }

  read(key: string): BookState | undefined {
    const file = this.file(key)
    // Written by `save` alone, and whole: it is renamed into place.
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as BookState) : undefined
  }

  private file(key: string): string {
    return join(this.folder, `${key.replace(' ', '-')}.json`)
  }
}

/** Little endian f64: time, twice the slot plus one for shorts, size, bankruptcy price, fill price. */
const RECORD_BYTES = 40
const KEPT: Micros = 48 * 3_600_000_000

/** Liquidations of all markets, by the market's slot; on disk before anyone hears of them. */
export class LiquidationLog {
  private readonly fd: number
  private readonly bySlot = new Map<number, SimLiquidation[]>()

  /** What is older than two days at the opening is left behind. */
  constructor(file: string, now: Micros) {
    const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
    const kept: Buffer[] = []
    for (let offset = 0; offset + RECORD_BYTES <= bytes.length; offset += RECORD_BYTES) {
      const record = bytes.subarray(offset, offset + RECORD_BYTES)
      if (record.readDoubleLE(0) < now - KEPT) continue
      kept.push(record)
      const { slot, liquidation } = decode(record)
      this.remember(slot, liquidation)
    }
    writeFileSync(file, Buffer.concat(kept))
    this.fd = openSync(file, 'a')
  }

  append(slot: number, liquidations: readonly SimLiquidation[]): void {
    if (liquidations.length === 0) return
    writeSync(this.fd, Buffer.concat(liquidations.map((liquidation) => encode(slot, liquidation))))
    for (const liquidation of liquidations) this.remember(slot, liquidation)
  }

  /** Of [from, to), oldest first. */
  of(slot: number, from: Micros, to: Micros): SimLiquidation[] {
    const all = this.bySlot.get(slot) ?? []
    const found: SimLiquidation[] = []
    for (let index = all.length - 1; index >= 0; index -= 1) {
      const liquidation = all[index]
      if (liquidation === undefined || liquidation.time < from) break
      if (liquidation.time < to) found.push(liquidation)
    }
    return found.reverse()
  }

  close(): void {
    closeSync(this.fd)
  }

  private remember(slot: number, liquidation: SimLiquidation): void {
    const own = this.bySlot.get(slot)
    if (own === undefined) {
      this.bySlot.set(slot, [liquidation])
      return
    }
    own.push(liquidation)
    const oldest = own[0]
    if (oldest !== undefined && oldest.time < liquidation.time - 2 * KEPT) own.splice(0, Math.ceil(own.length / 4))
  }
}

function encode(slot: number, { time, side, size, bankruptcyPrice, fillPrice }: SimLiquidation): Buffer {
  const bytes = Buffer.alloc(RECORD_BYTES)
  const values = [time, slot * 2 + (side === 'short' ? 1 : 0), size, bankruptcyPrice, fillPrice]
  values.forEach((value, index) => bytes.writeDoubleLE(value, 8 * index))
  return bytes
}

function decode(bytes: Buffer): { slot: number; liquidation: SimLiquidation } {
  const value = (index: number): number => bytes.readDoubleLE(8 * index)
  const side = value(1) % 2 === 1 ? 'short' : 'long'
  const prices = { bankruptcyPrice: value(3), fillPrice: value(4) }
  return { slot: Math.floor(value(1) / 2), liquidation: { time: value(0), side, size: value(2), ...prices } }
}
