import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recordPosition } from '../../schemas/record-id.ts'
import type { CompositePrice, LiquidationRisk } from '../../schemas/records.ts'
import { usualTradeVenues } from '../../schemas/venues.ts'
import { Trials } from './what-if.ts'
import { TtlCache } from '../request/cache.ts'
import { openapi } from '../docs/openapi.ts'
import { routes } from '../routes.ts'
import { errorOf, startAlerts, textOf, type AlertHarness, type Answered } from '../testing/alert-calls.ts'
import { checkOf } from '../testing/closed.ts'
import { listAsset, NOW } from '../testing/harness.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const WEEK = 7 * 24 * 60 * MINUTE
const PATH = '/alerts/backtest'

let api: AlertHarness
beforeEach(async () => {
  api = await startAlerts()
})
afterEach(() => api.stop())

function priceAt(time: number, usd: number, change: Partial<CompositePrice> = {}): CompositePrice {
  const common = { asset: 'btc', price: usd, low: usd, high: usd, change_24h: null, sources: [] }
  return { ...common, quality: 'good', late: false, bounds_from: 0, time, v: 1, ...change }
}

function riskAt(time: number, pct: number): LiquidationRisk {
  const figures = { at_risk_5_usd: pct * 1_000, at_risk_5_pct: pct, at_risk_10_usd: 0, at_risk_10_pct: 0 }
  const rest = { exchanges: [], levels: [], clusters: [], swept_long_usd: 0, swept_short_usd: 0, since: 0, v: 1 }
  return { asset: 'btc', price: 100, open_interest_usd: 1, ...figures, ...rest, cascade_risk: 'medium', time }
}

/** A price every half minute for a week: 100, and 110 in the first minute of each of the last `days` days. */
function fillWeek(days: number): void {
  const day = WEEK / 7
  for (let time = NOW - WEEK; time < NOW; time += 30 * SECOND) {
    const since = time - (NOW - days * day)
    api.database.market.pastPrices.push(priceAt(time, since >= 0 && since % day < MINUTE ? 110 : 100))
  }
}

const tryOut = (change: object = {}): Promise<Answered> =>
  api.send('POST', PATH, { body: { symbol: 'BTC', condition: 'above', target_price: 105, days: 7, ...change } })

function listOf(value: unknown): Record<string, unknown>[] {
  if (!Array.isArray(value)) throw new Error('not a list')
  return value as Record<string, unknown>[]
}

describe(`POST ${PATH}`, () => {
  it('says how often the alert would have rung, when and at which price', async () => {
    fillWeek(3)
    const { status, body } = await tryOut()
    expect(status).toBe(200)
    expect(body).toMatchObject({ symbol: 'BTC', condition: 'above', target_price: 105, trigger_count: 3 })
    expect(body).toMatchObject({ records: WEEK / (30 * SECOND), cached: false })
    expect(body['triggers_per_day']).toBeCloseTo(3 / 7, 6)
    const triggers = listOf(body['triggers'])
    const day = 24 * 60 * MINUTE
    expect(triggers.map(({ time }) => time)).toEqual(
      [1, 2, 3].map((days) => new Date((NOW - days * day) / 1000).toISOString()),
    )
    expect(triggers[0]).toMatchObject({ price: 110, quality: 'good', late: false })
    expect(recordPosition(textOf(triggers[0]?.['record']))).toMatchObject({ topic: 'alerts.inputs', offset: 6 * 2_880 })
    expect(body['coverage']).toMatchObject({ complete: true, gap_count: 0, gaps: [], stopped_by: null })
  })

  it('tells the figures that it rests on where it is asked to, and where it rang', async () => {
    fillWeek(1)
    const { body } = await tryOut({ figures: true })
    const [figure] = listOf(body['figures'])
    expect(figure).toMatchObject({ metric: 'price', exchange: null, window: null })
    const points = listOf(figure?.['points'])
    expect(points.length).toBeGreaterThan(290)
    expect(points.length).toBeLessThan(310)
    const rangAt = listOf(body['triggers'])[0]?.['time']
    expect(points.filter(({ value }) => value === 110).map(({ time }) => time)).toContain(rangAt)
    expect(points[0]).toEqual({ time: new Date((NOW - WEEK) / 1000).toISOString(), value: 100 })
    expect((await tryOut())['body']).not.toHaveProperty('figures')
    for (let minute = 30; minute > 0; minute -= 1) api.database.market.pastRisks.push(riskAt(NOW - minute * MINUTE, 1))
    const [pct, risk] = ['liquidation_risk_pct', 'cascade_risk']
    const when = {
      any: [
        { metric: pct, operator: 'above', value: 5 },
        { metric: risk, operator: 'becomes', value: 'high' },
      ],
    }
    const answer = await api.send('POST', PATH, { body: { symbol: 'BTC', when, days: 7, figures: true } })
    const drawn = listOf(answer.body['figures'])
    expect(drawn.map(({ metric, points: told }) => [metric, listOf(told)[0]?.['value']])).toEqual([
      [pct, 1],
      [risk, 'medium'],
    ])
    expect((await tryOut({ figures: 3 })).body).toMatchObject({ error: 'invalid_body', field: 'figures' })
  })

  it('says what it was blind to', async () => {
    const start = NOW - 60 * MINUTE
    const minutes = [0, 1, 2, 30, 31]
    for (const minute of minutes) api.database.market.pastPrices.push(priceAt(start + minute * MINUTE, 100))
    api.database.market.pastPrices.push(
      priceAt(start + 20 * MINUTE, 100, { late: true, bounds_from: start + 19 * MINUTE, low: 90, high: 107 }),
    )
    const { body } = await tryOut()
    expect(body).toMatchObject({ trigger_count: 1, triggers: [{ late: true, price: 107 }], triggers_per_day: null })
    const iso = (minute: number): string => new Date((start + minute * MINUTE) / 1000).toISOString()
    expect(body['coverage']).toEqual({
      from: iso(0),
      to: iso(60),
      days: 7,
      own_from: iso(0),
      complete: false,
      stopped_by: null,
      gap_count: 2,
      gap_seconds: 28 * 60 + 29 * 60,
      gaps: [
        { from: iso(31), to: iso(60) },
        { from: iso(2), to: iso(30) },
      ],
    })
  })

  it.each([
    ['prices', { condition: 'above', target_price: 105 }],
    ['liquidations', { condition: 'cascade_risk', threshold_pct: 5 }],
    ['cvd', { when: { metric: 'volume', window: '1h', operator: 'below', value: 1 } }],
    ['funding', { when: { metric: 'open_interest_usd', operator: 'above', value: 1 } }],
    ['liquidated', { when: { metric: 'liquidated_usd', window: '1h', operator: 'above', value: 1 } }],
  ])('ends where %s stands still, whoever else writes to the same log', async (processor, terms) => {
    const { database } = api
    const still = NOW - 10 * MINUTE
    for (let time = NOW - 60 * MINUTE; time < NOW; time += 30 * SECOND) {
      database.market.pastPrices.push(priceAt(time, 100))
      database.market.pastRisks.push(riskAt(time, 1))
    }
    const price = { metric: 'price', operator: 'above', value: 1_000 }
    const asked = 'when' in terms ? { when: { any: [terms.when, price] } } : terms
    const endOf = async (): Promise<unknown> => {
      const { body } = await api.send('POST', PATH, { body: { symbol: 'BTC', ...asked, days: 1 } })
      return body['coverage']
    }
    const iso = (time: number): string => new Date(time / 1000).toISOString()
    expect(await endOf()).toMatchObject({ to: iso(NOW) })
    api.advance(61_000) // the same question is kept for a minute
    database.derived = database.derived.map((row) => (row.processor === processor ? { ...row, time: still } : row))
    expect(await endOf()).toMatchObject({ to: iso(still) })
    api.advance(61_000)
    database.derived = database.derived.filter((row) => row.processor !== processor)
    expect(await endOf()).toBeUndefined()
  })

  it('lists the newest hundred and counts all, and keeps no more', async () => {
    for (let n = 0; n < 300; n += 1) {
      const time = NOW - WEEK + n * 2 * MINUTE
      api.database.market.pastPrices.push(priceAt(time, 110), priceAt(time + MINUTE, 100))
    }
    const { body } = await tryOut()
    expect([body['trigger_count'], listOf(body['triggers']).length]).toEqual([300, 100])
    const now = (): number => NOW / 1000
    const cache = new TtlCache({ keysMax: 1, clock: now })
    const trials = new Trials({ database: api.database, now, counted: usualTradeVenues, cache })
    const tried = { asset: 'btc', symbol: 'BTC', to: NOW } as const
    const terms = { kind: 'price', condition: 'above', target_price: 105 } as const
    const { value } = await trials.of([{ ...tried, terms }], { days: 7, isDrawn: false }, 'caller')
    expect(value.map(({ rings, rang }) => [rings, rang.length, rang.at(-1)?.time])).toEqual([
      [300, 100, NOW - WEEK + 299 * 2 * MINUTE],
    ])
  })

  it('tries a liquidation alert out where the condition is cascade_risk', async () => {
    api.database.market.pastRisks = [4, 6, 4, 7].map((pct, n) => riskAt(NOW - (10 - n) * MINUTE, pct))
    const { body } = await tryOut({ condition: 'cascade_risk', threshold_pct: 5, min_value_usd: 6_500 })
    expect(body).toMatchObject({ condition: 'cascade_risk', threshold_pct: 5, min_value_usd: 6_500, trigger_count: 1 })
    expect(body).not.toHaveProperty('target_price')
  })

  it.each([
    [{ threshold_pct: 5 }, 200, { condition: 'cascade_risk', threshold_pct: 5, min_value_usd: 0, trigger_count: 2 }],
    [{ min_value_usd: 6_500 }, 200, { condition: 'cascade_risk', min_value_usd: 6_500, trigger_count: 1 }],
    [{ condition: 'cascade', threshold_pct: 5 }, 400, { message: 'condition must be cascade_risk, or be left out.' }],
    [{ target_price: 5 }, 400, { message: expect.stringContaining('condition must be one of above') as unknown }],
    [{ held_for: '1m' }, 400, { error: 'invalid_rule', field: 'when' }],
  ])('tries out the kind of which %j is', async (terms, status, told) => {
    api.database.market.pastRisks = [4, 6, 4, 7].map((pct, n) => riskAt(NOW - (10 - n) * MINUTE, pct))
    const answer = await api.send('POST', PATH, {
      body: { symbol: 'BTC', webhook_url: 'https://a.example/', ...terms },
    })
    expect([answer.status, answer.body]).toMatchObject([status, told])
  })

  it('takes the body of a creation as it is, and looks at no webhook', async () => {
    fillWeek(1)
    const more = { webhook_url: 'http://127.0.0.1/', agent_wallet: 7, expires_in_hours: 1 }
    expect((await tryOut(more)).body).toMatchObject({ trigger_count: 1 })
  })

  it('takes the body of a creation as it is', async () => {
    fillWeek(1)
    const rest = { webhook_url: 'https://hooks.example.com/x', agent_wallet: null, expires_in_hours: 24 }
    expect((await tryOut(rest)).status).toBe(200)
  })

  it('tries each symbol of a list out by itself', async () => {
    for (const asset of ['eth', 'xrp']) listAsset(api.database, asset)
    fillWeek(2)
    for (const { price, time } of api.database.market.pastPrices.slice())
      api.database.market.pastPrices.push(priceAt(time, price - 3, { asset: 'eth' }))
    const { status, body } = await tryOut({ symbol: undefined, symbols: ['btc', 'ETH', 'XRP'], figures: true })
    expect([status, body['trigger_count'], body['symbols']]).toEqual([200, 4, ['BTC', 'ETH', 'XRP']])
    expect(body).not.toHaveProperty('figures')
    const by = listOf(body['by_symbol'])
    expect(by.map(({ symbol, trigger_count, coverage }) => [symbol, trigger_count, coverage === null])).toEqual([
      ['BTC', 2, false],
      ['ETH', 2, false],
      ['XRP', 0, true],
    ])
    expect(new Set(listOf(body['triggers']).map(({ symbol }) => symbol))).toEqual(new Set(['BTC', 'ETH']))
    expect((await tryOut({ symbol: undefined, symbols: 'all' })).body).toMatchObject({
      symbols: ['BTC'],
      trigger_count: 2,
    })
  })

  it('goes on in the venues’ candles before our own log, and says whose word rang it', async () => {
    const HOUR = 60 * MINUTE
    const own = NOW - (NOW % HOUR) - HOUR
    for (let hours = 1; hours <= 48; hours += 1) {
      const [open, close, takerBuy] = hours === 10 ? [100, 112, 9] : [100, 100, 5]
      const candle = { asset: 'btc', start: own - hours * HOUR, seconds: 3_600, open, close, volume: 10, takerBuy }
      api.database.pasts.push({ venue: 'binance', ...candle }, { venue: 'okx', ...candle, takerBuy: null })
    }
    for (let time = own; time < NOW; time += 30 * SECOND)
      api.database.market.pastPrices.push(priceAt(time, time > own + 10 * MINUTE ? 110 : 100))
    const { body } = await tryOut({ days: 30 })
    expect(listOf(body['triggers']).map(({ source, price, record }) => [source, price, record === null])).toEqual([
      ['live', 110, false],
      ['venue_candles', 112, true],
    ])
    const iso = (time: number): string => new Date(time / 1000).toISOString()
    const coverage = { from: iso(own - 48 * HOUR), own_from: iso(own), days: 30, complete: false, gap_count: 0 }
    expect(body).toMatchObject({ coverage, no_past: [] })
    const rule = (when: object): Promise<Answered> => api.send('POST', PATH, { body: { symbol: 'BTC', when } })
    const flow = { metric: 'cvd_change', window: '1h', operator: 'above', value: 7 }
    const told = await rule(flow)
    expect(told.body).toMatchObject({ trigger_count: 1, coverage: { own_from: null } })
    expect(listOf(told.body['triggers'])[0]).toMatchObject({ source: 'venue_candles', record: null })
    const untold = await rule({ any: [flow, { metric: 'liquidation_risk_pct', operator: 'above', value: 1 }] })
    expect(errorOf(untold)).toBe('503 data_unavailable')
    const beside = { metric: 'price', exchange: 'binance', operator: 'above', value: 1 }
    const { body: partly } = await rule({ any: [{ metric: 'price', operator: 'above', value: 105 }, beside] })
    expect(listOf(partly['no_past'])).toMatchObject([{ metric: 'price', exchange: 'binance', window: null }])
    expect(partly).toMatchObject({ coverage: { from: iso(own) } })
  })

  it('looks at the candle of an hour in which the candles of minutes begin', async () => {
    const HOUR = 60 * MINUTE
    const own = NOW - (NOW % HOUR)
    const candle = { asset: 'btc', venue: 'binance', open: 100, close: 100, volume: 10, takerBuy: 5 }
    for (let hours = 1; hours <= 48; hours += 1)
      api.database.pasts.push({ ...candle, start: own - hours * HOUR, seconds: 3_600 })
    for (let start = own - 24 * HOUR - 31 * MINUTE; start < own; start += MINUTE)
      api.database.pasts.push({ ...candle, start, seconds: 60 })
    for (let time = own; time < NOW; time += 30 * SECOND) api.database.market.pastPrices.push(priceAt(time, 100))
    const { body } = await tryOut({ days: 2 })
    expect(body).toMatchObject({ coverage: { own_from: new Date(own / 1000).toISOString(), gap_count: 0 } })
  })

  it('fills windows with what was told before the begin, by us or by the venues', async () => {
    const HOUR = 60 * MINUTE
    for (let time = NOW - 72 * HOUR; time < NOW; time += MINUTE)
      api.database.market.pastPrices.push(priceAt(time, time < NOW - 6 * HOUR ? 100 : 110))
    const rings = async (when: object, days: number): Promise<unknown> =>
      (await api.send('POST', PATH, { body: { symbol: 'BTC', when, days } })).body['trigger_count']
    const rise = { metric: 'price_change_pct', window: '24h', operator: 'above', value: 5 }
    expect([await rings(rise, 1), await rings(rise, 2)]).toEqual([1, 1])

    const start = NOW - (NOW % HOUR) - 72 * HOUR
    const candle = { asset: 'btc', seconds: 3_600, open: 100, close: 100, volume: 10, takerBuy: 5, venue: 'binance' }
    for (let hour = 0; hour < 72; hour += 1) api.database.pasts.push({ ...candle, start: start + hour * HOUR })
    const volume = { metric: 'volume', window: '24h', close: '1h', operator: 'below' }
    expect([await rings({ ...volume, value: 239 }, 1), await rings({ ...volume, value: 241 }, 1)]).toEqual([0, 1])
  })

  it('lets time pass behind the last record', async () => {
    api.database.market.pastRisks = [riskAt(NOW - 14 * MINUTE, 1), riskAt(NOW - 13 * MINUTE, 6)]
    const when = { metric: 'liquidation_risk_pct', operator: 'above', value: 5 }
    const held = await api.send('POST', PATH, { body: { symbol: 'BTC', when, held_for: '10m' } })
    const rangAt = new Date((NOW - 3 * MINUTE) / 1000).toISOString()
    expect(held.body).toMatchObject({ trigger_count: 1, triggers: [{ time: rangAt, record: null }] })
    const longer = await api.send('POST', PATH, { body: { symbol: 'BTC', when, held_for: '14m' } })
    expect(longer.body).toMatchObject({ trigger_count: 0 })
  })

  it('takes a symbol in any case', async () => {
    fillWeek(1)
    expect((await tryOut({ symbol: 'btc' })).body).toMatchObject({ symbol: 'BTC', trigger_count: 1 })
  })

  it.each([
    [{ symbol: 'b-tc' }, '400 invalid_symbol symbol'],
    [{ symbol: 'NOPE' }, '404 symbol_not_found symbol'],
    [{ condition: 'sideways' }, '400 invalid_condition condition'],
    [{ target_price: 0 }, '400 invalid_target_price target_price'],
    [{ hours: 0 }, '400 invalid_body hours'],
    [{ days: 31 }, '400 invalid_body days'],
    [{ symbols: ['ETH'] }, '400 invalid_symbol symbols'],
    [{ condition: 'cascade_risk', threshold_pct: 0 }, '400 invalid_threshold_pct threshold_pct'],
    [{ condition: 'cascade_risk', min_value_usd: -1 }, '400 invalid_min_value_usd min_value_usd'],
    [{}, '503 data_unavailable'], // there is no history at all
  ])('refuses %j with %s', async (change, expected) => {
    expect(errorOf(await tryOut(change))).toBe(expected)
  })

  it.each([undefined, '[]'])('refuses the body %s', async (body) => {
    expect(errorOf(await api.send('POST', PATH, { body }))).toBe('400 invalid_body')
  })

  it('answers the same question from memory for a minute', async () => {
    fillWeek(1)
    await tryOut()
    const asked = api.database.count('past-prices')
    expect(asked).toBeGreaterThan(0)
    expect((await tryOut({ expires_in_hours: 3 })).body).toMatchObject({ cached: true, trigger_count: 1 })
    expect(api.database.count('past-prices')).toBe(asked)
    api.advance(60_000)
    expect((await tryOut()).body).toMatchObject({ cached: false })
  })

  it('lets a caller try five at once, then one in five seconds', async () => {
    api.database.market.pastPrices.push(priceAt(NOW - MINUTE, 100))
    const answers = []
    for (let n = 0; n < 6; n += 1) answers.push(await tryOut({ target_price: 200 + n }))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429])
    expect(answers.at(-1)?.headers.get('retry-after')).toBe('5')
    api.advance(5_000)
    expect((await tryOut({ target_price: 300 })).status).toBe(200)
  })

  it('tries one out at a time, and refuses when too many wait', async () => {
    api.database.market.pastPrices.push(priceAt(NOW - MINUTE, 100))
    let open: () => void = () => undefined
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const query = api.database.query.bind(api.database)
    api.database.query = async (sql, params) => {
      if (sql.includes('FROM prices')) await opened
      return query(sql, params)
    }
    const asking = [1, 2, 3, 4, 5].map((n) => tryOut({ target_price: 200 + n }))
    expect(errorOf(await Promise.race(asking))).toBe('503 overloaded')
    open()
    const statuses = (await Promise.all(asking)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 503])
  })

  it('stops after some seconds and says how far it came', async () => {
    fillWeek(7)
    const query = api.database.query.bind(api.database)
    api.database.query = (sql, params) => {
      if (sql.includes('{minutes:')) api.hang(3_000)
      return query(sql, params)
    }
    const { body } = await tryOut()
    // Each read takes three seconds: after the third the time is over.
    expect(body).toMatchObject({ coverage: { complete: false, stopped_by: 'seconds' } })
    expect(Date.parse(textOf((body['coverage'] as { to: unknown }).to))).toBeLessThan((NOW - WEEK / 2) / 1000)
  })

  it('is free, is not kept by caches, and is what the document says', async () => {
    fillWeek(2)
    const answer = await tryOut()
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(routes.find(({ path }) => path === PATH)?.priceUsdc).toBe(0)
    const document = JSON.parse(JSON.stringify(openapi(routes, '1.2.3'))) as {
      paths: Record<
        string,
        Record<string, { responses: Record<string, { content: Record<string, { schema: object }> }> }>
      >
    }
    const schema = document.paths[PATH]?.['post']?.responses['200']?.content['application/json']?.schema
    const validate = checkOf(schema ?? {})
    validate(answer.body)
    expect([schema === undefined, validate.errors]).toEqual([false, null])
  })
})
