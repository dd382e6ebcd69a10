import { describe, expect, it } from 'vitest'
import { pastFacts } from './past.ts'
import { minute, now, poll, refused, rowsOf } from './testing/polls.ts'

const past = pastFacts.find(({ name }) => name === 'open_interest')

describe('Binance open interest', () => {
  const body = { openInterest: '10659.509', symbol: 'BTCUSDT', time: 1589437530011 }

  it('is one-sided and in base units', () => {
    const openInterest = { size: '10659.509', time: 1589437530011000 }
    expect(rowsOf('open-interest', body)).toEqual([{ kind: 'derivative', symbol: 'BTCUSDT', openInterest }])
    expect(rowsOf('open-interest', { ...body, openInterest: '0' })).toMatchObject([{ openInterest: { size: '0' } }])
  })

  it.each([{ openInterest: 5 }, { openInterest: '-1' }, { symbol: 'ETHUSDT' }, { time: 1589437530 }])(
    'is refused with %o',
    (change) => {
      expect(rowsOf('open-interest', { ...body, ...change })).toEqual([refused])
    },
  )

  it('of the past is read the same, with its time as number or text', () => {
    const row = { symbol: 'BTCUSDT', sumOpenInterest: '4', sumOpenInterestValue: '250001', timestamp: minute }
    const read = (rows: readonly unknown[]): unknown => {
      const answer = past?.parse('BTCUSDT', past.seconds, rows, now)
      return answer?.kind === 'rows' ? answer.rows : answer
    }
    const fact = { kind: 'derivative', symbol: 'BTCUSDT', openInterest: { size: '4', time: minute * 1000 } }
    expect(read([row, { ...row, timestamp: String(minute) }])).toEqual([fact, fact])
    expect(read([{ ...row, sumOpenInterest: 4 }, { ...row, symbol: 'ETHUSDT' }, null])).toEqual([
      refused,
      refused,
      refused,
    ])
  })
})

describe('Binance top traders', () => {
  const row = {
    symbol: 'BTCUSDT',
    longShortRatio: '1.4342',
    longAccount: '0.5891',
    shortAccount: '0.4108',
    timestamp: '1583139600000',
  }

  it('are read by positions, with shares that add up to 1', () => {
    expect(poll('top-positions').call('币USDT', now)).toEqual({
      path: '/futures/data/topLongShortPositionRatio?symbol=%E5%B8%81USDT&period=5m&limit=3',
      cost: 11,
    })
    const fact = { kind: 'ratio', symbol: 'BTCUSDT', cohort: 'top_traders', basis: 'positions', ratio: 1.4342 }
    const long = 0.5891 / 0.9999
    const expected = { ...fact, long, short: 1 - long, time: 1583139600000000 }
    expect(rowsOf('top-positions', [row, { ...row, timestamp: 1583139600000 }])).toEqual([expected, expected])
  })

  it.each([
    { symbol: 'ETHUSDT' },
    { longShortRatio: '0' },
    { longAccount: 0.5891 },
    { shortAccount: '0.5' },
    { timestamp: 1583139600 },
    { timestamp: '' },
  ])('are refused with %o', (change) => {
    expect(rowsOf('top-positions', [{ ...row, ...change }, 5])).toEqual([refused, refused])
  })
})
