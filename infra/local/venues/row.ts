import type { Trade } from './trade.ts'

/** Bytes of one trade on disk; little endian: time f64, price f64, size f64, id f64, 16 bytes of ids, sequence u48, flags u8, direction i8. */
export const ROW_BYTES = 56

const BUY = 1
const BLOCK = 2
const RPI = 4
const UUID = 8

/** Writes `trade` at `offset`. */
export function writeRow(view: DataView, offset: number, trade: Trade): void {
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
export function readRow(view: DataView, offset: number): Trade {
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

export function timeOfRow(view: DataView, offset: number): number {
  return view.getFloat64(offset, true)
}

export function idOfRow(view: DataView, offset: number): number {
  return view.getFloat64(offset + 24, true)
}

function flagsOf(trade: Trade): number {
  return (
    (trade.buy ? BUY : 0) | (trade.block ? BLOCK : 0) | (trade.rpi ? RPI : 0) | (trade.uuid === undefined ? 0 : UUID)
  )
}
