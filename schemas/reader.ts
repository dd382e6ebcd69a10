import type { Schema } from './writer.ts'

/** Reads a value off bytes from a place on; throws a `RangeError` where the bytes are none of its schema's or too few. */
export type Read = (bytes: Buffer, at: number) => unknown

/** The code that reads values of a schema, one expression of it. */
export function compileReader(schema: Schema): Read {
  const given: unknown[] = []
  const code = `return () => (${expressionOf(schema, given)})`
  // oxlint-disable-next-line no-implied-eval - made of our own schemas alone
  const make = new Function('read', 'given', code) as (read: typeof parts, given: readonly unknown[]) => () => unknown
  const value = make(parts, given)
  return (from, start) => {
    bytes = from
    at = start
    const made = value()
    bytes = none
    if (at > from.length) throw new RangeError('a record ends behind its bytes')
    return made
  }
}

/** `given` gets what the expression refers to. */
function expressionOf(schema: Schema, given: unknown[]): string {
  if (schema === 'null') return 'null'
  if (typeof schema === 'string') return `read.${schema}()`
  if ('length' in schema) return `(read.isNull() ? null : ${expressionOf(schema[1], given)})`
  if ('fields' in schema)
    return `{ ${schema.fields.map(({ name, type }) => `${name}: ${expressionOf(type, given)}`).join(', ')} }`
  if ('symbols' in schema) return `read.symbol(given[${given.push(schema.symbols) - 1}])`
  if ('items' in schema) return `read.items(() => (${expressionOf(schema.items, given)}))`
  return `read.entries(() => (${expressionOf(schema.values, given)}))`
}

const none: Buffer = Buffer.alloc(0)
/** What is read just now, and where it goes on. */
let bytes = none
let at = 0

const double = new Float64Array(1)
const doubleBytes = new Uint8Array(double.buffer)

const parts = { string, long, int: long, double: readDouble, boolean, bytes: readBytes, isNull, symbol, items, entries }

/** A byte behind the end is none: whoever compiled the reader sees that the end was passed. */
function byte(): number {
  return bytes[at++] ?? 0
}

/** The first four bytes by whole numbers of 32 bits, the others by doubles. */
function long(): number {
  let next = byte()
  let low = next & 127
  if (next < 128) return (low >> 1) ^ -(low & 1)
  next = byte()
  low |= (next & 127) << 7
  if (next < 128) return (low >> 1) ^ -(low & 1)
  next = byte()
  low |= (next & 127) << 14
  if (next < 128) return (low >> 1) ^ -(low & 1)
  next = byte()
  low |= (next & 127) << 21
  if (next < 128) return (low >> 1) ^ -(low & 1)
  let half = low >> 1
  for (let scale = 2 ** 27; next > 127; scale *= 128) {
    next = byte()
    half += (next & 127) * scale
  }
  if (half >= Number.MAX_SAFE_INTEGER) throw new RangeError('a whole number is larger than a double holds')
  return (low & 1) === 0 ? half : -half - 1
}

/** Names come again and again: texts of so many bytes are looked for among those that were read lately. */
const NAME_BYTES = 32
const NAMES = 1_024
const names = Array.from({ length: NAMES }, () => '')
const nameBytes = Array.from({ length: NAMES }, () => new Uint8Array(0))

function string(): string {
  const length = long()
  const end = at + length
  if (length < 0 || end > bytes.length) throw new RangeError('a text ends behind its bytes')
  const text = length > NAME_BYTES ? bytes.toString('utf8', at, end) : name(end)
  at = end
  return text
}

function name(end: number): string {
  let hash = end - at
  for (let index = at; index < end; index++) hash = (Math.imul(hash, 31) + (bytes[index] ?? 0)) | 0
  const slot = hash & (NAMES - 1)
  const known = nameBytes[slot]
  if (known !== undefined && isNext(known, end)) return names[slot] ?? ''
  const text = bytes.toString('utf8', at, end)
  nameBytes[slot] = Uint8Array.from(bytes.subarray(at, end))
  names[slot] = text
  return text
}

function isNext(known: Uint8Array, end: number): boolean {
  const { length } = known
  if (length !== end - at) return false
  for (let index = 0; index < length; index++) if (known[index] !== bytes[at + index]) return false
  return true
}

function readDouble(): number {
  for (let index = 0; index < 8; index++) doubleBytes[index] = bytes[at + index] ?? 0
  at += 8
  return double[0] ?? 0
}

function boolean(): boolean {
  return byte() !== 0
}

function readBytes(): Buffer {
  const length = long()
  const end = at + length
  if (length < 0 || end > bytes.length) throw new RangeError('a value ends behind its bytes')
  const own = Buffer.from(bytes.subarray(at, end))
  at = end
  return own
}

function isNull(): boolean {
  const branch = byte()
  if (branch !== 0 && branch !== 2) throw new RangeError('a value is of no type that its field may have')
  return branch === 0
}

function symbol(symbols: readonly string[]): string {
  const found = symbols[long()]
  if (found === undefined) throw new RangeError('a symbol is unknown')
  return found
}

function items<Item>(item: () => Item): Item[] {
  const list: Item[] = []
  for (let count = block(); count > 0; count = block()) for (; count > 0; count--) list.push(item())
  return list
}

function entries<Value>(value: () => Value): Record<string, Value> {
  const map: Record<string, Value> = {}
  for (let count = block(); count > 0; count = block()) {
    for (; count > 0; count--) {
      const key = string()
      map[key] = value()
    }
  }
  return map
}

/** How many items the next block has; a count below zero stands before the block's size. Each item has a byte at least. */
function block(): number {
  const count = long()
  if (count < 0) long()
  if (Math.abs(count) > bytes.length - at) throw new RangeError('a list ends behind its bytes')
  return Math.abs(count)
}
