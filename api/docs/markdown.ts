import { Marked, type Tokens } from 'marked'

/** A table in Markdown; cells are text of ours, in which a bar would end the cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

export function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``
}

/** Text as HTML shows it. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** What a heading is linked by: its words in lower case. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
}

/** HTML within Markdown is shown, never followed, nor are pictures from elsewhere; wide things scroll by themselves and can be reached by the keyboard. */
const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escaped(text),
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    code: ({ text, lang }: Tokens.Code) =>
      `<pre tabindex="0"><code class="language-${escaped(lang ?? '')}">${escaped(text)}</code></pre>\n`,
    table(token) {
      const cells = (row: readonly Tokens.TableCell[], tag: 'td' | 'th'): string =>
        row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')
      const head = `<thead><tr>${cells(token.header, 'th')}</tr></thead>`
      const body = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
      return `<div class="wide" tabindex="0"><table>${head}<tbody>\n${body}\n</tbody></table></div>\n`
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      return /^(?:https?:\/\/|\/(?!\/)|#)/.test(href) ? `<a href="${escaped(href)}">${text}</a>` : text
    },
    image: ({ href, text }) =>
      /^\/docs\/(?!\/)/.test(href) ? `<img src="${escaped(href)}" alt="${escaped(text)}">` : escaped(text),
  },
})

export function htmlOf(markdown: string): string {
  return marked.parse(markdown, { async: false })
}
