import { describe, expect, it } from 'vitest'
import type { CompositePrice, Message } from '../../schemas/records.ts'
import { CoreTestDriver, only } from '../kernel/testing/core-test-driver.ts'
import { at, live, mark, markets, range, SECOND, T0, ticker } from './testing/records.ts'
import { prices } from './prices.ts'

const fed = (): CoreTestDriver<ReturnType<typeof prices.empty>> => new CoreTestDriver(prices, 'market.tickers')
const told = (given: ReturnType<typeof fed>): CompositePrice[] => only(given.take(), 'composite_price')
const by = (writer: string, { value }: Message<'mark'>): Message<'mark'> => ({
  type: 'mark',
  value: { ...value, writer },
})
const venuesOf = (price: CompositePrice | undefined): string[] => price?.sources.map(({ exchange }) => exchange) ?? []

describe('the composite price', () => {
  it('is the median of the venues, one record for each ticker', () => {
    const given = fed().batch(at('binance', 100, 0), at('kraken', 104, 1), at('okx', 101, 2))
    expect(told(given).map(({ price }) => price)).toEqual([100, 102, 101])
  })

  it.each<[string, boolean, Parameters<typeof ticker>[0]]>([
    ['not told again where nothing has changed', false, { received: T0 + 0.999 * SECOND }],
    ['told again after a second', true, { received: T0 + SECOND }],
    ['told where it was elsewhere meanwhile, above', true, { high: 101 }],
    ['told where it was elsewhere meanwhile, below', true, { low: 99 }],
    ['told where it is another', true, { price: 100.01 }],
    ['told where another venue counts', true, { instrument: markets.okx }],
  ])('is %s', (_, isTold, fields) => {
    const given = fed().batch(ticker())
    given.take()
    expect(told(given.batch(ticker({ received: T0 + 0.5 * SECOND, ...fields })))).toHaveLength(isTold ? 1 : 0)
  })

  it('is told where only its quality has changed', () => {
    const given = fed().batch(at('binance', 100, 0), at('kraken', 100, 0), at('okx', 100, 0))
    given.take()
    expect(told(given.batch(at('okx', 102, 0.5)))).toMatchObject([{ price: 100, quality: 'degraded' }])
  })

  it('counts the second from what was told, also behind a restart', () => {
    const given = fed().batch(ticker()).restart()
    given.take()
    expect(told(given.batch(ticker({ received: T0 + 0.6 * SECOND })))).toEqual([])
    expect(told(given.restart().batch(ticker({ received: T0 + SECOND })))).toHaveLength(1)
  })

  it('names its sources in the chain’s order, with price, market and venue time', () => {
    const [, price] = told(fed().batch(at('kraken', 104, 0), at('binance', 100, 1)))
    expect(venuesOf(price)).toEqual(['binance', 'kraken'])
    expect(price?.sources[0]).toEqual({
      exchange: 'binance',
      instrument: markets.binance,
      price: 100,
      low: 100,
      high: 100,
      time: T0 + SECOND - 50_000,
    })
    expect(price).toMatchObject({ asset: 'btc', late: false, time: T0 + SECOND })
  })

  it('turns each quote into USD by the rate that the ticker carries', () => {
    const [price] = told(fed().batch(ticker({ price: 100, low: 90, high: 110, quote_usd: 0.98 })))
    expect(price).toMatchObject({ price: 98, low: 90 * 0.98, high: 110 * 0.98 })
  })

  it('has no digits that only binary arithmetic made', () => {
    const [converted] = told(fed().batch(ticker({ price: 82_001, low: 82_000.9, quote_usd: 1.0003 })))
    expect(converted).toMatchObject({ price: 82_025.6003, low: 82_025.50027 })
    const [, middle] = told(fed().batch(at('binance', 82_258.64, 0), at('kraken', 82_259.63, 0)))
    expect(middle?.price).toBe(82_259.135)
  })

  it.each([
    ['one source is degraded', [100], 'degraded'],
    ['two sources exactly 1 % apart are good', [100, 101], 'good'],
    ['two sources just over 1 % apart are degraded', [100, 101.01], 'degraded'],
    ['one of three that is far off degrades', [100, 100, 102], 'degraded'],
  ])('quality: %s', (_, values, quality) => {
    const venues = ['binance', 'coinbase', 'okx'] as const
    const given = fed().batch(...values.map((price, n) => at(venues[n] ?? 'kraken', price, n)))
    expect(told(given).at(-1)?.quality).toBe(quality)
  })

  it('has the median of the venues’ own changes, leaving out who says none', () => {
    const given = fed().batch(
      ticker({ change_24h: 1 }),
      ticker({ instrument: markets.okx, change_24h: null }),
      ticker({ instrument: markets.bybit, change_24h: 4 }),
    )
    expect(told(given).map(({ change_24h }) => change_24h)).toEqual([1, 1, 2.5])
  })

  it('is made for the stable coins too', () => {
    const [price] = told(fed().batch(ticker({ asset: 'usdt', instrument: 'kraken:spot:USDT/USD', price: 0.9991 })))
    expect(price).toMatchObject({ asset: 'usdt', price: 0.9991 })
  })
})

describe('lows and highs', () => {
  const wick = (venue: keyof typeof markets, seconds: number) =>
    ticker({ instrument: markets[venue], price: 100, low: 90, received: T0 + seconds * SECOND })

  it('show a wick that most venues had, although their tickers come one by one', () => {
    const venues = ['binance', 'coinbase', 'okx'] as const
    const given = fed().batch(...venues.map((venue, n) => at(venue, 100, n / 10)))
    given.take()
    given.batch(...venues.map((venue, n) => wick(venue, 1 + n / 10)))
    expect(told(given).map(({ low }) => low)).toEqual([90, 90]) // the first alone is no wick of the median
  })

  it('do not show the wick of one venue alone', () => {
    const given = fed().batch(at('okx', 100, 0), at('bybit', 100, 0), at('binance', 100, 0), wick('binance', 1))
    expect(told(given).at(-1)).toMatchObject({ low: 100, price: 100 })
  })

  it('look back on the time of the ticker that they follow from, at most 5 s', () => {
    const given = fed().batch(at('okx', 100, 0), wick('binance', 2))
    given.take()
    expect(told(given.batch(at('okx', 100, 7)))[0]?.low).toBe(100)
    expect(told(given.batch(wick('binance', 8), at('okx', 100, 12.9)))[1]?.low).toBe(95)
  })
})

describe('a venue counts', () => {
  it.each([
    ['for 15 s after its ticker', 15, [], ['binance', 'okx']],
    ['no longer after that', 15.001, [], ['okx']],
    ['while a feed says that its channel lives', 300, [live('binance')], ['binance', 'okx']],
    ['not by the life of another venue’s channel', 300, [live('bybit')], ['okx']],
    ['not by a channel that was made anew since its ticker', 300, [live('binance', 200)], ['okx']],
    [
      'not by a channel that is down',
      300,
      [{ venue: 'binance', state: 'down', sockets: 0, since: T0 } as const],
      ['okx'],
    ],
  ])('%s', (_, seconds, channels, expected) => {
    const given = fed().batch(at('binance', 100, 0), mark(seconds, channels))
    given.take()
    expect(venuesOf(told(given.batch(at('okx', 100, seconds)))[0])).toEqual(expected)
  })

  it('while any feed has it, and no longer than 15 s after that feed fell silent', () => {
    const given = fed().batch(at('binance', 100, 0), by('feeds-2', mark(60, [live('binance')])), mark(61))
    given.take()
    expect(venuesOf(told(given.batch(at('okx', 100, 75)))[0])).toEqual(['binance', 'okx'])
    expect(venuesOf(told(given.batch(at('okx', 100, 75.001)))[0])).toEqual(['okx'])
  })

  it('no longer once its feed says that its channel is down, though it lived a moment ago', () => {
    const down = { venue: 'binance', state: 'down', sockets: 0, since: T0 + 61 * SECOND } as const
    const given = fed().batch(at('binance', 100, 0), mark(60, [live('binance')]), at('okx', 100, 60))
    given.take()
    expect(venuesOf(told(given.batch(mark(61, [down])))[0])).toEqual(['okx'])
  })

  it('by the word of a feed whose marks are behind those of another', () => {
    const given = fed().batch(at('kraken', 100, 0), at('okx', 100, 0))
    for (let seconds = 1; seconds <= 60; seconds++) {
      const down = { venue: 'kraken', state: 'down', sockets: 0, since: T0 } as const
      given.batch(mark(seconds, [live('okx'), down]), by('feeds-2', mark(seconds - 0.5, [live('kraken')])))
    }
    given.take()
    expect(venuesOf(told(given.batch(at('okx', 101, 60)))[0])).toEqual(['okx', 'kraken'])
  })

  it('and its leaving is a record of its own, at the mark that shows it', () => {
    const given = fed().batch(at('okx', 100, 0), at('binance', 104, 10))
    given.take()
    const [price] = told(given.batch(mark(16)))
    expect(price).toMatchObject({ price: 104, quality: 'degraded', time: T0 + 16 * SECOND })
    expect(told(given.batch(mark(17)))).toEqual([])
  })

  it('not at all when its feed has ended the market', () => {
    const change = { instrument: markets.okx, asset: 'btc', state: 'ended', time: T0 } as const
    const given = fed().batch(at('okx', 100, 0), at('binance', 104, 0))
    given.take()
    expect(venuesOf(told(given.batch(mark(1, [live('okx')], [change])))[0])).toEqual(['binance'])
  })

  it('not when a feed has ended the market whose marks are behind those of another', () => {
    const change = { instrument: markets.okx, asset: 'btc', state: 'ended', time: T0 } as const
    const given = fed().batch(at('okx', 100, 0), at('binance', 104, 0), mark(1, [live('okx')]))
    given.take()
    given.batch(by('feeds-2', mark(0.5, [live('okx')], [change])), mark(2, [live('okx')]))
    expect(venuesOf(told(given)[0])).toEqual(['binance'])
  })

  it('not when its market was silent for an hour, however alive the channel is', () => {
    const given = fed().batch(at('okx', 100, 0), at('binance', 104, 3_600))
    given.batch(mark(3_600, [live('okx')]))
    expect(venuesOf(told(given).at(-1))).toEqual(['binance', 'okx'])
    given.batch(mark(3_601, [live('okx')]))
    expect(venuesOf(told(given).at(-1))).toEqual(['binance'])
  })
})

describe('a venue’s market', () => {
  const usdc = (seconds: number) =>
    ticker({ instrument: 'binance:spot:BTCUSDC', quote: 'USDC', price: 90, received: T0 + seconds * SECOND })

  it('is the preferred quote’s, whichever came first', () => {
    const given = fed().batch(usdc(0), at('binance', 100, 1), usdc(2))
    expect(told(given).map(({ price }) => price)).toEqual([90, 100])
    expect(given.core.counts?.(given.state)).toMatchObject({ other_market: 1 })
  })

  it('is replaced by one of the same quote when it is a minute behind: a renamed one', () => {
    const renamed = (seconds: number) =>
      ticker({ instrument: 'binance:spot:XBTUSDT', price: 90, received: T0 + seconds * SECOND })
    const given = fed().batch(at('binance', 100, 0), renamed(60), renamed(60.001))
    expect(told(given).map(({ price }) => price)).toEqual([100, 90])
  })

  it('says nothing new twice, nor anything without a price', () => {
    const given = fed().batch(at('binance', 100, 1), at('binance', 100, 1), at('binance', 99, 0))
    given.batch(ticker({ price: 0 }), ticker({ instrument: 'gate:spot:BTC_USDT' }))
    expect(told(given)).toHaveLength(1)
    expect(given.core.counts?.(given.state)).toMatchObject({ old: 2, bad_price: 1, other_market: 1 })
  })
})

/** What is told late of a part of a time without prices, seconds after T0. */
function minute(from: number, to: number, low: number, high: number): Partial<CompositePrice> {
  return { late: true, bounds_from: T0 + from * SECOND, time: T0 + to * SECOND, low, high }
}

describe('a time without any source', () => {
  const away = () => {
    const given = fed().batch(at('binance', 100, 0), at('okx', 100, 0), mark(16), mark(40))
    given.take()
    return given
  }

  it('has no price', () => {
    expect(told(away().batch(mark(41)))).toEqual([])
  })

  it('is told late by the venues’ candles at the next mark, with the end of the candles as its time', () => {
    const given = away().batch(at('binance', 101, 45), mark(46))
    given.batch(range('binance', 0, 45, 80, 120), mark(47), range('okx', 0, 45, 90, 110))
    given.take()
    const [late] = told(given.batch(mark(48)))
    expect(late).toMatchObject({ late: true, low: 85, high: 115, price: 100, time: T0 + 45 * SECOND, quality: 'good' })
    expect(venuesOf(late)).toEqual(['binance', 'okx'])
    expect(told(given.batch(mark(57), range('bybit', 0, 45, 1, 2), mark(150)))).toEqual([])
    expect(given.core.counts?.(given.state)).toMatchObject({ range: 1 })
  })

  it('is told once, of several candles of a venue their bounds; other venues are waited for 60 s', () => {
    const given = away().batch(range('okx', 0, 20, 95, 99), range('okx', 20, 40, 97, 105), mark(99))
    expect(told(given)).toEqual([])
    expect(told(given.batch(mark(100)))).toMatchObject([{ late: true, low: 95, high: 105, quality: 'degraded' }])
  })

  it('is also seen when the feeds themselves were away and no mark told of it', () => {
    const given = fed().batch(at('binance', 100, 0), mark(1, [live('binance')]), at('binance', 100, 61))
    given.batch(range('binance', 2, 61, 90, 110), mark(62), mark(72))
    const minutes = [minute(0, 60, 90, 110), minute(60, 61, 90, 110)]
    expect(told(given).filter(({ late }) => late)).toMatchObject(minutes)
  })

  it('is told minute by minute, each with its own bounds', () => {
    const given = fed().batch(at('binance', 100, 30), mark(46), at('binance', 101, 130), mark(131))
    given.take()
    const [first, second, third] = [
      range('binance', 30, 60, 98, 103),
      range('binance', 60, 120, 80, 99),
      range('binance', 120, 130, 99, 102),
    ]
    const candles = [first, second, third].flatMap(({ value }) => value.candles)
    given.batch({ ...first, value: { ...first.value, to: third.value.to, candles } }, mark(195))
    expect(told(given)).toMatchObject([minute(0, 60, 98, 103), minute(60, 120, 80, 99), minute(120, 130, 99, 102)])
    expect(told(given.batch(mark(400)))).toEqual([])
  })

  it('is told of several minutes at a time where it was long', () => {
    const given = fed().batch(at('binance', 100, 0), mark(16), at('binance', 101, 36_000), mark(36_001))
    given.take()
    const late = told(given.batch(range('binance', 0, 36_000, 98, 103), mark(36_070)))
    expect(late).toHaveLength(200)
    expect([late[0], late[199]]).toMatchObject([minute(0, 180, 98, 103), minute(35_820, 36_000, 98, 103)])
  })

  it('is told as one of a range that does not say what its minutes were', () => {
    const given = away().batch(at('binance', 101, 150), mark(151))
    given.take()
    const { value } = range('binance', 0, 150, 80, 120)
    given.batch({ type: 'price_range', value: { ...value, candles: [] } }, mark(215))
    expect(told(given)).toMatchObject([minute(0, 150, 80, 120)])
  })

  describe('that comes again before its candles', () => {
    const again = () => {
      const given = away().batch(at('binance', 100, 45), at('okx', 100, 45), mark(46), mark(62))
      given.batch(at('binance', 100, 85), at('okx', 100, 85), quiet(86))
      given.take()
      return given
    }
    /** Both are there, and quiet. */
    const quiet = (seconds: number) => mark(seconds, [live('binance', 80), live('okx', 80)])
    const first = [range('binance', 0, 45, 80, 120), range('okx', 0, 45, 90, 130)]
    const second = [range('binance', 45, 85, 70, 105), range('okx', 45, 85, 95, 105)]

    it('is told with it, as one', () => {
      const given = again()
        .batch(...first, quiet(111))
        .restart()
        .batch(quiet(149))
      expect(told(given)).toEqual([])
      const [late, next] = told(given.batch(...second, quiet(151)))
      expect([late, next]).toMatchObject([minute(0, 60, 80, 125), minute(60, 85, 82.5, 105)])
      expect(told(given.batch(quiet(400)))).toEqual([])
      expect(given.core.counts?.(given.state)).toMatchObject({ range: 0 })
    })

    it('is told with it where it began when the first candles had come', () => {
      const given = away().batch(at('binance', 100, 45), at('okx', 100, 45), mark(46), mark(62))
      given.batch(range('binance', 0, 45, 80, 120), mark(110))
      given.batch(at('binance', 100, 115), at('okx', 100, 115), quiet(116), range('okx', 0, 45, 90, 130), quiet(239))
      given.batch(range('binance', 45, 115, 70, 105), range('okx', 45, 115, 95, 105), quiet(240))
      const minutes = [minute(0, 60, 80, 125), minute(60, 115, 82.5, 105)]
      expect(told(given).filter(({ late }) => late)).toMatchObject(minutes)
    })

    it('is waited for so long that its candles can come, and no longer', () => {
      const given = again().batch(...first, quiet(209))
      expect(told(given)).toEqual([])
      expect(told(given.batch(quiet(210)))).toMatchObject([{ late: true, low: 85, high: 125, time: T0 + 45 * SECOND }])
    })

    it('again and again is told after five minutes', () => {
      const given = again().batch(...first, mark(111))
      for (let seconds = 115; seconds < 520; seconds += 30)
        given.batch(at('binance', 100, seconds), at('okx', 100, seconds), mark(seconds), mark(seconds + 16))
      const one = told(given).find(({ late }) => late)
      expect(one).toMatchObject({ low: 85, high: 125 })
      expect(one?.time).toBe(T0 + 45 * SECOND)
    })

    it('again and again is told after five minutes, though one venue’s candles come each time', () => {
      const given = again().batch(range('binance', 0, 45, 80, 120), mark(111))
      for (let seconds = 115; seconds < 520; seconds += 30)
        given.batch(
          at('binance', 100, seconds),
          at('okx', 100, seconds),
          range('binance', seconds - 30, seconds, 99, 101),
          mark(seconds),
          mark(seconds + 16),
        )
      expect(told(given).find(({ late }) => late)).toMatchObject(minute(0, 60, 80, 120))
    })

    it('and lasts on when the first is told is another', () => {
      const given = fed().batch(at('binance', 100, 0), mark(16), at('binance', 100, 50), at('binance', 100, 70))
      given.batch(mark(86), range('binance', 0, 50, 99, 101), mark(300), at('binance', 100, 300), mark(301))
      expect(told(given).filter(({ late }) => late)).toMatchObject([{ low: 99, high: 101, time: T0 + 50 * SECOND }])
      given.batch(range('binance', 70, 300, 80, 120), mark(366))
      const minutes = [60, 120, 180, 240].map((from) => minute(from, from + 60, 80, 120))
      expect(told(given)).toMatchObject(minutes)
    })

    it('long after it is another', () => {
      const given = again()
      for (let seconds = 95; seconds < 400; seconds += 10) given.batch(at('binance', 100, seconds))
      given.batch(at('binance', 100, 420), mark(421), ...first)
      expect(given.core.counts?.(given.state)).toMatchObject({ range: 2 })
    })
  })

  it('that begins with the end of its only market is told from its last ticker on', () => {
    const change = { instrument: markets.okx, asset: 'btc', state: 'ended', time: T0 } as const
    const given = fed().batch(at('okx', 100, 0), mark(1, [live('okx')], [change]), mark(2))
    given.batch(at('binance', 101, 60), mark(61), range('binance', 0, 60, 98, 103), mark(62))
    expect(told(given).filter(({ late }) => late)).toMatchObject([minute(0, 60, 98, 103)])
  })

  it('is told of by no candle of the time behind it', () => {
    const given = away().batch(at('binance', 101, 60), at('okx', 101, 60), mark(61))
    given.batch(range('binance', 0, 60, 98, 103), range('okx', 60, 120, 1, 900), mark(62))
    expect(given.core.counts?.(given.state)).toMatchObject({ range: 1 })
    const [inside, behind] = [range('okx', 0, 60, 98, 103).value, range('okx', 60, 120, 1, 900).value]
    const candles = [...inside.candles, ...behind.candles]
    given.batch({ type: 'price_range', value: { ...inside, to: behind.to, candles } }, mark(63))
    expect(told(given).filter(({ late }) => late)).toMatchObject([minute(0, 60, 98, 103)])
  })

  it('is not told where one venue was there all the time', () => {
    const given = fed().batch(at('binance', 100, 0), at('okx', 100, 0), at('okx', 100, 14), at('okx', 100, 28))
    given.batch(at('binance', 100, 30), range('binance', 0, 30, 1, 900), mark(60))
    expect(told(given).filter(({ late }) => late)).toEqual([])
  })
})

describe('the prices processor', () => {
  it('forwards each mark that raises partition time, behind its prices', () => {
    const given = fed().batch(at('okx', 100, 0), at('binance', 100, 10))
    given.take()
    const outputs = given.batch(mark(16), mark(16), mark(12)).take()
    expect(outputs.map(({ message }) => message?.type)).toEqual(['composite_price', 'mark'])
    expect(only(outputs, 'mark')).toEqual([
      { writer: 'prices', run: 0, time: T0 + 16 * SECOND, venues: [], changes: [], venue_time: null, positions: [] },
    ])
  })

  it('saves only what changed, and forgets an asset after a day without a source', () => {
    const given = fed().batch(at('okx', 100, 0), ticker({ asset: 'eth', instrument: 'okx:spot:ETH-USDT' }))
    expect(given.save()).toEqual(['asset|btc', 'asset|eth', 'clock'])
    expect(given.batch(at('okx', 101, 1)).save()).toEqual(['asset|btc', 'clock'])
    given.batch(mark(16)).save()
    expect(given.batch(mark(86_402)).save()).toEqual(['-asset|btc', '-asset|eth', 'clock'])
  })

  it('saves nothing of what was forgotten as changed', () => {
    const given = fed().batch(at('okx', 100, 0))
    given.core.forget?.(given.state)
    expect(given.save()).toEqual(['clock'])
  })

  it('goes on from what it saved as if nothing had happened', () => {
    const log = [
      at('okx', 100, 0),
      mark(1, [live('okx')]),
      at('binance', 102, 20),
      mark(21),
      mark(60),
      at('okx', 103, 61),
    ]
    const calm = told(fed().batch(...log))
    const restless = fed()
    for (const message of log) restless.batch(message).restart()
    expect(told(restless)).toEqual(calm)
  })
})
