const CUT = '…'

/**
 * The longest beginning of a text that is at most `max` long as it is written, with an ellipsis where it was cut. `write`
 * escapes and must do so character by character, so that no escape is cut in two; `sizeOf` says how long what it wrote is.
 */
export function fit(
  text: string,
  max: number,
  write: (text: string) => string = (same) => same,
  sizeOf: (written: string) => number = (written) => written.length,
): string {
  const whole = write(text)
  if (sizeOf(whole) <= max) return whole
  let [kept, size] = ['', sizeOf(CUT)]
  for (const character of text) {
    const next = write(character)
    size += sizeOf(next)
    if (size > max) break
    kept += next
  }
  return kept + CUT
}

/** Bytes that a text takes within the quotes of JSON. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text), 'utf8') - 2
}

/** On one line and well-formed: what would break it becomes a space. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
}
