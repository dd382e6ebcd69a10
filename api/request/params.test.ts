import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ApiError } from './errors.ts'
import {
  batch,
  choice,
  choices,
  count,
  decimal,
  readParams,
  symbolList,
  symbolRule,
  timeRule,
  tokenRule,
  type Param,
  type Raw,
  type Rule,
} from './params.ts'

const input = {
  symbol: { in: 'path', rule: symbolRule, error: 'invalid_symbol', description: '', example: '' },
  period: {
    in: 'query',
    rule: choice(['1h', '4h'], '1h'),
    error: 'invalid_period',
    description: '',
    example: '',
  },
  limit: {
    in: 'query',
    rule: count({ min: 1, max: 1000, usual: 200 }),
    error: 'invalid_limit',
    description: '',
    example: '',
  },
  start: { in: 'query', rule: timeRule, error: 'invalid_range', description: '', example: '' },
} satisfies Record<string, Param>

function read(symbol: Raw, query: Record<string, Raw> = {}): unknown {
  try {
    return readParams(input, { symbol }, query)
  } catch (error) {
    return error instanceof ApiError ? `${error.code} ${error.detail.field}` : error
  }
}

/** What the rule gives of a text, or what it says of it. */
function valueOf(rule: Rule, value: Raw): unknown {
  const param: Param = { in: 'query', rule, error: 'invalid_symbols', description: '', example: '' }
  try {
    return readParams({ value: param }, {}, { value }).value
  } catch (error) {
    return error instanceof ApiError ? error.message : error
  }
}

describe('parameters', () => {
  it('have their defaults', () => {
    expect(read('btc')).toEqual({ symbol: 'BTC', period: '1h', limit: 200, start: undefined })
  })

  it('that nobody knows are ignored', () => {
    expect(read('BTC', { color: 'red' })).toMatchObject({ symbol: 'BTC' })
  })

  it.each<[string, Raw, Record<string, Raw>, string]>([
    ['an empty symbol', '', {}, 'invalid_symbol symbol'],
    ['a symbol of 21', 'A'.repeat(21), {}, 'invalid_symbol symbol'],
    ['a symbol with a blank', 'BT C', {}, 'invalid_symbol symbol'],
    ['a letter that grows when raised', 'ß', {}, 'invalid_symbol symbol'],
    ['a period that there is not', 'BTC', { period: '2h' }, 'invalid_period period'],
    ['an empty period', 'BTC', { period: '' }, 'invalid_period period'],
    ['a repeated one', 'BTC', { period: ['1h', '1h'] }, 'invalid_period period'],
    ['limit 0', 'BTC', { limit: '0' }, 'invalid_limit limit'],
    ['limit 1001', 'BTC', { limit: '1001' }, 'invalid_limit limit'],
    ['a broken limit', 'BTC', { limit: '1.5' }, 'invalid_limit limit'],
    ['a limit in other notation', 'BTC', { limit: '1e2' }, 'invalid_limit limit'],
    ['a time that is none', 'BTC', { start: 'yesterday' }, 'invalid_range start'],
  ])('refuse %s', (_, symbol, query, expected) => {
    expect(read(symbol, query)).toBe(expected)
  })

  it.each([
    ['limit 1', { limit: '1' }, { limit: 1 }],
    ['limit 1000', { limit: '1000' }, { limit: 1000 }],
    ['the other period', { period: '4h' }, { period: '4h' }],
    ['a zone whose + came as a blank', { start: '1970-01-01T02:00:01 02:00' }, { start: 1_000 }],
    ['Unix milliseconds', { start: '1700000000000' }, { start: 1_700_000_000_000 }],
  ])('take %s', (_, query, expected) => {
    expect(read('A'.repeat(20), query)).toMatchObject(expected)
  })

  it.each<[string, Rule, Raw, unknown]>([
    ['blanks and empty places of a list, each of it once', symbolList(2), ' btc,, ETH ,btc', ['BTC', 'ETH']],
    ['a list that is left out', choices(['a', 'b']), undefined, ['a', 'b']],
    ['symbols of the batch', batch(2), 'BTC,eth', ['btc', 'eth']],
    ['an id of 64', tokenRule, 'A'.repeat(64), 'a'.repeat(64)],
    ['a number without a zero', decimal({ min: 0, usual: 1 }), '.5', 0.5],
    ['an exponent in capitals', decimal({ min: 0, usual: 1 }), '5E-1', 0.5],
  ])('read %s', (_, rule, text, expected) => {
    expect(valueOf(rule, text)).toEqual(expected)
  })

  it.each<[string, Rule, Raw, RegExp]>([
    ['a list that is too long', symbolList(2), 'a,b,c', /^value must be 1 to 2 symbols/],
    ['a list of nothing', symbolList(2), ' , ', /^value must be 1 to 2 symbols/],
    ['a list that is repeated', symbolList(2), ['a', 'b'], /^value must be 1 to 2 symbols/],
    ['a symbol that the batch has not', batch(2), 'btc,XYZ', /^xyz is not supported: value must be 1 to 2 of btc,/],
    ['what is no symbol, which is not said back', batch(2), '<b>', /^value must be 1 to 2 of btc,/],
    ['an id of 65', tokenRule, 'a'.repeat(65), /^value must be a registry id/],
    ['a point alone', decimal({ min: 0, usual: 1 }), '.', /^value must be a number, 0 or more/],
    ['less than the least', decimal({ min: 1, usual: 1 }), '0.9', /^value must be a number, 1 or more/],
  ])('say what is wrong with %s', (_, rule, text, expected) => {
    expect(valueOf(rule, text)).toMatch(expected)
  })

  it('of path and query are never anything but a value or an ApiError', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (symbol, text) => {
        const result = read(symbol, { period: text, limit: text, start: text })
        expect(typeof result === 'string' || !(result instanceof Error)).toBe(true)
      }),
    )
  })
})
