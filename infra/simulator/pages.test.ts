import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { LedgerRow } from './ledger/history.ts'
import { testVenues, type TestVenues } from './testing/client.ts'

let venues: TestVenues

/** A market that has traded for a while and then stands still: pages can be compared with the ledger. */
beforeAll(async () => {
  venues = await testVenues({ rate: 20_000 })
  venues.open('/binance/market/ws/btcusdt@aggTrade')
  venues.open('/okx/ws/v5/business', [
    JSON.stringify({ op: 'subscribe', args: [{ channel: 'trades-all', instId: 'BTC-USDT-SWAP' }] }),
  ])
  venues.open('/coinbase', [JSON.stringify({ type: 'subscribe', product_ids: ['BTC-USD'], channels: ['matches'] })])
  venues.open('/bybit/v5/public/linear', [JSON.stringify({ op: 'subscribe', args: ['publicTrade.BTCUSDT'] })])
  await vi.waitUntil(async () => (await venues.ledger()).filter(({ trades }) => trades > 1500).length === 4, {
    timeout: 60_000,
    interval: 200,
  })
  await venues.post('/pause')
})

afterAll(() => venues.close())

async function told(venue: string): Promise<LedgerRow & { first_id: number; last_id: number }> {
  const [row] = await venues.ledger(`?venue=${venue}`)
  expect(row?.trades).toBeGreaterThan(1500)
  return { ...row, first_id: row?.first_id ?? 0, last_id: row?.last_id ?? 0 } as LedgerRow & {
    first_id: number
    last_id: number
  }
}

async function rows(path: string): Promise<Record<string, unknown>[]> {
  const { body } = await venues.get(path)
  const list = Array.isArray(body) ? body : ((body as { data?: unknown }).data ?? body)
  return list as Record<string, unknown>[]
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

test('Binance aggTrades pages forward through every id exactly once, and the sums equal the ledger', async () => {
  const { first_id, last_id, buy_volume, sell_volume } = await told('binance')
  const all: Record<string, unknown>[] = []
  for (let from = first_id; from <= last_id; from += 1000) {
    all.push(...(await rows(`/binance/fapi/v1/aggTrades?symbol=BTCUSDT&fromId=${from}&limit=1000`)))
  }
  expect(all.map(({ a }) => a)).toEqual(range(first_id, last_id))
  const sum = (buy: boolean): number =>
    all.filter(({ m }) => m === !buy).reduce((total, { q }) => total + Math.round(Number(q) * 1000), 0)
  expect([sum(true) / 1000, sum(false) / 1000]).toEqual([Number(buy_volume), Number(sell_volume)])
  // Raw ids never overlap and never go back; some are missing, which were off the book.
  all.forEach(({ f, l }, index) => {
    expect(Number(f)).toBeLessThanOrEqual(Number(l))
    expect(Number(f)).toBeGreaterThan(Number(all[index - 1]?.['l'] ?? 0))
  })
})

test('Binance serves a time window of less than an hour, oldest first', async () => {
  const { first_id } = await told('binance')
  const [first] = await rows(`/binance/fapi/v1/aggTrades?symbol=BTCUSDT&fromId=${first_id}&limit=1`)
  const start = Number(first?.['T'])
  const page = await rows(
    `/binance/fapi/v1/aggTrades?symbol=BTCUSDT&startTime=${start}&endTime=${start + 1000}&limit=1000`,
  )
  expect(page.length).toBeGreaterThan(0)
  expect(page.every(({ T }) => Number(T) >= start && Number(T) <= start + 1000)).toBe(true)
})

test('OKX history-trades pages backward through every id exactly once', async () => {
  const { first_id, last_id } = await told('okx')
  const ids: number[] = []
  // Few pages, within the venue's 20 requests in 2 s.
  for (let after = last_id + 1; after > last_id - 1000;) {
    const page = await rows(`/okx/api/v5/market/history-trades?instId=BTC-USDT-SWAP&type=1&after=${after}&limit=100`)
    ids.push(...page.map(({ tradeId }) => Number(tradeId)))
    after = ids.at(-1) ?? 0
  }
  expect(ids).toEqual(range(last_id - ids.length + 1, last_id).reverse())
  expect(last_id - ids.length + 1).toBeGreaterThanOrEqual(first_id - 2000)
})

test('OKX gives the newest page of what is newer than `before`, and reads `type=2` as times', async () => {
  const { last_id } = await told('okx')
  const newer = await rows(`/okx/api/v5/market/history-trades?instId=BTC-USDT-SWAP&before=${last_id - 500}&limit=100`)
  expect(newer.map(({ tradeId }) => Number(tradeId))).toEqual(range(last_id - 99, last_id).reverse())
  const ts = Number(newer.at(-1)?.['ts'])
  const older = await rows(`/okx/api/v5/market/history-trades?instId=BTC-USDT-SWAP&type=2&after=${ts}&limit=100`)
  expect(older.every((row) => Number(row['ts']) < ts)).toBe(true)
})

test('Coinbase trades page backward through every id exactly once, by the headers', async () => {
  const { first_id, last_id } = await told('coinbase')
  const ids: number[] = []
  let after: string | null = String(last_id + 1)
  while (after !== null && Number(after) > first_id) {
    const { body, headers } = await venues.get(`/coinbase/products/BTC-USD/trades?after=${after}&limit=700`)
    const page = (body as { trade_id: number }[]).map(({ trade_id }) => trade_id)
    expect([headers.get('cb-before'), headers.get('cb-after')]).toEqual([String(page[0]), String(page.at(-1))])
    ids.push(...page)
    after = headers.get('cb-after')
  }
  expect(ids.filter((id) => id >= first_id)).toEqual(range(first_id, last_id).reverse())
})

test('Bybit gives its newest trades, at most 1000, newest first, each execId once', async () => {
  const { body } = await venues.get('/bybit/v5/market/recent-trade?category=linear&symbol=BTCUSDT&limit=5000')
  const { list } = (body as { result: { list: { execId: string; time: string }[] } }).result
  expect(list.length).toBe(1000)
  expect(new Set(list.map(({ execId }) => execId)).size).toBe(1000)
  const times = list.map(({ time }) => Number(time))
  expect(times).toEqual([...times].sort((left, right) => right - left))
})

test('Bybit instruments come in pages by cursor, each once', async () => {
  const symbols: string[] = []
  let cursor = ''
  do {
    const { body } = await venues.get(
      `/bybit/v5/market/instruments-info?category=linear&limit=10&cursor=${encodeURIComponent(cursor)}`,
    )
    const { list, nextPageCursor } = (body as { result: { list: { symbol: string }[]; nextPageCursor: string } }).result
    symbols.push(...list.map(({ symbol }) => symbol))
    cursor = nextPageCursor
  } while (cursor !== '')
  expect(new Set(symbols).size).toBe(symbols.length)
  expect(symbols).toContain('SHIB1000USDT')
  expect(symbols).not.toContain('TONUSDT')
})

test('Binance candles hold the volume of all aggregates, and of it what takers bought', async () => {
  const all: Record<string, unknown>[] = []
  for (let page = await rows('/binance/fapi/v1/aggTrades?symbol=BTCUSDT&fromId=1&limit=1000'); page.length > 0;) {
    all.push(...page)
    page = await rows(`/binance/fapi/v1/aggTrades?symbol=BTCUSDT&fromId=${Number(page.at(-1)?.['a']) + 1}&limit=1000`)
  }
  // The minutes before the first trade are of the market's past.
  const start = Math.floor(Number(all[0]?.['T']) / 60_000) * 60_000
  const { body } = await venues.get(`/binance/fapi/v1/klines?symbol=BTCUSDT&interval=1m&startTime=${start}`)
  const candles = body as string[][]
  const thousandths = (texts: readonly unknown[]): number =>
    texts.reduce<number>((sum, text) => sum + Math.round(Number(text) * 1000), 0)
  expect(thousandths(candles.map((row) => row[5]))).toBe(thousandths(all.map(({ q }) => q)))
  expect(thousandths(candles.map((row) => row[9]))).toBe(
    thousandths(all.filter(({ m }) => m === false).map(({ q }) => q)),
  )
})

test.each([
  ['/binance/fapi/v1/aggTrades', 400, { code: -1102 }],
  ['/binance/fapi/v1/aggTrades?symbol=NOSUCH', 400, { code: -1121, msg: 'Invalid symbol.' }],
  ['/binance/fapi/v1/aggTrades?symbol=BTCUSDT&limit=1001', 400, { code: -1130 }],
  ['/binance/fapi/v1/aggTrades?symbol=BTCUSDT&fromId=1&startTime=1', 400, { code: -1128 }],
  ['/binance/fapi/v1/aggTrades?symbol=BTCUSDT&startTime=0&endTime=3600000', 400, { code: -1127 }],
  ['/binance/fapi/v1/aggTrades?symbol=BTCUSDT&fromId=x', 400, { code: -1100 }],
  ['/bybit/v5/market/recent-trade?symbol=BTCUSDT', 200, { retCode: 10001 }],
  ['/bybit/v5/market/recent-trade?category=linear&symbol=NOSUCH', 200, { retCode: 10001 }],
  ['/okx/api/v5/market/history-trades?instId=NO-SUCH', 200, { code: '51001' }],
  ['/okx/api/v5/market/history-trades', 400, { code: '50014' }],
  ['/okx/api/v5/market/history-trades?instId=BTC-USDT-SWAP&after=x', 400, { code: '51000' }],
  ['/coinbase/products/NO-SUCH/trades', 404, { message: 'NotFound' }],
  ['/coinbase/products/BTC-USD/candles?granularity=60&start=1&end=100000', 400, {}],
])('%s is refused with HTTP %i in the venue’s own words', async (path, status, body) => {
  const answer = await venues.get(path)
  expect(answer.status).toBe(status)
  expect(answer.body).toMatchObject(body)
})

test('Binance counts weight, refuses with Retry-After above 2400 a minute, and bans who goes on', async () => {
  const other = await testVenues()
  const weights: number[] = []
  let limited = await other.get('/binance/fapi/v1/aggTrades?symbol=BTCUSDT&limit=1')
  while (limited.status === 200) {
    weights.push(Number(limited.headers.get('x-mbx-used-weight-1m')))
    limited = await other.get('/binance/fapi/v1/aggTrades?symbol=BTCUSDT&limit=1')
  }
  expect(weights[0]).toBe(20)
  expect(Math.max(...weights)).toBeLessThanOrEqual(2400)
  expect(limited.status).toBe(429)
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
  // More than it takes: a new minute may begin meanwhile and forgive what was used.
  for (let call = 0; call < 400 && limited.status !== 418; call += 1)
    limited = await other.get('/binance/fapi/v1/aggTrades?symbol=BTCUSDT')
  expect(limited.status).toBe(418)
  await other.close()
})

test('OKX and Coinbase refuse what comes too fast', async () => {
  const other = await testVenues()
  const many = async (path: string): Promise<number[]> =>
    (await Promise.all(Array.from({ length: 45 }, () => other.get(path)))).map(({ status }) => status)
  expect(await many('/okx/api/v5/market/history-trades?instId=BTC-USDT-SWAP&limit=1')).toContain(429)
  expect(await many('/coinbase/products/BTC-USD/trades?limit=1')).toContain(429)
  await other.close()
})
