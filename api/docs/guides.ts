import { readFileSync } from 'node:fs'
import { guides } from './contents.ts'
import { fence } from './markdown.ts'
import type { Page } from './layout.ts'

/** The address in the guides' commands, as they are written. */
const WRITTEN = 'http://127.0.0.1:3000'

export function guidePages(base: string): Page[] {
  return guides.map(([slug, title, words]) => {
    const text = readFileSync(new URL(`guides/${slug === '' ? 'index' : slug}.md`, import.meta.url), 'utf8')
    return { slug, section: 'Guides', title, words, markdown: withFiles(text).replaceAll(WRITTEN, base) }
  })
}

/** What is shown is what the tests run: `<!-- file: PATH -->` becomes that file of the repository, `code` a function of one. */
function withFiles(text: string): string {
  return text
    .replaceAll(/<!-- file: ([\w./-]+)\.(\w+) -->/g, (_, name: string, language: string) =>
      fence(language, readFileSync(new URL(`../../${name}.${language}`, import.meta.url), 'utf8')),
    )
    .replaceAll(/<!-- code: (\S+) (\w+) -->/g, (_, file: string, name: string) =>
      fence('ts', functionOf(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'), name)),
    )
}

/** An exported function with the words above it; throws where there is none of the name. */
function functionOf(source: string, name: string): string {
  const lines = source.split('\n')
  const head = lines.findIndex((line) => line.startsWith(`export function ${name}(`))
  if (head < 0) throw new Error(`the documentation names a function that is not there: ${name}`)
  const words = lines.slice(0, head).findLastIndex((line) => !line.startsWith(' *') && !line.startsWith('/**')) + 1
  return lines.slice(words, lines.indexOf('}', head) + 1).join('\n')
}
