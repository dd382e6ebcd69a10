import { connectClickhouse, type Clickhouse } from '../../infra/clickhouse/client.ts'
import { readConfig } from '../../infra/config/config.ts'
import { loadCodec } from '../../infra/kafka/codec.ts'
import { readSchemas } from '../../infra/kafka/saved-schemas.ts'
import type { Log, LogReader } from '../../infra/kafka/seam.ts'
import type { Codec } from '../../schemas/codec.ts'
import { urlOf, type RunFile } from '../../infra/local/run-file.ts'
import { clickhouseOf } from '../../infra/local/secrets.ts'
import type { Message, LogGap } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { openLog } from '../command/system.ts'
import type { InstrumentAccount } from './log-account.ts'
import type { BucketsOf } from './buckets.ts'
import { BUCKET_MICROS, type SourceTotals, type Stretch, type Totals, type Window, decimalOf } from './totals.ts'

const QUERY_MS = 60_000
/** So much earlier than its receipt a trade can have been; and a host's clock is a little off. */
const LATE_MICROS = 5_000_000
/** The processor whose numbers are judged. */
const COUNTS = 'cvd'

/** Where a log is read. */
export interface LogBooks {
  readonly reader: LogReader
  readonly codec: Codec
  readonly partitions: number
}

/** Where the accounts are read. */
export interface Books extends LogBooks {
  readonly clickhouse: Pick<Clickhouse, 'rows'>
  readonly source: Source
}

export interface OpenBooks extends Books {
  readonly clickhouse: Clickhouse
  /** What the reader reads. */
  readonly log: Pick<Log, 'trim' | 'reader'>
  /** Put before topics' names. */
  readonly namespace: string
  close(): Promise<void>
}

/** Opens what a running system keeps; `close` leaves it as it was. */
export async function openBooks(run: RunFile, source: Source): Promise<OpenBooks> {
  const { NAMESPACE: namespace, CLICKHOUSE_DATABASE: database } = readConfig(process.env, [
    'NAMESPACE',
    'CLICKHOUSE_DATABASE',
  ])
  const log = await openLog(run, 'verify')
  const clickhouse = connectClickhouse({
    ...clickhouseOf(run, process.env),
    database,
    deadlineMs: QUERY_MS,
  })
  const reader = log.reader()
  const close = async (): Promise<void> => {
    await reader.close()
    await log.close()
    await clickhouse.close()
  }
  const codec = await loadCodec(urlOf(run, 'registry'))
  codec.learn(await readSchemas(urlOf(run, 'registry')))
  return { log, namespace, reader, codec, partitions: run.partitions, clickhouse, source, close }
}

/** Who knows what really traded. */
export interface Source {
  readonly name: string
  /** Totals by instrument within `window`. `ours`: the instruments of our log, for a source that is asked one by one. */
  totals(window: Window, ours: ReadonlyMap<string, InstrumentAccount>): Promise<Map<string, SourceTotals | 'unread'>>
  /** From when on it counts an instrument's trades, microseconds; absent: it counts all. */
  begins(): Promise<ReadonlyMap<string, number>>
  /** What one instrument traded in a closed stretch of time; not asked of one that is unread. */
  within(instrument: string, stretch: Stretch): Promise<Totals>
  /** The least stretch around this one that the source can tell. */
  align(stretch: Stretch): Stretch
  /** What traded in each bucket within `window`, where it can tell. */
  readonly buckets?: (window: Window) => Promise<BucketsOf>
}

/** Reads a topic again and again from where it left off; a record is handed on once. */
export class TopicFollower {
  readonly #books: LogBooks
  readonly #topic: TopicName
  readonly #next: Map<number, number>

  /** `begin`: by partition; left out: all that the log has. */
  constructor(books: LogBooks, topic: TopicName, begin: ReadonlyMap<number, number> = new Map()) {
    this.#books = books
    this.#topic = topic
    this.#next = new Map(begin)
  }

  /** Reads every partition to its end as of now. */
  async advance(
    onRecord: (message: Message, place: { key: string; partition: number; offset: number }) => void,
  ): Promise<void> {
    const { reader, codec, partitions } = this.#books
    for (let partition = 0; partition < partitions; partition++) {
      for await (const records of reader.toEnd(this.#topic, partition, this.#next.get(partition))) {
        for (const { key, value, offset } of records) {
          this.#next.set(partition, offset + 1)
          if (value !== null) onRecord(codec.decode(value), { key: key?.toString() ?? '', partition, offset })
        }
      }
    }
  }
}

/** All that the journal tells of what the log lost. */
export async function readLogGaps(books: LogBooks): Promise<LogGap[]> {
  const gaps: LogGap[] = []
  await new TopicFollower(books, 'control.gaps').advance(({ type, value }) => {
    if (type === 'log_gap') gaps.push(value)
  })
  return gaps
}

/** Times of which a partition of `market.trades` has lost something that derived numbers are made of: whole buckets. */
export function lostTimes(gaps: readonly LogGap[], partition: number): Stretch[] {
  const ours = gaps.filter(
    (gap) => gap.reader === COUNTS && gap.topic === 'market.trades' && gap.partition === partition,
  )
  return ours.map(({ from_time, to_time }) => ({
    from: Math.floor((from_time - LATE_MICROS) / BUCKET_MICROS) * BUCKET_MICROS,
    to: Math.ceil((to_time + 1) / BUCKET_MICROS) * BUCKET_MICROS - 1,
  }))
}

interface TotalsRow {
  readonly instrument: string
  readonly trades: string
  readonly buy: string
  readonly sell: string
}

/** The text of a double is its shortest exact form, so the decimal made of it is the venue's own. */
const query = `
SELECT instrument, toString(count()) AS trades,
  toString(sumIf(toDecimal256(toString(size), 18), taker = 'buy')) AS buy,
  toString(sumIf(toDecimal256(toString(size), 18), taker = 'sell')) AS sell
FROM trades
WHERE toUnixTimestamp64Micro(time) >= {from:Int64} AND toUnixTimestamp64Micro(time) < {to:Int64}
GROUP BY instrument`

/** Totals by instrument of the `trades` view. */
export async function clickhouseTotals(
  clickhouse: Pick<Clickhouse, 'rows'>,
  window: Window,
): Promise<Map<string, Totals>> {
  const to = Number.isFinite(window.to) ? window.to : Number.MAX_SAFE_INTEGER
  const lines = await clickhouse.rows<TotalsRow>(query, { from: window.from, to })
  return new Map(
    lines.map(({ instrument, trades, buy, sell }) => [
      instrument,
      { count: Number(trades), buy: decimalOf(buy), sell: decimalOf(sell) },
    ]),
  )
}
