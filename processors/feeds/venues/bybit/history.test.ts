import { describe, expect, it } from 'vitest'
import type { FactRow } from '../events.ts'
import type { Poll, RestAnswer } from '../venue.ts'
import { bybit } from './venue.ts'

/** 2026-11-20T10:30:20Z: the last settlement was at 8:00. */
const now = Date.UTC(2026, 10, 20, 10, 30, 20)
const at = now * 1_000

function poll(name: string): Poll {
  const found = bybit.polls.find((one) => one.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

function body(list: readonly unknown[], more: object = {}): unknown {
  return { retCode: 0, retMsg: 'OK', result: { symbol: 'BTCUSDT', list, ...more }, time: now }
}

function rows(answer: RestAnswer<FactRow>): readonly FactRow[] {
  return answer.kind === 'rows' ? answer.rows : []
}

describe('Bybit’s past', () => {
  it('of the premium begins at the last time at which all have settled', () => {
    const { path } = poll('premium-past').call('BTCUSDT', now)
    expect(new URLSearchParams(path).get('start')).toBe(String(Date.UTC(2026, 10, 20, 8)))
  })

  it('of the premium is closes of closed minutes, oldest first', () => {
    const minute = Date.UTC(2026, 10, 20, 10, 30)
    const list = [0, 1, 2].map((n) => [String(minute - n * 60_000), '0', '0', '0', `-0.000${n}`])
    expect(rows(poll('premium').parse('BTCUSDT', body(list), now))).toEqual(
      [2, 1].map((n) => ({
        kind: 'derivative',
        symbol: 'BTCUSDT',
        premium: { premium: `-0.000${n}`, time: (minute - n * 60_000) * 1_000 },
      })),
    )
  })

  it('of funding is what was paid, oldest first', () => {
    const list = ['1795161600000', '1795132800000'].map((fundingRateTimestamp) => {
      return { symbol: 'BTCUSDT', fundingRate: '-0.0001', fundingRateTimestamp }
    })
    expect(rows(poll('settlements').parse('BTCUSDT', body(list), now))).toMatchObject([
      { kind: 'settlement', rate: '-0.0001', time: 1_795_132_800_000_000 },
      { time: 1_795_161_600_000_000 },
    ])
    expect(rows(poll('settlements').parse('ETHUSDT', body(list), now))).toEqual(
      list.map(() => ({ refused: 'bad-field' })),
    )
  })

  it('of trades is candles of closed minutes, also of one without a trade', () => {
    const start = String(now - 90_000)
    const list = [
      [String(now), '1', '1', '1', '1', '3', '3'],
      [start, '2', '4', '1', '3', '0', '0'],
    ]
    expect(rows(poll('candles').parse('BTCUSDT', body(list), now))).toEqual([
      {
        kind: 'candle',
        symbol: 'BTCUSDT',
        minute: (now - 90_000) * 1_000,
        open: '2',
        high: '4',
        low: '1',
        close: '3',
        volume: '0',
        takerBuy: null,
        trades: null,
      },
    ])
  })

  it('of a spot market is looked up by whole minutes', () => {
    const minute = at - 20_000_000
    const path = bybit.candles?.call('BTCUSDT', 60, minute, minute + 60_000_000).path ?? ''
    const query = new URLSearchParams(path.split('?')[1])
    expect(query.get('category')).toBe('spot')
    expect([query.get('start'), query.get('end')].map(Number)).toEqual([now - 20_000, now + 39_999])
  })

  it('of another symbol is refused', () => {
    expect(poll('candles').parse('ETHUSDT', body([]), now)).toMatchObject({ kind: 'error', code: 'bad-body' })
  })
})

describe('Bybit’s terms', () => {
  const contract = {
    symbol: 'BTCUSDT',
    contractType: 'LinearPerpetual',
    settleCoin: 'USDT',
    fundingInterval: 240,
    upperFundingRate: '0.005',
    lowerFundingRate: '-0.005',
    leverageFilter: { maxLeverage: '100.00' },
  }

  it('are an interval in hours, cap, floor, interest a day and highest leverage; the list goes on where it says so', () => {
    const list = [contract, { ...contract, settleCoin: 'USDC' }, { ...contract, contractType: 'LinearFutures' }]
    expect(poll('terms').parse('linear', body(list, { nextPageCursor: 'a=b' }), now)).toEqual({
      kind: 'rows',
      rows: [
        {
          kind: 'terms',
          symbol: 'BTCUSDT',
          intervalHours: 4,
          cap: 0.005,
          floor: -0.005,
          interestDaily: 0.0003,
          maxLeverage: 100,
        },
      ],
      next: { path: '/v5/market/instruments-info?category=linear&limit=1000&cursor=a%3Db', cost: 1 },
    })
  })

  const limit = {
    symbol: 'BTCUSDT',
    riskLimitValue: '2000000',
    maintenanceMargin: '0.005',
    initialMargin: '0.01',
    maxLeverage: '100.00',
    mmDeduction: '',
  }
  const second = {
    ...limit,
    riskLimitValue: '4000000',
    maintenanceMargin: '0.01',
    initialMargin: '0.02',
    maxLeverage: '50.00',
    mmDeduction: '10000',
  }

  it('are the tiers of margin, ascending, as fractions whether the venue writes fractions or percent', () => {
    const percent = { ...limit, maintenanceMargin: 0.5, initialMargin: 1 }
    const tiers = [
      { upTo: 2_000_000, rate: 0.005, deduction: 0 },
      { upTo: 4_000_000, rate: 0.01, deduction: 10_000 },
    ]
    for (const first of [limit, percent])
      expect(rows(poll('risk-limits').parse('BTCUSDT', body([second, first]), now))).toEqual([
        { kind: 'terms', symbol: 'BTCUSDT', tiers },
      ])
  })

  it('are none where a tier cannot be read', () => {
    for (const list of [[], [limit, { ...limit, maxLeverage: '' }]])
      expect(rows(poll('risk-limits').parse('BTCUSDT', body(list), now))).toEqual([{ refused: 'bad-field' }])
  })
})

describe('Bybit’s refusals', () => {
  it.each(bybit.polls.map(({ name }) => name))('of %s are told from answers', (name) => {
    expect(poll(name).parse('BTCUSDT', { retCode: 10006, retMsg: 'Too many visits!' }, now)).toEqual({
      kind: 'limited',
    })
    expect(poll(name).parse('BTCUSDT', { retCode: 10001, retMsg: 'params error' }, now)).toMatchObject({
      code: '10001',
    })
    expect(poll(name).parse('BTCUSDT', 'x', now)).toMatchObject({ code: 'bad-body' })
  })
})
