/**
 * Where a stream of updates is in the log: the offset of the next record of every partition of every topic that it
 * follows. As text it is the id of a server-sent event, so a browser that comes back says exactly what it has seen.
 */
export type Vector = readonly (readonly number[])[]

/** More than the largest system has; what is longer is not ours. */
const TEXT_MAX = 32_768
const CONTINUES = 0x80
const BITS = 0x7f

/** Base64url of variable-length integers: topics, partitions of each, then the offsets. */
export function vectorText(vector: Vector): string {
  const bytes: number[] = []
  push(bytes, vector.length)
  for (const offsets of vector) {
    push(bytes, offsets.length)
    for (const offset of offsets) push(bytes, offset)
  }
  return Buffer.from(bytes).toString('base64url')
}

/** The vector of such a text; undefined where it is none. */
export function vectorOf(text: string): Vector | undefined {
  if (text === '' || text.length > TEXT_MAX || !/^[\w-]+$/.test(text)) return undefined
  const read = reader(Buffer.from(text, 'base64url'))
  const vector = listOf(read, () => listOf(read, () => countOf(read())))
  return vector !== undefined && Number.isNaN(read()) ? vector : undefined
}

/** As many items as the number before them says; undefined where one is missing. */
function listOf<Item>(read: () => number, item: () => Item | undefined): Item[] | undefined {
  const length = read()
  const items: Item[] = []
  while (items.length < length) {
    const next = item()
    if (next === undefined) return undefined
    items.push(next)
  }
  return Number.isNaN(length) ? undefined : items
}

function countOf(number: number): number | undefined {
  return Number.isSafeInteger(number) ? number : undefined
}

function push(bytes: number[], number: number): void {
  let rest = number
  while (rest > BITS) {
    bytes.push((rest % CONTINUES) | CONTINUES)
    rest = Math.floor(rest / CONTINUES)
  }
  bytes.push(rest)
}

/** Gives one integer after the other; NaN behind the last. */
function reader(bytes: Buffer): () => number {
  let at = 0
  return () => {
    let number = 0
    let scale = 1
    for (;;) {
      const byte = bytes[at]
      at += 1
      if (byte === undefined) return NaN
      number += (byte & BITS) * scale
      if (byte < CONTINUES) return number
      scale *= CONTINUES
    }
  }
}
