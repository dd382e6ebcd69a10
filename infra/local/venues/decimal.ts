/** Whole units to decimal text: `units` of 10^-decimals each, with exactly that many decimals. */
export function fixedText(units: number | bigint, decimals: number): string {
  const text = String(units)
  if (decimals <= 0) return units === 0 || units === 0n ? '0' : text + '0'.repeat(-decimals)
  const negative = text.startsWith('-')
  const digits = (negative ? text.slice(1) : text).padStart(decimals + 1, '0')
  const point = digits.length - decimals
  return `${negative ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** As `fixedText`, without trailing zeros: 0.2, 63514.6, 120. */
export function trimmedText(units: number | bigint, decimals: number): string {
  const text = fixedText(units, decimals)
  if (!text.includes('.')) return text
  let end = text.length
  while (text[end - 1] === '0') end -= 1
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end)
}

/** Decimal text to whole units of 10^-decimals; undefined where it has more decimals than that, or is no decimal. */
export function unitsOf(text: string, decimals: number): number | undefined {
  const match = /^(\d+)(?:\.(\d*))?$/.exec(text)
  if (match === null) return undefined
  const fraction = (match[2] ?? '').replace(/0+$/, '')
  if (fraction.length > decimals) return undefined
  const units = Number(`${match[1]}${fraction.padEnd(decimals, '0')}`)
  return Number.isSafeInteger(units) ? units : undefined
}

/** Decimals that a text shows: 2 for 1.30. */
export function decimalsOf(text: string): number {
  const point = text.indexOf('.')
  return point < 0 ? 0 : text.length - point - 1
}
