import { describe, expect, it } from 'vitest'
import type { Metric } from '../../schemas/records.ts'
import { only } from '../kernel/testing/core-test-driver.ts'
import { CvdTestDriver, gap, logGap, mark, markOf, SECOND, T0, trade } from './testing/records.ts'

const OKX = { instrument: 'okx:perp:BTC-USDT-SWAP' }
const metrics = ({ emitted }: CvdTestDriver): Metric[] => only(emitted, 'metric')
const told = (metric: Metric | undefined, figure: string): readonly (readonly [string | null, number])[] =>
  (metric?.figures ?? []).filter((one) => one.figure === figure).map(({ exchange, value }) => [exchange, value])

describe('a metric', () => {
  it('has each venue’s volume of the bucket that closed, and what was counted before', () => {
    const fed = new CvdTestDriver().batch(
      trade({ size: 3 }),
      trade({ first_id: 2, taker: 'sell' }),
      trade({ ...OKX, size: 5 }),
      mark(T0 + 12 * SECOND),
      trade({ first_id: 3, time: T0 + 13 * SECOND, size: 7 }),
      mark(T0 + 22 * SECOND),
    )
    const [first, second] = metrics(fed)
    expect([first?.asset, first?.core, first?.time, second?.time]).toEqual([
      'btc',
      'cvd',
      T0 + 10 * SECOND,
      T0 + 20 * SECOND,
    ])
    expect([told(first, 'buy'), told(first, 'sell'), told(first, 'buy_usd')]).toEqual([
      [
        ['binance', 3],
        ['okx', 5],
      ],
      [
        ['binance', 1],
        ['okx', 0],
      ],
      [
        ['binance', 300],
        ['okx', 500],
      ],
    ])
    expect(told(second, 'buy')).toEqual([['binance', 7]])
    expect(told(second, 'cvd')).toEqual([
      ['binance', 9],
      ['okx', 5],
    ])
  })

  it('tells the classes of all periods as they are behind the bucket', () => {
    const fed = new CvdTestDriver().batch(trade(), mark(T0 + 12 * SECOND))
    expect(told(metrics(fed)[0], 'cvd_class_1h')).toEqual([[null, 5]])
  })

  it('comes only of assets that have traded, and stands before the mark of its time', () => {
    const fed = new CvdTestDriver().batch(trade(), mark(T0 + 12 * SECOND), mark(T0 + 22 * SECOND))
    expect(metrics(fed)).toHaveLength(1)
    const outputs = fed.emitted.map(({ topic, message }) => `${topic} ${message?.type}`)
    expect(outputs.indexOf('alerts.inputs metric')).toBeLessThan(outputs.indexOf('derived.flow mark'))
  })

  it('is followed by a mark of up to when all is told, which comes where nobody has traded, too', () => {
    const marks = [11, 12, 13, 21.9, 22.5, 45].map((seconds) => mark(T0 + seconds * SECOND))
    const fed = new CvdTestDriver().batch(mark(T0), trade(), ...marks)
    const told = fed.emitted.flatMap(({ topic, message }) =>
      topic === 'alerts.inputs' && message !== null && 'time' in message.value
        ? [[message.type, (message.value.time - T0) / SECOND]]
        : [],
    )
    expect(told).toEqual([
      ['mark', -10],
      ['metric', 0],
      ['mark', 0],
      ['metric', 10],
      ['mark', 10],
      ['mark', 20],
      ['mark', 40],
    ])
  })

  describe('of a time in which trades were missed', () => {
    const at = (seconds: number): number => T0 + seconds * SECOND
    const closed = (seconds: number) => mark(at(seconds + 2))
    const missed = (metric: Metric | undefined) =>
      [...told(metric, 'missed_from'), ...told(metric, 'missed_to')].map(([venue, time]) => [
        venue,
        time === 0 ? 0 : (time - T0) / SECOND,
      ])
    const begun = (): CvdTestDriver => new CvdTestDriver().batch(trade(), trade(OKX), closed(10))

    it('tells it once, with the next bucket that closes, whether there was a trade or not', () => {
      const fed = begun().batch(gap({ from_time: at(4), to_time: at(17) }), closed(20), closed(30))
      expect(metrics(fed).map(missed)).toEqual([
        [],
        [
          ['binance', 4],
          ['binance', 17],
        ],
      ])
    })

    it('tells nothing of open buckets, which are filled in time or told of when they have closed', () => {
      const bounds = { from_time: at(14), to_time: at(17) }
      const fed = begun().batch(gap({ ...bounds, state: 'opened' }), gap({ ...bounds, state: 'filled' }), closed(20))
      expect(metrics(fed)).toHaveLength(1)
      expect(missed(metrics(fed.batch(gap(bounds), closed(30)))[1])).toEqual([
        ['binance', 14],
        ['binance', 17],
      ])
    })

    it('tells several of a venue as one, and of what the log lost every venue', () => {
      const gaps = [gap({ from_time: at(2), to_time: at(4) }), gap({ from_time: at(7), to_time: at(9) })]
      const fed = begun().batch(...gaps, closed(20), logGap(at(3), at(8)), closed(30))
      expect(metrics(fed).slice(1).map(missed)).toEqual([
        [
          ['binance', 2],
          ['binance', 9],
        ],
        [
          ['binance', 3],
          ['okx', 3],
          ['binance', 8],
          ['okx', 8],
        ],
      ])
    })

    it('tells that a market begins, or is subscribed again, with its first trade', () => {
      const end = { asset: 'btc', instrument: 'binance:perp:BTCUSDT', state: 'ended', time: at(11) } as const
      const first = trade({ instrument: 'kraken:perp:PF_XBTUSD', time: at(15) })
      const fed = begun().batch(
        first,
        closed(20),
        mark(at(23), [end]),
        trade({ first_id: 2, time: at(34) }),
        closed(40),
      )
      expect(metrics(fed).slice(1).map(missed)).toEqual([
        [
          ['kraken', 0],
          ['kraken', 15],
        ],
        [
          ['binance', 11],
          ['binance', 34],
        ],
      ])
    })

    describe('by what feeds say of its venue', () => {
      const both = { binance: 'live', okx: 'live' } as const
      const [down, back] = [
        { ...both, binance: 'down' },
        { ...both, binance: 'connecting' },
      ] as const

      it('tells with each bucket that closes, from when it was last live or traded', () => {
        const fed = begun().batch(
          trade({ first_id: 2, time: at(11) }),
          markOf(at(13), both),
          markOf(at(14), down),
          markOf(at(22), down),
          markOf(at(32), back),
          markOf(at(39), both),
          markOf(at(42), both),
        )
        const [, ...told] = metrics(fed)
        expect(told.map(({ time }) => (time - T0) / SECOND)).toEqual([20, 30])
        expect(told.map(missed)).toEqual([
          [
            ['binance', 13],
            ['binance', 20],
          ],
          [
            ['binance', 13],
            ['binance', 30],
          ],
        ])
      })

      it('tells nothing while another feed has it, of a market that goes on, or that nobody is subscribed to', () => {
        const seen = [markOf(at(13), both), markOf(at(21.5), both), markOf(at(22), down)]
        expect(metrics(begun().batch(...seen))).toHaveLength(1)
        const on = [
          markOf(at(13), both),
          markOf(at(14), down),
          trade({ first_id: 2, time: at(20) - 1 }),
          markOf(at(22), down),
        ]
        expect(missed(metrics(begun().batch(...on))[1])).toEqual([
          ['binance', 19.999999],
          ['binance', 20],
        ])
        const end = { asset: 'btc', instrument: 'binance:perp:BTCUSDT', state: 'ended', time: at(11) } as const
        const ended = [markOf(at(10.5), both), mark(at(11), [end]), markOf(at(22), down)]
        expect(metrics(begun().batch(...ended))).toHaveLength(1)
      })

      it.each(['off', 'unknown'] as const)(
        'tells nothing where it is %s, or no feed speaks of it any more',
        (state) => {
          const fed = begun().batch(markOf(at(13), both), markOf(at(22), { ...both, binance: state }))
          expect(metrics(fed.batch(markOf(at(32), { okx: 'live' })))).toHaveLength(1)
        },
      )

      it('tells it behind a restart', () => {
        const fed = begun().batch(markOf(at(13), both), markOf(at(14), down))
        expect(missed(metrics(fed.restart(new Map()).batch(markOf(at(22), down)))[1])).toEqual([
          ['binance', 13],
          ['binance', 20],
        ])
      })
    })

    it('tells it behind a restart', () => {
      const fed = begun().batch(gap({ from_time: at(4), to_time: at(8) }))
      expect(missed(metrics(fed.restart(new Map()).batch(closed(20)))[1])).toEqual([
        ['binance', 4],
        ['binance', 8],
      ])
    })
  })
})
