import { afterEach, describe, expect, it, vi } from 'vitest'
import { PartitionWriter, type Identity, type PartitionWriterOptions } from './partition-writer.ts'
import { decodeBatches, scanBatches } from './record-batch.ts'
import type { LogRecord } from '../seam.ts'

/** What the broker does with one append: an error code, or no answer with the batch in the log or not. */
type Answer = number | 'lost-before' | 'lost-after'

const OK = 0
const OUT_OF_ORDER = 45
const FENCED = 47
const NOT_LEADER = 6
const TOO_LARGE = 10

/** A writer over a broker that answers as told, then with OK. `log`: what lies in the partition. */
function writerOver(answers: readonly Answer[], options: Partial<PartitionWriterOptions> = {}) {
  const left = [...answers]
  const log: Buffer[] = []
  let ids = 0
  const identities: (Identity | undefined)[] = []
  const append = async (batch: Buffer) => {
    const answer = left.shift() ?? OK
    if (answer === 'lost-before') throw lost()
    const base = log.reduce((sum, each) => sum + each.readInt32BE(57), 0)
    if (answer === OK || answer === 'lost-after') log.push(at(batch, base))
    if (answer === 'lost-after') throw lost()
    return { code: answer, base: answer === OK ? base : -1 }
  }
  const writer = new PartitionWriter({
    topic: 'in',
    partition: 0,
    identify: async (spent) => {
      identities.push(spent)
      ids += 1
      return { id: BigInt(ids), epoch: 0 }
    },
    prepare: async () => undefined,
    append,
    end: async () => 0,
    contains: async (from, producer) => scanBatches(Buffer.concat(log), from, producer).found,
    giveUpMs: 10_000,
    closed: new AbortController().signal,
    ...options,
  })
  return { writer, log, identities }
}

afterEach(() => vi.restoreAllMocks())

describe('the writes to one partition', () => {
  it('are not doubled when the answer was lost though the batch arrived', async () => {
    const { writer, log } = writerOver(['lost-after'])
    await writer.send([text('a')])
    await writer.send([text('b')])
    expect(valuesOf(log)).toEqual(['a', 'b'])
  })

  it('are tried again, with the same sequence, when the batch did not arrive', async () => {
    const { writer, log } = writerOver(['lost-before', NOT_LEADER, 'lost-before'])
    await writer.send([text('a')])
    await writer.send([text('b')])
    expect(valuesOf(log)).toEqual(['a', 'b'])
    expect(log.map((batch) => batch.readInt32BE(53))).toEqual([0, 1])
  })

  it('keep the order of the calls over whatever happens to them', async () => {
    const { writer, log } = writerOver(['lost-after', 'lost-before', NOT_LEADER, 'lost-after', OK, 'lost-before'])
    const names = Array.from({ length: 50 }, (_, index) => `${index}`)
    await Promise.all(names.map((name) => writer.send([text(name)])))
    expect(valuesOf(log)).toEqual(names)
  })

  it('go to the log in few batches when they wait for each other', async () => {
    const { writer, log } = writerOver([])
    await Promise.all(Array.from({ length: 5_000 }, () => writer.send([text('x')])))
    expect(log.map((batch) => batch.readInt32BE(57))).toEqual([1, 2_000, 2_000, 999])
  })

  it('cost only themselves when the broker refuses them', async () => {
    const { writer, log } = writerOver([OK, TOO_LARGE, OK, TOO_LARGE, OK])
    const sends = await Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => writer.send([text(name)])))
    expect(sends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(valuesOf(log)).toEqual(['a', 'b', 'd'])
  })

  it('end where a newer claim stands', async () => {
    const { writer } = writerOver([FENCED])
    await expect(writer.send([text('a')])).rejects.toMatchObject({ code: 'fenced' })
  })

  it('go on as a new producer when the broker has lost the sequence, and not for ever', async () => {
    const { writer, log, identities } = writerOver([OK, OUT_OF_ORDER])
    await writer.send([text('a')])
    await writer.send([text('b')])
    expect(valuesOf(log)).toEqual(['a', 'b'])
    expect(identities).toEqual([undefined, { id: 1n, epoch: 0 }])
    const hopeless = writerOver(Array.from({ length: 10 }, () => OUT_OF_ORDER))
    await expect(hopeless.writer.send([text('a')])).rejects.toMatchObject({ code: 'refused' })
  })

  it('are given up after their time, and the next ones take a sequence of their own', async () => {
    const { writer, identities } = writerOver(['lost-before'], { giveUpMs: 0 })
    await expect(writer.send([text('a')])).rejects.toMatchObject({ code: 'unavailable', retriable: true })
    await writer.send([text('b')])
    expect(identities).toEqual([undefined, { id: 1n, epoch: 0 }])
  })

  it('are tried again also where the machine’s clock was put an hour ahead meanwhile', async () => {
    const later = Date.now() + 3_600_000
    const prepare = async (): Promise<void> => void vi.spyOn(Date, 'now').mockReturnValue(later)
    const { writer, log } = writerOver(['lost-before'], { prepare })
    await writer.send([text('a')])
    expect(valuesOf(log)).toEqual(['a'])
  })
})

function lost(): Error {
  return Object.assign(new Error('connection lost'), { name: 'KafkaJSConnectionClosedError' })
}

function at(batch: Buffer, offset: number): Buffer {
  const copy = Buffer.from(batch)
  copy.writeBigInt64BE(BigInt(offset), 0)
  return copy
}

function text(value: string) {
  return { key: null, value: Buffer.from(value), time: 0 }
}

function valuesOf(log: readonly Buffer[]): string[] {
  const records: LogRecord[] = []
  decodeBatches(Buffer.concat(log), 0, records)
  return records.map(({ value }) => value?.toString() ?? '')
}
