import { closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import type { SimLiquidation } from '../economy.ts'
import type { Micros } from '../trade.ts'

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
