import { afterEach, describe, expect, it } from 'vitest'
import { FencedError, LogError, type Claim, type Log, type LogReader, type LogRecord, type OutRecord } from './seam.ts'

/** A log of its own for one test. */
export interface OpenLog {
  readonly log: Log
  /** A second client of the same log, as another process would have it. */
  readonly another: () => Promise<Log>
  /** Deletes the records of a partition below an offset, as retention does; left out where that cannot be had. */
  readonly cut?: (topic: string, partition: number, below: number) => Promise<void>
  readonly dispose: () => Promise<void>
}

/** Opens an empty log with these topics, each of three partitions. */
export type OpenContractLog = (topics: readonly string[]) => Promise<OpenLog>

/** 2024-08-05: long ago, as on a tape. */
const T0 = 1_722_850_000_000
const WAIT = { maxWaitMs: 50, maxBytesPerPartition: 1 << 20 }
const IN = 'in'
const OUT = 'out'
const STATE = 'state'
const TARGETS = [
  { topic: OUT, partition: 0 },
  { topic: STATE, partition: 0 },
]

/** What every implementation of the seam must do, whatever client is below it. */
export function logContract(name: string, open: OpenContractLog): void {
  describe(`${name} as a log`, () => {
    const opened: OpenLog[] = []
    const start = async (): Promise<OpenLog> => {
      const log = await open([IN, OUT, STATE])
      opened.push(log)
      return log
    }
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((each) => each.dispose()))
    })
    reads(start)
    writes(start)
    claims(start)
    ends(start)
  })
}

type Start = () => Promise<OpenLog>

function reads(start: Start): void {
  it('gives back keys, values, tombstones and times as they were written', async () => {
    const { log } = await start()
    const sent: OutRecord[] = [
      { key: 'btc', value: Buffer.from('1'), time: T0 },
      { key: Buffer.from('ключ'), value: null, time: T0 + 7 },
      { key: null, value: Buffer.alloc(0), time: T0 - 5 },
      { key: '', value: Buffer.from([0, 255]), time: T0 + 86_400_000 * 60 },
    ]
    await log.writer().send(IN, 0, sent)
    const read = await readAll(log.reader(), IN)
    expect(read.map(({ offset }) => offset)).toEqual([0, 1, 2, 3])
    expect(read.map(({ time }) => time)).toEqual(sent.map(({ time }) => time))
    expect(read.map(({ key }) => key?.toString() ?? null)).toEqual(['btc', 'ключ', null, ''])
    expect(read.map(({ value }) => value?.toString('hex') ?? null)).toEqual(['31', null, '', '00ff'])
  })

  it('tells offsets at the start, at the end and by time', async () => {
    const { log } = await start()
    const reader = log.reader()
    await log.writer().send(IN, 1, [at(T0), at(T0 + 10), at(T0 + 20)])
    expect(await reader.offsets(IN, [0, 1], 'start')).toEqual(new Map([[0, 0], [1, 0]])) // prettier-ignore
    expect(await reader.offsets(IN, [0, 1], 'end')).toEqual(new Map([[0, 0], [1, 3]])) // prettier-ignore
    expect((await reader.offsets(IN, [1], { time: T0 + 1 })).get(1)).toBe(1)
    expect((await reader.offsets(IN, [1], { time: T0 + 20 })).get(1)).toBe(2)
  })

  it('gives the end for a time past the data', async () => {
    const { log } = await start()
    await log.writer().send(IN, 1, [at(T0), at(T0 + 10)])
    expect(await log.reader().offsets(IN, [0, 1], { time: T0 + 11 })).toEqual(new Map([[0, 0], [1, 2]])) // prettier-ignore
  })

  it('fetches several topics and partitions at once', async () => {
    const { log } = await start()
    const writer = log.writer()
    await Promise.all([
      writer.send(IN, 0, [text('a')]),
      writer.send(IN, 2, [text('b')]),
      writer.send(OUT, 1, [text('c')]),
    ])
    const positions = [place(IN, 0), place(IN, 1), place(IN, 2), place(OUT, 1)]
    const slices = await log.reader().fetch(positions, WAIT)
    const found = slices.map(({ topic, partition, records, next, end }) => [
      topic,
      partition,
      texts(records),
      next,
      end,
    ])
    expect(found).toHaveLength(4)
    expect(found).toEqual(
      expect.arrayContaining([
        [IN, 0, ['a'], 1, 1],
        [IN, 1, [], 0, 0],
        [IN, 2, ['b'], 1, 1],
        [OUT, 1, ['c'], 1, 1],
      ]),
    )
  })

  it('starts within a batch where the position is within it', async () => {
    const { log } = await start()
    await log.writer().send(IN, 0, [text('a'), text('b'), text('c')])
    const [slice] = await log.reader().fetch([place(IN, 0, 1)], WAIT)
    expect(texts(slice?.records ?? [])).toEqual(['b', 'c'])
  })

  it('returns from a long wait as soon as a record is there', async () => {
    const { log } = await start()
    const reader = log.reader()
    await reader.fetch([place(IN, 0)], WAIT) // the connection stands
    const fetched = reader.fetch([place(IN, 0)], { ...WAIT, maxWaitMs: 30_000 })
    await log.writer().send(IN, 0, [text('a')])
    expect(texts((await fetched)[0]?.records ?? [])).toEqual(['a'])
  })

  it('comes forward however few bytes are asked for', async () => {
    const { log } = await start()
    const writer = log.writer()
    for (const name of ['a', 'b', 'c']) await writer.send(IN, 0, [text(name), text(name)])
    const reader = log.reader()
    const read: LogRecord[] = []
    for (let offset = 0; offset < 6;) {
      const [slice] = await reader.fetch([place(IN, 0, offset)], { ...WAIT, maxBytesPerPartition: 1 })
      read.push(...(slice?.records ?? []))
      expect(slice?.next).toBeGreaterThan(offset)
      offset = slice?.next ?? 6
    }
    expect(texts(read)).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
  })

  it('reads to the end as of the call and no further', async () => {
    const { log } = await start()
    const writer = log.writer()
    const reader = log.reader()
    await writer.send(IN, 0, [text('a'), text('b')])
    const toEnd = reader.toEnd(IN, 0, 1)
    await reader.offsets(IN, [0], 'end') // whatever was asked before this has been answered
    await writer.send(IN, 0, [text('later')])
    const read: LogRecord[] = []
    for await (const records of toEnd) read.push(...records)
    expect(texts(read)).toEqual(['b'])
  })

  it('says out of range, with the bounds, for a position past the end', async () => {
    const { log } = await start()
    await log.writer().send(IN, 0, [text('a'), text('b')])
    const [slice] = await log.reader().fetch([place(IN, 0, 99)], WAIT)
    expect(slice).toMatchObject({ error: 'out-of-range', start: 0, end: 2, records: [] })
  })

  it('says out of range, with the bounds, for a position that retention has passed', async ({ skip }) => {
    const { log, cut } = await start()
    if (cut === undefined) return skip('this log cannot delete')
    await log.writer().send(IN, 0, [text('a')])
    await log.writer().send(IN, 0, [text('b'), text('c')])
    await cut(IN, 0, 2)
    const reader = log.reader()
    const [slice] = await reader.fetch([place(IN, 0)], WAIT)
    expect(slice).toMatchObject({ error: 'out-of-range', start: 2, end: 3, records: [] })
    expect(texts(await readAll(reader, IN))).toEqual(['c'])
    expect(texts(await readAll(reader, IN, 0))).toEqual(['c'])
  })
}

function writes(start: Start): void {
  it('keeps the order of sends that do not wait for each other', async () => {
    const { log } = await start()
    const writer = log.writer()
    const numbers = Array.from({ length: 300 }, (_, index) => index)
    await Promise.all(numbers.map((number) => writer.send(IN, number % 3, [text(`${number}`), text(`${number}+`)])))
    const reader = log.reader()
    for (const partition of [0, 1, 2]) {
      const own = numbers.filter((number) => number % 3 === partition)
      const expected = own.flatMap((number) => [`${number}`, `${number}+`])
      expect(texts(await readAll(reader, IN, undefined, partition))).toEqual(expected)
    }
  })

  it('writes nothing for a send of no records', async () => {
    const { log } = await start()
    await log.writer().send(IN, 0, [])
    expect((await log.reader().offsets(IN, [0], 'end')).get(0)).toBe(0)
  })

  it('appends a send of 10,000 records and 8 MB as one: all of it or none can be seen', async () => {
    const { log } = await start()
    const claim = await log.claim('cvd-0', TARGETS)
    const reader = log.reader()
    const before = (await reader.offsets(STATE, [0], 'end')).get(0) ?? 0
    const big = Array.from({ length: 10_000 }, (_, index) => ({
      key: `${index}`,
      value: Buffer.alloc(800, index),
      time: T0,
    }))
    const sent = claim.send(STATE, 0, big)
    const seen = new Set<number>()
    const state = { done: false }
    const watching = (async () => {
      while (!state.done) seen.add(((await reader.offsets(STATE, [0], 'end')).get(0) ?? 0) - before)
    })()
    await sent
    state.done = true
    await watching
    expect([...seen].filter((records) => records !== 0 && records !== 10_000)).toEqual([])
    const read = await readAll(log.reader(), STATE, before)
    expect(read.map(({ key }) => key?.toString())).toEqual(big.map(({ key }) => key))
    expect(read.every(({ value }, index) => value?.equals(Buffer.alloc(800, index)))).toBe(true)
  })

  it('shows what one client wrote to another', async () => {
    const { log, another } = await start()
    const other = await another()
    await log.writer().send(IN, 0, [text('a')])
    expect(texts(await readAll(other.reader(), IN))).toEqual(['a'])
    await other.close()
  })

  it('refuses to write after it was closed', async () => {
    const { log } = await start()
    const writer = log.writer()
    await writer.send(IN, 0, [text('a')])
    await writer.close()
    await expect(writer.send(IN, 0, [text('b')])).rejects.toMatchObject({ code: 'closed' })
    await expect(writer.send(IN, 0, [text('b')])).rejects.toBeInstanceOf(LogError)
  })
}

function claims(start: Start): void {
  it('refuses an older claim once a newer one stands', async () => {
    const { log, another } = await start()
    const old = await log.claim('cvd-0', TARGETS)
    await old.send(OUT, 0, [text('old')])
    const other = await another()
    const claim = await other.claim('cvd-0', TARGETS)
    await expect(old.send(OUT, 0, [text('zombie')])).rejects.toBeInstanceOf(FencedError)
    await expect(old.send(STATE, 0, [text('zombie')])).rejects.toMatchObject({ code: 'fenced' })
    await claim.send(OUT, 0, [text('new')])
    await expect(old.send(OUT, 0, [text('zombie')])).rejects.toBeInstanceOf(FencedError)
    expect(claim.epoch).toBeGreaterThan(old.epoch)
    expect(texts(await readAll(log.reader(), OUT))).toEqual(['old', 'new'])
    expect(texts(await readAll(log.reader(), STATE))).toEqual([])
    await other.close()
  })

  it('lets nothing of an older owner in once the newer claim resolved, not even what was under way', async () => {
    const { log, another } = await start()
    const other = await another()
    const reader = log.reader()
    for (let round = 0; round < 5; round += 1) {
      const old = await log.claim('cvd-0', TARGETS)
      const zombie = flood(old)
      await expect.poll(() => zombie.written.length).toBeGreaterThan(3)
      await other.claim('cvd-0', TARGETS)
      const end = (await reader.offsets(OUT, [0], 'end')).get(0) ?? 0
      await zombie.fenced
      expect((await reader.offsets(OUT, [0], 'end')).get(0)).toBe(end)
      const seen = new Set(texts(await readAll(reader, OUT)))
      expect(zombie.written.filter((name) => !seen.has(name))).toEqual([])
    }
    await other.close()
  })

  it('keeps the order of a claim’s sends that do not wait for each other', async () => {
    const { log } = await start()
    const claim = await log.claim('cvd-0', TARGETS)
    const names = Array.from({ length: 200 }, (_, index) => `${index}`)
    await Promise.all(names.map((name) => claim.send(OUT, 0, [text(name)])))
    expect(texts(await readAll(log.reader(), OUT))).toEqual(names)
  })

  it('does not disturb the claims of other partitions', async () => {
    const { log } = await start()
    const first = await log.claim('cvd-0', TARGETS)
    const second = await log.claim('cvd-1', [{ topic: OUT, partition: 1 }])
    await log.claim('cvd-2', [{ topic: OUT, partition: 2 }])
    await Promise.all([first.send(OUT, 0, [text('a')]), second.send(OUT, 1, [text('b')])])
    expect(texts(await readAll(log.reader(), OUT))).toEqual(['a'])
    expect(texts(await readAll(log.reader(), OUT, undefined, 1))).toEqual(['b'])
  })

  it('lets readers past what claims leave in the log', async () => {
    const { log } = await start()
    for (let claims = 0; claims < 3; claims += 1) await log.claim('cvd-0', TARGETS)
    const reader = log.reader()
    expect(await readAll(reader, STATE)).toEqual([])
    const end = (await reader.offsets(STATE, [0], 'end')).get(0) ?? 0
    let offset = 0
    await expect
      .poll(async () => {
        const [slice] = await reader.fetch([place(STATE, 0, offset)], WAIT)
        offset = slice?.next ?? offset
        return offset
      })
      .toBe(end)
  })
}

function ends(start: Start): void {
  it('shows a new claim everything that the old owner was told is written', async () => {
    const { log, another } = await start()
    const other = await another()
    const old = await log.claim('cvd-0', TARGETS)
    const zombie = flood(old)
    await expect.poll(() => zombie.written.length).toBeGreaterThan(10)
    await other.claim('cvd-0', TARGETS)
    const restored = new Set(texts(await readAll(other.reader(), OUT)))
    await zombie.fenced
    expect(zombie.written.filter((name) => !restored.has(name))).toEqual([])
    await other.close()
  })
}

/** An owner that writes without a stop until it is refused. `written`: what it was told is in the log. */
function flood(claim: Claim): { readonly written: string[]; readonly fenced: Promise<void> } {
  const written: string[] = []
  const fenced = (async () => {
    for (let number = 0; ; number += 1) {
      const name = `${claim.epoch}/${number}`
      try {
        await claim.send(OUT, 0, [text(name)])
        written.push(name)
      } catch (error) {
        if (error instanceof FencedError) return
        throw error
      }
    }
  })()
  return { written, fenced }
}

async function readAll(reader: LogReader, topic: string, from?: number, partition = 0): Promise<LogRecord[]> {
  const all: LogRecord[] = []
  for await (const records of reader.toEnd(topic, partition, from)) all.push(...records)
  return all
}

function texts(records: readonly LogRecord[]): string[] {
  return records.map(({ value }) => value?.toString() ?? 'tombstone')
}

function text(value: string): OutRecord {
  return { key: 'key', value: Buffer.from(value), time: T0 }
}

function at(time: number): OutRecord {
  return { key: null, value: Buffer.from('x'), time }
}

function place(topic: string, partition: number, offset = 0): { topic: string; partition: number; offset: number } {
  return { topic, partition, offset }
}
