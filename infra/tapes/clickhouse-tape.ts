import { partitionOf } from '../../schemas/catalogue.ts'
import { localCodec, type Codec } from '../../schemas/codec.ts'
import type { Message } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { Clickhouse } from '../clickhouse/client.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { derivedTables, fieldNames, inputTables, recordOf, type TableMapping } from './clickhouse-tables.ts'
import type { Span, Tape, TimeRange } from './tape.ts'

/** Offsets that are read at a time, of each record type. */
const OFFSETS_PER_READ = 100_000
/** As in `ingest`: what ClickHouse prints must be what was stored. */
const SETTINGS =
  "SETTINGS date_time_output_format = 'unix_timestamp', output_format_json_quote_64bit_integers = 0, " +
  'output_format_json_named_tuples_as_objects = 1, output_format_json_quote_denormals = 1'

/**
 * The tables of a running system as a tape: of equal records only one, and no tombstones; offsets and times are the
 * log's own. Derived topics can be compared with, not replayed. `until`: see `heldUpTo`.
 */
export function clickhouseTape(clickhouse: Clickhouse, partitions: number, until?: number): Tape {
  const codec = localCodec()
  const mappings = [...inputTables, ...derivedTables]
  const tables = new Tables(clickhouse, partitions)
  const of = (topic: TopicName): readonly TableMapping[] => mappings.filter((mapping) => mapping.topic === topic)
  return {
    name: 'ClickHouse',
    partitions,
    topics: new Set(inputTables.map(({ topic }) => topic)),
    compared: new Set(derivedTables.map(({ topic }) => topic)),
    ...(until === undefined ? {} : { until }),
    codec,
    lookUp: () => Promise.resolve(false),
    span: (topic, partition, range) => spanOf(tables, of(topic), { topic, partition }, range),
    read: (span) => readSpan(tables, codec, of(span.topic), span),
    close: () => clickhouse.close(),
  }
}

/** The record time up to which the tables have all inputs of all partitions, milliseconds; undefined: none is marked yet. */
export async function heldUpTo(clickhouse: Clickhouse): Promise<number | undefined> {
  const topics = [...new Set(inputTables.map(({ topic }) => topic))]
  const [row] = await clickhouse.rows<{ ms: number | null }>(
    `SELECT minOrNull(toFloat64(toUnixTimestamp64Milli(time))) AS ms FROM partition_times WHERE topic IN {topics:Array(String)}`,
    { topics },
  )
  return row?.ms ?? undefined
}

/** Offsets of a record type in a partition; of none: -1 as the last, and beyond every offset for the rest. */
interface Bounds {
  readonly first_offset: number
  readonly last_offset: number
  /** First at or after each bound of a range. */
  readonly since_offset: number
  readonly until_offset: number
}

const BEYOND = 1e15

async function spanOf(
  tables: Tables,
  mappings: readonly TableMapping[],
  { topic, partition }: Pick<Span, 'topic' | 'partition'>,
  range: TimeRange,
): Promise<Span> {
  const bounds = await Promise.all(mappings.map((mapping) => tables.bounds(mapping, partition, range)))
  const found = bounds.filter((bound) => bound.last_offset >= 0)
  if (found.length === 0) return { topic, partition, from: 0, to: 0, isWhole: false }
  const end = Math.max(...found.map((bound) => bound.last_offset)) + 1
  const start = Math.min(...found.map((bound) => bound.first_offset))
  const from = range.from <= 0 ? start : Math.min(end, ...found.map((bound) => bound.since_offset))
  const to = Number.isFinite(range.to) ? Math.min(end, ...found.map((bound) => bound.until_offset)) : end
  return { topic, partition, from, to: Math.max(from, to), isWhole: start === 0 && from === 0 }
}

async function* readSpan(
  tables: Tables,
  codec: Codec,
  mappings: readonly TableMapping[],
  { topic, partition, from, to }: Span,
): AsyncGenerator<readonly LogRecord[]> {
  const fetch = (at: number): Promise<LogRecord[]> => {
    const window = { partition, from: at, to: Math.min(to, at + OFFSETS_PER_READ) }
    return readWindow(tables, mappings, window, (message) => codec.encode(topic, message.type, message.value))
  }
  let ahead = from < to ? fetch(from) : undefined
  for (let at = from; ahead !== undefined; at += OFFSETS_PER_READ) {
    const records = await ahead
    const next = at + OFFSETS_PER_READ
    ahead = next < to ? fetch(next) : undefined
    ahead?.catch(() => undefined) // told when it is waited for
    if (records.length > 0) yield records
  }
}

interface OffsetWindow {
  readonly partition: number
  readonly from: number
  readonly to: number
}

async function readWindow(
  tables: Tables,
  mappings: readonly TableMapping[],
  window: OffsetWindow,
  encode: (message: Message) => Buffer,
): Promise<LogRecord[]> {
  const byOffset = new Map<number, LogRecord>()
  for (const mapping of mappings) {
    for (const row of await tables.rows(mapping, window)) {
      const { log_offset: offset, log_ms: time } = row
      const [record] = mapping.records.find(([, own]) => own === null || row[own] !== null) ?? []
      if (record !== undefined) byOffset.set(offset, { offset, time, key: null, value: encode(recordOf(record, row)) })
    }
  }
  return [...byOffset.values()].sort((x, y) => x.offset - y.offset)
}

type Row = Readonly<Record<string, unknown>> & { readonly log_offset: number; readonly log_ms: number }

/** The queries, each for one partition of one table. */
class Tables {
  readonly #clickhouse: Clickhouse
  readonly #partitions: number
  /** By table. */
  readonly #assets = new Map<string, Promise<readonly string[]>>()

  constructor(clickhouse: Clickhouse, partitions: number) {
    this.#clickhouse = clickhouse
    this.#partitions = partitions
  }

  async bounds(mapping: TableMapping, partition: number, range: TimeRange): Promise<Bounds> {
    const { table, offset, time } = mapping
    const after = (at: string): string =>
      `if(countIf(${time} >= {${at}:Float64}) = 0, ${BEYOND}, toFloat64(minIf(${offset}, ${time} >= {${at}:Float64})))`
    const [row] = await this.#clickhouse.rows<Bounds>(
      `SELECT toFloat64(min(${offset})) AS first_offset, if(count() = 0, -1, toFloat64(max(${offset}))) AS last_offset,
  ${after('since')} AS since_offset, ${after('until')} AS until_offset
FROM ${table} WHERE ${where(mapping)}`,
      {
        partition,
        since: range.from,
        until: Number.isFinite(range.to) ? range.to : BEYOND,
        assets: await this.#assetsOf(mapping, partition),
      },
    )
    return row ?? { first_offset: 0, last_offset: -1, since_offset: BEYOND, until_offset: BEYOND }
  }

  /** FINAL, because of equal records the views say which stands; the columns have the names of the records' fields. */
  async rows(mapping: TableMapping, window: OffsetWindow): Promise<Row[]> {
    const { table, records, offset, time } = mapping
    const fields = [...new Set(records.flatMap(([record]) => fieldNames(record)))].map((field) => `\`${field}\``)
    return this.#clickhouse.rows<Row>(
      `SELECT * FROM (SELECT ${[...fields, `${offset} AS log_offset`, `${time} AS log_ms`].join(', ')}
FROM ${table} AS stored FINAL
WHERE ${where(mapping)} AND ${offset} >= {from:UInt64} AND ${offset} < {to:UInt64})
${SETTINGS}`,
      { ...window, assets: await this.#assetsOf(mapping, window.partition) },
    )
  }

  /** The assets of a partition that a table has; asked for once a table. */
  async #assetsOf({ table, isByAsset }: TableMapping, partition: number): Promise<readonly string[]> {
    if (!isByAsset) return []
    const known = this.#assets.get(table) ?? this.#readAssets(table)
    this.#assets.set(table, known)
    return (await known).filter((asset) => partitionOf(asset, this.#partitions) === partition)
  }

  async #readAssets(table: string): Promise<readonly string[]> {
    const rows = await this.#clickhouse.rows<{ asset: string }>(`SELECT DISTINCT asset FROM ${table}`)
    return rows.map(({ asset }) => asset)
  }
}

function where({ partition, isByAsset }: TableMapping): string {
  const own = `${partition} = {partition:UInt16}`
  return isByAsset ? `asset IN {assets:Array(String)} AND ${own}` : own
}
