import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { expect, it, vi } from 'vitest'
import { createLog } from '../../../infra/log.ts'
import { RestClient } from '../transport/rest-client.ts'
import { tickersPoll } from '../venues/venue.ts'
import { feedMetrics } from './metrics.ts'
import { Poller, type PollHost } from './poller.ts'
import { hostNow, hostTime } from './process-clock.ts'
import { Report } from './report.ts'

it('REST goes on at once when a clock that was two hours ahead is corrected', async () => {
  const server = createServer((_request, response) => response.end('[]'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = new RestClient(base, { capacity: 1, refillPerSecond: 20 }, true)
  const get = () => client.get({ path: '/', cost: 1 }, () => ({ kind: 'rows', rows: [] }))
  const stamps = vi.spyOn(hostTime, 'now').mockImplementation(() => Date.now() + 7_200_000)
  try {
    expect((await get()).kind).toBe('rows')
    stamps.mockRestore()
    const answer = await Promise.race([get(), new Promise((resolve) => setTimeout(resolve, 2_000, 'stalled'))])
    expect(answer).toMatchObject({ kind: 'rows' })
  } finally {
    stamps.mockRestore()
    client.close()
    server.close()
    server.closeAllConnections()
  }
})

it('a poll that is not answered any more lives no longer where a clock that was two hours ahead is corrected', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const stamps = vi.spyOn(hostTime, 'now').mockImplementation(() => Date.now() + 7_200_000)
  try {
    const price = { kind: 'ticker', symbol: 'BTCUSDT', time: null, last: '100' } as const
    const poll = tickersPoll('SPOT', { path: '/', cost: 1 }, () => ({ kind: 'rows', rows: [price] }))
    let answers = 0
    const host: PollHost = {
      unavailable: false,
      get: (_call, parse) =>
        answers++ === 0 ? Promise.resolve(parse(null) as never) : new Promise<never>(() => undefined),
    }
    const none = { next: () => undefined, has: () => false }
    const poller = new Poller(poll, 0, host, { rows: () => undefined, ended: () => undefined }, none, hostNow)
    poller.want(new Set(['SPOT']))
    poller.tick()
    await vi.waitFor(() => expect(poller.state?.state).toBe('live'))
    stamps.mockRestore()
    vi.setSystemTime(Date.now() + 14_000)
    expect(poller.state?.state).toBe('live')
    vi.setSystemTime(Date.now() + 2_000)
    expect(poller.state?.state).toBe('down')
  } finally {
    stamps.mockRestore()
    vi.useRealTimers()
  }
})

it('refusals are shown again when a clock that was two hours ahead is corrected', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const stamps = vi.spyOn(hostTime, 'now').mockImplementation(() => Date.now() + 7_200_000)
  try {
    const log = createLog('test', { LOG_LEVEL: 'fatal' })
    const shown = vi.spyOn(log, 'warn').mockImplementation(() => undefined)
    const report = new Report(log, feedMetrics(new Registry()), undefined, () => undefined)
    report.refused('okx', 'trades', 'not-json', '')
    stamps.mockRestore()
    report.refused('okx', 'trades', 'not-json', '')
    expect(shown).toHaveBeenCalledTimes(1)
    vi.setSystemTime(Date.now() + 10_000)
    report.refused('okx', 'trades', 'not-json', '')
    expect(shown).toHaveBeenCalledTimes(2)
  } finally {
    stamps.mockRestore()
    vi.useRealTimers()
  }
})
