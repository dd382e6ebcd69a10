/** Trades and their taker volumes in base units. */
export interface Totals {
  readonly count: number
  readonly buy: Decimal
  readonly sell: Decimal
}

/** What a source says of the same trades; a venue's candles know no records, and some not the taker's side. */
export type SourceTotals = Totals | { readonly buy: Decimal; readonly sell: Decimal } | { readonly volume: Decimal }

export const nothing: Totals = { count: 0, buy: 0n, sell: 0n }

export function plus(a: Totals, b: Totals): Totals {
  return { count: a.count + b.count, buy: a.buy + b.buy, sell: a.sell + b.sell }
}

export function minus(a: Totals, b: Totals): Totals {
  return { count: a.count - b.count, buy: a.buy - b.buy, sell: a.sell - b.sell }
}

export function areEqual(a: Totals, b: Totals): boolean {
  return a.count === b.count && a.buy === b.buy && a.sell === b.sell
}

/** Of a bucket of `derived.flow`. */
export const BUCKET_MICROS = 10_000_000

/** Times from `from` on and below `to`, microseconds; both at the start of a 10 s bucket where they are finite. */
export interface Window {
  readonly from: number
  readonly to: number
}

export const always: Window = { from: 0, to: Infinity }

/** A closed stretch of time, microseconds. */
export interface Stretch {
  readonly from: number
  readonly to: number
}

/** The same times as stretches that do not overlap, in order. */
export function merged(stretches: readonly Stretch[]): Stretch[] {
  const result: Stretch[] = []
  for (const stretch of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last === undefined || stretch.from > last.to) result.push(stretch)
    else if (stretch.to > last.to) result[result.length - 1] = { from: last.from, to: stretch.to }
  }
  return result
}

/** What of the first lies in none of the second; both as `merged` gives them, times are whole numbers. */
export function without(stretches: readonly Stretch[], taken: readonly Stretch[]): Stretch[] {
  return taken.reduce<Stretch[]>(
    (left, { from, to }) =>
      left.flatMap((stretch) => {
        const parts = [
          { from: stretch.from, to: Math.min(stretch.to, from - 1) },
          { from: Math.max(stretch.from, to + 1), to: stretch.to },
        ]
        return parts.filter((part) => part.from <= part.to)
      }),
    [...stretches],
  )
}

export function isWithin(stretches: readonly Stretch[], time: number): boolean {
  return stretches.some(({ from, to }) => from <= time && time <= to)
}

/** Exact decimals as whole numbers of 10^-18: sums of any number of trades lose nothing. */
export type Decimal = bigint

const PLACES = 18
const form = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i

/** The exact value of a decimal text, exponents included (`1e-8`). Throws on anything else or on more than 18 places. */
export function decimalOf(text: string): Decimal {
  const match = form.exec(text)
  if (match === null) throw new RangeError(`not a decimal: ${JSON.stringify(text)}`)
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const shift = PLACES - fraction.length + Number(exponent)
  const digits = BigInt(whole + fraction)
  const scaled = shift >= 0 ? digits * 10n ** BigInt(shift) : exactQuotient(digits, 10n ** BigInt(-shift), text)
  return sign === '-' ? -scaled : scaled
}

function exactQuotient(digits: bigint, divisor: bigint, text: string): bigint {
  if (digits % divisor !== 0n) throw new RangeError(`more than ${PLACES} places: ${text}`)
  return digits / divisor
}

/** `1.5`, without trailing zeros. */
export function decimalText(value: Decimal): string {
  const digits = String(value < 0n ? -value : value).padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -PLACES)}${fraction === '' ? '' : `.${fraction}`}`
}

/** Places behind the point that a number needs when it is written out. */
export function placesOf(value: number): number {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const fraction = mantissa.split('.')[1]?.length ?? 0
  return Math.max(0, fraction - Number(exponent))
}

/** A sum of doubles, each exact to `places`: rounded to them it is the exact sum again. */
export function decimalOfSum(sum: number, places: number): Decimal {
  return decimalOf(sum.toFixed(Math.min(places, PLACES)))
}
