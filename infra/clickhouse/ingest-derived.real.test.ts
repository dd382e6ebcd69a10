import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Flow, FlowHour, Signal } from '../../schemas/records.ts'
import { createWorld, iso, T, type World } from './testing/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld('derived')
})
afterAll(() => world.end())

describe('flow', () => {
  const B = Math.floor(T / 1e7) * 1e7
  const HOUR = 3_600e6
  const H = Math.floor(B / HOUR) * HOUR
  const figures = {
    asset: 'btc',
    instrument: 'binance:perp:BTCUSDT',
    part: 0,
    buy: 1,
    sell: 2,
    buy_quote: 10,
    sell_quote: 20,
    buy_count: 1,
    sell_count: 2,
    open: 7,
    high: 8,
    low: 6,
    close: 7.5,
    open_time: B + 2,
    close_time: B + 5,
    first_id: 1,
    last_id: 9,
    final: false,
    v: 10,
  }
  const flow = (change: Partial<Flow>): Buffer =>
    world.codec.encode('derived.flow', 'flow', { ...figures, bucket: B, ...change })
  const hour = (change: Partial<FlowHour>): Buffer =>
    world.codec.encode('derived.flow', 'flow_hour', { ...figures, hour: H, ...change })
  const range = "asset = 'btc', start = '2024-08-08 23:54:00', end = '2024-08-08 23:56:00'"

  it('keeps the highest version of each bucket and part, and yields candles and cvd', async () => {
    await world.append('derived.flow', [
      flow({ v: 12, buy: 5, final: true }),
      flow({ v: 11, buy: 4 }),
      flow({
        part: 101,
        v: 13,
        buy: 1,
        sell: 0,
        open: 5,
        low: 5,
        close: 9,
        high: 9,
        open_time: B + 1,
        close_time: B + 4,
      }),
      flow({ bucket: B + 1e7, v: 14, buy: 0, sell: 3, open: 7, close: 7, open_time: B + 1e7, close_time: B + 1e7 }),
      flow({ instrument: 'coinbase:spot:BTC-USD', v: 15, buy: 2, sell: 0 }),
      flow({ bucket: B - HOUR, v: 16, buy: 100, sell: 1 }),
      hour({
        hour: H - HOUR,
        v: 17,
        buy: 100,
        sell: 1,
        open_time: B - HOUR + 2,
        close_time: B - HOUR + 5,
        final: true,
      }),
      hour({ hour: H - HOUR, v: 16, buy: 50, sell: 1 }),
      hour({
        hour: H,
        v: 18,
        buy: 6,
        sell: 5,
        open: 5,
        low: 5,
        high: 9,
        close: 7,
        open_time: B + 1,
        close_time: B + 1e7,
      }),
      hour({ hour: H, v: 19, instrument: 'coinbase:spot:BTC-USD', buy: 2, sell: 0 }),
      world.mark('derived.flow', { writer: 'cvd', run: 0, time: T + 50 }),
    ])
    await world.soon(
      "SELECT part, buy, final, v FROM flow_10s WHERE market = 'perp' AND bucket >= '2024-08-08 23:00:00' ORDER BY bucket, part",
      [
        { part: 0, buy: 5, final: true, v: 12 },
        { part: 101, buy: 1, final: false, v: 13 },
        { part: 0, buy: 0, final: false, v: 14 },
      ],
    )
    await world.soon("SELECT count() AS hours FROM flow_1h WHERE hour >= '2024-08-08 22:00:00'", [{ hours: 3 }])
    expect(await world.rows(`SELECT * FROM ohlcv(venue = 'binance', seconds = 60, ${range})`)).toEqual([
      {
        time: '2024-08-08T23:54:00.000000Z',
        open: 5,
        high: 9,
        low: 5,
        close: 7,
        volume: 11,
        buy_volume: 6,
        sell_volume: 5,
        trades: 9,
        source: 'trades',
      },
    ])
    expect(await world.rows(`SELECT time, venue, delta, cvd FROM cvd(seconds = 10, ${range})`)).toEqual([
      { time: iso(B), venue: 'binance', delta: 4, cvd: 103 },
      { time: iso(B), venue: 'coinbase', delta: 2, cvd: 2 },
      { time: iso(B + 1e7), venue: 'binance', delta: -3, cvd: 100 },
    ])
  })

  it('keeps hours beside the buckets, read for intervals of whole hours, the last one by its buckets', async () => {
    await world.soon('SELECT instrument, hour, part, buy, final, v FROM flow_1h ORDER BY instrument, hour', [
      { instrument: 'binance:perp:BTCUSDT', hour: iso(H - HOUR), part: 0, buy: 100, final: true, v: 17 },
      { instrument: 'binance:perp:BTCUSDT', hour: iso(H), part: 0, buy: 6, final: false, v: 18 },
      { instrument: 'coinbase:spot:BTC-USD', hour: iso(H), part: 0, buy: 2, final: false, v: 19 },
    ])
    const read = (view: string, end: string): Promise<unknown[]> =>
      world.rows(`SELECT ${view}, seconds = 3600, start = '2024-08-08 22:30:00', end = '${end}')`)
    const candles = "time, open, close, buy_volume FROM ohlcv(asset = 'btc', venue = 'binance'"
    const before = { time: iso(H - HOUR), open: 7, close: 7.5, buy_volume: 100 }
    expect(await read(candles, '2024-08-09 00:00:00')).toEqual([
      before,
      { time: iso(H), open: 5, close: 7, buy_volume: 6 },
    ])
    expect(await read(candles, iso(B + 1e7).slice(0, -1))).toEqual([
      before,
      { time: iso(H), open: 5, close: 7.5, buy_volume: 6 },
    ])
    expect(await read("time, venue, delta, cvd FROM cvd(asset = 'btc'", '2024-08-09 00:00:00')).toEqual([
      { time: iso(H - HOUR), venue: 'binance', delta: 99, cvd: 99 },
      { time: iso(H), venue: 'binance', delta: 1, cvd: 100 },
      { time: iso(H), venue: 'coinbase', delta: 2, cvd: 2 },
    ])
  })

  it('gives candles of any interval from the trades', async () => {
    const at = Math.floor(T / 1e6) * 1e6 + 60e6
    await world.append('market.trades', [
      world.trade({ asset: 'eth', time: at + 1, first_id: 41, last_id: 41, price: 10, size: 1 }),
      world.trade({ asset: 'eth', time: at + 2, first_id: 42, last_id: 42, price: 8, size: 2, taker: 'sell' }),
      world.trade({ asset: 'eth', time: at + 2, first_id: 43, last_id: 43, price: 9, size: 3 }),
    ])
    const query =
      "SELECT * FROM ohlcv(asset = 'eth', venue = 'all', seconds = 1, start = '2024-08-08 00:00:00', end = '2024-08-10 00:00:00')"
    await world.soon(query, [
      {
        time: iso(at),
        open: 10,
        high: 10,
        low: 8,
        close: 9,
        volume: 6,
        buy_volume: 4,
        sell_volume: 2,
        trades: 3,
        source: 'trades',
      },
    ])
    const bucket = Math.floor(at / 1e7) * 1e7
    expect(bucket).toBeLessThan(at)
    await world.append('derived.flow', [
      flow({ asset: 'eth', bucket: bucket - 1e7, buy: 100, sell: 0, v: 30 }),
      flow({ asset: 'eth', bucket, buy: 4, sell: 2, v: 31 }),
    ])
    await world.soon("SELECT count() AS rows FROM flow_10s WHERE asset = 'eth'", [{ rows: 2 }])
    const from = "asset = 'eth', start = '2024-08-08 23:55:15', end = '2024-08-08 23:56:00'"
    const total = [{ time: iso(at), delta: 2, cvd: 102 }]
    expect(await world.rows(`SELECT time, delta, cvd FROM cvd(seconds = 1, ${from})`)).toEqual(total)
  })
})

describe('signals', () => {
  it('arrive with their evidence, those of two venues at one time beside each other', async () => {
    const signal: Signal = {
      asset: 'btc',
      kind: 'cvd',
      period: '1h',
      from: 'neutral',
      to: 'bullish_pressure',
      value: 0.07,
      evidence: { buy: 3, sell: 2 },
      exchange: null,
      time: T,
      v: 5,
    }
    const funding = { ...signal, kind: 'funding', period: '', exchange: 'binance' }
    const encode = (value: Signal): Buffer => world.codec.encode('derived.signals', 'signal', value)
    await world.append('derived.signals', [
      encode(signal),
      encode(funding),
      encode({ ...funding, exchange: 'okx' }),
      encode({ ...funding, exchange: 'okx', v: 6, value: 0.1 }),
      world.mark('derived.signals', { writer: 'cvd', time: T + 60 }),
    ])
    await world.soon(
      'SELECT asset, kind, period, from, to, value, evidence, exchange, time, v FROM signals ORDER BY kind, exchange',
      [
        { ...signal, time: iso(T) },
        { ...funding, time: iso(T) },
        { ...funding, exchange: 'okx', v: 6, value: 0.1, time: iso(T) },
      ],
    )
    await world.soon("SELECT topic, time FROM partition_times WHERE topic != 'market.trades' ORDER BY topic", [
      { topic: 'derived.flow', time: iso(T + 50) },
      { topic: 'derived.signals', time: iso(T + 60) },
    ])
  })

  const told = (change: Partial<Signal>): Signal => ({
    asset: 'doge',
    kind: 'cvd',
    period: '',
    from: 'neutral',
    to: 'bullish',
    value: 1,
    evidence: {},
    exchange: null,
    time: T,
    v: 7,
    ...change,
  })

  it('of older rules give way to those of newer ones, kind by kind', async () => {
    const at = (seconds: number, generation: number, kind: string): Signal =>
      told({ kind, time: T + seconds, v: generation * 2 ** 44 + 7 })
    const given = [at(1, 1, 'cvd'), at(1, 1, 'sentiment'), at(2, 2, 'cvd')]
    await world.append(
      'derived.signals',
      given.map((value) => world.codec.encode('derived.signals', 'signal', value)),
    )
    await world.soon("SELECT kind, time FROM signals WHERE asset = 'doge' ORDER BY kind", [
      { kind: 'cvd', time: iso(T + 2) },
      { kind: 'sentiment', time: iso(T + 1) },
    ])
  })

  it('of older rules stay as they were told where newer ones have not told of the same part of the log', async () => {
    const from = (offset: number, generation: number, period = '1h'): Signal =>
      told({ asset: 'ada', period, time: T + offset, v: generation * 2 ** 44 + offset })
    const stand = async (given: readonly Signal[], v: readonly Signal[]): Promise<void> => {
      const records = given.map((value) => world.codec.encode('derived.signals', 'signal', value))
      await world.append('derived.signals', records)
      const rows = v.map((signal) => ({ time: iso(signal.time), v: signal.v }))
      await world.soon("SELECT time, v FROM signals WHERE asset = 'ada' ORDER BY time, v", rows)
    }
    const first = [1, 2, 3, 6].map((offset) => from(offset, 3))
    await stand(first, first)
    // It has taken the place of the older one at 5, beside which it told nothing.
    const [one, two, three] = first
    if (one === undefined || two === undefined || three === undefined) throw new Error('there are three')
    await stand([from(5, 4, '4h')], [one, two, three, from(5, 4, '4h')])
    // What is folded again from 2 on replaces all that was told from there on, of every generation before.
    await stand([from(2, 5, '4h'), from(8, 5)], [one, from(2, 5, '4h'), from(8, 5)])
  })
})
