import { describe, expect, it, vi } from 'vitest'
import { readPast } from '../../processors/alerts/past.ts'
import { AlertsTestDriver, createRule, mark, T0 } from '../../processors/alerts/testing/records.ts'
import { OFFSETS } from '../../processors/kernel/version.ts'
import type { AlertEvent, Command } from '../../schemas/records.ts'
import { DatabaseError, type Database } from '../views/database.ts'
import { Warming } from './warm.ts'

const S = 1_000_000
const NAME = 'cvd_change||1m||'

function created(when: object = { metric: 'cvd_change', window: '1m', operator: 'above', value: 1 }): AlertEvent {
  const [event] = new AlertsTestDriver().batch(mark(0), createRule(when)).events
  if (event === undefined) throw new Error('the rule was not made')
  return { ...event, v: OFFSETS + 100 }
}

/** The same of a part of a rule for several symbols. */
function partOf(event: AlertEvent, id: string, asset: string): AlertEvent {
  return { ...event, alert_id: id, alert: event.alert && { ...event.alert, alert_id: id, asset } }
}

const row = (seconds: number, offset: number): object => ({
  core: 'cvd',
  at_us: T0 + seconds * S,
  names: ['buy'],
  venues: ['okx'],
  told: [2],
  partition: 0,
  offset,
  position: offset,
})

interface Asked {
  readonly rows?: readonly object[]
  /** The newest offset that ClickHouse has, at each question. */
  readonly newest?: readonly number[]
}

async function warmed(events: readonly AlertEvent[], { rows = [], newest = [101] }: Asked, isAway = false) {
  const sent: Command[] = []
  const asked: string[] = []
  const query: Database['query'] = (sql, { asset = '' }) => {
    if (isAway) return Promise.reject(new DatabaseError('unreachable', undefined))
    asked.push(sql.includes('AS newest') ? 'newest' : String(asset))
    const nth = asked.filter((what) => what === 'newest').length - 1
    return Promise.resolve(sql.includes('AS newest') ? [{ newest: newest[nth] ?? newest.at(-1) }] : rows)
  }
  const warn = vi.fn<() => void>()
  const warming = new Warming(() => Promise.resolve())
  const send = (command: Command): Promise<unknown> => Promise.resolve(sent.push(command))
  const assetsIn = (partition: number): readonly string[] => (partition === 0 ? ['btc', 'eth'] : [])
  warming.of(events, { database: { query }, assetsIn, now: () => T0 / 1000, log: { warn }, send })
  await warming.done()
  return { sent, warn, asked }
}

describe('the windows of a new rule', () => {
  it('are filled with what lies before its creation, once ClickHouse has all of that', async () => {
    const rows = [row(-50, 80), row(-40, 90), row(1, 101)]
    const { sent, asked } = await warmed([created()], { rows, newest: [90, 101] })
    expect(asked).toEqual(['newest', 'newest', 'btc'])
    expect(sent).toMatchObject([{ action: 'warm', asset: 'btc', alert_id: 'a' }])
    const past = readPast(sent[0]?.past ?? '')
    expect(past).toMatchObject({ since: T0, series: [[NAME, { since: T0 - 50 * S }]] })
    expect(past?.series[0]?.[1].samples.map(([, value]) => value)).toEqual([2, 2])
  })

  it('are filled of one that had ended and is extended', async () => {
    const rows = [row(-50, 80), row(-40, 90)]
    expect((await warmed([{ ...created(), event: 'extended' }], { rows })).sent).toMatchObject([{ action: 'warm' }])
    expect((await warmed([{ ...created(), event: 'resumed' }], { rows })).asked).toEqual([])
  })

  it('are filled of a single venue’s price, too', async () => {
    const when = { metric: 'price_change_pct', exchange: 'okx', window: '1m', operator: 'above', value: 1 }
    const price = (seconds: number, offset: number): object => ({
      ...row(seconds, offset),
      price: 100,
      is_good: 1,
      venues: ['kraken', 'okx'],
      venue_prices: [99, 101],
    })
    const { sent } = await warmed([created(when)], { rows: [price(-50, 80), price(-40, 90), price(1, 101)] })
    expect(readPast(sent[0]?.past ?? '')?.series[0]?.[1].samples.map(([, value]) => value)).toEqual([101, 101])
  })

  it('stay as they are where ClickHouse is away, never has it, or there are none', async () => {
    const away = await warmed([created()], {}, true)
    expect([away.sent.length, away.warn.mock.calls.length]).toEqual([0, 1])
    const behind = await warmed([created()], { rows: [row(-50, 80)], newest: [100] })
    expect([behind.sent.length, behind.warn.mock.calls.length]).toEqual([0, 1])
    const plain = created({ metric: 'cvd', operator: 'above', value: 1 })
    expect((await warmed([plain], {})).asked).toEqual([])
  })

  it('are filled of each symbol of a rule for all, and of each part of one for fifty', async () => {
    const rows = [row(-50, 80), row(-40, 90)]
    const [forAll, none] = ['*0', '*1'].map((asset) => partOf(created(), `r.a${asset.slice(1)}`, asset))
    const { sent, warn } = await warmed(
      [forAll, none].flatMap((event) => event ?? []),
      { rows },
    )
    expect(sent).toMatchObject([
      { action: 'warm', asset: 'btc', alert_id: 'r.a0' },
      { action: 'warm', asset: 'eth', alert_id: 'r.a0' },
    ])
    const list = Array.from({ length: 50 }, (_, n) => partOf(created(), `r.${n}.x${n}`, `x${n}`))
    const ofList = await warmed(list, { rows })
    expect(ofList.sent.map(({ alert_id: id }) => id)).toEqual(list.map(({ alert_id: id }) => id))
    expect([warn, ofList.warn].map(({ mock }) => mock.calls.length)).toEqual([0, 0])
  })
})
