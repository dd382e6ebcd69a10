import { afterEach, describe, expect, it } from 'vitest'
import { takeIn } from '../../processors/present/present.ts'
import { emptyPresent } from '../../processors/present/state.ts'
import type { Mark } from '../../schemas/records.ts'
import { DatabaseError } from '../views/database.ts'
import { NOW, startHarness, type Harness } from '../testing/harness.ts'
import { routesOfNow } from '../testing/routes-of-now.ts'
import { Present } from './present.ts'

const running: Harness[] = []
afterEach(() => Promise.all(running.splice(0).map((harness) => harness.stop())))

async function start(): Promise<Harness> {
  const api = await startHarness()
  running.push(api)
  return api
}

describe('what feeds say', () => {
  const common = { writer: 'feeds', run: 1, venue_time: NOW, positions: [] }
  const change = { instrument: 'okx:perp:BTC', asset: 'btc', state: 'acknowledged', time: NOW } as const
  const venue = { venue: 'okx', state: 'live', sockets: 1, since: NOW } as const

  it('of time leaves what is subscribed as it was made', () => {
    const state = emptyPresent()
    const mark = (value: Pick<Mark, 'time' | 'changes'>): void =>
      takeIn(state, {
        topic: 'market.trades',
        offset: 0,
        message: { type: 'mark', value: { ...common, venues: [venue], ...value } },
      })
    const present = new Present(() => [state], emptyPresent())
    mark({ time: NOW, changes: [change] })
    const first = present.world()
    mark({ time: NOW + 1, changes: [] })
    const second = present.world()
    expect([...second.times.values()]).toEqual([NOW + 1])
    expect(second.subscriptions.get('btc')).toMatchObject([{ venue: 'okx', state: 'acknowledged', since: NOW }])
    expect(second.subscriptions).toBe(first.subscriptions)
    mark({ time: NOW + 2, changes: [{ ...change, state: 'ended', time: NOW + 2 }] })
    expect(present.world().subscriptions.get('btc')).toMatchObject([{ state: 'ended' }])
  })
})

describe('without ClickHouse', () => {
  it.each(routesOfNow)('%s gives the same answer, and does not ask for it', async (target) => {
    const api = await start()
    const before = await api.get(target)
    api.database.failure = new DatabaseError('unreachable', new Error('away'))
    const after = await api.get(target)
    expect([before.status, after.status]).toEqual([200, 200])
    expect(after.body).toEqual(before.body)
    expect(api.database.asked).toEqual([])
  })

  it('/healthz says that ranges are unavailable, and all else', async () => {
    const api = await start()
    api.database.failure = new DatabaseError('unreachable', new Error('away'))
    const { status, body } = await api.get('/healthz')
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'degraded', ranges: 'unavailable', parts: { clickhouse: 'unreachable' } })
    expect(body).toMatchObject({ log: { status: 'ok' }, open_gaps: 0 })
    api.database.failure = undefined
    api.advance(1_000)
    expect((await api.get('/healthz')).body).toMatchObject({ status: 'ok', ranges: 'available' })
  })
})

describe('before the log has been read', () => {
  it.each(routesOfNow)('%s says to come back', async (target) => {
    const api = await startHarness({ source: { now: undefined, asked: () => undefined } })
    running.push(api)
    expect((await api.get(target)).status).toBe(503)
  })
})
