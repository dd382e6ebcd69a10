/** Which symbols a text means. Pure. */

/** At most so many are offered. */
const OFFERED = 10

/** Symbols that begin with the text, the shortest first, then those that have it within; none for an empty text. */
export function matchesOf(symbols: readonly string[], text: string): readonly string[] {
  const wanted = text.trim().toUpperCase()
  if (wanted === '') return []
  const within = symbols.filter((symbol) => symbol.includes(wanted))
  const rank = (symbol: string): number => (symbol.startsWith(wanted) ? symbol.length : 1_000 + symbol.indexOf(wanted))
  return within.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)).slice(0, OFFERED)
}
