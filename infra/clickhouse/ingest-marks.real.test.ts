import { afterAll, beforeAll, describe, it } from 'vitest'
import { emptyFields } from '../../schemas/codec.ts'
import type { Gap } from '../../schemas/records.ts'
import { createWorld, iso, T, type World } from './testing/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld('marks')
})
afterAll(() => world.end())

describe('gaps', () => {
  it('show the latest of what was said, nulls included', async () => {
    const gap = (change: Partial<Gap>): Buffer =>
      world.codec.encode('market.trades', 'gap', {
        instrument: 'okx:perp:BTC-USDT-SWAP',
        asset: 'btc',
        gap_id: 7,
        state: 'opened',
        reason: 'missing_ids',
        from_id: 7,
        to_id: 9,
        from_time: T,
        to_time: T + 1,
        missing: 3,
        feed: 'feeds',
        time: T,
        ...change,
      })
    await world.append('market.trades', [
      gap({ state: 'filled', missing: 0, time: T + 9, reason: 'page_short' }),
      gap({}),
      gap({
        ...emptyFields('gap'),
        instrument: 'bybit:perp:BTCUSDT',
        gap_id: T,
        state: 'unfillable',
      }),
    ])
    await world.soon(
      'SELECT venue, gap_id, state, reason, from_id, to_id, missing, from_time, time FROM gaps ORDER BY venue',
      [
        {
          venue: 'bybit',
          gap_id: T,
          state: 'unfillable',
          reason: 'missing_ids',
          from_id: null,
          to_id: null,
          missing: null,
          from_time: iso(T),
          time: iso(T),
        },
        {
          venue: 'okx',
          gap_id: 7,
          state: 'filled',
          reason: 'page_short',
          from_id: 7,
          to_id: 9,
          missing: 0,
          from_time: iso(T),
          time: iso(T + 9),
        },
      ],
    )
  })
})

describe('marks', () => {
  const since = T - 500
  const live = { venue: 'binance', state: 'live', sockets: 2, since } as const
  const down = { venue: 'okx', state: 'down', sockets: 0, since } as const
  const change = (state: 'acknowledged' | 'ended' | 'refused', time: number, symbol = 'BTCUSDT') =>
    ({ instrument: `binance:perp:${symbol}`, asset: 'btc', state, time }) as const

  it('give partition times, venue states and subscriptions; an earlier run counts no longer', async () => {
    await world.append('market.trades', [
      world.mark('market.trades', {
        run: T - 9000,
        time: T - 5000,
        venues: [live],
        changes: [change('refused', T - 5000, 'OLD')],
      }),
      world.mark('market.trades', {
        time: T + 1,
        venues: [live, down],
        changes: [change('acknowledged', since), change('acknowledged', since, 'ETHUSDT')],
      }),
      world.mark('market.trades', {
        time: T + 3,
        venues: [live, { ...down, state: 'live', sockets: 1 }],
        changes: [change('ended', T + 2)],
      }),
    ])
    await world.append('market.trades', [world.mark('market.trades', { time: T + 2, venues: [live, down] })], 1)
    await world.soon('SELECT writer, venue, state, sockets, since, time FROM venue_states ORDER BY venue', [
      { writer: 'feeds', venue: 'binance', state: 'live', sockets: 2, since: iso(since), time: iso(T + 3) },
      { writer: 'feeds', venue: 'okx', state: 'live', sockets: 1, since: iso(since), time: iso(T + 3) },
    ])
    await world.soon('SELECT instrument, venue, state, since FROM subscriptions ORDER BY instrument', [
      { instrument: 'binance:perp:BTCUSDT', venue: 'binance', state: 'ended', since: iso(T + 2) },
      { instrument: 'binance:perp:ETHUSDT', venue: 'binance', state: 'acknowledged', since: iso(since) },
    ])
    await world.soon("SELECT partition, time FROM partition_times WHERE topic = 'market.trades' ORDER BY partition", [
      { partition: 1, time: iso(T + 2) },
      { partition: 2, time: iso(T + 3) },
    ])
    await world.soon(`SELECT venues, changes FROM feed_marks WHERE time = fromUnixTimestamp64Micro(${T + 3})`, [
      {
        venues: [
          { ...live, since: iso(since) },
          { venue: 'okx', state: 'live', sockets: 1, since: iso(since) },
        ],
        changes: [{ instrument: 'binance:perp:BTCUSDT', asset: 'btc', state: 'ended', time: iso(T + 2) }],
      },
    ])
  })

  it('tell from when to when a venue’s channels for liquidations were live', async () => {
    const topic = 'market.liquidations'
    const again = { ...live, since: T + 40 }
    await world.append(topic, [
      world.mark(topic, { time: T + 10, venues: [live, down] }),
      world.mark(topic, { time: T + 20, venues: [live, down] }),
      world.mark(topic, { time: T + 30, venues: [{ ...live, state: 'down', since: T + 25 }, down] }),
      world.mark(topic, { time: T + 50, venues: [again, down] }),
    ])
    await world.append(topic, [world.mark(topic, { time: T + 50, venues: [again, down] })], 1)
    await world.soon(`SELECT partition, time FROM partition_times WHERE topic = '${topic}' ORDER BY partition`, [
      { partition: 1, time: iso(T + 50) },
      { partition: 2, time: iso(T + 50) },
    ])
    await world.run('OPTIMIZE TABLE marks') // or within 30 s
    await world.soon('SELECT venue, writer, time, until FROM live_stretches ORDER BY time', [
      { venue: 'binance', writer: 'feeds', time: iso(since), until: iso(T + 20) },
      { venue: 'binance', writer: 'feeds', time: iso(T + 40), until: iso(T + 50) },
    ])
  })

  it('that their own venues contradict are kept, and are no time and no news', async () => {
    const hour = 3_600_000_000
    const lies = { time: T + hour, venue_time: T + 10, venues: [{ ...live, state: 'down', sockets: 0 }] } as const
    await world.append('market.trades', [world.mark('market.trades', { ...lies, writer: 'liar' })], 2)
    await world.append('market.tickers', [world.mark('market.tickers', { ...lies, writer: 'liar' })], 2)
    const right = { time: T + 20, venue_time: T + 15 }
    await world.append('market.trades', [world.mark('market.trades', right)], 2)
    await world.append('market.tickers', [world.mark('market.tickers', right)], 2)
    await world.soon(
      "SELECT topic, time FROM partition_times WHERE partition = 2 AND topic LIKE 'market.t%' ORDER BY topic",
      [
        { topic: 'market.tickers', time: iso(T + 20) },
        { topic: 'market.trades', time: iso(T + 20) },
      ],
    )
    await world.soon("SELECT writer FROM venue_states WHERE writer = 'liar'", [])
    await world.soon("SELECT time, venue_time FROM feed_marks WHERE writer = 'liar'", [
      { time: iso(T + hour), venue_time: iso(T + 10) },
    ])
  })
})
