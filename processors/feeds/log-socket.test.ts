import { describe, expect, it, vi } from 'vitest'
import { LogError, type OutRecord, type Writer } from '../../infra/kafka/seam.ts'
import { LogBuffer } from './log-socket.ts'

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
  const rooms: number[] = []
  const errors: { fatal: boolean }[] = []
  const times = { lingerMs: 1, everyMs: 10, retryMs: 1, maxRetryMs: 2, giveUpMs: 60_000 }
  const buffer: LogBuffer = new LogBuffer(
    writer,
    { topic: 'market.trades', partitions: 2, maxRecords, ...times },
    { room: () => rooms.push(buffer.size), error: (_error, fatal) => errors.push({ fatal }) },
  )
  return { buffer, rooms, errors }
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

  it('sends a batch again until the broker has it, and loses or reorders nothing', async () => {
    let failures = 5
    const { writer, sent } = startWriter(async () => {
      if (failures-- > 0) throw new LogError('unavailable', 'away')
    })
    const { buffer, errors } = startBuffer(writer)
    for (let n = 0; n < 50; n++) {
      buffer.append(0, record(n))
      if (n % 10 === 0) await Promise.resolve()
    }
    await buffer.drained()
    expect(sent.flatMap(({ values }) => values)).toEqual(Array.from({ length: 50 }, (_, n) => n))
    expect(errors).toEqual(Array.from({ length: 5 }, () => ({ fatal: false })))
  })

  it('says that it is full at its bound, and when there is room again', async () => {
    let away = true
    const { writer } = startWriter(async () => {
      if (away) throw new LogError('unavailable', 'away')
    })
    const { buffer, rooms } = startBuffer(writer, 10)
    for (let n = 0; n < 9; n++) buffer.append(0, record(n))
    expect(buffer.full).toBe(false)
    buffer.append(0, record(9))
    expect(buffer.full).toBe(true)
    away = false
    await vi.waitFor(() => expect(buffer.full).toBe(false))
    expect(rooms).toEqual([0])
  })

  it('says at once that an error is fatal where trying again cannot help', async () => {
    const { writer } = startWriter(async () => {
      throw new LogError('no-topic', 'nothing there')
    })
    const { buffer, errors } = startBuffer(writer)
    buffer.append(0, record(1))
    await vi.waitFor(() => expect(errors).toEqual([{ fatal: true }]))
  })
})
