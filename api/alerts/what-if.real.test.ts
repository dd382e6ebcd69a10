import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { createWorld, T, type World } from '../../infra/clickhouse/testing/world.ts'
import {
  AlertsTestDriver,
  createRule,
  latePrice,
  given,
  create,
  mark,
  metric,
  price,
  risk,
  SECOND,
  T0,
} from '../../processors/alerts/testing/records.ts'
import { isFault, readRuleTerms } from '../../processors/alerts/kinds/rule-terms.ts'
import { WhatIf, type WhatIfTerms } from '../../processors/alerts/what-if.ts'
import { PastReader, readPast, type Past } from '../../processors/alerts/past.ts'
import { OFFSETS } from '../../processors/kernel/version.ts'
import type { Command, Message, Micros } from '../../schemas/records.ts'
import { tradeVenues } from '../../schemas/venues.ts'
import { recordPosition } from '../../schemas/record-id.ts'
import { Warming } from './warm.ts'
import { RINGS_KEPT, Trials, type Trial } from './what-if.ts'
import { TtlCache } from '../request/cache.ts'
import { openDatabase } from '../views/clickhouse.ts'
import { createMetrics } from '../metrics.ts'

let world: World
let database: ReturnType<typeof openDatabase>
beforeAll(async () => {
  world = await createWorld('what_if')
  database = openDatabase({ ...inject('parts').clickhouse, database: world.database }, createMetrics())
})
afterAll(async () => {
  await database.close()
  await world.end()
})

const DAYS = 7
const LOOKS_BACK = DAYS * 86_400 * SECOND

function trialsAt(time: number): (alert: WhatIfTerms, to: Micros) => Promise<Trial> {
  const now = (): number => time
  const trials = new Trials({ database, now, counted: tradeVenues, cache: new TtlCache({ keysMax: 10, clock: now }) })
  return async (alert, to) => {
    const { value } = await trials.of([{ ...alert, to }], { days: DAYS, isDrawn: true }, 'caller')
    const [trial] = value
    if (trial === undefined) throw new Error('nothing was tried out')
    return trial
  }
}

const level: WhatIfTerms = {
  asset: 'btc',
  symbol: 'BTC',
  terms: { kind: 'price', condition: 'above', target_price: 100 },
}

/** Prices that go up and down around 100 for an hour, with wicks, and a quarter of an hour that only candles tell of. */
function hour(): Message<'composite_price'>[] {
  const seconds = Array.from({ length: 360 }, (_, n) => n * 10)
  const minutes = [latePrice(1_260, 98, 99), latePrice(1_320, 99, 102), latePrice(1_790, 98, 101)]
  return seconds.flatMap((at): Message<'composite_price'>[] => {
    if (at > 900 && at < 1_800) return at === 1_790 ? minutes : []
    const usd = 100 + Math.round(10 * Math.sin(at / 200)) / 5
    return [price(at, usd, { high: usd + (at > 0 && at % 70 === 0 ? 1 : 0) })]
  })
}

it('rings when the core does that reads the log itself', async () => {
  const messages = [...hour(), risk(10, 4), risk(20, 6), risk(30, 4), risk(100, 7)]
  const values = messages.map(({ type, value }, v) => world.codec.encode('alerts.inputs', type, { ...value, v: v + 1 }))
  await world.append('alerts.inputs', values)
  await world.soon('SELECT count() AS n FROM prices', [{ n: hour().length }])
  await world.soon('SELECT count() AS n FROM liquidation_risk', [{ n: 4 }])

  const first = messages[0]?.value.time ?? 0
  const end: Micros = first + 3_600 * SECOND
  const trials = trialsAt(T / 1000)
  const trial = await trials(level, end)
  const live = given(create({ expires_in_hours: 720 }))
  for (const message of hour()) live.batch(mark((message.value.time - first) / SECOND), message)
  expect(trial.rang.map(({ time }) => (time - first) / SECOND)).toEqual(live.rang)
  expect(trial.rang.length).toBeGreaterThan(3)
  expect(trial.rang.some(({ late }) => late)).toBe(true)
  expect(recordPosition(trial.rang[0]?.record ?? '')).toMatchObject({ topic: 'alerts.inputs', partition: 2 })
  expect(trial).toMatchObject({ records: hour().length, stopped: null })
  expect(trial.gaps).toEqual([{ from: first + 900 * SECOND, to: first + 1_800 * SECOND }])

  const terms = { kind: 'liquidation', threshold_pct: 5, min_value_usd: 0 } as const
  const cascades = await trials({ ...level, terms }, end)
  expect(cascades.rang.map(({ time, cascade_risk: to }) => [(time - first) / SECOND, to])).toEqual([
    [20, 'medium'],
    [100, 'medium'],
  ])
})

/**
 * Two hours as they come: a price each second, and what a bucket of trades tells 2.4 s behind its end. Prices are over 100 for
 * a second or two, often just before what was traded by then is told.
 */
function joined(): Message<'composite_price' | 'metric'>[] {
  const [of, end] = [(at: number): number => T0 + at * SECOND, 7_200]
  const prices = Array.from({ length: end }, (_, at) => {
    const message = price(at, at % 7 < 2 || at % 120 > 118 ? 101 : 99, { time: of(at) + 300_000 })
    return { comes: message.value.time, message }
  })
  const trades = Array.from({ length: end / 10 }, (_, at) => {
    const message = metric(at * 10, 'cvd', { 'buy@binance': at % 13 === 0 || at === 360 ? 100 : 1 })
    return { comes: message.value.time + 2_400_000, message }
  })
  return [...prices, ...trades].toSorted((a, b) => a.comes - b.comes).map(({ message }) => message)
}

it('rings a rule that joins inputs when the core does that reads the log itself', async () => {
  const log = joined()
  const values = log.map(({ type, value }, v) => {
    return world.codec.encode('alerts.inputs', type, { ...value, asset: 'xmr', v: v + 1 })
  })
  await world.append('alerts.inputs', values)
  await world.soon(`SELECT count() AS n FROM prices WHERE asset = 'xmr'`, [{ n: 7_200 }])
  await world.soon(`SELECT count() AS n FROM metrics WHERE asset = 'xmr'`, [{ n: 720 }])

  const leaves = [
    { metric: 'price', operator: 'above', value: 100 },
    { metric: 'volume', window: '1m', operator: 'above', value: 50 },
  ]
  // From when the first bucket has begun on.
  const live = new AlertsTestDriver().batch(mark(-10), createRule({ all: leaves }, { hours: 720 }))
  for (const message of log) {
    if (message.type === 'composite_price') live.batch(mark(Math.floor((message.value.time - T0) / SECOND)))
    live.batch(message)
  }
  const terms = readRuleTerms({ when: { all: leaves } })
  if (isFault(terms)) throw new Error(terms.message)
  const trial = await trialsAt(0)({ asset: 'xmr', symbol: 'XMR', terms }, T0 + 7_200 * SECOND)
  expect(trial.rang.map(({ time }) => (time - T0) / SECOND)).toEqual(live.rang)
  expect(live.rang.length).toBeGreaterThan(20)
})

/** Six hours of ETH, three prices a second, that wander around 100, each with its low and high. */
const wandering = (asset: string): string => `INSERT INTO prices_log
  (asset, time, price, low, high, quality, late, v, partition, offset)
  SELECT '${asset}', fromUnixTimestamp64Micro(toInt64(${T} + number * 333333), 'UTC') AS time,
    100 + 3 * sin(number / 700) + sin(number / 41) + (cityHash64(number) % 100) / 200 AS price,
    price - (cityHash64(number, 1) % 50) / 100, price + (cityHash64(number, 2) % 50) / 100,
    'good', 0, number + 1, 2, number FROM numbers(64800) WHERE number % 20000 < 19900`

it.each(['above', 'below', 'crosses_above', 'crosses_below'] as const)(
  'leaves out only what changes nothing: %s',
  async (condition) => {
    const asset = `eth_${condition}`
    await world.run(wandering(asset))
    const rows = await world.rows(
      `SELECT toUnixTimestamp64Micro(time) AS at, price, low, high, offset FROM prices WHERE asset = '${asset}' ORDER BY v`,
    )
    const to = T + 6 * 3_600 * SECOND
    for (const target_price of [97, 100.2, 103, 104.4]) {
      const alert: WhatIfTerms = { ...level, asset, terms: { kind: 'price', condition, target_price } }
      const trial = await trialsAt(0)(alert, to)
      const whole = new WhatIf(alert, to - LOOKS_BACK)
      for (const row of rows)
        whole.feed({ partition: 2, offset: Number(row['offset']), message: messageOf(asset, row) })
      expect([target_price, trial.rings, trial.rang.map(({ record }) => record)]).toEqual([
        target_price,
        whole.rang.length,
        whole.rang.slice(-RINGS_KEPT).map(({ record }) => record),
      ])
      expect(trial.rang.length).toBeGreaterThan(0)
      expect(trial.records).toBe(rows.length)
    }
  },
)

function messageOf(asset: string, row: Record<string, unknown>): Message<'composite_price'> {
  const [time, low, high] = [Number(row['at']), Number(row['low']), Number(row['high'])]
  return price(0, Number(row['price']), { asset, time, low, high })
}

it('fills windows with a price of each slot as with every price', async () => {
  await world.run(wandering('dot'))
  const rows = await world.rows(
    `SELECT toUnixTimestamp64Micro(time) AS at, price, low, high, offset FROM prices WHERE asset = 'dot' ORDER BY v`,
  )
  const [time, before] = [T + 3 * 3_600 * SECOND, 3 * 3_600 * 3]
  const change = (window: string): object => ({ metric: 'price_change_pct', window, operator: 'above', value: 1 })
  const [event] = given(createRule({ any: [change('5m'), change('1h')] })).events
  if (event === undefined || event.alert === null) throw new Error('the rule was not made')
  const sent: Command[] = []
  const warming = new Warming()
  warming.of([{ ...event, alert: { ...event.alert, asset: 'dot' }, time, v: OFFSETS + before }], {
    database,
    assetsIn: () => [],
    now: () => T / 1_000,
    log: { warn: (_, message) => expect.unreachable(message) },
    send: (command) => Promise.resolve(sent.push(command)),
  })
  await warming.done()
  const whole = new PastReader(['price_change_pct||5m||', 'price_change_pct||1h||'], time)
  for (const row of rows) if (Number(row['offset']) < before) whole.feed(messageOf('dot', row))
  // Fewer records let go of fewer samples: what lies in the window, and the last before it, is the same.
  const samplesOf = ({ series }: Past): object => series.map(([name, { samples }]) => [name, samples.slice(-60)])
  expect(samplesOf(readPast(sent[0]?.past ?? '') ?? { since: 0, series: [] })).toEqual(samplesOf(whole.told))
  expect(Math.min(...whole.told.series.map(([, { samples }]) => samples.length))).toBeGreaterThanOrEqual(60)
})

it('goes on in what venues tell of the time before our own log, and says who told it', async () => {
  const hours = 24 * DAYS
  const from = T - (T % (3_600 * SECOND)) - hours * 3_600 * SECOND
  const at = `fromUnixTimestamp64Micro(toInt64(${from} + number * 3600000000), 'UTC')`
  await world.run(`INSERT INTO venue_candles_log (asset, instrument, seconds, start, open, high, low, close, volume, taker_buy, source, offset)
    SELECT 'ada', 'binance:spot:ADAUSDT', 3600, ${at}, 100, if(number % 24 = 5, 106, 101), 99, 100, 10, if(number % 24 = 7, 9, 5),
      'venue_candles', number FROM numbers(${hours})`)
  const about = { asset: 'ada', symbol: 'ADA' }
  const priced = await trialsAt(0)({ ...about, terms: { kind: 'price', condition: 'above', target_price: 105 } }, T)
  expect(priced.rang.map(({ source, current_price }) => [source, current_price])).toEqual(
    Array.from({ length: DAYS }, () => ['venue_candles', 106]),
  )
  expect(priced).toMatchObject({ own: null, untold: [], stopped: null })
  const rule = (when: object): WhatIfTerms => {
    const terms = readRuleTerms({ when })
    if (isFault(terms)) throw new Error(terms.message)
    return { ...about, terms }
  }
  const change = { metric: 'cvd_change', window: '1h', operator: 'above', value: 7 }
  expect((await trialsAt(0)(rule(change), T)).rang.map(({ source }) => source)).toEqual(
    Array.from({ length: DAYS }, () => 'venue_candles'),
  )
  // Marks that were read back, each with the index of its time: 0.6 % above it at one hour of a day.
  await world.run(`INSERT INTO mark_prices_log (asset, instrument, time, mark, index_price, channel, source, offset)
    SELECT 'ada', 'binance:perp:ADAUSDT', ${at}, if(number % 24 = 9, 100.6, 100.1), 100, 'prices', 'venue_history', number
    FROM numbers(${hours})`)
  const basis = rule({ metric: 'basis_pct', exchange: 'binance', operator: 'above', value: 0.5 })
  expect((await trialsAt(0)(basis, T)).rang.map(({ source }) => source)).toEqual(
    Array.from({ length: DAYS }, () => 'venue_history'),
  )
  // An hour's candle says nothing of five minutes, and no venue tells past levels.
  expect(await trialsAt(0)(rule({ ...change, window: '5m' }), T)).toMatchObject({ rang: [], seen: null, untold: [] })
  const levels = rule({ metric: 'liquidation_risk_pct', operator: 'above', value: 7 })
  expect((await trialsAt(0)(levels, T)).untold).toMatchObject([
    { metric: 'liquidation_risk_pct', why: 'no venue tells its past' },
  ])
})

it('looks through a week of prices, five a second', async () => {
  const to = T + LOOKS_BACK
  await world.run(
    `INSERT INTO prices_log (asset, time, price, low, high, quality, late, v, partition, offset)
     SELECT 'sol', fromUnixTimestamp64Micro(toInt64(${T} + number * 200000), 'UTC'),
       100 + 2 * sin(number / 25000) AS p, p, p, 'good', 0, number + 1, 2, number FROM numbers(${(LOOKS_BACK / SECOND) * 5})`,
  )
  const trials = trialsAt(0) // its time is told, not judged: others work beside it
  const started = performance.now()
  const terms = { kind: 'price', condition: 'above', target_price: 101 } as const
  const trial = await trials({ ...level, asset: 'sol', terms }, to)
  console.log(`a week of ${trial.records} prices: ${Math.round(performance.now() - started)} ms`)
  // A period is 2 pi x 5,000 s: the price goes over 101 twenty times in a week.
  expect(trial).toMatchObject({ records: (LOOKS_BACK / SECOND) * 5, stopped: null, gaps: [] })
  expect(trial.rang).toHaveLength(20)
}, 120_000)
