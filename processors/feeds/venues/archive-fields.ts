import type { Micros } from '../../../schemas/records.ts'
import type { VenueTrade } from './events.ts'
import type { ArchiveRefusal } from './venue.ts'

type Raw = Pick<VenueTrade, 'symbol' | 'count' | 'taker' | 'time'> &
  Readonly<Record<'id' | 'price' | 'size', string | undefined>>

/** The trade of a line whose texts are what they should be. */
export function archivedTrade({ id, price, size, ...rest }: Raw): VenueTrade | ArchiveRefusal {
  if (!isWhole(id) || !isDecimal(price) || !isDecimal(size) || rest.count < 1) return 'bad-field'
  return { ...rest, id: Number(id), sequence: null, price, size }
}

export function isWhole(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,16}$/.test(text)
}

function isDecimal(text: string | undefined): text is string {
  return text !== undefined && /^\d+(?:\.\d+)?$/.test(text) && Number(text) > 0
}

/** Milliseconds (13 digits) or microseconds (16). */
export function microsOf(text: string | undefined): Micros | undefined {
  if (text === undefined || !/^(?:\d{13}|\d{16})$/.test(text)) return undefined
  return text.length === 13 ? Number(text) * 1000 : Number(text)
}
