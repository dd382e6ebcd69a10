import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Flow, Gap, Message, Trade } from '../../schemas/records.ts'
import { compare, lostAndDoubled, noHole, openGaps, type Accounts } from './compare.ts'
import { CoveredRanges, SeenIds, LogAccount } from './log-account.ts'
import { decimalOf, decimalOfSum, decimalText, placesOf, merged, without, type Totals } from './totals.ts'
import { FlowAccount } from './flow-account.ts'

const instrument = 'binance:perp:BTCUSDT'

function trade(more: Partial<Trade> = {}): Message {
  const id = more.first_id ?? 1
  const value: Trade = {
    instrument,
    asset: 'btc',
    first_id: id,
    last_id: id,
    count: 1,
    sequence: null,
    price: 100,
    size: 0.1,
    quote: 10,
    size_factor: 1,
    price_factor: 1,
    taker: 'buy',
    time: 1_000_000,
    received: 1_000_000,
    origin: 'stream',
    gap_id: null,
    ...more,
  }
  return { type: 'trade', value }
}

function flow(more: Partial<Flow> = {}): Message<'flow'> {
  const value: Flow = {
    asset: 'btc',
    instrument,
    bucket: 0,
    part: 0,
    buy: 0,
    sell: 0,
    buy_quote: 0,
    sell_quote: 0,
    buy_count: 0,
    sell_count: 0,
    open: 1,
    high: 1,
    low: 1,
    close: 1,
    open_time: 0,
    close_time: 0,
    first_id: 1,
    last_id: 1,
    final: false,
    v: 1,
    ...more,
  }
  return { type: 'flow', value }
}

function flowHour(more: Partial<Flow>): Message<'flow_hour'> {
  const { bucket, ...rest } = flow(more).value
  return { type: 'flow_hour', value: { ...rest, hour: bucket } }
}

function totals(count: number, buy: string, sell: string): Totals {
  return { count, buy: decimalOf(buy), sell: decimalOf(sell) }
}

describe('decimals', () => {
  it.each([
    ['0', '0'],
    ['1.50', '1.5'],
    ['-0.001', '-0.001'],
    ['1e-8', '0.00000001'],
    ['1.5e3', '1500'],
    ['123456789012345678.000000000000000001', '123456789012345678.000000000000000001'],
  ])('read %s and write it as %s', (text, written) => {
    expect(decimalText(decimalOf(text))).toBe(written)
  })

  it.each(['', 'x', '1,5', '0x10', '1e-30'])('refuse %s', (text) => {
    expect(() => decimalOf(text)).toThrow(RangeError)
  })

  it('know the places of a number', () => {
    expect([1, 0.001, 1e-8, 1.5e21].map(placesOf)).toEqual([0, 3, 8, 0])
  })

  it('find the exact sum behind a sum of doubles', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 1e9 }), { maxLength: 200 })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 0, max: 6 }), (units, places) => {
        const doubles = units.map((unit) => Number(`${unit}e-${places}`))
        const exact = units.reduce((sum, unit) => sum + decimalOf(`${unit}e-${places}`), 0n)
        expect(
          decimalOfSum(
            doubles.reduce((sum, value) => sum + value, 0),
            places,
          ),
        ).toBe(exact)
      }),
    )
  })
})

describe('covered ids', () => {
  it('count each id once, whatever the order and however often it comes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 60 })), (ids) => {
        const covered = new CoveredRanges()
        const fresh = ids.filter((id) => covered.add(id, id) === 'new')
        expect(fresh).toEqual([...new Set(ids)])
      }),
    )
  })

  it('refuse a range that is partly covered', () => {
    const covered = new CoveredRanges()
    expect(covered.add(10, 20)).toBe('new')
    expect([covered.add(15, 25), covered.add(5, 12), covered.add(5, 30), covered.add(12, 18)]).toEqual([
      'partly',
      'partly',
      'partly',
      'duplicate',
    ])
  })

  it('take an unordered id as known within the bucket of its trade only', () => {
    const seen = new SeenIds()
    expect([seen.add(7, 1), seen.add(7, 9_999_999), seen.add(7, 10_000_000)]).toEqual(['new', 'duplicate', 'new'])
  })
})

describe('the account of the log', () => {
  it('sums exactly and once', () => {
    const account = new LogAccount()
    for (const id of [1, 2, 3, 3, 1]) account.add(trade({ first_id: id, last_id: id }))
    account.add(trade({ first_id: 4, last_id: 4, taker: 'sell', size: 1e-8 }))
    expect(account.instruments.get(instrument)).toMatchObject({
      totals: totals(4, '0.3', '0.00000001'),
      duplicates: 2,
      places: 8,
    })
  })

  it('leaves out what is not in its window, and tells what lies in a gap', () => {
    const account = new LogAccount({ from: 0, to: 30 }, new Map([[instrument, [{ from: 10, to: 20 }]]]))
    for (const [id, time] of [
      [1, 9],
      [2, 10],
      [3, 20],
      [4, 21],
      [5, 30],
    ] as const)
      account.add(trade({ first_id: id, last_id: id, time }))
    expect(account.instruments.get(instrument)).toMatchObject({
      totals: totals(4, '0.4', '0'),
      leftOut: totals(2, '0.2', '0'),
    })
  })
})

describe('the account of the flow', () => {
  it('takes the last value of a key and adds up keys', () => {
    const account = new FlowAccount()
    account.add('a', flow({ buy: 0.1, buy_count: 1, v: 1 }))
    account.add('a', flow({ buy: 0.1 + 0.2, buy_count: 2, v: 2 }))
    account.add('b', flow({ bucket: 10_000_000, sell: 0.7, sell_count: 1, v: 3 }))
    expect(account.totals(() => 1).get(instrument)).toEqual(totals(3, '0.3', '0.7'))
    expect(account.totals(() => 1, { from: 0, to: 10_000_000 }).get(instrument)).toEqual(totals(2, '0.3', '0'))
    expect(account.stale).toBe(0)
  })

  it('notices an older version behind a newer one', () => {
    const account = new FlowAccount()
    account.add('a', flow({ v: 2 }))
    account.add('a', flow({ v: 1 }))
    expect(account.stale).toBe(1)
    account.add('a', flow({ v: 2 }))
    expect(account.stale).toBe(0)
  })

  it('notices an hour that does not hold what its closed buckets hold', () => {
    const account = new FlowAccount()
    account.add('hour', flowHour({ buy_count: 3 }))
    account.add('a', flow({ buy_count: 2, final: true }))
    account.add('b', flow({ bucket: 10_000_000, buy_count: 1 }))
    expect(account.sumsOff).toBe(1)
    account.add('b', flow({ bucket: 10_000_000, buy_count: 1, final: true }))
    expect(account.sumsOff).toBe(0)
  })

  it('notices five minutes that are over and do not hold what their buckets hold', () => {
    const account = new FlowAccount()
    account.add('a', flow({ buy_count: 2, final: true }))
    account.add('hour', flowHour({ buy_count: 2 }))
    expect(account.sumsOff).toBe(0)
    account.add('b', flow({ bucket: 300_000_000, buy_count: 1, final: true }))
    account.add('hour', flowHour({ buy_count: 3 }))
    expect(account.sumsOff).toBe(1)
    const { bucket: start, final: _, ...five } = flow({ buy_count: 2 }).value
    account.add('five', { type: 'flow_five', value: { ...five, start } })
    expect(account.sumsOff).toBe(0)
  })

  it.each([
    ['no hour', undefined, 1],
    ['an hour of the same', {}, 0],
    ['an hour of fewer trades', { buy_count: 2 }, 1],
    ['an hour of other volumes', { buy: 999 }, 1],
    ['an hour of the other sides', { buy: 2, sell: 1 }, 1],
  ])('holds what closed buckets hold against %s', (_what, more, off) => {
    const account = new FlowAccount()
    const held = { buy: 1, sell: 2, buy_count: 3, sell_count: 4, final: true }
    account.add('bucket', flow(held))
    account.add('open', flow({ ...held, bucket: 3_600_000_000, final: false }))
    if (more !== undefined) account.add('hour', flowHour({ ...held, ...more }))
    expect(account.sumsOff).toBe(off)
  })

  it('takes the same sizes for equal in whichever order they were added up, and no others', () => {
    const unitsOfBuckets = fc.array(fc.array(fc.integer({ min: 1, max: 1e9 }), { minLength: 1, maxLength: 20 }), {
      minLength: 1,
      maxLength: 20,
    })
    fc.assert(
      fc.property(unitsOfBuckets, fc.integer({ min: 0, max: 4 }), fc.boolean(), (buckets, places, isOne) => {
        const sumOf = (units: readonly number[]): number => units.reduce((sum, each) => sum + each / 10 ** places, 0)
        const account = new FlowAccount()
        for (const [at, units] of buckets.entries())
          account.add(
            `${at}`,
            flow({ bucket: at * 10_000_000, buy: sumOf(units), buy_count: units.length, final: true }),
          )
        const units = buckets.flat()
        const buy = sumOf(units.toReversed()) + (isOne ? 10 ** -places : 0)
        account.add('hour', flowHour({ buy, buy_count: units.length }))
        expect(account.sumsOff).toBe(isOne ? 1 : 0)
      }),
    )
  })
})

describe('the comparison', () => {
  const same = totals(3, '1.5', '2')
  const equal: Accounts = {
    instrument,
    source: same,
    log: same,
    clickhouse: same,
    flow: same,
    gaps: [],
    leftOut: [],
    inGaps: noHole,
  }

  it.each<[string, Partial<Accounts>, string]>([
    ['equal accounts are OK', {}, 'OK'],
    ['one trade less in one account is WRONG', { flow: totals(2, '1', '2') }, 'WRONG'],
    ['a volume that differs is WRONG', { clickhouse: totals(3, '1.500000000001', '2') }, 'WRONG'],
    ['an instrument that the source does not know is WRONG', { source: undefined }, 'WRONG'],
    [
      'what is missing in a gap is explained',
      { source: totals(5, '3.5', '2'), inGaps: { ...noHole, source: totals(2, '2', '0') } },
      'explained by gap',
    ],
    [
      'what is missing beside a gap is WRONG',
      { source: totals(6, '3.5', '2'), inGaps: { ...noHole, source: totals(2, '2', '0') } },
      'WRONG',
    ],
    [
      'what one account has of a time that the log has lost, and another has not, is explained',
      {
        source: totals(5, '3.5', '2'),
        flow: totals(4, '2.5', '2'),
        inGaps: { ...noHole, source: totals(2, '2', '0'), flow: totals(1, '1', '0') },
      },
      'explained by gap',
    ],
    ['a source without counts is compared by volumes', { source: { buy: same.buy, sell: same.sell } }, 'OK'],
    ['a source without sides is compared by volume', { source: { volume: decimalOf('3.5') } }, 'OK'],
    ['a volume without sides that differs is WRONG', { source: { volume: decimalOf('3') } }, 'WRONG'],
  ])('%s', (_what, more, verdict) => {
    expect(compare({ ...equal, ...more }).verdict).toBe(verdict)
  })

  it('says how many trades were lost and doubled', () => {
    const rows = [
      { ...equal, log: totals(1, '1', '0') },
      { ...equal, flow: totals(7, '9', '2') },
    ].map(compare)
    expect(lostAndDoubled(rows)).toEqual({ lost: 2, doubled: 4 })
  })

  it('takes every gap that is not filled as a reason', () => {
    const states: readonly Gap['state'][] = ['opened', 'filled', 'unfillable']
    const gaps = states.map((state) => ({ state }) as Gap)
    expect(openGaps(gaps).map((gap) => gap.state)).toEqual(['opened', 'unfillable'])
  })

  it('takes a gap of the feeds out only where the log has lost nothing', () => {
    const gaps = [
      { from: 1, to: 9 },
      { from: 20, to: 30 },
    ]
    const lost = [
      { from: 5, to: 6 },
      { from: 15, to: 22 },
    ]
    expect(without(gaps, lost)).toEqual([
      { from: 1, to: 4 },
      { from: 7, to: 9 },
      { from: 23, to: 30 },
    ])
    expect(without(gaps, [{ from: 0, to: 40 }])).toEqual([])
  })

  it('does not take out twice what two gaps overlap', () => {
    expect(
      merged([
        { from: 5, to: 9 },
        { from: 1, to: 6 },
        { from: 20, to: 30 },
      ]),
    ).toEqual([
      { from: 1, to: 9 },
      { from: 20, to: 30 },
    ])
  })
})
