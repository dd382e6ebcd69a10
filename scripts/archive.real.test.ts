import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Session } from 'chdb'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import type { Log, OutRecord } from '../infra/kafka/seam.ts'
import { ownTopics } from '../infra/kafka/testing/topics.ts'
import { writeRunFile } from '../infra/local/run-file.ts'
import { programFile } from '../infra/local/system.ts'
import type { TopicName } from '../schemas/topics.ts'
import { recordsOf, SECONDS, T0 } from './backtest/testing/history.ts'

const INPUTS = ['market.trades', 'market.tickers', 'market.funding'] as const
const QUERY_MS = 120_000

let folder: string
let log: Log
let namespace: string
let facts: ReadonlyMap<TopicName, readonly OutRecord[]>
let engine: Session
beforeAll(async () => {
  const { brokers, registryUrl } = inject('parts')
  folder = mkdtempSync(path.join(tmpdir(), 'archive-'))
  engine = new Session(path.join(folder, 'engine'))
  const own = await ownTopics({ brokers, registryUrl }, 'archive', 1)
  ;({ log, namespace } = own)
  facts = new Map(recordsOf(own.codec))
  mkdirSync(path.join(folder, 'data/demo'), { recursive: true })
  writeRunFile(path.join(folder, 'data'), {
    mode: 'demo',
    data: path.join(folder, 'data/demo'),
    partitions: 1,
    parts: [
      { name: 'broker', url: brokers.join(',') },
      { name: 'registry', url: registryUrl },
    ],
  })
})
afterAll(async () => {
  engine.cleanup()
  await log.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The part of each topic's records between two fractions of all. */
async function append(from: number, to: number): Promise<void> {
  const writer = log.writer()
  for (const [topic, records] of facts) {
    const part = records.slice(Math.floor(records.length * from), Math.floor(records.length * to))
    for (let at = 0; at < part.length; at += 1_000) await writer.send(topic, 0, part.slice(at, at + 1_000))
  }
  await writer.close()
}

/** Deletes the oldest records, as retention does once the segments are too large. */
async function retain(fraction: number): Promise<void> {
  for (const topic of INPUTS) {
    const end = (await log.reader().offsets(topic, [0], 'end')).get(0) ?? 0
    await log.trim({ topic, partition: 0, offset: Math.floor(end * fraction) })
  }
}

function run(file: string, ...args: readonly string[]): Promise<{ stdout: string }> {
  const { brokers, registryUrl } = inject('parts')
  const elsewhere = { KAFKA_BROKERS: brokers.join(','), SCHEMA_REGISTRY_URL: registryUrl }
  const env = { ...process.env, ...elsewhere, NAMESPACE: namespace }
  return promisify(execFile)(process.execPath, [programFile(file), ...args], { env })
}

const archive = (): string => path.join(folder, 'archive')
const data = (): readonly string[] => ['--data', path.join(folder, 'data')]
const grow = () =>
  run('scripts/export.ts', '--format', 'parquet', '--out', archive(), '--grow', '--topics', INPUTS.join(','), ...data())

async function replayed(...source: readonly string[]): Promise<unknown> {
  const to = String(T0 / 1000 + SECONDS * 1000)
  const { stdout } = await run('scripts/backtest.ts', '--json', '--to', to, ...source)
  return (JSON.parse(stdout) as { outputHash: unknown }).outputHash
}

async function rows(sql: string): Promise<unknown[]> {
  const result = await engine.queryAsync(sql, { format: 'JSONCompactEachRow', timeout: QUERY_MS })
  return result
    .text()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)
}

it('keeps what retention deletes, for SQL and for a replay that tells what the whole log told', async () => {
  await append(0, 0.5)
  await grow()
  await append(0.5, 1)
  const whole = await replayed(...data())
  await retain(0.4)
  await grow()
  await retain(0.9)
  const first = (await log.reader().offsets('market.trades', [0], 'start')).get(0) ?? 0
  expect(first).toBeGreaterThan(0)

  expect(await replayed('--source', archive())).toBe(whole)
  const trades = facts.get('market.trades')?.length ?? 0
  const [told] = await rows(`SELECT countDistinct(_offset), min(_offset), max(_offset) FROM (
    SELECT _offset FROM file('${archive()}/trade/day=*/*.parquet', Parquet)
    UNION ALL SELECT _offset FROM file('${archive()}/mark/day=*/market.trades.*.parquet', Parquet))
    SETTINGS output_format_json_quote_64bit_integers = 0, max_threads = 1`)
  expect(told).toEqual([trades, 0, trades - 1])
})

it('says what is gone where it is grown too late, and keeps what it has', async () => {
  await append(0, 0.2)
  await retain(1)
  await append(0.2, 0.4)
  await expect(grow()).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('were deleted from the log') as string,
  })
  const [told] = await rows(`SELECT count() > 0 FROM file('${archive()}/trade/day=*/*.parquet', Parquet)`)
  expect(told).toEqual([1])
})

it('is taken and replayed of the log that the settings name where nothing runs on the data folder', async () => {
  await append(0.4, 0.6)
  const exported = (name: string, ...from: readonly string[]) =>
    run('scripts/export.ts', '--out', path.join(folder, name), '--topics', INPUTS.join(','), ...from)
  const nowhere = ['--data', path.join(folder, 'nowhere')]
  const { stdout } = await exported('ours', ...data())
  expect((await exported('elsewhere', ...nowhere)).stdout.replace('elsewhere', 'ours')).toBe(stdout)
  expect(await replayed(...nowhere)).toBe(await replayed(...data()))
})
