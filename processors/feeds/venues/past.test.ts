import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testVenues, type TestVenues } from '../../../infra/simulator/testing/client.ts'
import type { FactRow } from './events.ts'
import { isFact } from './fact-fields.ts'
import type { PastPages, RestAnswer, RestCall } from './venue.ts'
import { fundingVenues, settlementVenues } from '../../../schemas/venues.ts'
import { venues } from './venues.ts'

let simulated: TestVenues
beforeAll(async () => {
  simulated = await testVenues()
})
afterAll(() => simulated.close())

const HOUR = 3_600_000_000
const PAGES = 3
const symbols: Readonly<Record<string, string>> = {
  okx: 'BTC-USDT-SWAP',
  coinbase: 'BTC-USD',
  kraken: 'BTC/USD',
  gate: 'BTC_USDT',
  hyperliquid: 'BTC',
}

async function ask(venue: string, { path, body }: RestCall): Promise<unknown> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const headers = { 'user-agent': 'test', 'content-type': 'application/json' }
  const answer = await fetch(`${simulated.url}/${venue.replace('_', '-')}${path}`, { ...init, headers })
  expect([path, answer.status]).toEqual([path, 200])
  return answer.json()
}

/** The rows of the newest pages, asked for as the feeds do, newest page first. */
async function pagesOf(venue: string, pages: PastPages, seconds: number): Promise<{ rows: FactRow[]; from: number }> {
  const symbol = symbols[venue] ?? 'BTCUSDT'
  const width = seconds * 1_000_000
  const now = Date.now()
  let to = Math.floor((now * 1_000) / width) * width
  const depth = to - Math.min(PAGES * pages.pageSize, pages.depth ?? Infinity) * width
  const rows: FactRow[] = []
  while (to > depth) {
    const from = Math.max(depth, to - pages.pageSize * width)
    const found: FactRow[] = []
    let call: RestCall | undefined = pages.call(symbol, seconds, from, to)
    while (call !== undefined) {
      const told = rowsIn(pages.parse(symbol, seconds, await ask(venue, call), now))
      found.push(...told)
      call = pages.next?.(call, told, from)
    }
    const { more } = pages
    const all =
      more === undefined ? found : rowsIn(more.parse(found, await ask(venue, more.call(symbol, seconds, from, to))))
    // A page may have more than was asked for; the reader leaves that out.
    rows.push(...all.filter((row) => !isFact(row) || (timeOf(row) >= from && timeOf(row) < to)))
    to = from
  }
  return { rows, from: depth }
}

function rowsIn(answer: RestAnswer<FactRow>): readonly FactRow[] {
  if (answer.kind !== 'rows') throw new Error(JSON.stringify(answer))
  return answer.rows
}

function timeOf(row: FactRow): number {
  if (!isFact(row)) return NaN
  if (row.kind === 'candle') return row.minute
  if (row.kind === 'derivative') return row.openInterest?.time ?? row.mark?.time ?? NaN
  return 'time' in row && row.time !== null ? row.time : NaN
}

/** Candles of both lengths, and all else, of every venue that has a past. */
const all = venues.flatMap(({ name, past, pastFacts = [] }) => [
  ...(past === undefined
    ? []
    : [3_600, 60].map((seconds) => [name, `candles of ${seconds} s`, past, seconds] as const)),
  ...pastFacts.map((own) => [name, own.name, own, own.seconds] as const),
])

describe('the past of a venue', () => {
  it('is told by all whose trades can count', () => {
    expect(venues.filter(({ trades, past }) => trades !== undefined && past === undefined)).toEqual([])
    const settled = venues.filter(({ pastFacts }) => pastFacts?.some(({ name }) => name === 'settlements') === true)
    expect(settled.map(({ name }) => name).toSorted()).toEqual(settlementVenues.toSorted())
    const perps = venues.filter(({ trades }) => trades?.market === 'perp')
    for (const { name, pastFacts } of perps)
      expect([name, pastFacts?.map((own) => own.name)]).toEqual([name, expect.arrayContaining(['settlements'])])
  })

  it.each(all)('of %s: %s, each time once over all pages, nothing refused', async (venue, _what, pages, seconds) => {
    const { rows, from } = await pagesOf(venue, pages, seconds)
    expect(rows.filter((row) => !isFact(row))).toEqual([])
    // Gate tells two ratios of a time, of positions and of heads.
    const told = rows.filter((row) => !('basis' in row) || row.basis === 'positions' || venue === 'bybit')
    // Settlements come up to some seconds late.
    const times = told.map((row) => Math.floor(timeOf(row) / 60_000_000) * 60).toSorted((a, b) => a - b)
    const step = seconds
    const expected = Array.from({ length: times.length }, (_, index) => from / 1_000_000 + index * step)
    expect(times).toEqual(expected)
    // Of candles the last one may not be over; of the others each step is there.
    const end = Math.floor((Date.now() * 1_000) / (step * 1_000_000)) * step
    expect(end - (times.at(-1) ?? 0)).toBeLessThanOrEqual(2 * step)
  })

  it.each([
    ['binance', []],
    ['bybit', { retCode: 0, result: { list: [] } }],
    ['okx', { code: '0', data: [] }],
  ])('of %s has the index beside the mark, by another call', async (venue, none) => {
    const prices = venues.find(({ name }) => name === venue)?.pastFacts?.find(({ name }) => name === 'prices')
    if (prices?.more === undefined) throw new Error('no prices')
    const { rows } = await pagesOf(venue, { ...prices, pageSize: 50, depth: 50 }, 3_600)
    const told = rows.filter((row) => isFact(row)).filter((row) => row.kind === 'derivative')
    expect(told).toHaveLength(50)
    for (const { mark } of told) expect(Math.abs(Number(mark?.mark) / Number(mark?.index) - 1)).toBeLessThan(0.01)
    const alone = told.map((row) => ({ ...row, mark: { ...row.mark, index: null } }))
    expect(prices.more.parse(told, none)).toEqual({ kind: 'rows', rows: alone })
  })

  it.each(fundingVenues)('of open interest on %s is no fact of now, which would be growth', async (venue) => {
    const now = Date.now()
    const polls = venues.find(({ name }) => name === venue)?.polls ?? []
    const told = await Promise.all(
      polls
        .filter(({ topic }) => topic === 'market.funding')
        .map(async (poll) => {
          const symbol = poll.scope.of === 'whole' ? poll.scope.symbol : (symbols[venue] ?? 'BTCUSDT')
          return rowsIn(poll.parse(symbol, await ask(venue, poll.call(symbol, now)), now))
        }),
    )
    const interests = told.flat().filter((row) => 'openInterest' in row)
    expect(interests.length).toBeGreaterThan(0)
    for (const row of interests) expect(timeOf(row)).toBeGreaterThan((now - 60_000) * 1_000)
  })

  it('of OKX says of hours what takers bought, by another call, and of no others', async () => {
    const takers = venues.flatMap(({ pastFacts = [] }) => pastFacts).find(({ name }) => name === 'takers')
    if (takers?.more === undefined) throw new Error('no takers')
    const { rows } = await pagesOf('okx', { ...takers, pageSize: 50, depth: 50 }, 3_600)
    const candles = rows.filter((row) => isFact(row)).filter((row) => row.kind === 'candle')
    expect(candles).toHaveLength(50)
    for (const { takerBuy, volume } of candles) {
      expect(Number(takerBuy)).toBeGreaterThan(0)
      expect(Number(takerBuy)).toBeLessThan(Number(volume))
    }
    const one = { code: '0', data: [[String(Number(candles[0]?.minute) / 1_000), '30', '10']] }
    const joined = takers.more.parse(candles, one)
    expect(joined.kind === 'rows' && joined.rows).toEqual([
      { ...candles[0], takerBuy: (Number(candles[0]?.volume) / 4).toFixed(8) },
    ])
    expect(takers.more.parse(candles, { code: '50011', data: [] })).toEqual({ kind: 'limited' })
  })

  it('is the same whenever it is asked for', async () => {
    const [one, other] = [venues.find(({ name }) => name === 'okx')?.pastFacts?.[1], 3_600] as const
    if (one === undefined) throw new Error('no past')
    const to = Math.floor((Date.now() * 1_000) / HOUR) * HOUR - HOUR
    const page = (): Promise<unknown> => ask('okx', one.call('BTC-USDT-SWAP', other, to - 48 * HOUR, to))
    expect(await page()).toEqual(await page())
  })
})
