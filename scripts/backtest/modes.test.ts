import { describe, expect, it } from 'vitest'
import { MemoryBroker, stillClock } from '../../processors/kernel/testing/memory-log.ts'
import { longAgo, mark, SECOND, T0, trade } from '../../processors/cvd/testing/records.ts'
import { localCodec } from '../../schemas/codec.ts'
import type { Message } from '../../schemas/records.ts'
import { arrange } from './modes.ts'
import { readOptions } from './options.ts'
import { backtest } from './backtest.ts'
import { memoryTape } from './testing/tape.ts'

const codec = localCodec()
const TOPIC = 'market.trades'

/** A trade of each second but the third, which is filled in after the sixth; a mark behind each second. `isCovered`: one of long before. */
function broker(isCovered = false): MemoryBroker {
  const made = new MemoryBroker(stillClock)
  const put = (message: Message<'trade' | 'mark'>, received: number): void => {
    const value = codec.encode(TOPIC, message.type, message.value)
    made.append(TOPIC, 0, [{ key: 'btc', value, time: received / 1000 }])
  }
  if (isCovered) put(longAgo({ received: T0 }), T0)
  for (let second = 1; second <= 30; second++) {
    const time = T0 + second * SECOND
    if (second !== 3) put(trade({ first_id: second, time, received: time, price: 100 + second }), time)
    if (second === 16) {
      const at = T0 + 3 * SECOND
      put(trade({ first_id: 3, time: at, received: time, price: 103, origin: 'backfill', gap_id: 3 }), time)
    }
    put(mark(time), time)
  }
  return made
}

async function told(mode: 'lived' | 'corrected' | 'archive') {
  const tape = arrange(memoryTape(broker(), codec, 1, 7), mode)
  const span = await tape.span(TOPIC, 0, { from: 0, to: Infinity })
  const records = []
  for await (const batch of tape.read(span)) records.push(...batch)
  return { tape, records }
}

function idOf(value: Buffer | null): number | undefined {
  const message = value === null ? undefined : codec.decode(value)
  return message?.type === 'trade' ? message.value.first_id : undefined
}

describe('the corrected mode', () => {
  it('puts a trade that was filled in later where it belongs, under places that go up by one', async () => {
    const { records } = await told('corrected')
    const ids = records.flatMap(({ value }) => idOf(value) ?? [])
    expect(ids).toEqual([...Array(30).keys()].map((at) => at + 1))
    expect(records.map(({ offset }) => offset)).toEqual([...records.keys()])
    const times = records.map(({ time }) => time)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it('takes more trades of one outage than a call takes arguments', async () => {
    const made = new MemoryBroker(stillClock)
    const filled = trade({ time: T0, received: T0 + SECOND, origin: 'backfill', gap_id: 1 })
    const record = { key: 'btc', value: codec.encode(TOPIC, 'trade', filled.value), time: T0 / 1000 + 1_000 }
    const COUNT = 150_000
    made.append(
      TOPIC,
      0,
      Array.from({ length: COUNT }, () => record),
    )
    const tape = arrange(memoryTape(made, codec, 1, 50_000), 'corrected')
    let records = 0
    for await (const batch of tape.read(await tape.span(TOPIC, 0, { from: 0, to: Infinity }))) records += batch.length
    expect(records).toBe(COUNT)
    made.append(TOPIC, 0, [
      { key: 'btc', value: codec.encode(TOPIC, 'mark', mark(T0 + SECOND).value), time: record.time },
    ])
    for await (const batch of tape.read(await tape.span(TOPIC, 0, { from: 0, to: Infinity }))) records += batch.length
    expect(records).toBe(2 * COUNT + 1)
  })

  it('knows where each record stood in the log', async () => {
    const { tape, records } = await told('corrected')
    const lived = await told('lived')
    for (const { offset, value } of records) {
      const original = tape.placeOf?.({ topic: TOPIC, partition: 0, offset })
      const there = lived.records.find((record) => record.offset === original?.offset)
      expect(there?.value).toEqual(value)
    }
  })

  it('counts the trade within its bucket’s time, which the lived log could not', async () => {
    const flags = ['--horizons', '1s']
    const around = { onProgress: () => undefined, warn: () => undefined, stop: new AbortController().signal }
    const rows = async (mode: string): Promise<number | undefined> => {
      const options = readOptions(['--mode', mode, ...flags])
      if (options === undefined) throw new Error('it is no call for help')
      const { study } = await backtest(memoryTape(broker(true), codec, 1), options, around)
      return study.signals[0]?.evidence['buy']
    }
    expect([await rows('lived'), await rows('corrected')]).toEqual([8, 9])
  })
})

it('the archive mode leaves out what was streamed', async () => {
  const { records } = await told('archive')
  expect(records.flatMap(({ value }) => idOf(value) ?? [])).toEqual([])
  expect(records).toHaveLength(30)
})
