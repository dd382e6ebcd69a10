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

/**
 * Just enough of ClickHouse's lexer to find the words of a statement: strings, quoted names, comments, heredocs and
 * brackets are stepped over. It only splits statements; what a reader may not say is judged on the bare text
 * (`users.ts`), so that a difference to the engine's own lexer can make a query fail but never let one through.
 */
export interface Word {
  /** A bare word, one sign, or `''` for anything quoted. */
  readonly text: string
  /** How many brackets are open around it. */
  readonly depth: number
  readonly start: number
  readonly end: number
}

const SPACE = /\s/
const WORD = /[A-Za-z0-9_]/

/** All words and signs of `sql`, comments left out. */
export function wordsOf(sql: string): Word[] {
  const words: Word[] = []
  let depth = 0
  for (let at = 0; at < sql.length;) {
    const comment = commentEnd(sql, at)
    if (comment !== undefined || SPACE.test(sql[at] ?? '')) {
      at = comment ?? at + 1
      continue
    }
    const sign = sql[at] ?? ''
    if (')]}'.includes(sign)) depth -= 1
    const { text, end } = readWord(sql, at)
    words.push({ text, depth, start: at, end })
    if ('([{'.includes(sign)) depth += 1
    at = end
  }
  return words
}

function readWord(sql: string, at: number): { text: string; end: number } {
  const quoted = quotedEnd(sql, at) ?? heredocEnd(sql, at)
  if (quoted !== undefined) return { text: "''", end: quoted }
  let end = at
  while (end < sql.length && WORD.test(sql[end] ?? '')) end += 1
  end = Math.max(end, at + 1)
  return { text: sql.slice(at, end), end }
}

/** The end of the comment that starts at `at`; comments of the C kind nest. */
function commentEnd(sql: string, at: number): number | undefined {
  const two = sql.slice(at, at + 2)
  if (two === '--' || two === '# ' || two === '#!') {
    const end = sql.indexOf('\n', at)
    return end < 0 ? sql.length : end
  }
  if (two !== '/*') return undefined
  let open = 1
  let end = at + 2
  while (end < sql.length && open > 0) {
    const pair = sql.slice(end, end + 2)
    open += pair === '/*' ? 1 : pair === '*/' ? -1 : 0
    end += pair === '/*' || pair === '*/' ? 2 : 1
  }
  return end
}

/** The end of the quoted text that starts at `at`: backslash escapes, a doubled quote stands for itself. */
function quotedEnd(sql: string, at: number): number | undefined {
  const quote = sql[at] ?? ''
  if (!`'"\``.includes(quote) || quote === '') return undefined
  let end = at + 1
  while (end < sql.length) {
    if (sql[end] === '\\') end += 2
    else if (sql[end] !== quote) end += 1
    else if (sql[end + 1] === quote) end += 2
    else return end + 1
  }
  return sql.length
}

/** `$tag$ ... $tag$` */
function heredocEnd(sql: string, at: number): number | undefined {
  const tag = sql[at] === '$' ? /^\$[A-Za-z0-9_]*\$/.exec(sql.slice(at, at + 128))?.[0] : undefined
  if (tag === undefined) return undefined
  const end = sql.indexOf(tag, at + tag.length)
  return end < 0 ? undefined : end + tag.length
}
