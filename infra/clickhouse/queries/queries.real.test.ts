import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { emptyFields } from '../../../schemas/codec.ts'
import type {
  CompositePrice,
  Flow,
  FlowHour,
  Liquidation,
  LiquidationRisk,
  Message,
  Signal,
  Trigger,
  VenueCandle,
} from '../../../schemas/records.ts'
import { connectClickhouse, type Clickhouse } from '../client.ts'
import { attempt } from '../testing/small-world/business.ts'
import { fillSmallWorld } from '../testing/small-world/fill.ts'
import { HOUR, MINUTE, SECOND } from '../testing/small-world/time.ts'
import { createWorld, type World } from '../testing/world.ts'
import { answers } from '../testing/answers.ts'
import { workedQueries } from './queries.ts'

let world: World
let analyst: Clickhouse
beforeAll(async () => {
  world = await createWorld('queries')
  await fillSmallWorld(world)
  const { url } = inject('parts').clickhouse
  analyst = connectClickhouse({ url, user: 'analyst', password: '', database: world.database })
})
afterAll(async () => {
  await analyst.close()
  await world.end()
})

const common = { venue: 'binance', seconds: 60, horizon: 60, start: '2024-08-08 23:54:00', end: '2024-08-08 23:58:00' }
/** What it says depends on how parts have merged. */
const STORAGE = '22_storage'
/** Trades of single seconds are those of ETH. */
const ofEth = new Set(['08_venue_lead_lag', '19_feed_latency', '20_large_trades'])

it.each(
  workedQueries()
    .filter(({ name }) => name !== STORAGE)
    .map(({ name, sql }) => [name, sql] as const),
)('%s answers the small world as worked out by hand, to the user analyst', async (name, sql) => {
  const rows = await analyst.rows<Record<string, unknown>>(sql, { ...common, asset: ofEth.has(name) ? 'eth' : 'btc' })
  const expected = answers[name]
  if (expected === undefined) throw new Error(`nobody has worked out ${name}`)
  expect(rows.map(rounded)).toEqual(expected)
  expect(rows).toHaveLength(expected.length)
})

it.each(guideQueries())('the guide %s asks what can be answered: %s', async (_guide, sql) => {
  expect(await analyst.rows(sql)).toBeInstanceOf(Array)
})

it('answers histories of perpetuals by minute and by week, which begins with Monday', async () => {
  const range = "asset = 'btc', start = '2024-08-08 00:00:00', end = '2024-08-09 12:00:00'"
  const by = async (view: string, seconds: number): Promise<Record<string, unknown>[]> =>
    (await analyst.rows<Record<string, unknown>>(`SELECT * FROM ${view}(seconds = ${seconds}, ${range})`)).map(rounded)
  const start = (minute: number): string => `2024-08-08T23:5${4 + minute}:00.000000Z`
  const binance = (minute: number, row: object): object => ({ time: start(minute), venue: 'binance', ...row })
  const interest = (open_interest: number, mark: number, open_interest_usd: number): object => ({
    open_interest,
    mark,
    open_interest_usd,
    source: 'live',
  })
  expect(await by('open_interest_history', 60)).toEqual([
    binance(0, interest(1_000, 100, 100_000)),
    binance(1, interest(1_010, 102, 103_020)),
    binance(2, interest(990, 99, 98_010)),
  ])
  expect(await by('basis_history', 60)).toEqual([
    binance(0, { mark: 100, spot: 100, index_price: 100, against: 'spot', basis_usd: 0, basis_pct: 0, source: 'live' }),
    binance(1, {
      mark: 102,
      spot: 101,
      index_price: 102,
      against: 'spot',
      basis_usd: 1,
      basis_pct: 0.990099,
      source: 'live',
    }),
    binance(2, { mark: 99, spot: 99, index_price: 99, against: 'spot', basis_usd: 0, basis_pct: 0, source: 'live' }),
  ])
  expect(await by('long_short_history', 60)).toEqual([
    binance(0, { long_ratio: 0.666667, short_ratio: 0.333333, ls_ratio: 2, source: 'live' }),
    { time: start(0), venue: 'okx', long_ratio: 0.5, short_ratio: 0.5, ls_ratio: 1, source: 'live' },
  ])
  const liquidated = { long_usd: 294.1, short_usd: 103, long_count: 2, short_count: 1 }
  expect(await by('liquidation_history', 60)).toEqual([binance(2, liquidated)])
  const week = { time: '2024-08-05T00:00:00.000000Z', venue: 'binance' }
  expect(await by('liquidation_history', 604_800)).toEqual([{ ...week, ...liquidated }])
  expect(await by('open_interest_history', 604_800)).toEqual([{ ...week, ...interest(990, 99, 98_010) }])
  // Behind the spot prices, and behind the marks: what is missing is null.
  const late = "asset = 'btc', seconds = 60, start = '2024-08-09 12:00:00', end = '2024-08-10 00:00:00'"
  expect(await analyst.rows(`SELECT * FROM basis_history(${late})`)).toEqual([])
})

it.each([
  ['open_interest_history', 56],
  ['basis_history', 56],
  ['long_short_history', 54],
  ['liquidation_history', 56],
])('%s tells the interval whole in which its range begins', async (view, minute) => {
  const from = (second: string): Promise<object[]> =>
    analyst.rows(`SELECT * FROM ${view}(asset = 'btc', seconds = 60,
      start = '2024-08-08 23:${minute}:${second}', end = '2024-08-08 23:57:00')`)
  const whole = await from('00')
  expect(whole).not.toEqual([])
  expect(await from('59')).toEqual(whole)
})

it('begins weeks of candles and flow with Monday', async () => {
  const range = "asset = 'btc', seconds = 604800, start = '2024-08-08 00:00:00', end = '2024-08-08 23:58:00'"
  const time = '2024-08-05T00:00:00.000000Z'
  const figures = { open: 90, high: 103, low: 90, close: 99, volume: 29, buy_volume: 18, sell_volume: 11, trades: 15 }
  expect(await analyst.rows(`SELECT * FROM ohlcv(venue = 'binance', ${range})`)).toEqual([
    { time, source: 'trades', ...figures },
  ])
  expect(await analyst.rows(`SELECT time, venue, delta, cvd FROM cvd(${range})`)).toEqual([
    { time, venue: 'binance', delta: 7, cvd: 7 },
    { time, venue: 'coinbase', delta: -1, cvd: -1 },
  ])
})

it.each([
  '15_open_interest_against_price',
  '16_basis_history',
  '17_long_short',
  '18_venue_spread',
  '21_realised_volatility',
])('%s begins weeks with Monday, as candles and histories do', async (name) => {
  const rows = await ask(name, { asset: 'btc', seconds: 604_800 })
  expect(rows.map(({ time }) => time)).toEqual(['2024-08-05T00:00:00.000000Z'])
})

it('12_revenue leaves out the day that begins at the end', async () => {
  const days = async (start: string, end: string): Promise<unknown[]> =>
    (await ask('12_revenue', { start, end })).map(({ day }) => day)
  expect(await days('2024-08-07 00:00:00', '2024-08-08 00:00:00')).toEqual([])
  expect(await days('2024-08-08 12:00:00', '2024-08-09 00:00:00')).toEqual(['2024-08-08', '2024-08-08'])
})

it('21_realised_volatility counts a return over minutes without trades as one over all of them', async () => {
  const flows = [flowOf(0, 100), flowOf(5, 101), flowOf(6, 101)]
  await world.append(
    'derived.flow',
    flows.map((row) => world.codec.encode('derived.flow', 'flow', row)),
  )
  await world.soon("SELECT count() AS n FROM flow_10s WHERE asset = 'ada'", [{ n: 3 }])
  const range = { start: '2024-08-20 00:00:00', end: '2024-08-20 01:00:00' }
  expect(await ask('21_realised_volatility', { ...range, asset: 'ada', seconds: 3_600 })).toEqual([
    // ln(1.01) x sqrt(525,600 / 6).
    { time: '2024-08-20T00:00:00.000000Z', minutes: 6, annual_pct: 294.503, range_pct: 1 },
  ])
})

describe('funding counts by the year of the interval of its own time', () => {
  // 0.03 % a day are 10.95 % a year, by eight hours as by four.
  beforeAll(async () => {
    const facts = [
      termsOf(dayOf(1) + 12 * HOUR, 8),
      termsOf(dayOf(3), 4),
      rateOf(dayOf(1), 0.0001),
      rateOf(dayOf(2), 0.0001),
      rateOf(dayOf(3), 0.00005),
      ...[0, 8, 16, 24, 32, 40, 48].map((hour) => settlementOf(dayOf(1) + hour * HOUR, 0.0001)),
      ...[4, 8, 12, 16, 20, 24, 48].map((hour) => settlementOf(dayOf(3) + hour * HOUR, 0.00005)),
      ...[0, 6, 12, 18, 24].map((hour) => settlementOf(dayOf(20) + hour * HOUR, 0.000075)),
      // Settled rates are all that is known of these.
      ...[0, 4, 8].map((hour) => settlementOf(dayOf(10) + hour * HOUR, 0.00005, 'gate:perp:SOL_USDT')),
      settlementOf(dayOf(10), 0.0001, 'hyperliquid:perp:SOL'),
    ]
    const values = facts.map(({ type, value }) => world.codec.encode('market.funding', type, value))
    await world.append('market.funding', values)
    await world.soon("SELECT count() AS n FROM contract_terms WHERE asset = 'sol'", [{ n: 2 }])
    await world.soon("SELECT count() AS n FROM funding_rates WHERE asset = 'sol'", [{ n: 3 }])
    await world.soon("SELECT count() AS n FROM funding_settlements WHERE asset = 'sol'", [{ n: 23 }])
  })
  const rows = (name: string, start: string, end: string): Promise<object[]> =>
    ask(name, { asset: 'sol', start: `2024-08-${start}`, end: `2024-08-${end}` })

  it('03_funding_heat by the terms of then, before the first by those', async () => {
    const heat = { asset: 'sol', binance_pct: 10.95, mean_pct: 10.95, spread_pct: 0 }
    expect(await rows('03_funding_heat', '01 00:00:00', '03 00:00:00')).toMatchObject([heat])
    expect(await rows('03_funding_heat', '01 00:00:00', '06 00:00:00')).toMatchObject([heat])
  })

  it('04_funding_paid by the time since the settlement before', async () => {
    const paid = { instrument: solana.instrument, annual_pct: 10.95 }
    expect(await rows('04_funding_paid', '01 01:00:00', '04 00:00:01')).toEqual([
      { ...paid, settlements: 12, paid_pct: 0.09 },
    ])
    // Every six hours, four by the terms.
    expect(await rows('04_funding_paid', '20 00:00:01', '21 00:00:01')).toEqual([
      { ...paid, settlements: 4, paid_pct: 0.03 },
    ])
  })

  it('04_funding_paid by that time alone where no terms are known, null where neither is', async () => {
    expect(await rows('04_funding_paid', '10 00:00:00', '10 08:00:01')).toEqual([
      { instrument: 'gate:perp:SOL_USDT', settlements: 3, paid_pct: 0.015, annual_pct: 10.95 },
      { instrument: 'hyperliquid:perp:SOL', settlements: 1, paid_pct: 0.01, annual_pct: null },
    ])
  })

  it('04_funding_paid by the terms of then where that one is not known', async () => {
    const paid = { instrument: solana.instrument, annual_pct: 10.95 }
    expect(await rows('04_funding_paid', '01 00:00:00', '01 08:00:00')).toEqual([
      { ...paid, settlements: 1, paid_pct: 0.01 },
    ])
    // The last comes a day after the one before.
    expect(await rows('04_funding_paid', '01 00:00:00', '06 00:00:00')).toEqual([
      { ...paid, settlements: 14, paid_pct: 0.105 },
    ])
  })
})

it('06_liquidation_model counts over each start of the model, and what was reported from the first on', async () => {
  const risks = [
    riskOf('xrp', [0, 50_000], -24 * HOUR),
    riskOf('xrp', [6, 60_000], -24 * HOUR),
    riskOf('xrp', [6.01, 500], 6 * HOUR),
    riskOf('xrp', [12, 9_000], 6 * HOUR),
    riskOf('ada', [11.01, 200], 11 * HOUR),
    riskOf('ada', [12, 1_000], 11 * HOUR),
  ]
  const events = [
    liquidationOf('xrp', 3, 11_000),
    liquidationOf('xrp', 8, 8_000),
    liquidationOf('ada', 2, 90_000),
    liquidationOf('ada', 11.5, 900),
  ]
  await world.append(
    'alerts.inputs',
    risks.map((row) => world.codec.encode('alerts.inputs', 'liquidation_risk', row)),
  )
  await world.append(
    'market.liquidations',
    events.map((row) => world.codec.encode('market.liquidations', 'liquidation', row)),
  )
  await world.soon("SELECT count() AS n FROM liquidation_risk WHERE asset IN ('xrp', 'ada')", [{ n: 6 }])
  await world.soon("SELECT count() AS n FROM liquidations WHERE asset IN ('xrp', 'ada')", [{ n: 4 }])
  const range = { start: '2024-08-25 00:00:00', end: '2024-08-26 00:00:00' }
  const short = { expected_short_usd: 0, observed_short_usd: 0 }
  expect(await ask('06_liquidation_model', range)).toEqual([
    // 60,000 - 50,000, and 9,000 since six o'clock.
    { asset: 'xrp', expected_long_usd: 19_000, observed_long_usd: 19_000, ...short, ratio: 1 },
    { asset: 'ada', expected_long_usd: 1_000, observed_long_usd: 900, ...short, ratio: 0.9 },
  ])
})

describe('a price that is over a minute away from the time that is asked about does not count', () => {
  const range = { asset: 'xrp', start: '2024-08-27 00:00:00', end: '2024-08-28 00:00:00' }
  const at = (seconds: number): number => dayOf(27) + seconds * SECOND
  beforeAll(async () => {
    const prices = [priceOf(at(0), 100), priceOf(at(130), 102)]
    const rung = [9, 10].map((seconds) => triggerOf(at(seconds)))
    const signals = [9, 10, 60, 61].map((seconds) => signalOf(at(seconds)))
    await world.append(
      'alerts.inputs',
      prices.map((row) => world.codec.encode('alerts.inputs', 'composite_price', row)),
    )
    await world.append(
      'alerts.triggers',
      rung.map((row) => world.codec.encode('alerts.triggers', 'trigger', row)),
    )
    await world.append(
      'derived.signals',
      signals.map((row) => world.codec.encode('derived.signals', 'signal', row)),
    )
    await world.soon("SELECT count() AS n FROM prices WHERE asset = 'xrp'", [{ n: 2 }])
    await world.soon("SELECT count() AS n FROM triggers WHERE asset = 'xrp'", [{ n: 2 }])
    await world.soon("SELECT count() AS n FROM signals WHERE asset = 'xrp'", [{ n: 4 }])
  })

  it('in 11_trigger_slippage', async () => {
    const rows = await ask('11_trigger_slippage', range)
    // Of 10 s the price of 130 s is a minute behind 70 s; of 9 s there is none by then.
    expect(rows.map(({ slippage_bp }) => slippage_bp)).toEqual([200, null])
  })

  it('in 07_signal_hit_rate, nor as the price of the signal', async () => {
    // Of 9 s there is no later one; of 61 s the price of 0 s is too old.
    expect(await ask('07_signal_hit_rate', range)).toMatchObject([{ signals: 2, mean_return_bp: 200 }])
  })
})

describe('of a rule for several symbols, and of a ring that is over,', () => {
  const range = { start: '2024-08-28 00:00:00', end: '2024-08-29 00:00:00' }
  beforeAll(async () => {
    const at = dayOf(28)
    const parts = ['alert_s.1.btc', 'alert_s.2.eth']
    const rung = parts.map((alert_id) => ({ ...triggerOf(at), alert_id, trigger_id: `${alert_id}_1`, asset: 'dot' }))
    const over = rung.map((one) => ({ ...one, trigger_id: `${one.trigger_id}_over`, time: at + SECOND }))
    const triggers = [...rung, ...over]
    const attempts = triggers.map(({ alert_id, trigger_id, time: triggered }) => {
      const started = at + (trigger_id.endsWith('_over') ? MINUTE : SECOND)
      return { ...attempt, alert_id, trigger_id, triggered, started, finished: started + SECOND }
    })
    await world.append(
      'alerts.triggers',
      triggers.map((row) => world.codec.encode('alerts.triggers', 'trigger', row)),
    )
    await world.append(
      'webhooks.attempts',
      attempts.map((row) => world.codec.encode('webhooks.attempts', 'attempt', row)),
    )
    await world.soon("SELECT count() AS n FROM triggers WHERE asset = 'dot'", [{ n: 4 }])
    await world.soon("SELECT count() AS n FROM webhook_attempts WHERE startsWith(alert_id, 'alert_s.')", [{ n: 4 }])
  })

  it('09_delivery_latency counts what rang', async () => {
    expect(await ask('09_delivery_latency', range)).toMatchObject([
      { triggers: 2, undelivered: 0, first_p99_ms: 1_000, delivered_p99_ms: 2_000 },
    ])
  })

  it('10_delivery_outcomes counts one alert, with all its attempts', async () => {
    expect(await ask('10_delivery_outcomes', range)).toMatchObject([{ attempts: 4, alerts: 1 }])
  })
})

describe('02_cvd_against_price counts its cvd from the interval in which the range begins', () => {
  const rows = (given: object): Promise<object[]> => ask('02_cvd_against_price', given)
  const flows = async (given: object): Promise<object[]> =>
    (await rows({ asset: 'sol', seconds: 86_400, end: '2024-08-15 00:00:00', ...given })).map((row) => {
      const { time, delta, cvd } = row as { time: string; delta: number; cvd: number }
      return { day: time.slice(0, 10), delta, cvd }
    })
  beforeAll(async () => {
    const candles = [candleOf(5, 60), candleOf(6, 70)]
    const hours = [hourOf(7, 5, 1), hourOf(12, 1, 3)]
    await world.append(
      'market.history',
      candles.map((row) => world.codec.encode('market.history', 'venue_candle', row)),
    )
    await world.append(
      'derived.flow',
      hours.map((row) => world.codec.encode('derived.flow', 'flow_hour', row)),
    )
    await world.soon("SELECT count() AS n FROM flow_1h WHERE asset = 'sol'", [{ n: 2 }])
    await world.soon("SELECT count() AS n FROM venue_past_days WHERE asset = 'sol'", [{ n: 2 }])
  })

  it('over the venues’ candles and the trades behind them alike', async () => {
    expect(await flows({ start: '2024-08-05 00:00:00' })).toEqual([
      { day: '2024-08-05', delta: 20, cvd: 20 },
      { day: '2024-08-06', delta: 40, cvd: 60 },
      { day: '2024-08-07', delta: 4, cvd: 64 },
      { day: '2024-08-12', delta: -2, cvd: 62 },
    ])
    expect(await flows({ start: '2024-08-06 12:00:00' })).toMatchObject([{ cvd: 40 }, { cvd: 44 }, { cvd: 42 }])
    expect(await flows({ start: '2024-08-08 00:00:00' })).toEqual([{ day: '2024-08-12', delta: -2, cvd: -2 }])
  })

  it('by weeks, which begin with Monday', async () => {
    expect(await flows({ seconds: 604_800, start: '2024-08-09 00:00:00' })).toEqual([
      { day: '2024-08-05', delta: 64, cvd: 64 },
      { day: '2024-08-12', delta: -2, cvd: 62 },
    ])
  })

  it('with what other venues traded while the one whose price is told was silent', async () => {
    expect(await rows({ asset: 'btc', venue: 'coinbase' })).toMatchObject([
      { delta: 3, cvd: 3 },
      { delta: 1, cvd: 1 },
    ])
  })
})

it(`${STORAGE} weighs every base table that has rows`, async () => {
  const query = workedQueries().find(({ name }) => name === STORAGE)
  const rows = await analyst.rows<{ table: string; all_rows: number; bytes_a_row: number }>(query?.sql ?? '')
  const trades = rows.find(({ table }) => table === 'trades_log')
  expect(trades?.all_rows).toBe(14)
  expect(trades?.bytes_a_row).toBeGreaterThan(10)
  expect(rows.length).toBeGreaterThan(20)
})

it('asks for tables and columns that have comments, all of them', async () => {
  const silent = `SELECT table, name FROM system.columns WHERE database = currentDatabase() AND comment = ''
    AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND (engine = 'View' OR name LIKE '%\\_log'))`
  expect(await analyst.rows(silent)).toEqual([])
  const tables = `SELECT name FROM system.tables WHERE database = currentDatabase() AND comment = ''
    AND (engine = 'View' OR name LIKE '%\\_log')`
  expect(await analyst.rows(tables)).toEqual([])
  const [counted] = await analyst.rows<{ columns: number }>(
    "SELECT count() AS columns FROM system.columns WHERE database = currentDatabase() AND table IN (SELECT name FROM system.tables WHERE engine = 'View' AND database = currentDatabase())",
  )
  expect(counted?.columns).toBeGreaterThan(500)
})

/** The first hour of a day of August 2024. */
const dayOf = (day: number): number => Date.UTC(2024, 7, day) * 1000
const solana = { instrument: 'binance:perp:SOLUSDT', asset: 'sol', open: 10, high: 10, low: 10, close: 10 } as const

/** The venue's own candle of 100, of which takers bought so much. */
function candleOf(day: number, taker_buy: number): VenueCandle {
  const unknown = { quote: null, taker_buy_quote: null, trades: null }
  const start = dayOf(day)
  const source = 'venue_candles'
  return { ...solana, ...unknown, start, seconds: 3_600, volume: 100, taker_buy, source, received: start }
}

function hourOf(day: number, buy: number, sell: number): FlowHour {
  const hour = dayOf(day)
  const quote = { buy_quote: buy * 10, sell_quote: sell * 10 }
  const ids = { open_time: hour, close_time: hour + 1, first_id: day, last_id: day }
  return { ...solana, ...quote, ...ids, hour, part: 0, buy, sell, buy_count: 1, sell_count: 1, final: true, v: day }
}

function flowOf(minute: number, price: number): Flow {
  const { hour, ...rest } = hourOf(20, 1, 1)
  const ohlc = { open: price, high: price, low: price, close: price }
  return {
    ...rest,
    ...ohlc,
    instrument: 'binance:perp:ADAUSDT',
    asset: 'ada',
    bucket: hour + minute * MINUTE,
    v: 1 + minute,
  }
}

const perpetual = { instrument: solana.instrument, asset: solana.asset } as const

function termsOf(received: number, interval_hours: number): Message<'contract_terms'> {
  return { type: 'contract_terms', value: { ...emptyFields('contract_terms'), ...perpetual, interval_hours, received } }
}

function rateOf(time: number, rate: number): Message<'derivative_ticker'> {
  const said = { channel: 'markPrice', rate, next_settlement: time + HOUR, rate_time: time, received: time }
  return { type: 'derivative_ticker', value: { ...emptyFields('derivative_ticker'), ...perpetual, ...said } }
}

function settlementOf(
  time: number,
  settled_rate: number,
  instrument: string = perpetual.instrument,
): Message<'settlement'> {
  return { type: 'settlement', value: { ...perpetual, instrument, settled_rate, mark: null, time, received: time } }
}

/** Long mass that the model had swept by an hour of 25 August, since a time of that day. */
function riskOf(asset: string, [hour, swept_long_usd]: readonly [number, number], since: number): LiquidationRisk {
  const time = dayOf(25) + hour * HOUR
  const told = { swept_long_usd, since: dayOf(25) + since, time, v: Math.round(hour * 100) }
  const near = {
    at_risk_5_usd: 0,
    at_risk_5_pct: 0,
    at_risk_10_usd: 0,
    at_risk_10_pct: 0,
    cascade_risk: 'low',
  } as const
  const common = { asset, price: 100, open_interest_usd: 100_000, swept_short_usd: 0 }
  return { ...emptyFields('liquidation_risk'), ...common, ...near, ...told }
}

function liquidationOf(asset: string, hour: number, value: number): Liquidation {
  const time = dayOf(25) + hour * HOUR
  const what = { instrument: `okx:perp:${asset.toUpperCase()}-USDT-SWAP`, asset, id: `${asset}${hour}` }
  const how = { side: 'long', size: value / 100, price: 100, price_kind: 'order', completeness: 'all' } as const
  return { ...what, ...how, value, time, received: time }
}

function priceOf(time: number, price: number): CompositePrice {
  const bounds = { price, low: price, high: price, change_24h: null, sources: [] }
  return { asset: 'xrp', ...bounds, quality: 'good', late: false, bounds_from: 0, time, v: time }
}

function triggerOf(time: number): Trigger {
  const what = {
    trigger_id: `alert_xrp_${time}`,
    alert_id: 'alert_xrp',
    kind: 'price',
    asset: 'xrp',
    symbol: 'XRP',
  } as const
  const rang = { condition: 'above', current_price: 100, target_price: 100, trigger_count: 1 }
  const sent = { receiver: 'hooks.example.org:443', webhook: 'sealed', key_version: 1, test: false, record: 'rec_x' }
  const how = { condition_met: 'XRP rose above 100 USD', severity: 'medium', quality: 'good', late: false } as const
  return { ...emptyFields('trigger'), ...what, ...rang, ...sent, ...how, time, v: time }
}

function signalOf(time: number): Signal {
  const what = { asset: 'xrp', kind: 'cvd', period: '1h', from: 'neutral', to: 'bullish_pressure' } as const
  return { ...what, value: 0.1, evidence: { buy: 3, sell: 2 }, exchange: null, time, v: time }
}

/** What the guides ask for in a sentence; their blocks are run by scripts/docs. */
function guideQueries(): [string, string][] {
  const folder = new URL('../../../api/docs/guides/', import.meta.url)
  return readdirSync(folder).flatMap((name) => {
    const found = readFileSync(new URL(name, folder), 'utf8').matchAll(/`(SELECT [^`]+)`/g)
    return [...found].map(([, sql = '']): [string, string] => [name, sql])
  })
}

/** A worked query's rows. */
async function ask(name: string, given: object): Promise<Record<string, unknown>[]> {
  const query = workedQueries().find((worked) => worked.name === name)
  return (await analyst.rows<Record<string, unknown>>(query?.sql ?? '', { ...common, ...given })).map(rounded)
}

/** To six digits: what is worked out by hand has no more. */
function rounded(row: Record<string, unknown>): Record<string, unknown> {
  const round = (value: unknown): unknown => (typeof value === 'number' ? Number(value.toPrecision(6)) : value)
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, round(value)]))
}
