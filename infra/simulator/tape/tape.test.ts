import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { testVenues, type TestVenues } from '../testing/client.ts'
import { tapeTrades } from './frames.ts'

const recordings = join(import.meta.dirname, '../../../shared/data')
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tape-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const T0 = 1_723_161_256_000

/** A raw trade of Binance USD-M, as the tapes of 2024 have them. */
function raw(t: number, more: object = {}): object {
  const data = {
    e: 'trade',
    E: T0 + t,
    T: T0 + t,
    s: 'BTCUSDT',
    t: 5_266_583_935 + t,
    p: '61800.30',
    q: '0.006',
    X: 'MARKET',
    m: false,
    ...more,
  }
  return { raw: { stream: 'btcusdt@trade', data } }
}

function match(id: number, ms: number, more: object = {}): object {
  const time = new Date(T0 + ms).toISOString().replace('Z', '123Z')
  return {
    recv_ns: 1,
    raw: JSON.stringify({
      type: 'match',
      trade_id: id,
      side: 'sell',
      size: '0.2',
      price: '61801.5',
      product_id: 'BTC-USD',
      sequence: id * 7,
      time,
      ...more,
    }),
  }
}

function write(name: string, lines: readonly object[]): void {
  const text = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`
  writeFileSync(join(folder, name), name.endsWith('.gz') ? gzipSync(text) : text)
}

const subscribe = {
  binance: JSON.stringify({ method: 'SUBSCRIBE', params: ['btcusdt@aggTrade', 'ethusdt@aggTrade'], id: 1 }),
  bybit: JSON.stringify({ op: 'subscribe', args: ['publicTrade.BTCUSDT'] }),
  coinbase: JSON.stringify({ type: 'subscribe', product_ids: ['BTC-USD'], channels: ['matches'] }),
}

async function done(venues: TestVenues): Promise<Record<string, unknown>> {
  await vi.waitFor(async () => expect((await venues.get('/tape')).body).toMatchObject({ done: true }), {
    timeout: 20_000,
    interval: 50,
  })
  return (await venues.get('/tape')).body as Record<string, unknown>
}

test('raw trades are played one to one as aggregates with ids that count by one; what is off the book is left out', async () => {
  write('a.jsonl', [
    raw(0),
    raw(1, { X: 'INSURANCE_FUND' }),
    raw(2, { m: true, q: '1.500' }),
    { raw: { stream: 'x', data: { e: 'bookTicker' } } },
  ])
  const venues = await testVenues({ tape: { path: folder, speed: 0, retime: false } })
  expect((await venues.get('/tape')).body).toMatchObject({ waiting: true, trades: 2, played: 0 })
  const socket = venues.open('/binance/market/ws/btcusdt@aggTrade')
  const progress = await done(venues)
  expect(progress).toMatchObject({ played: 2, skipped: { 'off book': 1, 'no trade frame': 1 } })
  await vi.waitFor(() => expect(socket.frames.length).toBe(2), 2_000)
  expect(socket.json()).toEqual([
    {
      e: 'aggTrade',
      E: T0,
      a: 5266583935,
      s: 'BTCUSDT',
      p: '61800.30',
      q: '0.006',
      nq: '0.006',
      f: 5266583935,
      l: 5266583935,
      T: T0,
      m: false,
      st: 1,
    },
    {
      e: 'aggTrade',
      E: T0 + 2,
      a: 5266583936,
      s: 'BTCUSDT',
      p: '61800.30',
      q: '1.500',
      nq: '1.500',
      f: 5266583937,
      l: 5266583937,
      T: T0 + 2,
      m: true,
      st: 1,
    },
  ])
  expect(await venues.ledger()).toMatchObject([
    { trades: 2, buy_volume: '0.006', sell_volume: '1.5', first_id: 5266583935, last_id: 5266583936 },
  ])
  const { body } = await venues.get('/binance/fapi/v1/aggTrades?symbol=BTCUSDT&fromId=5266583936')
  expect(body).toMatchObject([{ a: 5266583936, q: '1.500' }])
  await venues.close()
})

test('files are merged by time, plain and compressed, and each venue gets its own', async () => {
  write('one.jsonl.gz', [raw(5), raw(20)])
  write('two.jsonl', [match(7, 10), match(8, 30, { side: 'buy' })])
  const venues = await testVenues({ tape: { path: folder, speed: 1, retime: true } })
  const begun = Date.now()
  const binance = venues.open('/binance/market/ws', [subscribe.binance])
  const coinbase = venues.open('/coinbase', [subscribe.coinbase])
  await done(venues)
  await vi.waitFor(() => expect(coinbase.json().filter(({ type }) => type === 'match').length).toBe(2), 2_000)
  expect(coinbase.json().filter(({ type }) => type === 'match')).toMatchObject([
    { trade_id: 7, side: 'sell', size: '0.2', price: '61801.5', sequence: 49 },
    { trade_id: 8, side: 'buy', sequence: 56 },
  ])
  const times = binance
    .json()
    .slice(1)
    .map(({ T }) => Number(T))
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(15)
  expect(times[0]).toBeGreaterThanOrEqual(begun)
  await venues.close()
})

test('a tape that was played in part goes on where it stopped', async () => {
  write(
    'a.jsonl',
    Array.from({ length: 3000 }, (_, index) => raw(index)),
  )
  const dataDir = join(folder, 'data')
  const tape = { path: join(folder, 'a.jsonl'), speed: 0.2, retime: false }
  const first = await testVenues({ dataDir, tape })
  const heard = first.open('/binance/market/ws', [subscribe.binance])
  await vi.waitFor(() => expect(heard.frames.length).toBeGreaterThan(200), 5_000)
  await first.close()
  const second = await testVenues({ dataDir, tape: { ...tape, speed: 0 } })
  expect((await second.get('/tape')).body).toMatchObject({ waiting: true })
  second.open('/binance/market/ws', [subscribe.binance])
  expect(await done(second)).toMatchObject({ played: 3000 })
  const [row] = await second.ledger()
  expect(row).toMatchObject({ trades: 3000, buy_volume: '18', first_id: 5266583935, last_id: 5266583935 + 2999 })
  await second.close()
})

test('a trade of Bybit that two recordings hold is played and counted once, also where it is gone on later', async () => {
  const fill = (n: number): object => {
    const id = `00000000-0000-5000-8000-00000000000${n}`
    const row = { T: T0 + n, s: 'BTCUSDT', S: 'Buy', v: '0.001', p: '60000.0', L: 'PlusTick', i: id, BT: false, seq: 9 }
    return { raw: { topic: 'publicTrade.BTCUSDT', type: 'snapshot', ts: T0 + n, data: [row] } }
  }
  write('a.jsonl', [1, 2, 3].map(fill))
  write('b.jsonl', [2, 3, 4].map(fill))
  const dataDir = join(folder, 'data')
  for (const again of [false, true]) {
    const venues = await testVenues({ dataDir, tape: { path: folder, speed: 0, retime: false } })
    const socket = venues.open('/bybit/v5/public/linear', [subscribe.bybit])
    expect(await done(venues)).toMatchObject({ trades: 6, played: 6, skipped: { doubled: 2 } })
    expect(await venues.ledger('?venue=bybit')).toMatchObject([{ trades: 4, buy_volume: '0.004' }])
    await vi.waitFor(() => expect(socket.json().filter(({ topic }) => topic !== undefined).length).toBe(again ? 0 : 4))
    await venues.close()
  }
})

test('a silence of hours on a tape is not waited for', async () => {
  write('a.jsonl', [raw(0), raw(5), raw(86_400_000)])
  const venues = await testVenues({ tape: { path: folder, speed: 1, retime: true } })
  const socket = venues.open('/binance/market/ws/btcusdt@aggTrade')
  expect(await done(venues)).toMatchObject({ played: 3 })
  await vi.waitFor(() => expect(socket.frames.length).toBe(3), 2_000)
  expect(socket.json().every(({ T }) => Number(T) <= Date.now() + 1000)).toBe(true)
  await venues.close()
})

test('a symbol that is not simulated is listed while its tape plays', async () => {
  write('a.jsonl', [raw(0, { s: 'SANDUSDT', p: '0.25', q: '40' })])
  const venues = await testVenues({ tape: { path: folder, speed: 0, retime: false } })
  const { body } = await venues.get('/binance/fapi/v1/exchangeInfo')
  const symbols = (body as { symbols: { symbol: string; baseAsset: string; status: string }[] }).symbols
  expect(symbols.find(({ symbol }) => symbol === 'SANDUSDT')).toMatchObject({ baseAsset: 'SAND', status: 'TRADING' })
  await venues.close()
})

test('an OKX message that merges fills is one trade for each of its ids', async () => {
  const row = {
    instId: 'BTC-USDT-SWAP',
    tradeId: '105',
    px: '1.5',
    sz: '1',
    side: 'buy',
    ts: String(T0),
    count: '3',
    source: '0',
    seqId: 9,
  }
  write('a.jsonl', [
    {
      raw: {
        arg: { channel: 'trades', instId: 'BTC-USDT-SWAP' },
        data: [row, { ...row, tradeId: '106', count: '1', sz: '0.25' }],
      },
    },
  ])
  const venues = await testVenues({ tape: { path: folder, speed: 0, retime: false } })
  const socket = venues.open('/okx/ws/v5/business', [
    JSON.stringify({ op: 'subscribe', args: [{ channel: 'trades-all', instId: 'BTC-USDT-SWAP' }] }),
  ])
  await done(venues)
  await vi.waitFor(() => expect(socket.frames.length).toBe(5), 2_000)
  const told = socket
    .json()
    .flatMap(({ data }) => (Array.isArray(data) ? (data as { tradeId: string; sz: string }[]) : []))
  expect(told.map(({ tradeId }) => tradeId)).toEqual(['103', '104', '105', '106'])
  expect(told.map(({ sz }) => sz)).toEqual(['0.33', '0.33', '0.34', '0.25'])
  await venues.close()
})

test('frames that are no trades are told apart from trades', () => {
  expect(tapeTrades({ type: 'last_match', trade_id: 1 })).toBeUndefined()
  expect(tapeTrades(null)).toBeUndefined()
  expect(tapeTrades('text')).toBeUndefined()
})

// The recordings are not part of the repository.
describe.skipIf(!existsSync(recordings))('the recorded Binance tapes of 2024-08-08', () => {
  test('play to the totals that their frames add up to', async () => {
    const tapes = join(recordings, 'binance/usdm-trade')
    for (const name of readdirSync(tapes).filter((file) => file.includes('20240808'))) {
      symlinkSync(join(tapes, name), join(folder, name))
    }
    const venues = await testVenues({ tape: { path: folder, speed: 0, retime: false } })
    const socket = venues.open('/binance/market/stream', [subscribe.binance])
    await done(venues)
    // Sums of the files, made by another program.
    expect(
      (await venues.ledger()).map(({ symbol, trades, buy_volume, sell_volume }) => [
        symbol,
        trades,
        buy_volume,
        sell_volume,
      ]),
    ).toEqual([
      ['BTC', 21313, '1251.576', '1177.79'],
      ['ETH', 14076, '4960.564', '4204.384'],
    ])
    await vi.waitFor(() => expect(socket.frames.length).toBe(1 + 21313 + 14076), 10_000)
    await venues.close()
  })
})
