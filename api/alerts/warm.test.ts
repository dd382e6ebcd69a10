import { describe, expect, it, vi } from 'vitest'
import { readPast } from '../../processors/alerts/past.ts'
import { AlertsTestDriver, createRule, mark, T0 } from '../../processors/alerts/testing/records.ts'
import { OFFSETS } from '../../processors/kernel/version.ts'
import type { AlertEvent, Command } from '../../schemas/records.ts'
import { DatabaseError } from '../views/database.ts'
import { Warming } from './warm.ts'

const S = 1_000_000
const NAME = 'cvd_change||1m||'

function created(when: object = { metric: 'cvd_change', window: '1m', operator: 'above', value: 1 }): AlertEvent {
  const [event] = new AlertsTestDriver().batch(mark(0), createRule(when)).events
  if (event === undefined) throw new Error('the rule was not made')
  return { ...event, v: OFFSETS + 100 }
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

async function warmed(event: AlertEvent, query: () => Promise<readonly unknown[]>) {
  const sent: Command[] = []
  const warn = vi.fn<() => void>()
  const warming = new Warming(() => Promise.resolve())
  const send = (command: Command): Promise<unknown> => Promise.resolve(sent.push(command))
  warming.of(event, { database: { query }, now: () => T0 / 1000, log: { warn }, send })
  await warming.done()
  return { sent, warn }
}

describe('the windows of a new rule', () => {
  it('are filled with what lies before its creation, once ClickHouse has all of that', async () => {
    const rows = [row(-50, 80), row(-40, 90), row(1, 101)]
    const query = vi.fn<() => Promise<object[]>>().mockResolvedValue(rows).mockResolvedValueOnce(rows.slice(0, 1))
    const { sent } = await warmed(created(), query)
    expect(query).toHaveBeenCalledTimes(3)
    expect(sent).toMatchObject([{ action: 'warm', asset: 'btc', alert_id: 'a' }])
    const past = readPast(sent[0]?.past ?? '')
    expect(past).toMatchObject({ since: T0, series: [[NAME, { since: T0 - 50 * S }]] })
    expect(past?.series[0]?.[1].samples.map(([, value]) => value)).toEqual([2, 2])
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
    const query = vi.fn<() => Promise<object[]>>().mockResolvedValue([price(-50, 80), price(-40, 90), price(1, 101)])
    const { sent } = await warmed(created(when), query)
    expect(readPast(sent[0]?.past ?? '')?.series[0]?.[1].samples.map(([, value]) => value)).toEqual([101, 101])
  })

  it('stay as they are where ClickHouse is away, never has it, or there are none', async () => {
    const away = await warmed(created(), () => Promise.reject(new DatabaseError('unreachable', undefined)))
    expect([away.sent.length, away.warn.mock.calls.length]).toEqual([0, 1])
    expect((await warmed(created(), () => Promise.resolve([row(-50, 80)]))).sent).toEqual([])
    const plain = created({ metric: 'cvd', operator: 'above', value: 1 })
    const query = vi.fn<() => Promise<object[]>>()
    expect([(await warmed(plain, query)).sent.length, query.mock.calls.length]).toEqual([0, 0])
  })
})
