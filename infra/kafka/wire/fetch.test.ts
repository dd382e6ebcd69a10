import { pino } from 'pino'
import { expect, it } from 'vitest'
import { Reader } from './fetch.ts'
import { Decoder, Encoder, Link, writeItems } from './internals.ts'
import { encodeBatch } from './record-batch.ts'

const NOT_AUTHORIZED = 29

it('gives what the others have where the broker refuses a partition, and tells it once', async () => {
  const lines: string[] = []
  const log = pino({}, { write: (line) => lines.push(line) })
  const nothing = async (): Promise<void> => undefined
  const call = async (): Promise<Decoder> => answerOf([0, NOT_AUTHORIZED])
  const link = Object.assign(new Link({ brokers: ['127.0.0.1:1'], clientId: 'test' }), {
    know: nothing,
    refresh: nothing,
    knows: () => true,
    leaderOf: () => 1,
    call,
  })
  const reader = new Reader(link, '', log)
  const from = [0, 1].map((partition) => ({ topic: 'in', partition, offset: 0 }))
  const fetch = (): Promise<unknown> => reader.fetch(from, { maxWaitMs: 1, maxBytesPerPartition: 1 << 20 })
  expect(await fetch()).toMatchObject([{ next: 1 }, { next: 0, error: 'moved' }])
  await fetch()
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('the broker does not give in/1: error code 29, not authorized for the topic')
})

/** One record of each partition, by its error code. */
function answerOf(codes: readonly number[]): Decoder {
  const batch = encodeBatch([{ key: null, value: null, time: 0 }], { id: 1n, epoch: 0, sequence: 0 })
  const answer = new Encoder().writeInt32(0).writeInt16(0).writeInt32(0).writeInt32(1).writeString('in')
  writeItems(answer, codes, (code) => {
    answer.writeInt32(codes.indexOf(code)).writeInt16(code).writeInt64(1).writeInt64(1).writeInt64(0)
    answer.writeInt32(0).writeInt32(-1).writeBytes(batch)
  })
  return new Decoder(answer.buffer)
}
