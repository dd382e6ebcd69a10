/** A fraction as percent: the point moved by two places, as the decimal text says it, so that 0.0003 is 0.03. */
export function percentOf(fraction: number): number {
  const [digits = '', exponent = '0'] = String(fraction).split('e')
  return Number(`${digits}e${Number(exponent) + 2}`)
}
