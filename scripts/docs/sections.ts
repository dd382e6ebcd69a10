import { loadMigrations, statementsOf } from '../../infra/clickhouse/migrations.ts'
import { ingestedTopics } from '../../infra/clickhouse/readings.ts'
import { boundsText } from '../../infra/config/config.ts'
import { settings, type Setting } from '../../infra/config/settings.ts'
import { creditRow } from '../../processors/credit/credit.ts'
import { topology } from '../../processors/topology.ts'
import { keysOf, topics, type Topic } from '../../schemas/topics.ts'
import { usualTradeVenues } from '../../schemas/venues.ts'

type Sections = Readonly<Record<string, string>>

/** The parts of documents that follow from the tables: by the document, then by the name in their markers. */
export function documents(): Readonly<Record<string, Sections>> {
  return {
    'schemas/topics.md': { topics: topicTable(), diagram: diagram() },
    'api/docs/guides/settings.md': { settings: settingsTable() },
    'api/docs/guides/year.md': { retention: retentionList() },
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
      ? `${setting.description}${rangeText(setting)}`
      : `${setting.description} ${setting.kind === 'list' ? 'Of' : 'One of'} ${setting.oneOf.map((value) => `\`${value}\``).join(', ')}.`,
  ])
  return table(['variable', 'default', 'meaning'], rows)
}

function rangeText(setting: Setting): string {
  if (setting.min === undefined && setting.max === undefined) return ''
  const text = setting.max === undefined ? `${setting.min} or more` : boundsText(setting)
  return ` ${text[0]?.toUpperCase()}${text.slice(1)}.`
}

function topicTable(): string {
  return table(
    ['topic', 'key', 'kind', 'records', 'what it holds'],
    topics.map((topic) => [
      `\`${topic.name}\``,
      keysOf(topic),
      topic.kind,
      topic.records.join(', '),
      topic.description,
    ]),
  )
}

/** How long each topic and each table of ClickHouse is kept. */
function retentionList(): string {
  const tables = storedTables()
  const groups: readonly (readonly [what: string, names: readonly string[]])[] = [
    [
      'Topics of facts, cut by size: up to `RETENTION_BYTES` each, the oldest go first',
      topicsWhere(({ kind, cutBy }) => kind === 'facts' && cutBy === undefined),
    ],
    [
      'Topics of facts, cut by their processor: beyond about `RETENTION_BYTES` what it has applied goes, the rest never',
      topicsWhere(({ cutBy }) => cutBy !== undefined),
    ],
    ['Journals, kept for good', topicsWhere(({ kind }) => kind === 'journal')],
    [
      'Compacted topics, which keep the newest of each key, for as long as the key is',
      topicsWhere(({ kind }) => kind === 'upsert' || kind === 'cache'),
    ],
    ['Tables of ClickHouse, kept for good', tables.filter((sql) => tellsWhen(sql)).map(nameOf)],
    [
      'Tables of ClickHouse that keep the newest of each key, for good',
      tables.filter((sql) => !tellsWhen(sql)).map(nameOf),
    ],
  ]
  return groups.map(([what, names]) => `- **${what}**: ${names.map((name) => `\`${name}\``).join(', ')}`).join('\n')
}

function topicsWhere(isMeant: (topic: Topic) => boolean): string[] {
  return topics.filter(isMeant).map(({ name }) => name)
}

/** Statements that make the tables which keep rows. Throws where one deletes by age: the list has no such group. */
function storedTables(): string[] {
  const made = loadMigrations()
    .flatMap(({ text }) => statementsOf(text))
    .filter((sql) => sql.startsWith('CREATE TABLE') && !/^ENGINE = (Null|Buffer)/m.test(sql))
  for (const sql of made)
    if (/^\s*TTL\b/m.test(sql)) throw new Error(`the guide does not tell the TTL of ${nameOf(sql)}`)
  return made
}

function nameOf(sql: string): string {
  return /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(sql)?.[1] ?? ''
}

/** Whether rows of one thing differ by when it was so, or by their place in the log; else a newer one takes their place. */
function tellsWhen(sql: string): boolean {
  return /^PARTITION BY|^ORDER BY .*\b(?:time|from|valid_from|received|\w*offset)\b/m.test(sql)
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
