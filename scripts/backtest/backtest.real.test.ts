import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { surroundings, type Surroundings } from '../../api/testing/surroundings.ts'
import { connectClickhouse, type Clickhouse } from '../../infra/clickhouse/client.ts'
import { hostClock } from '../../infra/clock.ts'
import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import { fixedMembership } from '../../infra/kafka/membership.ts'
import type { Log, LogReader } from '../../infra/kafka/seam.ts'
import { ownTopics } from '../../infra/kafka/testing/topics.ts'
import { clickhouseTape, heldUpTo } from '../../infra/tapes/clickhouse-tape.ts'
import { fileTape } from '../../infra/tapes/file-tape.ts'
import { TAPE_VERSION, type Format } from '../../infra/tapes/folder.ts'
import { kafkaTape } from '../../infra/tapes/kafka-tape.ts'
import { parquetWriter } from '../../infra/tapes/parquet-segment.ts'
import type { Span, Tape } from '../../infra/tapes/tape.ts'
import { avroWriter, writeTape } from '../../infra/tapes/write-tape.ts'
import { quietMeter, quietReport } from '../../processors/kernel/quiet.ts'
import { runProcessors, type Runner } from '../../processors/kernel/run.ts'
import type { Task } from '../../processors/kernel/task.ts'
import { processorsNamed } from '../../processors/topology.ts'
import { mapHash, partitionOf } from '../../schemas/catalogue.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { writeToBroker } from '../import/to-broker.ts'
import { backtest, type Outcome } from './backtest.ts'
import { load } from './load.ts'
import { readOptions } from './options.ts'
import { tablesOf } from './results.ts'
import { priceAt, recordsOf, SECONDS, T0 } from './testing/history.ts'

const PARTITIONS = 2
const PARTITION = partitionOf('btc', PARTITIONS)
const SOON = { timeout: 120_000, interval: 200 }
const INPUTS: readonly TopicName[] = ['market.trades', 'market.tickers', 'market.funding']
/** Those that tables tell. */
const OUTPUTS: readonly TopicName[] = [
  'derived.flow',
  'derived.signals',
  'alerts.inputs',
  'derived.funding',
  'alerts.events',
]
const names = ['cvd', 'prices', 'funding', 'liquidations', 'alerts']

let folder: string
let own: Surroundings
let log: Log
let codec: RegistryCodec
let clickhouse: Clickhouse
let host: Runner<Task> | undefined

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'backtest-'))
  const reads = [...INPUTS, ...OUTPUTS]
  own = await surroundings(inject('parts'), { name: 'backtest', partitions: PARTITIONS, reads })
  ;({ log, codec } = own)
  clickhouse = tables()
  const writer = log.writer()
  for (const [topic, records] of recordsOf(codec)) {
    for (let at = 0; at < records.length; at += 1_000)
      await writer.send(topic, PARTITION, records.slice(at, at + 1_000))
  }
  await writer.close()
  writeFileSync(path.join(folder, 'alerts.json'), JSON.stringify(alerts))
}, 120_000)

afterAll(async () => {
  await host?.stop()
  await clickhouse.close()
  await own.close()
  rmSync(folder, { recursive: true, force: true })
})

const alerts = [
  { symbol: 'BTC', condition: 'crosses_above', target_price: 60_600 },
  { symbol: 'BTC', condition: 'below', target_price: 59_400 },
  { symbol: 'BTC', condition: 'cascade_risk', threshold_pct: 1 },
]

function broker(of = log): Tape {
  return kafkaTape(of, codec, PARTITIONS)
}

/** With alerts of a file, so that every source can be replayed: tables hold no commands. */
async function replay(tape: Tape, ...flags: readonly string[]): Promise<Outcome> {
  const given = flags.includes('--check-live') ? [] : ['--alerts', path.join(folder, 'alerts.json')]
  const to = String(T0 / 1000 + SECONDS * 1000)
  const options = readOptions(['--to', to, '--horizons', '10s,1m', ...given, ...flags])
  if (options === undefined) throw new Error('it is no call for help')
  const around = { onProgress: () => undefined, warn: () => undefined, stop: new AbortController().signal }
  try {
    return await backtest(tape, options, around)
  } finally {
    await tape.close()
  }
}

async function exported(format: Format): Promise<string> {
  const out = path.join(folder, format)
  const tape = broker()
  const spans: Span[] = []
  for (const topic of INPUTS) {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      spans.push(await tape.span(topic, partition, { from: 0, to: Infinity }))
    }
  }
  const layout = {
    version: TAPE_VERSION[format],
    format,
    partitions: PARTITIONS,
    map: mapHash(),
    source: 'test',
  } as const
  const header = { ...layout, range: { from: 0, to: null }, spans }
  const write = format === 'avro' ? avroWriter(tape, out) : parquetWriter(tape, out)
  const around = { onProgress: () => undefined, stop: new AbortController().signal }
  const done = await writeTape({ tape, folder: out, header, write, segmentRecords: 2_000, ...around })
  expect(done).toBe(true)
  await tape.close()
  return out
}

describe('a backtest', () => {
  it('gives one output hash from the broker, from Avro and Parquet files, from an imported log and from ClickHouse', async () => {
    const { manifest, study } = await replay(broker())
    expect(manifest.events).toBe([...recordsOf(codec).values()].flat().length)
    expect(study.signals.length).toBeGreaterThan(4)
    expect(study.triggers.length).toBeGreaterThan(2)

    const avro = await exported('avro')
    const fromAvro = (await replay(fileTape(avro))).manifest
    expect(fromAvro).toEqual({ ...manifest, source: avro })

    const parquet = await exported('parquet')
    const fromParquet = (await replay(fileTape(parquet))).manifest
    expect(fromParquet).toEqual({ ...manifest, source: parquet })

    const { log: other } = await ownTopics(inject('parts'), 'again', PARTITIONS)
    const never = new AbortController().signal
    const whole = { tape: fileTape(avro), log: other, codec, topics: INPUTS, onProgress: () => undefined, stop: never }
    const stopped = await writeToBroker({ ...whole, stop: AbortSignal.abort() })
    expect(stopped.isDone).toBe(false)
    expect(await writeToBroker(whole)).toMatchObject({ isDone: true, records: manifest.events - 2_000 })
    expect(await writeToBroker(whole)).toEqual({ isDone: true, records: 0, unreadable: [] })
    expect((await replay(broker(other))).manifest).toEqual(manifest)
    await other.close()

    await vi.waitFor(arrived, SOON)
    expect(await heldUpTo(clickhouse)).toBe(T0 / 1000 + (SECONDS - 1) * 1_000 + 900)
    const fromTables = (await replay(clickhouseTape(tables(), PARTITIONS))).manifest
    expect(fromTables.outputs).toEqual(manifest.outputs)
    expect(fromTables.outputHash).toBe(manifest.outputHash)
  }, 240_000)

  it('fills each signal at the first price at or after decision and latency', async () => {
    const { study } = await replay(broker())
    for (const { decided, fill } of study.signals) {
      if (fill === null) continue
      const second = Math.ceil((decided + 500_000 - T0 - 200_000) / 1e6)
      expect(fill.time).toBe(T0 + second * 1e6 + 200_000)
      expect(Math.abs(fill.price - priceAt(second))).toBeLessThan(100)
    }
  })

  it('finds no difference to what the live host wrote, and one where a row of it is another', async () => {
    await live()
    const { check } = await replay(broker(), '--check-live')
    expect(check?.differences).toEqual([])
    expect(check?.absent).toEqual([])
    const many = [...(check?.tallies ?? [])].filter(([, { compared }]) => compared > 100)
    expect(many.map(([topic]) => topic).toSorted()).toEqual([
      'alerts.events',
      'alerts.inputs',
      'derived.flow',
      'derived.funding',
      'derived.signals',
    ])
    await vi.waitFor(derivedArrived, SOON)
    const tablesCheck = await replay(clickhouseTape(tables(), PARTITIONS), '--check-live')
    expect(tablesCheck.check?.differences).toEqual([])
    expect(tablesCheck.check?.tallies.get('alerts.inputs')?.compared).toBeGreaterThan(1_000)

    const [record] = await rowsOf('derived.signals', 'signal')
    if (record?.type !== 'signal') throw new Error('there are signals')
    const wrong = codec.encode('derived.signals', 'signal', { ...record.value, value: record.value.value + 0.5 })
    const writer = log.writer()
    await writer.send('derived.signals', PARTITION, [{ key: 'btc', value: wrong, time: T0 / 1000 }])
    await writer.close()
    const again = await replay(broker(), '--check-live')
    expect(again.check?.differences).toMatchObject([{ topic: 'derived.signals', kind: 'different' }])
  }, 240_000)

  it('is loaded into a database of its own, twice the same', async () => {
    const { manifest, study } = await replay(broker())
    const own = connectClickhouse(inject('parts').clickhouse)
    const run = await load(own, manifest, tablesOf(study, [10_000, 60_000]))
    await load(own, manifest, tablesOf(study, [10_000, 60_000]))
    const query = 'SELECT count() AS rows, max(number) AS last FROM backtests.signals FINAL WHERE run = {run:String}'
    expect(await own.rows(query, { run })).toEqual([{ rows: study.signals.length, last: study.signals.length - 1 }])
    await own.close()
  })

  it('says what the source has where a range has no records', async () => {
    const none = replay(broker(), '--from', '1', '--to', '2', '--lead-in', '0s')
    await expect(none).rejects.toThrow(
      /no records in that range; it has 2026-08-07T00:00:00\.000Z to 2026-08-07T00:19:59/,
    )
  })
})

function tables(): Clickhouse {
  return connectClickhouse({ ...inject('parts').clickhouse, database: own.database })
}

async function countOf(table: string): Promise<number> {
  const [row] = await clickhouse.rows<{ rows: number }>(`SELECT toUInt32(count()) AS rows FROM ${table}`)
  return row?.rows ?? 0
}

/** Each topic is read on its own: all of them have to be there. */
async function arrived(): Promise<void> {
  const records = recordsOf(codec)
  expect(await countOf('tickers_replay')).toBe(records.get('market.tickers')?.length)
  expect(await countOf('funding_replay')).toBe(records.get('market.funding')?.length)
  expect((await countOf('trades_log')) + (await countOf('feed_marks_log'))).toBe(records.get('market.trades')?.length)
}

/** Runs the real host over the log until it has written all that follows from it. */
async function live(): Promise<void> {
  const membership = fixedMembership([PARTITION])
  host = runProcessors({
    rows: processorsNamed(names).map((row) => ({ row, membership })),
    ports: {
      log,
      reader: log.reader(),
      codec,
      lookUp: (id) => codec.lookUp(id),
      hint: () => Promise.resolve(),
      clock: hostClock,
      meter: quietMeter,
      report: quietReport,
    },
    snapshots: { everyMs: 1_000, everyRecords: 1_000 },
    partitions: PARTITIONS,
    sessionMs: 60_000,
    onLostLog: 'go-on',
    retentionBytes: 1e12,
  })
  const runner = host
  await vi.waitFor(() => {
    const lags = runner.lags()
    expect(lags.length).toBe(names.length)
    expect(lags.filter(({ records }) => records > 0)).toEqual([])
  }, SOON)
  const reader = log.reader()
  // one after the other: the last reads what the others write
  for (const name of names) await vi.waitFor(() => isThrough(runner, reader, name), SOON)
  await reader.close()
}

/** Throws where a processor has not read its inputs to their ends, or has not written yet what follows. */
async function isThrough(runner: Runner<Task>, reader: LogReader, name: string): Promise<void> {
  const owner = runner.owners().find((one) => one.name === name)
  for (const { topic } of owner?.work?.positions() ?? []) {
    const end = (await reader.offsets(topic, [PARTITION], 'end')).get(PARTITION)
    expect(owner?.work?.positions()).toContainEqual({ topic, partition: PARTITION, offset: end })
  }
  expect(owner?.state).toBe('idle')
}

async function derivedArrived(): Promise<void> {
  const prices = await rowsOf('alerts.inputs', 'composite_price')
  expect(await countOf('prices_log FINAL')).toBe(prices.length)
  expect(await countOf('flow_log FINAL')).toBe(new Set((await rowsOf('derived.flow', 'flow')).map(keyOf)).size)
  expect(await countOf('signal_changes_log FINAL')).toBe((await rowsOf('derived.signals', 'signal')).length)
  expect(await countOf('flow_hours_log FINAL')).toBe(
    new Set((await rowsOf('derived.flow', 'flow_hour')).map(keyOf)).size,
  )
  expect(await countOf('liquidation_risk_log FINAL')).toBe((await rowsOf('alerts.inputs', 'liquidation_risk')).length)
  expect(await countOf('metrics_log FINAL')).toBe((await rowsOf('alerts.inputs', 'metric')).length)
}

function keyOf({ type, value }: Awaited<ReturnType<typeof rowsOf>>[number]): string {
  if (type === 'flow') return `${value.instrument} ${value.bucket} ${value.part}`
  return type === 'flow_hour' ? `${value.instrument} ${value.hour} ${value.part}` : ''
}

async function rowsOf(topic: TopicName, type: string) {
  const reader = log.reader()
  const found: ReturnType<RegistryCodec['decode']>[] = []
  for await (const records of reader.toEnd(topic, PARTITION)) {
    for (const { value } of records) {
      const message = value === null ? undefined : codec.decode(value)
      if (message?.type === type) found.push(message)
    }
  }
  await reader.close()
  return found
}
