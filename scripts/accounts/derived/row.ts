/** One number or word of an answer beside what the simulator's ledger makes of it. */
export interface DerivedRow {
  /** What it is, alike for all assets and venues: `spot price, USD`. */
  readonly what: string
  /** Whose: `BTC binance`. */
  readonly subject: string
  readonly ours: string
  readonly ledger: string
  /** How far they may be apart; `equal` for words and counts. */
  readonly tolerance: string
  /** How far they are apart in parts of the tolerance; above 1 is wrong. */
  readonly share: number
  readonly verdict: 'OK' | 'WRONG'
}

/** A tolerance: absolute, or a part of the ledger's value. */
export type Tolerance = { readonly by: number } | { readonly part: number }

/** What an answer says of a venue or symbol; undefined: it does not name it. */
export function entryOf<Entry>(entries: Readonly<Record<string, Entry>>, name: string): Entry | undefined {
  return entries[name]
}

/** Two numbers that may be a little apart; one that is missing is wrong. */
export function near(
  what: string,
  subject: string,
  ours: number | null | undefined,
  ledger: number | undefined,
  tolerance: Tolerance,
): DerivedRow {
  const room = 'by' in tolerance ? tolerance.by : Math.abs(ledger ?? 0) * tolerance.part
  const known = typeof ours === 'number' && ledger !== undefined
  const gap = known ? Math.abs(ours - ledger) : Infinity
  const share = gap === 0 ? 0 : gap / room
  return {
    what,
    subject,
    ours: String(ours),
    ledger: String(ledger),
    tolerance: 'by' in tolerance ? short(tolerance.by) : `${short(tolerance.part * 100)} %`,
    share,
    verdict: share <= 1 ? 'OK' : 'WRONG',
  }
}

/** The nearest of several values that the ledger had while the answer was made. */
export function nearest(
  what: string,
  subject: string,
  ours: number | null | undefined,
  ledger: readonly number[],
  tolerance: Tolerance,
): DerivedRow {
  const sorted = [...ledger].sort((a, b) => Math.abs(a - (ours ?? 0)) - Math.abs(b - (ours ?? 0)))
  return near(what, subject, ours, sorted[0], tolerance)
}

/** Words, counts and sets: equal or wrong. */
export function same(what: string, subject: string, ours: unknown, ledger: unknown): DerivedRow {
  const [left, right] = [textOf(ours), textOf(ledger)]
  const share = left === right ? 0 : Infinity
  return { what, subject, ours: left, ledger: right, tolerance: 'equal', share, verdict: share === 0 ? 'OK' : 'WRONG' }
}

/** A word that may be any of some, where the ledger's number is too near a bound to tell. */
export function oneOf(what: string, subject: string, ours: unknown, ledger: readonly string[]): DerivedRow {
  const text = textOf(ours)
  return same(what, subject, text, ledger.includes(text) ? text : ledger.join(' or '))
}

/** `small` is no more than `large`, but for rounding. */
export function atMost(what: string, subject: string, small: number, large: number): DerivedRow {
  const share = small <= large * (1 + 1e-9) ? 0 : Infinity
  const verdict = share === 0 ? 'OK' : 'WRONG'
  return { what, subject, ours: String(small), ledger: String(large), tolerance: 'at most', share, verdict }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)))
}
