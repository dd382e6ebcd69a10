import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FactRow } from '../venues/events.ts'
import { tickersPoll, type Poll, type RestAnswer } from '../venues/venue.ts'
import { venues } from '../venues/venues.ts'
import { Poller, type PollHost } from './poller.ts'
import { hostNow } from './process-clock.ts'

const price: FactRow = { kind: 'ticker', symbol: 'BTCUSDT', time: null, last: '100' }
const call = { path: '/', cost: 1 }

/** A whole minute: where in its period a poll stands decides when it is due again. */
const MINUTE = 1_795_000_020_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: MINUTE })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A poll of one subject that is answered at once with whatever `body` is now. */
function started(poll: Poll, body: unknown) {
  const venue = { body, rows: 0, ended: 0 }
  const host: PollHost = {
    unavailable: false,
    get: (_call, parse) => Promise.resolve(parse(venue.body) as never),
  }
  const report = {
    rows: (_poll: Poll, rows: readonly FactRow[]) => void (venue.rows += rows.length),
    ended: () => void (venue.ended += 1),
  }
  const poller = new Poller(poll, 0, host, report, { next: () => undefined, has: () => false }, hostNow)
  poller.want(new Set(['BTCUSDT']))
  /** Goes on so long, and asks once more. */
  const askAfter = async (ms: number): Promise<string | undefined> => {
    vi.setSystemTime(Date.now() + ms)
    const before = venue.ended
    poller.tick()
    await vi.waitFor(() => expect(venue.ended).toBeGreaterThan(before))
    return poller.state?.state
  }
  return { venue, poller, askAfter }
}

/** One whose bodies are the rows themselves. */
function pollOf(over: Partial<Poll> = {}): Poll {
  const rows = (body: unknown): RestAnswer<FactRow> => ({ kind: 'rows', rows: body as FactRow[] })
  return { ...tickersPoll('SPOT', call, rows), ...over }
}

describe('a poll of a whole market’s prices', () => {
  const empty: Readonly<Record<string, unknown>> = {
    binance: [],
    bybit: { retCode: 0, retMsg: 'OK', result: { category: 'spot', list: [] }, time: 0 },
    okx: { code: '0', msg: '', data: [] },
    coinbase: { products: [] },
    kraken: { error: [], result: {} },
  }

  it.each(Object.entries(empty))('of %s does not live by an answer without a price', async (name, body) => {
    const poll = venues.find((venue) => venue.name === name)?.polls.find(({ topic }) => topic === 'market.tickers')
    if (poll === undefined) throw new Error(name)
    const { venue, poller, askAfter } = started(poll, body)
    expect(await askAfter(0)).toBe('connecting')
    expect([venue.rows, poller.answeredAt]).toEqual([0, 0])
  })

  it('does not live by rows that cannot be read, and lives by one price among them', async () => {
    const { venue, askAfter } = started(pollOf(), [{ refused: 'bad-field' }])
    expect(await askAfter(0)).toBe('connecting')
    venue.body = [{ refused: 'bad-field' }, price]
    expect(await askAfter(15_000)).toBe('live')
  })

  it('is down 15 s after the last price, whatever was answered since', async () => {
    const { venue, poller, askAfter } = started(pollOf(), [price])
    expect(await askAfter(0)).toBe('live')
    venue.body = []
    expect(await askAfter(14_000)).toBe('live')
    vi.setSystemTime(Date.now() + 2_000)
    expect(poller.state?.state).toBe('down')
  })
})

describe('a poll of the minutes that are over', () => {
  const candles = venues.find(({ name }) => name === 'okx')?.polls.find(({ topic }) => topic === 'market.candles')
  if (candles === undefined) throw new Error('no poll of candles')

  it('tells nothing before its first minute, is connecting from there on, and lives by its first answer', async () => {
    vi.setSystemTime(MINUTE + 10_000)
    const { venue, poller, askAfter } = started(candles, undefined)
    poller.tick()
    expect(poller.state).toBeUndefined()
    vi.setSystemTime(Date.now() + 54_000)
    expect(poller.state).toBeUndefined()
    expect(await askAfter(12_000)).toBe('connecting')
    venue.body = { code: '0', msg: '', data: [] }
    expect(await askAfter(60_000)).toBe('live')
  })

  it('is connecting once it was due, also where it could not be asked', () => {
    vi.setSystemTime(MINUTE + 10_000)
    const { poller } = started(candles, undefined)
    vi.setSystemTime(Date.now() + 67_000)
    expect(poller.state?.state).toBe('connecting')
  })
})

describe('a poll that may rightly find nothing', () => {
  it.each<[string, Partial<Poll>]>([
    ['of one market', { scope: { of: 'wanted', market: 'perp' }, topic: 'market.liquidations' }],
    ['of settlements in a quiet time', { mayBeEmpty: true, topic: 'market.funding' }],
  ])('(%s) lives by an empty answer', async (_what, over) => {
    const { askAfter } = started(pollOf(over), [])
    expect(await askAfter(0)).toBe('live')
  })

  it('is that of Binance’s settlements', () => {
    const polls = venues.flatMap((venue) => venue.polls.filter(({ mayBeEmpty }) => mayBeEmpty === true))
    expect(polls.map(({ name }) => name)).toEqual(expect.arrayContaining(['settlements', 'settlements-day']))
  })
})
