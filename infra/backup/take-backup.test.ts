import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TopicName } from '../../schemas/topics.ts'
import { boundsOf, decodeBatches, encodeBatch, forgetWriters } from '../kafka/wire/record-batch.ts'
import type { RawBatches } from '../kafka/raw-batches.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { restoreFolder } from '../local/restored-folder.ts'
import { BackupFolder, type BackupIndex, type Piece } from './folder.ts'
import { checkBackup, restoreLog } from './restore-log.ts'
import { takeBackup, type BackupSource, type RawLog } from './take-backup.ts'

const KEY = 'k'.repeat(32)
const TRADES: TopicName = 'market.trades'
const STATE: TopicName = 'control.layout'

interface Batch {
  readonly base: number
  readonly bytes: Buffer
}

/** A log of one partition a topic, each batch of two records. */
class FakeLog implements RawLog {
  readonly topics = new Map<string, { start: number; end: number; batches: Batch[] }>()
  /** Called before each read. */
  onRead: (topic: string) => void = () => undefined

  at(topic: string) {
    const known = this.topics.get(topic) ?? { start: 0, end: 0, batches: [] }
    this.topics.set(topic, known)
    return known
  }

  append(topic: string, ...values: string[]): void {
    const part = this.at(topic)
    const bytes = encodeBatch(
      values.map((value) => ({ key: value, value: Buffer.from(value), time: 1 })),
      { id: 5n, epoch: 3, sequence: 0 },
    )
    bytes.writeBigInt64BE(BigInt(part.end), 0)
    part.batches.push({ base: part.end, bytes })
    part.end += values.length
  }

  /** Takes batches away by their first offset. */
  drop(topic: string, ...bases: number[]): void {
    const part = this.at(topic)
    part.batches = part.batches.filter(({ base }) => !bases.includes(base))
  }

  /** Takes the tail away. */
  cut(topic: string, end: number): void {
    const part = this.at(topic)
    part.batches = part.batches.filter(({ base }) => base < end)
    part.end = end
  }

  retain(topic: string, start: number): void {
    const part = this.at(topic)
    part.start = start
    part.batches = part.batches.filter(({ base }) => base >= start)
  }

  readonly reader: RawLog['reader'] = {
    offsets: async (topic, partitions, at) => {
      const { start, end } = this.at(topic)
      return new Map(partitions.map((partition) => [partition, at === 'start' ? start : end]))
    },
  }

  async *batches(topic: string, _partition: number, from: number, to: number): AsyncGenerator<RawBatches> {
    for (let offset = from; offset < to;) {
      this.onRead(topic)
      const found = this.at(topic).batches.find(({ base }) => base >= offset && base < to)
      if (found === undefined) return
      const [batch] = boundsOf(found.bytes)
      if (batch === undefined) return
      const { next, records } = batch
      yield { bytes: found.bytes, from: found.base, to: next, records, isWhole: found.base === offset }
      offset = batch.next
    }
  }
}

let home: string
let folder: BackupFolder
let log: FakeLog
beforeEach(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'take-'))
  folder = await BackupFolder.begin(path.join(home, 'backups'), KEY)
  log = new FakeLog()
})
afterEach(() => rmSync(home, { recursive: true }))

function take(over: Partial<BackupSource> = {}): Promise<BackupIndex> {
  const about = async () => ({ version: '1.0.0', mode: 'demo', schemas: [], secrets: {} })
  return takeBackup(folder, { raw: log, topics: [STATE, TRADES], log: 'log-1', partitions: 1, about, ...over })
}

function tradesOf({ pieces }: BackupIndex): Piece[] {
  return pieces.filter(({ topic }) => topic === TRADES)
}

/** What a restore puts under a broker: its values by offset, and the names of its segments. */
async function restored(topic: TopicName): Promise<{ values: string[]; segments: string[] }> {
  const logDir = mkdtempSync(path.join(home, 'broker-'))
  const place = path.join(logDir, `${topic}-0`)
  mkdirSync(place)
  writeFileSync(path.join(place, 'partition.metadata'), 'topic id')
  writeFileSync(path.join(place, `${'0'.repeat(20)}.log`), '')
  await restoreLog(folder, await folder.indexes(), { logDir, namespace: '' })
  const segments = readdirSync(place).filter((name) => name.endsWith('.log'))
  const records: LogRecord[] = []
  for (const name of segments) decodeBatches(readFileSync(path.join(place, name)), 0, records)
  return {
    values: records.map(({ offset, value }) => `${offset} ${String(value)}`),
    segments: segments.map((name) => `${Number(name.slice(0, 20))}: ${statSync(path.join(place, name)).size > 0}`),
  }
}

describe('a backup of a log that lives', () => {
  it('goes on where the one before ended', async () => {
    log.append(TRADES, 'a', 'b')
    await take()
    log.append(TRADES, 'c')
    expect(tradesOf(await take())).toMatchObject([{ topic: TRADES, from: 2, to: 3, anew: false, records: 1 }])
    expect(await restored(TRADES)).toEqual({ values: ['0 a', '1 b', '2 c'], segments: ['0: true'] })
  })

  it('goes on in a log that was restored from the one before', async () => {
    log.append(TRADES, 'a')
    await take()
    for (const { bytes } of log.at(TRADES).batches) forgetWriters(bytes)
    log.append(TRADES, 'b')
    expect(tradesOf(await take())).toMatchObject([{ from: 1, to: 2, anew: false }])
  })

  it('has no producer of the old cluster in what it restores', async () => {
    log.append(TRADES, 'a')
    await take()
    const logDir = path.join(home, 'broker')
    mkdirSync(path.join(logDir, `${TRADES}-0`), { recursive: true })
    const amount = await restoreLog(folder, await folder.indexes(), { logDir, namespace: '' })
    expect(amount).toMatchObject({ partitions: 1, records: 1 })
    const bytes = readFileSync(path.join(logDir, `${TRADES}-0`, `${'0'.repeat(20)}.log`))
    expect([bytes.readInt32BE(12), bytes.readBigInt64BE(43), bytes.readInt16BE(51)]).toEqual([0, -1n, -1])
  })

  it('leaves out what retention has taken since, and keeps start and end', async () => {
    log.append(TRADES, 'a', 'b')
    log.append(TRADES, 'c')
    await take()
    log.retain(TRADES, 2)
    await take()
    expect(await restored(TRADES)).toEqual({ values: ['2 c'], segments: ['2: true'] })
    log.retain(TRADES, 3)
    await take()
    expect(await restored(TRADES)).toEqual({ values: [], segments: ['3: false'] })
  })

  it('begins a partition anew where retention took what had not been read', async () => {
    log.append(TRADES, 'a', 'b')
    await take()
    log.append(TRADES, 'c')
    log.append(TRADES, 'd')
    log.retain(TRADES, 3)
    expect(tradesOf(await take())).toMatchObject([{ topic: TRADES, from: 3, to: 4, anew: true }])
    expect((await restored(TRADES)).values).toEqual(['3 d'])
  })

  it('begins a partition anew that lost its tail and went on, as one does that was restored', async () => {
    log.append(TRADES, 'a')
    await take()
    log.append(TRADES, 'lost')
    await take()
    log.cut(TRADES, 1)
    log.append(TRADES, 'other')
    log.append(TRADES, 'more')
    expect(tradesOf(await take())).toMatchObject([{ topic: TRADES, from: 0, to: 3, anew: true }])
    expect((await restored(TRADES)).values).toEqual(['0 a', '1 other', '2 more'])
  })

  it('has nothing of a partition that lost all it had', async () => {
    log.append(TRADES, 'lost')
    await take()
    log.cut(TRADES, 0)
    await take()
    expect(await restored(TRADES)).toEqual({ values: [], segments: ['0: false'] })
  })

  it('begins anew behind a backup that does not say its last batch', async () => {
    log.append(TRADES, 'a')
    const { extents, ...first } = await take()
    await folder.writeIndex({ ...first, extents: extents.map(({ last: _last, ...extent }) => extent) })
    log.append(TRADES, 'b')
    expect(tradesOf(await take())).toMatchObject([{ topic: TRADES, from: 0, to: 2, anew: true }])
    expect((await restored(TRADES)).values).toEqual(['0 a', '1 b'])
  })

  it('takes its ends anew where a value was compacted away for one behind them', async () => {
    log.append(STATE, 'old')
    await take()
    let reads = 0
    log.onRead = (topic) => {
      reads += topic === STATE ? 1 : 0
      // behind the first look something comes; before it is read it has given way to something newer
      if (reads === 1) log.append(STATE, 'position')
      if (reads === 2 && log.at(STATE).end === 2) {
        log.append(STATE, 'position again')
        log.drop(STATE, 1)
      }
    }
    await take()
    expect((await restored(STATE)).values).toEqual(['0 old', '2 position again'])
  })

  it('does not bring back what a cache has ended since', async () => {
    log.append(STATE, 'ends')
    log.append(STATE, 'stays')
    await take()
    log.drop(STATE, 0)
    await take()
    expect((await restored(STATE)).values).toEqual(['1 stays'])
  })

  it('ends where the log ended, also where compaction left nothing there', async () => {
    log.append(STATE, 'a')
    log.append(STATE, 'b')
    log.drop(STATE, 1)
    await take()
    expect(await restored(STATE)).toEqual({ values: ['0 a'], segments: ['0: true', '2: false'] })
  })

  it('counts for nothing where it was stopped, and the next one has all of it', async () => {
    log.append(TRADES, 'a')
    await take()
    log.append(TRADES, 'b')
    log.onRead = () => {
      throw new Error('killed')
    }
    await expect(take()).rejects.toThrow('killed')
    expect((await restored(TRADES)).values).toEqual(['0 a'])
    log.onRead = () => undefined
    writeFileSync(path.join(folder.path, '000002.pack.part'), 'of one that was killed')
    expect(await take()).toMatchObject({ number: 2 })
    expect((await restored(TRADES)).values).toEqual(['0 a', '1 b'])
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  it('leaves nothing of what could not be written to the end, which may have filled the disk', async () => {
    log.append(TRADES, 'a')
    const about = async () => {
      throw new Error('no space left on device')
    }
    await expect(take({ about })).rejects.toThrow('no space left')
    expect(readdirSync(folder.path)).toEqual(['key.json'])
  })

  it('refuses a folder of another log', async () => {
    await take()
    await expect(take({ log: 'log-2' })).rejects.toThrow(/holds backups of the log log-1, this is log-2/)
  })
})

describe('a restore', () => {
  it('says which file is damaged, or missing', async () => {
    log.append(TRADES, 'a')
    await take()
    log.append(TRADES, 'b')
    await take()
    const pack = path.join(folder.path, '000001.pack')
    const bytes = readFileSync(pack)
    writeFileSync(pack, bytes.with(40, (bytes[40] ?? 0) ^ 1))
    await expect(checkBackup(folder, await folder.indexes())).rejects.toThrow(/000001\.pack is damaged at byte 16/)
    rmSync(path.join(folder.path, '000001.index'))
    await expect(folder.indexes()).rejects.toThrow(/lacks 000001\.index, on which 000002\.index builds/)
  })

  it('by root gives each file to whom the partition’s folder belongs', async ({ skip }) => {
    skip(process.getuid?.() !== 0, 'only root can give files away')
    log.append(STATE, 'a')
    log.append(STATE, 'b')
    log.drop(STATE, 1)
    await take()
    const place = path.join(home, 'broker', `${STATE}-0`)
    mkdirSync(place, { recursive: true })
    chownSync(place, 1000, 1001)
    await restoreLog(folder, await folder.indexes(), { logDir: path.join(home, 'broker'), namespace: '' })
    const owners = readdirSync(place).map((name) => statSync(path.join(place, name)))
    expect(owners).toMatchObject([
      { uid: 1000, gid: 1001 },
      { uid: 1000, gid: 1001 },
    ])
  })

  it.each(['broker', 'clickhouse'])('makes no data folder where a %s of before is', async (part) => {
    await take()
    mkdirSync(path.join(home, 'data', 'demo', part), { recursive: true })
    const options = { namespace: '', retentionBytes: 1e9, onProgress: () => undefined }
    const restore = restoreFolder({
      folder,
      indexes: await folder.indexes(),
      root: path.join(home, 'data'),
      ...options,
    })
    await expect(restore).rejects.toMatchObject({
      code: 'not-empty',
      message: expect.stringContaining(`has a system already (${part})`) as string,
    })
    expect(readdirSync(path.join(home, 'data'))).toEqual(['demo'])
  })

  it('puts nothing where records are', async () => {
    log.append(TRADES, 'a')
    await take()
    const place = path.join(home, 'broker', `${TRADES}-0`)
    mkdirSync(place, { recursive: true })
    writeFileSync(path.join(place, `${'0'.repeat(20)}.log`), 'something')
    const into = { logDir: path.join(home, 'broker'), namespace: '' }
    await expect(restoreLog(folder, await folder.indexes(), into)).rejects.toMatchObject({ code: 'not-empty' })
    expect(readdirSync(place)).toHaveLength(1)
  })

  describe('that ended midway, since a pack is damaged', () => {
    const placeOf = (topic: TopicName): string => path.join(home, 'broker', `${topic}-0`)
    const segmentsOf = (topic: TopicName): string[] =>
      readdirSync(placeOf(topic)).filter((name) => name.endsWith('.log'))
    const into = () => ({ logDir: path.join(home, 'broker'), namespace: '' })
    const cleanStop = () => path.join(home, 'broker', '.kafka_cleanshutdown')

    beforeEach(async () => {
      log.append(TRADES, 'a')
      await take({ topics: [TRADES] })
      log.append(STATE, 'b')
      await take()
      log.append(TRADES, 'c')
      await take()
      for (const topic of [TRADES, STATE]) mkdirSync(placeOf(topic), { recursive: true })
      writeFileSync(cleanStop(), '')
      const pack = path.join(folder.path, '000003.pack')
      writeFileSync(pack, readFileSync(pack).subarray(0, -1))
      await restoreLog(folder, await folder.indexes(), into()).catch(() => undefined) // damaged, as the next one
    })

    it('can be done again, from an earlier backup too, and leaves nothing of what came later', async () => {
      expect(statSync(path.join(placeOf(STATE), segmentsOf(STATE)[0] ?? '')).size).toBeGreaterThan(0)
      await expect(restoreLog(folder, await folder.indexes(), into())).rejects.toMatchObject({ code: 'damaged' })
      expect(await restoreLog(folder, await folder.indexes(1), into())).toMatchObject({ records: 1, partitions: 1 })
      expect(segmentsOf(STATE)).toEqual([])
      expect(readdirSync(into().logDir).toSorted()).toEqual([`${STATE}-0`, `${TRADES}-0`])
      await expect(restoreLog(folder, await folder.indexes(1), into())).rejects.toMatchObject({ code: 'not-empty' })
    })

    it('has a broker that starts look at all files again', () => {
      expect(readdirSync(into().logDir)).not.toContain('.kafka_cleanshutdown')
    })

    it('is not done over what a broker has had since', async () => {
      writeFileSync(cleanStop(), '')
      await expect(restoreLog(folder, await folder.indexes(1), into())).rejects.toMatchObject({ code: 'not-empty' })
    })
  })
})
