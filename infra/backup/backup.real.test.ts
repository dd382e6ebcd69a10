import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { subjectOf, topics, type TopicName } from '../../schemas/topics.ts'
import { loadCodec } from '../kafka/codec.ts'
import { connectLog } from '../kafka/kafkajs.ts'
import { RawReader } from '../kafka/raw-batches.ts'
import { readSchemas, type SavedSchema } from '../kafka/saved-schemas.ts'
import type { Log, LogReader, LogRecord } from '../kafka/seam.ts'
import { prepareTopics } from '../kafka/setup.ts'
import { freshNamespace } from '../kafka/testing/topics.ts'
import { startBroker } from '../local/broker.ts'
import { startRegistry } from '../local/registry.ts'
import { restoreFolder } from '../local/restored-folder.ts'
import { BackupFolder } from './folder.ts'
import { checkBackup } from './restore-log.ts'
import { takeBackup, type BackupSource } from './take-backup.ts'

const { brokers, registryUrl } = inject('parts')
const KEY = 'a-key-of-at-least-thirty-two-characters'
const PARTITIONS = 2
const namespace = freshNamespace()
const sizes = { partitions: PARTITIONS, replicationFactor: 1, retentionBytes: 1e9 }
const names: readonly TopicName[] = topics.map(({ name }) => name)

let home: string
let log: Log
let source: BackupSource
let raw: RawReader
beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'backup-'))
  log = await connectLog({ brokers, namespace, clientId: 'test' })
  const layout = await prepareTopics({ brokers, namespace, log, codec: await loadCodec(registryUrl), ...sizes })
  raw = new RawReader({ brokers, namespace, clientId: 'backup' })
  source = {
    raw,
    topics: names,
    log: layout.log,
    partitions: PARTITIONS,
    about: async () => ({
      version: '0.1.0',
      mode: 'demo',
      schemas: await ourSchemas(registryUrl),
      secrets: { demo: 'the-service-secret-that-was-made-here' },
    }),
  }
})
afterAll(async () => {
  await raw.close()
  await log.close()
  rmSync(home, { recursive: true, force: true })
})

/** Other tests have theirs in the same registry. */
async function ourSchemas(url: string): Promise<SavedSchema[]> {
  const ours = new Set(topics.flatMap(({ name, records }) => records.map((record) => subjectOf(name, record))))
  return (await readSchemas(url)).filter(({ subject }) => ours.has(subject))
}

/** Records of several batches, each after a claim's control record: some large, some tombstones. */
async function write(topic: TopicName, partition: number, count: number, tag: string): Promise<void> {
  const claim = await log.claim(`writer-${topic}-${partition}`, [{ topic, partition }])
  for (let batch = 0; batch < 3; batch += 1) {
    const records = Array.from({ length: count }, (_, index) => ({
      key: `key-${index % 7}`,
      value: index % 11 === 10 ? null : Buffer.from(`${tag} ${batch} ${index} `.repeat(20)),
      time: 1_700_000_000_000 + index,
    }))
    await claim.send(topic, partition, records)
  }
  await claim.close()
}

/** What every partition holds: first offset, end, and each record. */
async function contents(reader: LogReader): Promise<Record<string, { readonly records: readonly unknown[] }>> {
  const all: Record<string, { start: number | undefined; end: number | undefined; records: unknown[] }> = {}
  for (const { name, partitions } of topics) {
    const numbers = Array.from({ length: partitions === 'one' ? 1 : PARTITIONS }, (_, number) => number)
    const ends = await reader.offsets(name, numbers, 'end')
    const starts = await reader.offsets(name, numbers, 'start')
    for (const number of numbers) {
      const records: LogRecord[] = []
      for await (const some of reader.toEnd(name, number)) records.push(...some)
      const told = records.map(({ offset, time, key, value }) => [offset, time, String(key), value?.toString('hex')])
      all[`${name}/${number}`] = { start: starts.get(number), end: ends.get(number), records: told }
    }
  }
  return all
}

describe('a backup', { timeout: 180_000 }, () => {
  it('gives a log back at its offsets, with what came later by increments, and goes on being written', async () => {
    const folder = await BackupFolder.begin(path.join(home, 'backups'), KEY)
    for (const topic of ['market.trades', 'state.cvd', 'derived.flow', 'alerts.inputs'] as const)
      await write(topic, 1, 400, 'before')
    await takeBackup(folder, source)
    await write('market.trades', 1, 300, 'later')
    await write('state.cvd', 0, 50, 'later')
    await log.trim({ topic: 'alerts.inputs', partition: 1, offset: 401 })
    await log.trim({ topic: 'market.trades', partition: 0, offset: 0 })
    const second = await takeBackup(folder, source)
    const again = await takeBackup(folder, source)
    expect(bytesOf(again.pieces, 'market.trades')).toBe(0)
    expect(bytesOf(second.pieces, 'market.trades')).toBeLessThan(
      bytesOf((await folder.indexes())[0]?.pieces, 'market.trades'),
    )
    const before = await contents(log.reader())

    const root = path.join(home, 'restored')
    const indexes = await folder.indexes()
    expect((await checkBackup(folder, indexes)).bytes).toBeGreaterThan(1_000)
    const options = { folder, indexes, root, namespace, retentionBytes: 1e9, onProgress: () => undefined }
    const { mode, records } = await restoreFolder(options)
    expect(records).toBe(Object.values(before).reduce((sum: number, each) => sum + each.records.length, 0))
    expect(readFileSync(path.join(root, 'secrets', 'demo'), 'utf8').trim()).toBe(
      'the-service-secret-that-was-made-here',
    )
    const around = (name: string) => ({
      dataDir: path.join(mode, name),
      port: 0,
      logFile: path.join(mode, `${name}.log`),
      onProgress: () => undefined,
    })
    const broker = await startBroker(around('broker'))
    const registry = await startRegistry(around('registry'))
    try {
      const restored = await connectLog({ brokers: [broker.url], namespace, clientId: 'test' })
      expect(await contents(restored.reader())).toEqual(before)
      expect(await ourSchemas(registry.url)).toEqual(await ourSchemas(registryUrl))
      const layout = await prepareTopics({
        brokers: [broker.url],
        namespace,
        log: restored,
        codec: await loadCodec(registry.url),
        ...sizes,
      })
      expect(layout.log).toBe(source.log)
      const claim = await restored.claim('writer-market.trades-1', [{ topic: 'market.trades', partition: 1 }])
      const end = (await restored.reader().offsets('market.trades', [1], 'end')).get(1)
      expect(await claim.send('market.trades', 1, [{ key: 'k', value: Buffer.from('new'), time: Date.now() }])).toBe(
        end,
      )
      await restored.close()
    } finally {
      await Promise.all([broker.stop(), registry.stop()])
    }
    await expect(restoreFolder(options)).rejects.toMatchObject({ code: 'not-empty' })
  })
})

function bytesOf(pieces: readonly { readonly topic: string; readonly bytes: number }[] = [], topic: TopicName): number {
  return pieces.filter((piece) => piece.topic === topic).reduce((sum, { bytes }) => sum + bytes, 0)
}
