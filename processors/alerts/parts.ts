/**
 * A rule for several symbols is decided in parts, each an alert of its own: `ID.1.btc`, `ID.2.eth` are those of a list, in its
 * order. One for all symbols is `ID.a3` in partition 3, on no asset but `*3`; `ID.a3.btc` is what became of it for a symbol,
 * from when that differs from how it began.
 */

/** In the place of an asset: all of the partition. */
export const EVERYWHERE = '*'

export function listPart(id: string, nth: number, asset: string): string {
  return `${id}.${nth}.${asset}`
}

export function isListPart(id: string): boolean {
  return id.includes('.') && /^\w+\.\d+\./.test(id)
}

/** The part of a rule for all symbols in a partition, and what stands for an asset in its commands. */
export function everywherePart(id: string, partition: number): { readonly id: string; readonly asset: string } {
  return { id: `${id}.a${partition}`, asset: `${EVERYWHERE}${partition}` }
}

export function isEverywhere(asset: string): boolean {
  return asset.startsWith(EVERYWHERE)
}

/** The partition of which it stands for all assets. */
export function everywhereIn(asset: string): number | undefined {
  return isEverywhere(asset) ? Number(asset.slice(EVERYWHERE.length)) : undefined
}

/** What a rule for all symbols becomes for one of them. */
export function symbolPart(everywhere: string, asset: string): string {
  return `${everywhere}.${asset}`
}

/** The rule for all symbols that it is a symbol's part of; undefined: it is none. */
export function everywhereOf(id: string): string | undefined {
  return id.includes('.') ? /^(\w+\.a\d+)\../.exec(id)?.[1] : undefined
}

/** The id that its owner knows. */
export function ownersId(id: string): string {
  const at = id.indexOf('.')
  return at === -1 ? id : id.slice(0, at)
}

const OVER = '_over'

/** The id of what tells that a ring is over. */
export function overId(ring: string): string {
  return `${ring}${OVER}`
}

/** The ring that a trigger tells the end of; undefined: it tells of none. */
export function ringOf(id: string): string | undefined {
  return id.endsWith(OVER) ? id.slice(0, -OVER.length) : undefined
}
