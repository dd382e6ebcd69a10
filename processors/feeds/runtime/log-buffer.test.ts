import { describe, expect, it, vi } from 'vitest'
import { LogError, type OutRecord, type Writer } from '../../../infra/kafka/seam.ts'
import { LogBuffer, type LostRecords } from './log-buffer.ts'

function record(n: number): OutRecord {
  return { key: null, value: Buffer.from(String(n)), time: n }
}

/** A writer that does what `next` says for each send. */
function startWriter(next: () => Promise<void> = async () => undefined) {
  const sent: { partition: number; values: number[] }[] = []
  const writer: Writer = {
    async send(_topic, partition, records) {
      await next()
      sent.push({ partition, values: records.map(({ time }) => time) })
    },
    close: async () => undefined,
  }
  return { writer, sent }
}

function startBuffer(writer: Writer, maxRecords = 100) {
  const errors: unknown[] = []
  const lost: LostRecords[] = []
  const options = { topic: 'market.trades', partitions: 2, maxRecords, lingerMs: 1, everyMs: 10 } as const
  const on = { error: (error: unknown) => errors.push(error), lost: (records: LostRecords) => lost.push(records) }
  return { buffer: new LogBuffer(writer, options, on), errors, lost }
}

describe('the buffer before the log', () => {
  it('sends what comes together as one batch, in order', async () => {
    const { writer, sent } = startWriter()
    const { buffer } = startBuffer(writer)
    for (const n of [1, 2, 3]) buffer.append(0, record(n))
    buffer.append(1, record(9))
    await buffer.drained()
    expect(sent).toEqual([
      { partition: 0, values: [1, 2, 3] },
      { partition: 1, values: [9] },
    ])
    expect(buffer.size).toBe(0)
  })

  it('sends the first at once and what comes soon after in rounds, all partitions together', async () => {
    vi.useFakeTimers()
    try {
      const { writer, sent } = startWriter()
      const { buffer } = startBuffer(writer)
      buffer.append(0, record(1))
      await vi.advanceTimersByTimeAsync(1)
      expect(sent).toEqual([{ partition: 0, values: [1] }])
      for (const n of [2, 3]) buffer.append(0, record(n))
      buffer.append(1, record(4))
      await vi.advanceTimersByTimeAsync(9)
      expect(sent).toHaveLength(1)
      await vi.advanceTimersByTimeAsync(1)
      expect(sent.slice(1)).toEqual([
        { partition: 0, values: [2, 3] },
        { partition: 1, values: [4] },
      ])
      await vi.advanceTimersByTimeAsync(100)
      buffer.append(1, record(5))
      await vi.advanceTimersByTimeAsync(1)
      expect(sent.at(-1)).toEqual({ partition: 1, values: [5] })
    } finally {
      vi.useRealTimers()
    }
  })

  it('sends what came during a send in the next round', async () => {
    vi.useFakeTimers()
    try {
      const { writer, sent } = startWriter(() => new Promise((resolve) => setTimeout(resolve, 3)))
      const { buffer } = startBuffer(writer)
      buffer.append(0, record(1))
      await vi.advanceTimersByTimeAsync(2)
      buffer.append(0, record(2))
      await vi.advanceTimersByTimeAsync(2)
      buffer.append(1, record(3))
      await vi.advanceTimersByTimeAsync(6)
      expect(sent).toEqual([{ partition: 0, values: [1] }])
      await vi.advanceTimersByTimeAsync(4)
      expect(sent.slice(1)).toEqual([
        { partition: 0, values: [2] },
        { partition: 1, values: [3] },
      ])
    } finally {
      vi.useRealTimers()
    }
  })

  it('holds what the writer has not written yet, and loses or reorders nothing', async () => {
    const away = Promise.withResolvers<void>()
    const { writer, sent } = startWriter(() => away.promise)
    const { buffer } = startBuffer(writer)
    for (let n = 0; n < 50; n++) {
      buffer.append(0, record(n))
      if (n % 10 === 0) await Promise.resolve()
    }
    const drained = buffer.drained()
    expect(buffer.size).toBe(50)
    away.resolve()
    await drained
    expect(sent.flatMap(({ values }) => values)).toEqual(Array.from({ length: 50 }, (_, n) => n))
    expect(buffer.size).toBe(0)
  })

  it('is drained of what was appended before, however much comes meanwhile', async () => {
    let isBusy = true
    const { writer, sent } = startWriter(async () => {
      if (isBusy) buffer.append(0, record(2))
    })
    const { buffer } = startBuffer(writer)
    buffer.append(0, record(1))
    await buffer.drained()
    isBusy = false
    expect(sent.at(0)).toEqual({ partition: 0, values: [1] })
    expect(buffer.size).toBeGreaterThan(0)
  })

  it('says that it is full at its bound, and when there is room again', async () => {
    const away = Promise.withResolvers<void>()
    const { writer } = startWriter(() => away.promise)
    const { buffer } = startBuffer(writer, 10)
    for (let n = 0; n < 9; n++) buffer.append(0, record(n))
    expect(buffer.full).toBe(false)
    buffer.append(0, record(9))
    expect(buffer.full).toBe(true)
    away.resolve()
    await buffer.room()
    expect(buffer.full).toBe(false)
    expect(buffer.size).toBe(0)
  })

  it('says that the writer has given up, and not when it was closed itself', async () => {
    const given = new LogError('unavailable', 'away')
    const { writer } = startWriter(() => Promise.reject(given))
    const { buffer, errors } = startBuffer(writer)
    buffer.append(0, record(1))
    await vi.waitFor(() => expect(errors).toEqual([given]))
    const closed = startBuffer(writer)
    closed.buffer.append(0, record(1))
    void closed.buffer.drained()
    closed.buffer.close()
    await Promise.resolve()
    await Promise.resolve()
    expect(closed.errors).toEqual([])
  })

  it('sees by the offset of a batch that the log lost what it had', async () => {
    const offsets = [0, undefined, 4, 3, 5]
    const writer: Writer = { send: async () => offsets.shift(), close: async () => undefined }
    const { buffer, lost } = startBuffer(writer)
    for (let batch = 0; batch < 5; batch++) {
      buffer.append(0, record(batch))
      buffer.append(0, record(batch))
      await buffer.drained()
    }
    expect(lost).toEqual([{ partition: 0, from: 3, to: 6 }])
  })
})
