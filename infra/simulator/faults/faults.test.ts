import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type TestSocket, testVenues, type TestVenues } from '../testing/client.ts'
import { faultKinds } from './faults.ts'
import { FaultSchedule } from './schedule.ts'

let venues: TestVenues

async function open(): Promise<void> {
  venues = await testVenues({ rate: 1500 })
}

const STREAM = '/binance/market/ws/btcusdt@aggTrade'

/** Aggregate ids in the order in which they came. */
function ids(socket: TestSocket): number[] {
  return socket.json().flatMap(({ a }) => (typeof a === 'number' ? [a] : []))
}

async function hears(socket: TestSocket, more: number): Promise<void> {
  const from = socket.frames.length
  await vi.waitFor(() => expect(socket.frames.length).toBeGreaterThanOrEqual(from + more), 8_000)
}

/** It has said something already, or will. */
async function speaks(socket: TestSocket): Promise<void> {
  await vi.waitFor(() => expect(socket.frames.length).toBeGreaterThan(0), 8_000)
}

/** Stands still, all frames delivered: what was heard can be compared with the ledger. */
async function standStill(socket: TestSocket): Promise<{ first: number; last: number; trades: number }> {
  await venues.post('/pause')
  const [row] = await venues.ledger('?venue=binance&symbol=BTC')
  const last = row?.last_id ?? 0
  await vi.waitFor(() => expect(Math.max(...ids(socket))).toBe(last), 3_000)
  return { first: row?.first_id ?? 0, last, trades: row?.trades ?? 0 }
}

describe('on a market of its own, which can be compared with its ledger from the first trade on,', () => {
  beforeEach(open)
  afterEach(() => venues.close())

  test('lost frames are in the ledger and in REST', async () => {
    const socket = venues.open(STREAM)
    await hears(socket, 3)
    await venues.post('/faults', { kind: 'lost', venue: 'binance', symbol: 'BTC', count: 3 })
    await hears(socket, 5)
    const { first, last, trades } = await standStill(socket)
    expect(trades).toBe(last - first + 1)
    const heard = new Set(ids(socket))
    const missing = Array.from({ length: trades }, (_, index) => first + index).filter((id) => !heard.has(id))
    expect(missing.length).toBe(3)
    const { body } = await venues.get(`/binance/fapi/v1/aggTrades?symbol=BTCUSDT&fromId=${missing[0]}&limit=1`)
    expect(body).toMatchObject([{ a: missing[0] }])
    expect((await venues.get('/faults')).body).toMatchObject({ active: [], hits: { lost: 3 } })
  })

  test('doubled frames come twice and count once', async () => {
    const socket = venues.open(STREAM)
    await venues.post('/faults', { kind: 'doubled', venue: 'binance', symbol: 'BTCUSDT', count: 4 })
    await hears(socket, 12)
    const { trades } = await standStill(socket)
    expect(ids(socket).length).toBe(trades + 4)
    expect(new Set(ids(socket)).size).toBe(trades)
  })

  test('reordered frames all come, in another order', async () => {
    const socket = venues.open(STREAM)
    await hears(socket, 1)
    await venues.post('/faults', { kind: 'reordered', venue: 'binance', count: 5 })
    await hears(socket, 15)
    const { first, trades } = await standStill(socket)
    await vi.waitFor(() => expect(ids(socket).length).toBe(trades), 2_000)
    const inOrder = Array.from({ length: trades }, (_, index) => first + index)
    expect(ids(socket)).not.toEqual(inOrder)
    expect(ids(socket).sort((left, right) => left - right)).toEqual(inOrder)
  })

  test('malformed frames are damaged copies, beside or instead of the good ones', async () => {
    const socket = venues.open(STREAM)
    await venues.post('/faults', { kind: 'malformed', venue: 'binance', count: 12, seed: 3 })
    await hears(socket, 30)
    const { first, last } = await standStill(socket)
    const good = socket
      .json()
      .filter(
        ({ a, p, q, m }) =>
          Number.isInteger(a) && typeof p === 'string' && /^[\d.]+$/.test(String(q)) && typeof m === 'boolean',
      )
    expect(socket.frames.length - good.length).toBe(12)
    expect(good.length).toBeLessThanOrEqual(last - first + 1)
    expect(good.length).toBeGreaterThanOrEqual(last - first + 1 - 12)
  })

  test('slow REST answers late, and right', async () => {
    // The seed gives one of the shortest delays, 2.0 s.
    await venues.post('/faults', { kind: 'slow_rest', venue: 'binance', count: 1, seed: 214 })
    const begun = performance.now()
    expect((await venues.get('/binance/fapi/v1/time')).status).toBe(200)
    expect(performance.now() - begun).toBeGreaterThan(1900)
  })
})

describe('on a market that goes on,', () => {
  beforeAll(open)
  afterAll(() => venues.close())

  test.each([
    { kind: 'earthquake' },
    {},
    { kind: 'lost', venue: 'nasdaq' },
    { kind: 'lost', count: -1 },
    { kind: 'lost', duration_ms: 'long' },
  ])('%o is refused with the list of kinds', async (order) => {
    const answer = await venues.post('/faults', order)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ kinds: Object.keys(faultKinds) })
  })

  test('silence keeps the socket open and says nothing, while trades go on', async () => {
    const socket = venues.open('/coinbase', [
      JSON.stringify({ type: 'subscribe', product_ids: ['BTC-USD'], channels: ['matches', 'heartbeat'] }),
    ])
    await hears(socket, 3)
    const before = (await venues.ledger('?venue=coinbase'))[0]?.trades ?? 0
    await venues.post('/faults', { kind: 'silence', venue: 'coinbase', duration_ms: 3_000 })
    const heard = socket.frames.length
    await vi.waitFor(
      async () => expect((await venues.ledger('?venue=coinbase'))[0]?.trades).toBeGreaterThan(before + 20),
      3_000,
    )
    expect(socket.frames.length).toBe(heard)
    expect(socket.closed()).toBeUndefined()
    await hears(socket, 3)
  })

  test('a disconnect cuts every socket of the venue and no other', async () => {
    const [hit, spared] = [venues.open(STREAM), venues.open('/okx/ws/v5/business', ['ping'])]
    await speaks(hit)
    await speaks(spared)
    await venues.post('/faults', { kind: 'disconnect', venue: 'binance' })
    await vi.waitFor(() => expect(hit.closed()).toBe(1006), 3_000)
    expect(spared.closed()).toBeUndefined()
    await hears(venues.open(STREAM), 1)
  })

  test('a closing venue says so in its own words and closes later', async () => {
    const [binance, okx] = [venues.open(STREAM), venues.open('/okx/ws/v5/business', ['ping'])]
    await speaks(binance)
    await speaks(okx)
    await venues.post('/faults', { kind: 'closing', duration_ms: 300 })
    await vi.waitFor(() => expect(binance.json().some(({ e }) => e === 'serverShutdown')).toBe(true), 2_000)
    await vi.waitFor(() => expect(okx.json().some(({ code }) => code === '64008')).toBe(true), 2_000)
    await vi.waitFor(() => expect([binance.closed(), okx.closed()]).toEqual([1001, 1001]), 3_000)
  })

  test.each([
    ['rest_429', 'binance', '/binance/fapi/v1/time', 429, { code: -1003 }],
    ['rest_418', 'binance', '/binance/fapi/v1/time', 418, { code: -1003 }],
    ['rest_429', 'bybit', '/bybit/v5/market/time', 200, { retCode: 10006 }],
    ['rest_429', 'okx', '/okx/api/v5/public/time', 429, { code: '50011' }],
    ['rest_429', 'coinbase', '/coinbase/time', 429, { message: 'Public rate limit exceeded' }],
    ['rest_403', 'bybit', '/bybit/v5/market/time', 403, expect.stringContaining('Forbidden')],
    ['rest_451', 'binance', '/binance/fapi/v1/time', 451, { code: 0 }],
  ])('%s at %s: %s answers %i until the fault is over', async (kind, venue, path, status, body) => {
    await venues.post('/faults', { kind, venue, count: 1 })
    const refused = await venues.get(path)
    expect(refused).toMatchObject({ status, body })
    const after = await venues.get(path)
    expect(after.status).toBe(200)
    expect(after.body).not.toEqual(refused.body)
  })

  test('ws_403 refuses new sockets', async () => {
    await venues.post('/faults', { kind: 'ws_403', venue: 'okx', duration_ms: 60_000 })
    const socket = venues.open('/okx/ws/v5/public')
    await vi.waitFor(() => expect(socket.closed()).toBe(403), 3_000)
  })
})

test('the schedule is the same for the same seed and has every kind but bans', () => {
  const series = (seed: number): object[] => {
    const schedule = new FaultSchedule(seed, 0)
    return Array.from({ length: 1000 }, (_, second) => schedule.due(second * 5000)).flat()
  }
  expect(series(4)).toEqual(series(4))
  expect(series(4)).not.toEqual(series(5))
  const kinds = new Set(series(4).map((order) => (order as { kind: string }).kind))
  expect([...kinds].sort()).toEqual(
    Object.keys(faultKinds)
      .filter((kind) => !['rest_418', 'rest_403', 'rest_451', 'ws_403'].includes(kind) && !kind.startsWith('archive_'))
      .sort(),
  )
})
