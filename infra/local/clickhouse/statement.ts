import { wordsOf, type Word } from './lexer.ts'

/** What an INSERT takes its rows from, with where in the text its format is named and its data begin. */
export type InsertSource =
  | { readonly from: 'select' }
  /** `INSERT INTO t` alone: rows follow in the default format. */
  | { readonly from: 'nothing-said' }
  | {
      readonly from: 'data'
      readonly format: string
      /** Where the table and columns end and `VALUES` or `FORMAT` stands. */
      readonly headEnd: number
      /** Where a SETTINGS clause stands in that head. */
      readonly settingsStart: number | undefined
      readonly dataStart: number
    }

const is = (word: Word | undefined, text: string): boolean => word?.text.toUpperCase() === text

/** How an INSERT gets its rows; undefined: the statement is no INSERT. */
export function insertSource(sql: string): InsertSource | undefined {
  const words = wordsOf(sql).filter((word) => word.depth === 0)
  if (!is(words[0], 'INSERT')) return undefined
  for (const [index, word] of words.entries()) {
    if (is(word, 'SELECT') || is(word, 'WITH')) return { from: 'select' }
    const next = words[index + 1]
    const settingsStart = words.slice(0, index).find((before) => is(before, 'SETTINGS'))?.start
    if (is(word, 'VALUES') && index > 2)
      return { from: 'data', format: 'Values', headEnd: word.start, settingsStart, dataStart: word.end }
    if (is(word, 'FORMAT') && next !== undefined)
      return { from: 'data', format: next.text, headEnd: word.start, settingsStart, dataStart: next.end }
  }
  return { from: 'nothing-said' }
}

export interface Split {
  /** The statement without its format and its closing semicolon. */
  readonly body: string
  readonly format: string | undefined
  /** A SETTINGS clause that followed the format. */
  readonly tail: string
}

/** Lifts a trailing `FORMAT x [SETTINGS ...] [;]` out of a query. */
export function splitFormat(sql: string): Split {
  const words = wordsOf(sql).filter((word) => word.depth === 0)
  let end = sql.length
  while (words.at(-1)?.text === ';') end = words.pop()?.start ?? end
  const at = words.findLastIndex((word, index) => index > 0 && is(word, 'FORMAT') && words[index + 1] !== undefined)
  const word = words[at]
  const name = words[at + 1]
  const after = words[at + 2]
  if (word === undefined || name === undefined || (after !== undefined && !is(after, 'SETTINGS')))
    return { body: sql.slice(0, end), format: undefined, tail: '' }
  return { body: sql.slice(0, word.start), format: name.text, tail: sql.slice(name.end, end) }
}

/** The engine's own file access, which a server does not offer over HTTP: `INTO OUTFILE` and `FROM INFILE`. */
export function usesServerFiles(sql: string): boolean {
  return wordsOf(sql).some((word) => word.depth === 0 && (is(word, 'OUTFILE') || is(word, 'INFILE')))
}

/** Whether a reading statement can be of any size: others (SHOW, DESCRIBE, EXISTS) give few rows. */
export function isSelect(sql: string): boolean {
  const first = wordsOf(sql).find((word) => word.text !== '(')
  return is(first, 'SELECT') || is(first, 'WITH') || is(first, 'FROM')
}

/** A ClickHouse string literal. */
export function literal(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** A quoted name. */
export function quoted(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
}
