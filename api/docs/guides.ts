import { readFileSync } from 'node:fs'
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

/** The guides in the order of the contents: file, title, further words that find it. */
export const guides = [
  ['', 'Market data and alerts', 'start overview'],
  ['first-alert', 'A first alert', 'price alert receiver ring test cancel'],
  ['channels', 'Channels', 'slack discord telegram microsoft teams pagerduty email smtp template chat message notify'],
  ['rules', 'Rules', 'alert condition metric cvd funding open interest volume spike signal all any hold hysteresis'],
  ['webhooks', 'Verify a webhook', 'signature hmac secret typescript python go java retry'],
  ['stream', 'Stream what changes', 'server-sent events sse live eventsource resume last-event-id push'],
  ['paying', 'Pay for requests', 'x402 usdc payment 402 price budget'],
  ['customers', 'API keys and credit', 'api key credit prepaid balance quota limit invoice usage rotate revoke'],
  ['clients', 'Clients and MCP', 'typescript python mcp agent sdk budget'],
  ['backtesting', 'Backtest', 'replay history what-if forward returns parquet'],
  ['notebooks', 'Notebooks', 'jupyter python polars pandas research cvd divergence carry event study picture'],
  ['numbers', 'What each number means', 'formula cvd signal funding basis heatmap ratio units'],
  ['history', 'The past', 'backfill archive candles trades days source provenance order'],
  ['venue', 'Add a venue', 'exchange feed parser simulator'],
  ['alert-kind', 'Add a kind of alert', 'condition metric rule trigger'],
  ['signal', 'Add a signal with a route', 'class figure core endpoint derived'],
  ['backup', 'Back up and restore', 'disaster recovery encryption key incremental archive parquet'],
  ['upgrade', 'Upgrade', 'version release compatibility generation rolling downgrade'],
  ['rotate', 'Replace secrets', 'rotation service secret wallet key webhook leak'],
  ['year', 'Run it for a year', 'install size secure monitor upgrade rotate retention operator runbook disk'],
  ['sql', 'Ask in SQL', 'clickhouse query view table analyst candles funding promises'],
  ['operations', 'Operations', 'commands ports data sql wrong logs'],
  ['settings', 'Settings', 'environment variables configuration'],
  ['cluster', 'Run on a cluster', 'kafka clickhouse scale docker compose instances'],
  ['incidents', 'Incidents', 'alert rules prometheus alarm page runbook monitoring broken'],
  ['promises', 'What is promised', 'guarantee test exactly once lost doubled chaos audit'],
  ['glossary', 'Glossary', 'terms words meaning kafka streams bytewax watermark processor partition time'],
] as const
