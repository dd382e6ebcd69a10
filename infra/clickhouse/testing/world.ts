import { expect, inject, vi } from 'vitest'
import { type RegistryCodec } from '../../kafka/codec.ts'
import { ownTopics, type OwnTopics } from '../../kafka/testing/topics.ts'
import { emptyFields } from '../../../schemas/codec.ts'
import type { Mark, Trade } from '../../../schemas/records.ts'
import { topicOf, type TopicName } from '../../../schemas/topics.ts'
import { connectClickhouse } from '../client.ts'
import { migrate } from '../migrate.ts'
import { dropDatabase } from './database.ts'

/** The partition that records go to unless a test says otherwise. */
export const PARTITION = 2
/** Rows are waited for. */
export const FLUSH_MS = 200
/** 2024-08-08T23:54:16.322Z, in µs: a tape's time, long before the run. */
export const T = 1_723_161_256_322_000

/** As ClickHouse writes a time of µs in JSON. */
export function iso(micros: number): string {
  return new Date(Math.floor(micros / 1000)).toISOString().replace('Z', `${String(micros % 1000).padStart(3, '0')}Z`)
}

export interface World {
  readonly codec: RegistryCodec
  /** Put before its topics' names. */
  readonly namespace: string
  readonly database: string
  /** Settings of the services that are started on it. */
  readonly env: OwnTopics['env']
  /** Appends values to a partition; gives the offset of the first. */
  append(topic: TopicName, values: readonly (Buffer | null)[], partition?: number): Promise<number>
  rows(query: string): Promise<Record<string, unknown>[]>
  run(statement: string): Promise<void>
  /** Waits until the query gives `expected`. */
  soon(query: string, expected: readonly unknown[]): Promise<void>
  trade(change?: Partial<Trade>): Buffer
  mark(topic: TopicName, change?: Partial<Mark>): Buffer
  end(): Promise<void>
}

export interface WorldOptions {
  /** Default: the shared broker. */
  readonly brokers?: readonly string[]
  /** Topics that others write, which are read from the start. */
  readonly reads?: readonly TopicName[]
}

/**
 * Topics and a database of their own for a test. The database reads a topic from its first `append` on: each Kafka table
 * that reads costs the parts that tests share, also where nothing comes.
 */
export async function createWorld(name: string, options: WorldOptions = {}): Promise<World> {
  const { brokers = inject('parts').brokers, reads = [] } = options
  const { registryUrl, clickhouse: at } = inject('parts')
  const { namespace, log, codec, env } = await ownTopics({ brokers, registryUrl }, name.replaceAll('_', '-'), 4)
  const database = `${name}_${process.pid}`
  const access = { ...at, database }
  const readings = new Map<TopicName, Promise<unknown>>()
  const read = (...names: TopicName[]): Promise<unknown> =>
    migrate({ ...access, namespace, brokers, registryUrl, flushMs: FLUSH_MS, topics: names.map(topicOf) })
  await read(...reads)
  for (const topic of reads) readings.set(topic, Promise.resolve())
  const clickhouse = connectClickhouse(access)
  const writer = log.writer()
  const ends = new Map<string, number>()
  const rows = (query: string): Promise<Record<string, unknown>[]> => clickhouse.rows<Record<string, unknown>>(query)
  return {
    codec,
    namespace,
    database,
    env,
    rows,
    run: (statement) => clickhouse.run(statement),
    async append(topic, values, partition = PARTITION) {
      if (!readings.has(topic)) readings.set(topic, read(topic))
      await readings.get(topic)
      const records = values.map((value) => ({ key: 'btc', value, time: T / 1000 }))
      await writer.send(topic, partition, records)
      const first = ends.get(`${topic} ${partition}`) ?? 0
      ends.set(`${topic} ${partition}`, first + values.length)
      return first
    },
    soon: (query, expected) =>
      vi.waitFor(async () => expect(await rows(query)).toEqual(expected), { timeout: 30_000, interval: 100 }),
    trade: (change = {}) => codec.encode('market.trades', 'trade', { ...plainTrade, ...change }),
    mark: (topic, change = {}) =>
      codec.encode(topic, 'mark', { ...plainMark, venue_time: change.time ?? plainMark.time, ...change }),
    async end() {
      await dropDatabase(at, database)
      await Promise.all([clickhouse.close(), writer.close()])
      await log.close()
    },
  }
}

const plainMark: Mark = {
  ...emptyFields('mark'),
  writer: 'feeds',
  run: T - 1000,
  time: T,
}

const plainTrade: Trade = {
  instrument: 'binance:perp:BTCUSDT',
  asset: 'btc',
  first_id: 100,
  last_id: 100,
  count: 1,
  sequence: null,
  price: 61_800.3,
  size: 0.006,
  quote: 370.8018,
  size_factor: 1,
  price_factor: 1,
  taker: 'buy',
  time: T,
  received: T + 5000,
  origin: 'stream',
  gap_id: null,
}
