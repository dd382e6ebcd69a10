import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { asPages, guarded } from '../http/testing/pages.ts'
import { testVenues, type TestVenues } from './testing/client.ts'
import { testVenueApi } from './testing/venue-api.ts'

let venues: TestVenues
beforeAll(async () => {
  venues = await testVenues()
})
afterAll(() => venues.close())

it.each(['/pause', '/faults', '/ledger', '/listings', '/binance/fapi/v1/time'])(
  'obeys no web page of another site on %s',
  async (path) => {
    expect(await asPages(venues.url + path, '{"kind":"disconnect"}')).toEqual(guarded)
    expect((await venues.get('/faults')).body).toMatchObject({ active: [], past: [] })
  },
)

it.each([{ origin: 'https://evil.example' }, { host: 'evil.example' }])(
  'opens no stream to a web page that says %o',
  async (headers) => {
    const socket = new WebSocket(`${venues.url.replace('http', 'ws')}/binance/market/ws/btcusdt@aggTrade`, { headers })
    const [error] = (await once(socket, 'error')) as [Error]
    expect(error.message).toContain('403')
  },
)

it('says of a pause whether the market was paused before', async () => {
  const answers = []
  for (const path of ['/pause', '/pause', '/resume', '/resume']) answers.push((await venues.post(path)).body)
  expect(answers).toEqual([
    { paused: true, was_paused: false },
    { paused: true, was_paused: true },
    { paused: false, was_paused: true },
    { paused: false, was_paused: false },
  ])
})

it('says that an answer has failed, to its caller and to whoever runs it', async () => {
  const error = new Error('a defect')
  const api = await testVenueApi(() => ({
    name: 'gate',
    tooMany: () => ({ status: 429, body: {} }),
    rest: () => {
      throw error
    },
  }))
  expect(await api.get('/')).toEqual({ status: 500, body: { error: 'Error: a defect' } })
  expect(api.failures).toEqual([error])
  await api.close()
})
