import { describe, expect, it } from 'vitest'
import { listing } from './trades.ts'
import { topTraders } from './venue.ts'

const now = 1720000000000
const stats = {
  time: 1603865400,
  lsr_taker: 1.23,
  lsr_account: 1.01,
  top_lsr_account: 1.5,
  top_lsr_size: 0.25,
  open_interest: 124724,
  mark_price: 8865,
}
const ratio = { kind: 'ratio', symbol: 'BTC_USDT', cohort: 'top_traders', time: 1603865400000000 }
const positions = { ...ratio, basis: 'positions', long: 0.2, short: 0.8, ratio: 0.25 }
const accounts = { ...ratio, basis: 'accounts', long: 0.6, short: 0.4, ratio: 1.5 }
const refused = { refused: 'bad-field' }
const rowsOf = (...rows: unknown[]): unknown => {
  const answer = topTraders.parse('BTC_USDT', rows, now)
  return answer.kind === 'rows' ? answer.rows : answer
}

describe('Gate’s top traders', () => {
  it('are read by positions and by accounts', () => {
    expect(topTraders.call('BTC_USDT', now)).toEqual({
      path: '/api/v4/futures/usdt/contract_stats?contract=BTC_USDT&interval=5m&limit=3',
      cost: 1,
    })
    expect(rowsOf(stats)).toEqual([positions, accounts])
  })

  it('are read from texts too', () => {
    expect(rowsOf({ ...stats, time: '1603865400', top_lsr_size: '0.25', top_lsr_account: '1.5' })).toEqual([
      positions,
      accounts,
    ])
  })

  it('have shares that add up to 1 whatever the ratio', () => {
    for (const top_lsr_size of [1e-7, 0.0001, 0.3333333333333, 1, 1.1478411412672174, 31, 12345.678])
      expect(rowsOf({ ...stats, top_lsr_size })).toEqual([
        expect.toSatisfy(({ long, short }: { long: number; short: number }) => long > 0 && long + short === 1),
        accounts,
      ])
  })

  it.each([0, '0', '', null, undefined, -1, Infinity, NaN, 'many', {}])('of %o are refused alone', (top_lsr_size) => {
    expect(rowsOf({ ...stats, top_lsr_size })).toEqual([refused, accounts])
    expect(rowsOf({ ...stats, top_lsr_account: top_lsr_size })).toEqual([positions, refused])
  })

  it.each([undefined, null, '', 1603865400.5, 1603865400000, 'now'])('of the time %o are refused', (time) => {
    expect(rowsOf({ ...stats, time }, null, stats)).toEqual([refused, refused, positions, accounts])
  })

  it.each([
    [{ label: 'TOO_MANY_REQUESTS', message: 'Request Rate limit Exceeded' }, { kind: 'limited' }],
    [
      { label: 'CONTRACT_NOT_FOUND', message: 'no such contract' },
      { kind: 'error', code: 'CONTRACT_NOT_FOUND', message: 'no such contract' },
    ],
    ['<html>', { kind: 'error', code: 'bad-body', message: 'an array expected' }],
  ])('are refused as the venue says in %o', (body, answer) => {
    expect(topTraders.parse('BTC_USDT', body, now)).toEqual(answer)
  })
})

describe('Gate’s list', () => {
  const btc = {
    name: 'BTC_USDT',
    type: 'direct',
    contract_type: '',
    quanto_multiplier: '0.0001',
    order_price_round: '0.1',
    status: 'trading',
    in_delisting: false,
    is_pre_market: false,
  }
  const symbolsOf = (...rows: unknown[]): unknown => {
    const answer = listing.parse(rows)
    return answer.kind === 'rows' ? answer.rows.map(({ symbol, live }) => [symbol, live]) : answer
  }

  it('has contract sizes, as texts or numbers, and multipliers of names', () => {
    expect(
      listing.parse([btc, { ...btc, name: '1000PEPE_USDT', quanto_multiplier: 10, order_price_round: 0.0001 }]),
    ).toEqual({
      kind: 'rows',
      rows: [
        {
          symbol: 'BTC_USDT',
          base: 'BTC',
          quote: 'USDT',
          settle: 'USDT',
          sizeFactor: 0.0001,
          priceFactor: 1,
          tick: 0.1,
          live: true,
        },
        expect.objectContaining({ base: 'PEPE', sizeFactor: 10_000, priceFactor: 1000, tick: 0.0001 }),
      ],
    })
  })

  it('has coins only, and says which are not live', () => {
    expect(
      symbolsOf(
        btc,
        { ...btc, name: 'A_USDT', in_delisting: true },
        { ...btc, name: 'B_USDT', is_pre_market: true },
        { ...btc, name: 'C_USDT', status: 'delisted' },
        { ...btc, name: 'BABA_USDT', contract_type: 'stocks' },
        { ...btc, name: 'BTC_USD', type: 'inverse' },
        { ...btc, name: 'D_USDT', quanto_multiplier: '0' },
        null,
      ),
    ).toEqual([
      ['BTC_USDT', true],
      ['A_USDT', false],
      ['B_USDT', false],
      ['C_USDT', false],
    ])
  })

  it('is priced in one call', () => {
    const rows = [{ contract: 'BTC_USDT', last: '66759.1' }, { contract: 'X_USDT', last: '0' }, 7]
    expect(listing.prices?.parse(rows)).toEqual({ kind: 'rows', rows: [{ symbol: 'BTC_USDT', price: 66759.1 }] })
  })
})
