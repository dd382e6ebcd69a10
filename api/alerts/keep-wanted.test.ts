import { describe, expect, it } from 'vitest'
import { startAlerts } from '../testing/alert-calls.ts'
import { listAsset } from '../testing/harness.ts'
import { Wants, type WriteWant } from '../present/wants.ts'
import { renewAll } from './keep-wanted.ts'
import { pino } from 'pino'
import { fakeAlerts } from '../testing/fake-alerts.ts'

describe('what liquidation alerts need', () => {
  it('is kept wanted until they end, and tried again where the log failed', async () => {
    const api = await startAlerts()
    for (const asset of ['wif', 'atom']) listAsset(api.database, asset)
    await api.create({ symbol: 'BTC' }, '/liquidation/alert')
    await api.create({ symbol: 'WIF' }, '/liquidation/alert')
    const { at, token } = await api.create({ symbol: 'ATOM' }, '/liquidation/alert')
    await api.create({ symbol: 'WIF' })

    const written: string[] = []
    let works = false
    const write: WriteWant = async (asset) => {
      if (!works) throw new Error('away')
      written.push(asset)
    }
    const alerts = fakeAlerts(api.alerts)
    let now = 0
    const preSubscribed = new Set(['btc'])
    const needed = { alerts, wants: new Wants(write), preSubscribed, log: pino({ level: 'silent' }), now: () => now }
    await renewAll(needed)
    works = true
    await renewAll(needed)
    expect(written.splice(0).toSorted()).toEqual(['atom', 'wif'])
    now += 60_000
    await renewAll(needed)
    expect(written).toEqual([])
    await api.send('DELETE', at, { token })
    now += 300_000
    await renewAll(needed)
    expect(written).toEqual(['wif'])
    await api.stop()
  })
})
