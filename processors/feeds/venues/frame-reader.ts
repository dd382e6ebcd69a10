/**
 * Reads the values of a frame that a pattern took, from left to right, without a text of each group.
 *
 * The pattern is the judge: `takes` says whether the frame is ASCII in the field order that the venue writes. After that
 * nothing is checked again: each method is told what stands before the value and steps over it by its length. One frame
 * at a time: the next `takes` forgets the last.
 */
export class FrameReader {
  #frame = ''
  #at = 0

  /** Whether `pattern`, which must admit nothing but ASCII, takes the frame as a whole; reading begins at its start. */
  takes(pattern: RegExp, frame: string): boolean {
    if (frame.length > FRAME_LENGTH_MAX || !pattern.test(frame)) return false
    bytes.write(frame, 'latin1')
    // Ends a number or text at the frame's end: behind it stands what is left of a longer one.
    bytes[frame.length] = QUOTE
    this.#frame = frame
    this.#at = 0
    return true
  }

  /** A whole number: exact below 2^53, and never below it where the digits are not. */
  number(before: string): number {
    let at = this.#at + before.length
    let value = 0
    for (let digit = digitAt(at); digit <= 9; digit = digitAt(++at)) value = value * 10 + digit
    this.#at = at
    return value
  }

  /** A text without escapes: all to the next quotation mark, before which it then stands. */
  text(before: string): string {
    const from = this.#at + before.length
    let to = from
    while (bytes[to] !== QUOTE) to++
    this.#at = to
    return this.#frame.slice(from, to)
  }

  /** A text as `read` reads it where it stands: `from` its first character, `to` behind its last. */
  read<T>(before: string, read: (frame: string, from: number, to: number) => T): T {
    const from = this.#at + before.length
    this.passText(before)
    return read(this.#frame, from, this.#at)
  }

  passText(before: string): void {
    this.#at = this.#frame.indexOf('"', this.#at + before.length)
  }

  /** Which of two words stands here; they differ in their first letter. */
  either(before: string, word: string, other: string): boolean {
    this.#at += before.length
    const isWord = this.sees(word)
    this.#at += isWord ? word.length : other.length
    return isWord
  }

  pass(literal: string): void {
    this.#at += literal.length
  }

  /** Whether an optional part begins here; nothing is read. */
  sees(literal: string): boolean {
    for (let n = 0; n < literal.length; n++) if (bytes[this.#at + n] !== literal.charCodeAt(n)) return false
    return true
  }
}

/** Longer than any frame of trades (1024 rows of 200 characters); what is longer is read by way of JSON. */
const FRAME_LENGTH_MAX = 1 << 18

/** The frame that is read: a byte of it is read in a third of the time of `charCodeAt`. */
const bytes = Buffer.alloc(FRAME_LENGTH_MAX + 1)

const QUOTE = 34
const ZERO = 48

/** The digit at a place; above 9 for all else. */
function digitAt(at: number): number {
  return (bytes[at] ?? 0) ^ ZERO
}
