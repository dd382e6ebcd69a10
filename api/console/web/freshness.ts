import * as format from './format.ts'

/** What is on the screen of one answer. */
interface Figures {
  /** Milliseconds. */
  readonly asOf: number
  /** Why there is nothing newer; undefined: it is as new as it should be. */
  readonly why: string | undefined
}

/** How old the figures of a panel are, which may rest on several answers; each is a part. Pure. */
export class Freshness {
  readonly #parts = new Map<string, Figures>()

  answered(part: string, asOf: number, isStale = false): void {
    this.#parts.set(part, { asOf, why: isStale ? 'nothing newer has come' : undefined })
  }

  /** The figures stay. Where there never were any, nothing on the screen is old. */
  failed(part: string, why: string): void {
    const known = this.#parts.get(part)
    if (known !== undefined) this.#parts.set(part, { ...known, why: `not refreshed. ${why}` })
  }

  /** What a reader has to know of the old ones, the oldest first; undefined: none is old. */
  words(now: number): string | undefined {
    const old = [...this.#parts].filter(([, { why }]) => why !== undefined).toSorted(([, a], [, b]) => a.asOf - b.asOf)
    const [oldest] = old
    if (oldest === undefined) return undefined
    const { asOf, why } = oldest[1]
    const names = old.flatMap(([part]) => (part === '' ? [] : [part])).join(', ')
    return `${names}${names === '' ? '' : '. '}As of ${format.clock(asOf)} UTC, ${format.age(now - asOf)} ago: ${why ?? ''}`
  }
}
