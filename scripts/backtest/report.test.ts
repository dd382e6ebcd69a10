import { describe, expect, it } from 'vitest'
import { Series, type Point } from './core/chart.ts'
import { Study } from './core/study.ts'
import { emptyFields } from '../../schemas/codec.ts'
import type { Signal } from '../../schemas/records.ts'
import { checkJson, checkText, isEqual } from './check.ts'
import type { Manifest } from './manifest.ts'
import { duration, reportHtml } from './report.ts'
import { tablesOf } from './results.ts'

const SECOND = 1_000_000
const T0 = 1_786_060_800 * SECOND
const place = { topic: 'market.trades', partition: 0, offset: 7 } as const

const manifest: Manifest = {
  version: 1,
  code: { release: '0.1.0', commit: 'abc', changed: false },
  processors: { cvd: 1 },
  source: 'a <source>',
  parameters: { from: null, to: null, mode: 'lived', latencyMs: 500, symbols: ['BTC'] },
  inputs: {},
  inputHash: 'in',
  outputs: {},
  outputHash: 'out',
  events: 1_234,
  signals: 4,
  triggers: 0,
  undecodable: 0,
  failed: 0,
}

function filled(): { study: Study; prices: Map<string, Point[]> } {
  const study = new Study({ latencyMs: 500, horizonsMs: [10_000], rules: [] })
  const series = new Series()
  const common = { asset: 'btc', kind: 'cvd', period: '1h', from: 'neutral', value: 0.1, evidence: {}, v: 0 } as const
  for (let second = 0; second < 100; second++) {
    const time = T0 + second * SECOND
    const signal: Signal = { ...common, to: 'bullish_pressure', time, exchange: null }
    if (second % 25 === 0) study.signal(signal, time, place, true)
    study.price('btc', { price: 100 + (second % 7), time, place })
    series.add(time, 100 + (second % 7))
  }
  return { study, prices: new Map([['btc', series.points()]]) }
}

describe('the report', () => {
  const page = reportHtml({ manifest, ...filled() })

  it('is one page with its charts in it and nothing that is fetched', () => {
    expect(page.match(/<svg /g)).toHaveLength(2)
    expect(page).not.toMatch(/<script|<link|https?:|src=|url\(|@import/)
    expect(page).not.toMatch(/NaN|undefined|Infinity/)
  })

  it('shows each signal on the price with its record, and the returns with their confidence', () => {
    expect(page.match(/<polygon class="long"/g)).toHaveLength(4)
    expect(page).toContain('market.trades/0@7')
    expect(page).toContain('<td>4</td><td>4</td>')
    expect(page).toMatch(/cvd 1h bullish_pressure <small>long<\/small>/)
  })

  it('begins with the symbols on which most fired, then goes by name', () => {
    const { study, prices } = filled()
    const points = prices.get('btc') ?? []
    const more = new Map([...['sol', 'ada'].map((asset) => [asset, points] as const), ...prices])
    const order = [...reportHtml({ manifest, study, prices: more }).matchAll(/<h3>(\w+)/g)].map(([, name]) => name)
    expect(order.slice(0, 3)).toEqual(['BTC', 'ADA', 'SOL'])
  })

  it('writes texts of the log as text', () => {
    expect(page).toContain('a &lt;source&gt;')
  })

  it('says so where nothing fired', () => {
    const study = new Study({ latencyMs: 0, horizonsMs: [1], rules: [] })
    const empty = reportHtml({ manifest, study, prices: new Map() })
    expect(empty).toContain('No signal said a direction.')
    expect(empty).not.toMatch(/NaN|undefined/)
  })
})

it('result tables have a value for each of their columns', () => {
  for (const { columns, rows } of tablesOf(filled().study, [10_000])) {
    for (const row of rows) expect(Object.keys(row).sort()).toEqual(Object.keys(columns).sort())
  }
})

it.each([
  [500, '0.5s'],
  [60_000, '1m'],
  [3_600_000, '1h'],
  [604_800_000, '7d'],
])('%i ms are %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

it('the text of a check has a line a topic and both sides of a difference', () => {
  const tally = { compared: 3, repeated: 1, overtaken: 0, older: 0, different: 1 }
  const live = {
    type: 'mark',
    value: { writer: 'cvd', run: 0, time: 5, ...emptyFields('mark') },
  } as const
  const text = checkText({
    differences: [
      { topic: 'derived.signals', record: 'mark', identity: 'cvd|5', kind: 'only-live', replay: null, live },
    ],
    tallies: new Map([['derived.signals', tally]]),
    absent: ['alerts.events'],
  })
  expect(text).toContain('not on this tape, so not compared: alerts.events')
  expect(text).toMatch(
    /derived\.signals mark cvd\|5: only the live system has\n {2}replay null\n {2}live {3}\{"writer":"cvd"/,
  )
  expect(text).toMatch(/differences 1$/)
})

describe('a check', () => {
  const none = { compared: 0, repeated: 0, overtaken: 0, older: 0, different: 0 }
  const absent = ['derived.flow', 'derived.signals'] as const

  it.each([
    ['no topic is there', new Map()],
    ['there is a topic with no record', new Map([['alerts.events', none]] as const)],
    ['all rests on an older log', new Map([['alerts.events', { ...none, older: 7 }]] as const)],
  ])('that has compared nothing says so, and is not equal: %s', (_what, tallies) => {
    const report = { differences: [], tallies, absent }
    expect(isEqual(report)).toBe(false)
    expect(checkText(report)).toMatch(/\nnothing was compared: .*--source kafka/)
    expect(checkText(report)).not.toContain('equals')
    expect(checkJson(report)).toMatchObject({ compared: 0, differences: 0, absent })
  })

  it('that has compared something without a difference is equal, and tells how much', () => {
    const tallies = new Map([['alerts.events', { ...none, compared: 3, older: 7 }]] as const)
    const report = { differences: [], tallies, absent }
    expect(isEqual(report)).toBe(true)
    expect(checkText(report)).toMatch(/replay equals live: differences 0$/)
    expect(checkJson(report)).toEqual({
      compared: 3,
      differences: 0,
      absent,
      topics: { 'alerts.events': { ...none, compared: 3, older: 7 } },
    })
  })
})
