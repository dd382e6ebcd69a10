import { readFileSync } from 'node:fs'
import { fence } from './markdown.ts'
import type { Page } from './layout.ts'

/** The guides in the order of the contents: file, title, further words that find it. */
export const guides = [
  ['', 'Market data and alerts', 'start overview'],
  ['first-alert', 'A first alert', 'price alert receiver ring test cancel'],
  ['webhooks', 'Verify a webhook', 'signature hmac secret typescript python go java retry'],
  ['paying', 'Pay for requests', 'x402 usdc payment 402 price budget'],
  ['clients', 'Clients and MCP', 'typescript python mcp agent sdk budget'],
  ['backtesting', 'Backtest', 'replay history what-if forward returns parquet'],
  ['numbers', 'What each number means', 'formula cvd signal funding basis heatmap ratio units'],
  ['venue', 'Add a venue', 'exchange feed parser simulator'],
  ['cluster', 'Run on a cluster', 'kafka clickhouse scale docker compose instances'],
  ['promises', 'What is promised', 'guarantee test exactly once lost doubled chaos audit'],
] as const

/** The address in the guides' commands, as they are written. */
const WRITTEN = 'http://127.0.0.1:3000'

export function guidePages(base: string): Page[] {
  return guides.map(([slug, title, words]) => {
    const text = readFileSync(new URL(`guides/${slug === '' ? 'index' : slug}.md`, import.meta.url), 'utf8')
    return { slug, section: 'Guides', title, words, markdown: withFiles(text).replaceAll(WRITTEN, base) }
  })
}

/** `<!-- file: verify/verify.py -->` becomes that very file: what is shown is what the tests run. */
function withFiles(text: string): string {
  return text.replaceAll(/<!-- file: ([\w./-]+)\.(\w+) -->/g, (_, name: string, language: string) =>
    fence(language, readFileSync(new URL(`${name}.${language}`, import.meta.url), 'utf8')),
  )
}
