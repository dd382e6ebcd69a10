import { expect, it } from 'vitest'
import { MemoryBroker, stillClock } from '../../processors/kernel/testing/memory-log.ts'
import { localCodec } from '../../schemas/codec.ts'
import type { PaymentAnswer } from '../../schemas/records.ts'
import { Answers, ANSWERS } from './answers.ts'

const answer: PaymentAnswer = {
  payment_id: '84532:0xusdc:0xpayer:0x01',
  fingerprint: 'of the request',
  status: 201,
  type: 'application/json',
  body: Buffer.from('the first'),
  time: 1,
}

function started(): { answers: Answers; hear: () => Promise<void> } {
  const broker = new MemoryBroker(stillClock)
  const log = broker.connect()
  const local = localCodec()
  const codec = { encode: local.encode.bind(local), read: (value: Buffer) => Promise.resolve(local.decode(value)) }
  const answers = new Answers({ codec, writer: log.writer(), reader: log.reader(), now: () => 1 })
  let heard = 0
  const hear = async (): Promise<void> => {
    await expect.poll(() => broker.records(ANSWERS, 0).length).toBeGreaterThan(heard)
    for (const record of broker.records(ANSWERS, 0).slice(heard)) await answers.heard(record)
    heard = broker.records(ANSWERS, 0).length
  }
  return { answers, hear }
}

it('equal requests at once all get the first answer of their payment', async () => {
  const { answers, hear } = started()
  const all = ['the first', 'the second', 'the third'].map((body) =>
    answers.keep({ ...answer, body: Buffer.from(body) }),
  )
  all.at(-1)?.leave() // its caller is gone
  await hear()
  const firsts = await Promise.all(all.slice(0, 2).map(({ first }) => first))
  expect(firsts.map(({ body }) => body.toString())).toEqual(['the first', 'the first'])
})
