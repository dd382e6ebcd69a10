import { describe, expect, it } from 'vitest'
import type { FactRow } from '../events.ts'
import type { Poll, RestAnswer } from '../venue.ts'
import { okx } from './venue.ts'

const symbol = 'BTC-USDT-SWAP'
/** 2026-11-20T10:30:20Z: the last settlement was at 8:00. */
const now = Date.UTC(2026, 10, 20, 10, 30, 20)
const [ts, time] = [String(now), now * 1_000]

function poll(name: string): Poll {
  const found = okx.polls.find((one) => one.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

const body = (...data: readonly unknown[]): unknown => ({ code: '0', msg: '', data })

function rows(answer: RestAnswer<FactRow>): readonly FactRow[] {
  return answer.kind === 'rows' ? answer.rows : []
}

describe('OKX’s past', () => {
  const premium = (ms: number, value = '0.0001'): unknown => ({ instId: symbol, premium: value, ts: String(ms) })
  const minute = Date.UTC(2026, 10, 20, 10, 30)

  it('of the premium is the last value of each minute that is over', () => {
    const list = [
      premium(now),
      premium(minute - 1, '-0.3'),
      premium(minute - 30_000, '-0.2'),
      premium(minute - 60_001, '0.1'),
    ]
    expect(rows(poll('premium').parse(symbol, body(...list), now))).toEqual([
      { kind: 'derivative', symbol, premium: { premium: '0.1', time: (minute - 120_000) * 1_000 } },
      { kind: 'derivative', symbol, premium: { premium: '-0.3', time: (minute - 60_000) * 1_000 } },
    ])
  })

  it('of the premium is read from the last settlement on, window by window until now', () => {
    let call = poll('premium-past').call(symbol, now)
    const times: number[] = []
    for (let pages = 0; pages < 9; pages++) {
      const query = new URLSearchParams(call.path.split('?')[1])
      const [before, after] = [Number(query.get('before')), Number(query.get('after'))]
      const all = Array.from({ length: 1_000 }, (_, n) => minute + 4_000 - n * 60_000)
      const page = all.filter((ms) => ms > before && ms < after).slice(0, 100)
      const answer = poll('premium-past').parse(symbol, body(...page.map((ms) => premium(ms))), now)
      times.push(
        ...rows(answer).flatMap((row) => ('kind' in row && row.kind === 'derivative' ? (row.premium?.time ?? []) : [])),
      )
      if (answer.kind !== 'rows' || answer.next === undefined) break
      call = answer.next
    }
    // 8:00 to 10:29, each minute once, in order.
    expect(times).toEqual(Array.from({ length: 150 }, (_, n) => (Date.UTC(2026, 10, 20, 8) + n * 60_000) * 1_000))
  })

  it('of the premium ends where the venue has no more', () => {
    expect(poll('premium-past').parse(symbol, body(), now)).toEqual({ kind: 'rows', rows: [] })
  })

  it('of funding is what was realised, oldest first', () => {
    const settled = {
      instId: symbol,
      instType: 'SWAP',
      fundingRate: '0.0002',
      realizedRate: '0.0001',
      fundingTime: '1795190400000',
    }
    const old = { instId: symbol, fundingRate: '-0.0003', fundingTime: '1795161600000' }
    expect(rows(poll('settlements').parse(symbol, body(settled, old), now))).toEqual([
      { kind: 'settlement', symbol, rate: '-0.0003', mark: null, time: 1_795_161_600_000_000 },
      { kind: 'settlement', symbol, rate: '0.0001', mark: null, time: 1_795_190_400_000_000 },
    ])
  })

  it('of top traders is a ratio and its two shares, which add up to one', () => {
    const [row] = rows(poll('top-traders').parse(symbol, body([ts, '1.5']), now))
    expect(row).toEqual({
      kind: 'ratio',
      symbol,
      cohort: 'top_traders',
      basis: 'positions',
      long: 0.6,
      short: 0.4,
      ratio: 1.5,
      time,
    })
    expect(rows(poll('top-traders').parse(symbol, body([ts, '0'], ['x', '1'], 7), now))).toEqual(
      Array.from({ length: 3 }, () => ({ refused: 'bad-field' })),
    )
  })

  it('of trades is candles that the venue calls completed, in contracts', () => {
    const row = [ts, '2', '4', '1', '3', '1040.37', '10.4037', '31', '1']
    expect(rows(poll('candles').parse(symbol, body(row.with(8, '0'), row, row.with(8, '')), now))).toEqual([
      { refused: 'bad-field' },
      {
        kind: 'candle',
        symbol,
        minute: time,
        open: '2',
        high: '4',
        low: '1',
        close: '3',
        volume: '1040.37',
        takerBuy: null,
        trades: null,
      },
    ])
  })

  it('of a spot market is looked up between two times that are outside of it', () => {
    const minute = time - 20_000_000
    const path = okx.candles?.call('BTC-USDT', 60, minute, minute + 60_000_000).path ?? ''
    const query = new URLSearchParams(path.split('?')[1])
    expect([query.get('before'), query.get('after')].map(Number)).toEqual([now - 20_001, now + 40_000])
  })
})

describe('OKX’s list of spot pairs', () => {
  it('is those in USDT and USDC', () => {
    const pair = {
      instType: 'SPOT',
      instId: 'BTC-USDT',
      baseCcy: 'BTC',
      quoteCcy: 'USDT',
      state: 'live',
      tickSz: '0.1',
    }
    const list = [
      pair,
      { ...pair, instId: 'BTC-USDC', quoteCcy: 'USDC', state: 'suspend' },
      { ...pair, quoteCcy: 'EUR' },
      { ...pair, instCategory: '3' },
    ]
    expect(okx.listings[0]?.listing.parse(body(...list))).toMatchObject({
      rows: [
        { symbol: 'BTC-USDT', base: 'BTC', quote: 'USDT', sizeFactor: 1, priceFactor: 1, tick: 0.1, live: true },
        { symbol: 'BTC-USDC', live: false },
      ],
    })
  })
})

describe('OKX’s refusals', () => {
  it.each(okx.polls.map(({ name }) => name))('of %s are told from answers', (name) => {
    expect(poll(name).parse(symbol, { code: '50011', msg: 'Too Many Requests', data: [] }, now)).toEqual({
      kind: 'limited',
    })
    expect(poll(name).parse(symbol, { code: '51001', msg: 'no', data: [] }, now)).toMatchObject({ code: '51001' })
    expect(poll(name).parse(symbol, [], now)).toMatchObject({ code: 'bad-body' })
  })

  it('keep each call below its own limit, whatever else is asked for', () => {
    const rest = okx.budgets.rest
    const inTwoSeconds = (rest?.capacity ?? 0) + 2 * (rest?.refillPerSecond ?? Infinity)
    const limits = {
      'funding-rate': 10,
      'mark-price': 10,
      'open-interest': 20,
      'index-price': 20,
      premium: 20,
      'premium-past': 20,
      settlements: 10,
      candles: 40,
      'spot-tickers': 20,
    }
    for (const [name, limit] of Object.entries(limits))
      expect(inTwoSeconds / poll(name).call(symbol, now).cost).toBeLessThanOrEqual(limit)
  })
})
