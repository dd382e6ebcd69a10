import { describe, expect, it } from 'vitest'
import { Decoder, Encoder, readItems, writeItems, type Call } from './internals.ts'
import { Appender } from './produce.ts'
import { LogError } from '../seam.ts'

/** A broker that writes what it gets; `connecting`: until the connection is open. */
function brokerThat(connecting: Promise<void> = Promise.resolve()) {
  const written: string[][] = []
  const call = async (_node: number | 'any', { body }: Call): Promise<Decoder> => {
    await connecting
    const request = typeof body === 'function' ? body() : body
    const topics = topicsOf(request)
    written.push(topics)
    return answer(topics)
  }
  return { written, appender: new Appender({ leaderOf: () => 1, call }) }
}

/** Of a request with one partition a topic. */
function topicsOf({ buffer }: Encoder): string[] {
  const decoder = new Decoder(buffer)
  const topics: string[] = []
  decoder.readString() // transactional id
  decoder.forward(6) // acks, timeout
  readItems(decoder, () => {
    topics.push(decoder.readString() ?? '')
    readItems(decoder, () => {
      decoder.forward(4) // partition
      decoder.readBytes()
    })
  })
  return topics
}

function answer(topics: readonly string[]): Decoder {
  const body = new Encoder()
  writeItems(body, topics, (topic) => {
    body.writeString(topic)
    writeItems(body, [0], (partition) =>
      body.writeInt32(partition).writeInt16(0).writeInt64(7).writeInt64(-1).writeInt64(0),
    )
  })
  return new Decoder(body.buffer)
}

const batch = Buffer.from('batch')
const lapsed = (): void => {
  throw new LogError('unavailable', 'its claim was not renewed in time')
}

describe('appending', () => {
  it('writes nothing of an owner that may not write, though others’ batches are in the same request', async () => {
    const { appender, written } = brokerThat()
    const results = await Promise.allSettled([
      appender.append('a', 0, batch, lapsed),
      appender.append('b', 0, batch, () => undefined),
      appender.append('c', 0, batch),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
    expect(written).toEqual([['b', 'c']])
  })

  it('sends no request where nothing may be written', async () => {
    const { appender, written } = brokerThat()
    await expect(appender.append('a', 0, batch, lapsed)).rejects.toThrow('its claim was not renewed in time')
    expect(written).toEqual([])
  })

  it('asks on an open connection, so that no time passes between the answer and the write', async () => {
    const opened = Promise.withResolvers<void>()
    const { appender, written } = brokerThat(opened.promise)
    let isLapsed = false
    const appended = appender.append('a', 0, batch, () => (isLapsed ? lapsed() : undefined))
    isLapsed = true
    opened.resolve()
    await expect(appended).rejects.toMatchObject({ code: 'unavailable' })
    expect(written).toEqual([])
  })
})
