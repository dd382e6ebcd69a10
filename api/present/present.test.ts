import { afterEach, describe, expect, it } from 'vitest'
import { DatabaseError } from '../views/database.ts'
import { startHarness, type Harness } from '../testing/harness.ts'
import { routesOfNow } from '../testing/routes-of-now.ts'

const running: Harness[] = []
afterEach(() => Promise.all(running.splice(0).map((harness) => harness.stop())))

async function start(): Promise<Harness> {
  const api = await startHarness()
  running.push(api)
  return api
}

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
