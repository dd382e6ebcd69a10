import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { emptyFields } from '../../schemas/codec.ts'
import type { Audit, Gap, LogGap, SubscriptionChange } from '../../schemas/records.ts'
import { createWorld, iso, PARTITION, type World } from './testing/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld('audited')
})
afterAll(() => world.end())

const MINUTE = 60_000_000
/** Start of a minute an hour ago: the last day's audit is of now. */
const M = Math.floor((Date.now() * 1000) / MINUTE) * MINUTE - 60 * MINUTE
const instrument = 'binance:perp:BTCUSDT'

const audit = (minute: number, change: Partial<Audit> = {}): Buffer =>
  world.codec.encode('derived.audit', 'audit', {
    instrument,
    asset: 'btc',
    minute,
    ours_volume: 10,
    theirs_volume: 10,
    volume_difference: 0,
    ours_delta: 2,
    theirs_delta: 2,
    delta_difference: 0,
    ours_trades: 5,
    theirs_trades: 7,
    state: 'equal',
    time: minute + 3 * MINUTE,
    v: 1,
    ...change,
  })
const off = (by: number): Partial<Audit> => ({
  volume_difference: by,
  delta_difference: -by,
  state: 'different',
  ours_volume: 10 * (1 + by),
})
const change = (state: SubscriptionChange['state'], time: number, name = instrument): SubscriptionChange => ({
  instrument: name,
  asset: 'btc',
  state,
  time,
})
const gap = (change: Partial<Gap>): Buffer =>
  world.codec.encode('market.trades', 'gap', {
    instrument,
    asset: 'btc',
    gap_id: 7,
    state: 'filled',
    reason: 'missing_ids',
    from_id: 7,
    to_id: 9,
    from_time: M,
    to_time: M,
    missing: 0,
    feed: 'feeds',
    time: M,
    ...change,
  })

it('tells which minutes a gap or a subscription explains, and the worst of those that nothing does', async () => {
  const okx = 'okx:perp:BTC-USDT-SWAP'
  await world.append('market.trades', [
    world.mark('market.trades', {
      time: M,
      changes: [change('acknowledged', M + 1_000_000), change('acknowledged', M - MINUTE, okx)],
    }),
    world.mark('market.trades', { time: M + 20 * MINUTE, changes: [change('ended', M + 20 * MINUTE)] }),
    gap({ from_time: M + 3 * MINUTE + 59_000_000, to_time: M + 5 * MINUTE }),
  ])
  await world.append('derived.audit', [
    audit(M, off(-0.9)), // the subscription began in it
    audit(M + MINUTE),
    audit(M + 2 * MINUTE, off(0.001)),
    audit(M + 3 * MINUTE, off(-0.5)), // a gap begins in it,
    audit(M + 4 * MINUTE, off(-0.5)), // lies over it,
    audit(M + 5 * MINUTE, off(-0.5)), // ends in it
    audit(M + 6 * MINUTE, off(-0.002)),
    audit(M + 6 * MINUTE, { ...off(-0.003), v: 2 }), // of later code
    audit(M + 20 * MINUTE, off(-0.9)), // not subscribed any more
    // Equal but for the order in which doubles were added: no difference.
    audit(M, {
      ...emptyFields('audit'),
      instrument: okx,
      volume_difference: -7e-16,
    }),
    audit(M, { ...off(-1), instrument: 'coinbase:spot:ETH-USD' }), // not subscribed yet
    audit(M - 26 * 60 * MINUTE, off(5)), // not of the last day
    world.mark('derived.audit', { writer: 'audit', run: 0, time: M + 25 * MINUTE }),
  ])
  await world.soon("SELECT time FROM partition_times WHERE topic = 'derived.audit'", [{ time: iso(M + 25 * MINUTE) }])
  await world.soon('SELECT count() AS changes FROM subscription_changes', [{ changes: 3 }])
  await world.soon('SELECT count() AS gaps FROM gaps', [{ gaps: 1 }])
  await world.soon('SELECT count() AS audits FROM audits', [{ audits: 11 }])
  const rows = await world.rows(
    `SELECT symbol, (toUnixTimestamp(minute) - ${M / 1e6}) / 60 AS minute, state, explained FROM audits WHERE minute >= 0 ORDER BY venue, minute`,
  )
  const row = (minute: number, state: string, explained: boolean) => ({ symbol: 'BTCUSDT', minute, state, explained })
  expect(rows).toEqual([
    row(0, 'different', true),
    row(1, 'equal', false),
    row(2, 'different', false),
    row(3, 'different', true),
    row(4, 'different', true),
    row(5, 'different', true),
    row(6, 'different', false),
    row(20, 'different', true),
    { ...row(0, 'different', true), symbol: 'ETH-USD' },
    { ...row(0, 'equal', false), symbol: 'BTC-USDT-SWAP' },
  ])
  const nothing = {
    worst_volume_difference: null,
    worst_delta_difference: null,
    worst_instrument: null,
    worst_minute: null,
  }
  expect(await world.rows('SELECT * FROM audit_worst')).toEqual([
    {
      venue: 'binance',
      compared: 7,
      different: 6,
      unexplained: 2,
      worst_volume_difference: -0.003,
      worst_delta_difference: 0.003,
      worst_instrument: instrument,
      worst_minute: iso(M + 6 * MINUTE),
    },
    { venue: 'coinbase', compared: 0, different: 0, unexplained: 0, ...nothing },
    { venue: 'okx', compared: 1, different: 0, unexplained: 0, ...nothing },
  ])
})

describe('of a minute that differs it is told', () => {
  const bybit = 'bybit:perp:BTCUSDT'
  const coinbase = 'coinbase:spot:BTC-USD'
  const at = (seconds: number): number => M + seconds * 1_000_000
  const said = (writer: string, changes: readonly (readonly [SubscriptionChange['state'], number])[], heard: number) =>
    world.mark('market.trades', {
      writer,
      time: at(heard),
      changes: changes.map(([state, seconds]) => change(state, at(seconds), bybit)),
    })
  const differing = (name: string, minutes: readonly number[]): Buffer[] =>
    minutes.map((minute) => audit(M + minute * MINUTE, { ...off(-0.5), instrument: name }))
  const explained = (name: string, column: string) =>
    `SELECT (toUnixTimestamp(minute) - ${M / 1e6}) / 60 AS minute FROM audits
     WHERE instrument = '${name}' AND ${column} ORDER BY minute`
  const minutes = (...all: number[]): object[] => all.map((minute) => ({ minute }))

  it('that nobody was subscribed only where no feed process was for all of it', async () => {
    await world.append('market.trades', [
      said('a', [['acknowledged', -60]], 20 * 60), // killed then
      said(
        'b',
        [
          ['asked', 30],
          ['acknowledged', 40],
        ],
        40,
      ),
      said('b', [['ended', 10 * 60]], 30 * 60),
      said('never-answered', [['asked', 12 * 60]], 30 * 60),
      said(
        'c',
        [
          ['asked', 22 * 60 + 10],
          ['acknowledged', 22 * 60 + 20],
        ],
        30 * 60,
      ), // takes the killed one's place
      said('c', [['ended', 25 * 60]], 30 * 60),
    ])
    await world.append('derived.audit', differing(bybit, [0, 5, 10, 13, 21, 22, 23, 25]))
    await world.soon(`SELECT count() AS n FROM audits WHERE instrument = '${bybit}'`, [{ n: 8 }])
    await world.soon(`SELECT count() AS n FROM subscription_changes WHERE instrument = '${bybit}'`, [{ n: 8 }])
    await world.soon("SELECT uniq(writer) AS n FROM marks WHERE topic = 'market.trades'", [{ n: 5 }])
    expect(await world.rows(explained(bybit, 'explained'))).toEqual(minutes(22, 25))
    expect(await world.rows(explained(bybit, 'not_subscribed'))).toEqual(minutes(22, 25))
  })

  it('that the log lost trades of its partition before they were counted', async () => {
    const lost = (change: Partial<LogGap>): Buffer =>
      world.codec.encode('control.gaps', 'log_gap', {
        reader: 'cvd',
        topic: 'market.trades',
        partition: PARTITION,
        reason: 'retention',
        position: 70,
        next: 90,
        shift: 0,
        missing: 20,
        from_time: at(3 * 60 + 59),
        to_time: at(5 * 60),
        time: at(6 * 60),
        ...change,
      })
    const later = { from_time: at(8 * 60), to_time: at(9 * 60) }
    await world.append('control.gaps', [
      lost({}),
      lost({ ...later, reader: 'alerts', topic: 'alerts.inputs' }),
      lost({ ...later, reason: 'output_cut' }),
      lost({ ...later, partition: PARTITION + 1 }),
    ])
    await world.append('market.trades', [
      world.mark('market.trades', { time: at(30 * 60), changes: [change('acknowledged', M - MINUTE, coinbase)] }),
    ])
    await world.append('derived.audit', differing(coinbase, [2, 3, 4, 5, 6, 8]))
    await world.soon(`SELECT count() AS n FROM audits WHERE instrument = '${coinbase}'`, [{ n: 6 }])
    await world.soon(`SELECT count() AS n FROM subscription_changes WHERE instrument = '${coinbase}'`, [{ n: 1 }])
    await world.soon('SELECT count() AS n FROM log_gaps', [{ n: 4 }])
    expect(await world.rows(explained(coinbase, 'in_log_gap'))).toEqual(minutes(3, 4, 5))
    expect(await world.rows(explained(coinbase, 'explained'))).toEqual(minutes(3, 4, 5))
  })
})
