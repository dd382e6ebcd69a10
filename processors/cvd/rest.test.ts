import { describe, expect, it } from 'vitest'
import type { Cvd, Message, Micros } from '../../schemas/records.ts'
import { CoreTestDriver, only } from '../kernel/testing/core-test-driver.ts'
import { cvd } from './cvd.ts'
import { gap, mark, SECOND, T0, trade } from './testing/records.ts'

const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR
/** When the trade at T0 has left the longest period, with all that is saved beside it. */
const OVER = T0 + 7 * DAY + 7 * HOUR
const ETH = { asset: 'eth', instrument: 'okx:perp:ETH-USDT-SWAP' }

const closing = (time: Micros): Message<'mark'> => mark(time + 2 * SECOND)

/** One trade of btc, and marks until nothing of it is in any period; eth trades on. */
function rested(): CoreTestDriver<ReturnType<typeof cvd.empty>> {
  const fed = new CoreTestDriver(cvd, 'market.trades').batch(trade({ size: 3 }), trade(ETH), closing(T0 + 10 * SECOND))
  for (let time = T0 + HOUR; time <= OVER; time += HOUR)
    fed.batch(trade({ ...ETH, first_id: time, time: time - SECOND }), closing(time))
  return fed
}

const told = (fed: ReturnType<typeof rested>, asset: string): Cvd[] =>
  only(fed.take(), 'cvd').filter((one) => one.asset === asset)

describe('an asset of which no period has a trade any more', () => {
  it('is told so once more and then no more, whoever goes on', () => {
    const fed = rested()
    const last = told(fed, 'btc').at(-1)
    const [btc] = last?.instruments ?? []
    const periods = btc?.volumes.filter(({ period }) => period !== 'all' && period !== 'first')
    expect(periods?.map(({ buy, sell }) => [buy, sell])).toEqual(periods?.map(() => [0, 0]))
    expect(last?.closed).toBeLessThan(OVER)
    for (const restarts of [false, true]) {
      if (restarts) fed.restart()
      fed.batch(closing(OVER + (restarts ? 20 : 10) * SECOND))
      const assets = only(fed.take(), 'cvd').map(({ asset }) => asset)
      expect(assets).toEqual(['eth'])
    }
  })

  it('writes nothing to the state, whose rings are gone', () => {
    const fed = rested()
    fed.save()
    fed.batch(closing(OVER + 10 * SECOND))
    expect(fed.save().filter((key) => key.includes('btc'))).toEqual([])
    const kept = [...new Set([...cvd.save(fed.restart().state)].map(([key]) => key))]
    expect(kept.filter((key) => key.startsWith('ring|btc'))).toEqual([])
  })

  it.each([false, true])('goes on where it was when it trades again (restarted: %s)', (restarts) => {
    const fed = rested()
    const signals = only(fed.take(), 'signal').filter(({ asset }) => asset === 'btc')
    expect(signals.at(-1)).toMatchObject({ period: '7d', to: 'insufficient_data' })
    if (restarts) fed.restart()
    fed.batch(trade({ first_id: 2, time: OVER + SECOND }), closing(OVER + 10 * SECOND))
    const [btc] = told(fed, 'btc').at(-1)?.instruments ?? []
    expect(btc).toMatchObject({ since: T0, newest: OVER + SECOND })
    expect(btc?.volumes.map(({ period, to, buy }) => [period, to >= OVER, buy])).toEqual(
      expect.arrayContaining([
        ['all', true, 4],
        ['first', false, 3],
        ['1h', true, 1],
        ['7d', true, 1],
      ]),
    )
    // its ids were not forgotten
    fed.batch(trade({ first_id: 2, time: OVER + SECOND }), trade({ size: 3 }), closing(OVER + 20 * SECOND))
    expect(fed.state.refused.duplicate).toBe(2)
  })

  it.each([false, true])(
    'is told up to the next look of what came so late that no period has it (restarted: %s)',
    (restarts) => {
      const fed = rested()
      fed.take()
      fed.batch(trade({ first_id: 9, time: T0 + HOUR, origin: 'backfill', gap_id: 1 }))
      if (restarts) fed.restart()
      for (const seconds of [10, 20, 30]) fed.batch(closing(OVER + seconds * SECOND))
      const all = told(fed, 'btc').map(({ instruments: [btc] }) => btc?.volumes[0]?.buy)
      expect(all).toEqual([4, 4])
    },
  )

  it('is told again as it is where the log lost what was told', () => {
    const fed = rested()
    const last = told(fed, 'btc').at(-1)
    cvd.restate?.(fed.state, 'derived.flow', { partition: 0, v: 0, partitionTime: 0 }, (one) => fed.emitted.push(one))
    const [again] = told(fed, 'btc')
    expect(again?.v).toBe(last?.v)
    expect(again?.closed).toBe(OVER)
    expect(again?.instruments[0]?.volumes.map(({ period, buy }) => [period, buy])).toEqual(
      last?.instruments[0]?.volumes.map(({ period, buy }) => [period, buy]),
    )
  })

  it('is one too that never had a trade', () => {
    const fed = new CoreTestDriver(cvd, 'market.trades').batch(trade(), gap({ ...ETH, from_time: T0, to_time: T0 + 1 }))
    fed.batch(closing(T0 + 10 * SECOND), closing(T0 + 20 * SECOND))
    const assets = only(fed.take(), 'cvd').map(({ asset }) => asset)
    expect(assets.filter((asset) => asset === 'eth')).toHaveLength(1)
  })
})
