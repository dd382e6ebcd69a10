import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { createWorld, T, type World } from '../infra/clickhouse/test-world.ts'
import { latePrice, given, create, mark, price, risk, SECOND } from '../processors/alerts/given.ts'
import type { WhatIfTerms } from '../processors/alerts/what-if.ts'
import type { Message, Micros } from '../schemas/records.ts'
import { recordPlace } from '../schemas/record-id.ts'
import { LOOKS_BACK, Trials } from './alerts/what-if.ts'
import { openDatabase } from './clickhouse.ts'
import { createMetrics } from './metrics.ts'

let world: World
let database: ReturnType<typeof openDatabase>
beforeAll(async () => {
  world = await createWorld('what_if')
  const { clickhouseUrl: url } = inject('parts')
  database = openDatabase({ url, user: 'default', password: '', database: world.database }, createMetrics())
})
afterAll(async () => {
  await database.close()
  await world.end()
})

const level: WhatIfTerms = {
  kind: 'price',
  asset: 'btc',
  symbol: 'BTC',
  condition: 'above',
  target_price: 100,
  threshold_pct: null,
  min_value_usd: null,
}

/** Prices that go up and down around 100 for an hour, with wicks, and a quarter of an hour that only candles tell of. */
function hour(): Message<'composite_price'>[] {
  const seconds = Array.from({ length: 360 }, (_, n) => n * 10)
  return seconds.flatMap((at): Message<'composite_price'>[] => {
    if (at > 1_800 && at < 2_700) return at === 2_690 ? [latePrice(2_690, 98, 102)] : []
    const usd = 100 + Math.round(10 * Math.sin(at / 200)) / 5
    return [price(at, usd, { high: usd + (at % 70 === 0 ? 1 : 0) })]
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
  const trials = new Trials(database, () => T / 1000)
  const { value: trial } = await trials.of(level, end, 'caller')
  const live = given(create({ expires_in_hours: 720 }))
  const start = first - (end - LOOKS_BACK)
  expect(start).toBeGreaterThan(0)
  for (const message of hour()) live.batch(mark((message.value.time - first) / SECOND), message)
  expect(trial.rang.map(({ time }) => (time - first) / SECOND).slice(1)).toEqual(live.rang.slice(1))
  expect(trial.rang.length).toBeGreaterThan(3)
  expect(trial.rang.some(({ late }) => late)).toBe(true)
  expect(recordPlace(trial.rang[0]?.record ?? '')).toMatchObject({ topic: 'alerts.inputs', partition: 2 })
  expect(trial).toMatchObject({ records: hour().length, stopped: null })
  expect(trial.gaps).toEqual([{ from: first + 1_800 * SECOND, to: first + 2_700 * SECOND }])

  const terms = { kind: 'liquidation', condition: 'cascade_risk', threshold_pct: 5, min_value_usd: 0 } as const
  const { value: cascades } = await trials.of({ ...level, ...terms, target_price: null }, end, 'caller')
  expect(cascades.rang.map(({ time, cascade_risk: to }) => [(time - first) / SECOND, to])).toEqual([
    [20, 'medium'],
    [100, 'medium'],
  ])
})

it('looks through a week of prices by the second within its time', async () => {
  const to = T + LOOKS_BACK
  await world.run(
    `INSERT INTO prices_log (asset, time, price, low, high, quality, late, v, partition, offset)
     SELECT 'eth', fromUnixTimestamp64Micro(toInt64(${T} + number * 1000000), 'UTC'), 100 + 2 * sin(number / 5000) AS p, p, p,
       'good', 0, number + 1, 2, number FROM numbers(${LOOKS_BACK / SECOND})`,
  )
  const trials = new Trials(database, () => performance.now())
  const started = performance.now()
  const { value: trial } = await trials.of({ ...level, asset: 'eth', target_price: 101 }, to, 'caller')
  console.log(`a week of ${trial.records} prices: ${Math.round(performance.now() - started)} ms`)
  // A period is 2 pi 5,000 s: 19 of them begin in a week, and each goes over 101 once.
  expect(trial).toMatchObject({ records: LOOKS_BACK / SECOND, stopped: null, gaps: [] })
  expect(trial.rang).toHaveLength(20)
})
