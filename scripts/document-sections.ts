import { ingestedTopics } from '../infra/clickhouse/readings.ts'
import { settings, type Setting } from '../infra/config/settings.ts'
import { creditRow } from '../processors/credit/credit.ts'
import { topology } from '../processors/topology.ts'
import { topics } from '../schemas/topics.ts'
import { usualTradeVenues } from '../schemas/venues.ts'

type Sections = Readonly<Record<string, string>>

/** The parts of documents that follow from the tables: by the document, then by the name in their markers. */
export function documents(): Readonly<Record<string, Sections>> {
  return {
    'schemas/topics.md': { topics: topicTable(), diagram: diagram() },
    'api/docs/guides/settings.md': { settings: settingsTable() },
  }
}

/** `text` with what stands between `<!-- name -->` and `<!-- /name -->` replaced. Throws where a section has no markers. */
export function withSections(text: string, parts: Sections): string {
  return Object.entries(parts).reduce((result, [name, part]) => {
    const pattern = new RegExp(`<!-- ${name} -->[^]*?<!-- /${name} -->`)
    if (!pattern.test(result)) throw new Error(`there are no markers <!-- ${name} --> and <!-- /${name} -->`)
    return result.replace(pattern, () => `<!-- ${name} -->\n\n${part}\n\n<!-- /${name} -->`)
  }, text)
}

function settingsTable(): string {
  const rows = Object.entries(settings).map(([name, setting]: [string, Setting]) => [
    `\`${name}\``,
    setting.default === undefined ? 'required' : setting.default === '' ? '' : `\`${setting.default}\``,
    setting.oneOf === undefined
      ? setting.description
      : `${setting.description} ${setting.kind === 'list' ? 'Of' : 'One of'} ${setting.oneOf.map((value) => `\`${value}\``).join(', ')}.`,
  ])
  return table(['variable', 'default', 'meaning'], rows)
}

function topicTable(): string {
  return table(
    ['topic', 'key', 'kind', 'records', 'what it holds'],
    topics.map(({ name, key, kind, records, description }) => [
      `\`${name}\``,
      key.replaceAll('|', ', '),
      kind,
      records.join(', '),
      description,
    ]),
  )
}

/** As Prettier writes a table: cells padded to the widest of their column. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', String.raw`\|`)))
  const widths = head.map((_title, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0)))
  const text = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const [first = [], ...rest] = lines
  return [text(first), text(widths.map((width) => '-'.repeat(width))), ...rest.map(text)].join('\n')
}

function diagram(): string {
  const node = (name: string): string => name.replaceAll('.', '_')
  return [
    '```mermaid',
    'flowchart LR',
    `  venues["${usualTradeVenues.map(({ venue }) => venue).join(', ')}"] -- "WS + REST" --> feeds`,
    ...topics.map(({ name }) => `  ${node(name)}[("${name}")]`),
    ...topics.filter(({ name }) => name.startsWith('market.')).map(({ name }) => `  feeds --> ${node(name)}`),
    '  api -- "GET of a new symbol" --> control_subscriptions --> feeds',
    '  prepare --> control_layout',
    ...[...topology, creditRow].flatMap(({ name, inputs, outputs, state }) => [
      ...inputs.map((topic) => `  ${node(topic)} --> ${name}{{${name}}}`),
      ...outputs.map((topic) => `  ${name} --> ${node(topic)}`),
      `  ${name} <--> ${node(state)}`,
    ]),
    '  api -- "command" --> alerts_inputs',
    '  api -- "purchase, lease, charges" --> payments_credit',
    '  payments_keys --> api',
    '  alerts_events -- "answer" --> api',
    '  alerts_state --> api',
    '  alerts_triggers --> webhooks',
    '  webhooks --> webhooks_attempts',
    '  webhooks <--> webhooks_pending',
    '  webhooks -- "signed POST" --> receivers(["HTTPS: your receiver"])',
    ...ingestedTopics.map(({ name }) => `  ${node(name)} --> clickhouse`),
    '  clickhouse --> api',
    '  clickhouse --> analysts(["SQL: you"])',
    '  api --> callers(["HTTP: you"])',
    '```',
  ].join('\n')
}
