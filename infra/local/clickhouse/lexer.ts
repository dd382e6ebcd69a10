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
