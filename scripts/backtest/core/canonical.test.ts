import { expect, it } from 'vitest'
import { avroType } from '../../../schemas/codec.ts'
import type { Flow, Message } from '../../../schemas/records.ts'
import { flowKey } from '../../../processors/cvd/bucket.ts'
import { mark, T0 } from '../../../processors/cvd/testing/records.ts'
import { Canonical, RunningHash } from './canonical.ts'

const open: Flow = {
  asset: 'btc',
  instrument: 'binance:perp:BTCUSDT',
  bucket: T0,
  part: 0,
  buy: 1,
  sell: 0,
  buy_quote: 100,
  sell_quote: 0,
  buy_count: 1,
  sell_count: 0,
  open: 100,
  high: 100,
  low: 100,
  close: 100,
  open_time: T0,
  close_time: T0,
  first_id: 1,
  last_id: 1,
  final: false,
  v: 1,
}
const other: Flow = { ...open, instrument: 'okx:perp:BTC-USDT-SWAP' }
const closed: Flow = { ...open, buy: 2, last_id: 2, final: true, v: 2 }
const tick = mark(T0)

function flow(value: Flow): Message<'flow'> {
  return { type: 'flow', value }
}

function hashOf(...messages: readonly Message<'flow' | 'mark'>[]): string {
  const outputs = new Canonical()
  for (const message of messages) {
    const key = message.type === 'flow' ? flowKey(message.value) : 'cvd'
    outputs.add('cvd', 0, {
      topic: 'derived.flow',
      key,
      message,
      body: () => avroType(message.type).toBuffer(message.value),
    })
  }
  return outputs.close().hash
}

it('counts a bucket by its final row, however often it was said before', () => {
  const once = hashOf(tick, flow(closed), tick)
  expect(hashOf(flow(open), tick, flow({ ...open, buy: 1.5 }), flow(closed), tick)).toBe(once)
  expect(hashOf(tick, flow({ ...closed, buy: 3 }), tick)).not.toBe(once)
})

it('counts a bucket that never closed by the last row of it', () => {
  const last = hashOf(tick, tick, flow(open))
  expect(hashOf(tick, flow({ ...open, buy: 0.5 }), tick, flow(open))).toBe(last)
  expect(hashOf(tick, tick, flow({ ...open, buy: 0.5 }))).not.toBe(last)
  expect(hashOf(tick, tick)).not.toBe(last)
})

it('counts what came after a bucket closed', () => {
  const late = { ...closed, buy: 2.5, v: 3 }
  expect(hashOf(flow(closed), tick, flow(late), tick)).not.toBe(hashOf(flow(closed), tick, tick))
  expect(hashOf(flow(closed), flow(late), tick)).toBe(hashOf(flow(late), tick))
})

it('is the same in whatever order keys were said between two marks', () => {
  const [one, two] = [flow(closed), flow({ ...other, final: true })]
  expect(hashOf(one, two, tick)).toBe(hashOf(two, one, tick))
  expect(hashOf(one, tick, two)).not.toBe(hashOf(one, two, tick))
})

it('hashes a part of bytes as it hashes the same bytes by themselves, wherever a piece ends', () => {
  const bytes = Buffer.from(Array.from({ length: 300 }, (_, at) => at % 251))
  const hashed = (add: (hash: RunningHash, start: number, end: number) => void): string => {
    const hash = new RunningHash()
    for (let at = 0; at < 1_000; at++) add(hash, at % 20, at % 3 === 0 ? 300 : 290 - (at % 200))
    return hash.digest()
  }
  expect(hashed((hash, start, end) => hash.bytes(bytes, start, end))).toBe(
    hashed((hash, start, end) => hash.bytes(Buffer.from(bytes.subarray(start, end)))),
  )
})
