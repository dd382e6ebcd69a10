import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { RestClient, RestHosts } from './rest-client.ts'
import { binance } from '../venues/binance/venue.ts'
import { binanceSpot } from '../venues/binance_spot/venue.ts'
import type { RestAnswer } from '../venues/venue.ts'

const resets = { header: 'x-reset', unitMs: 1_000 }
const rules = { capacity: 100, refillPerSecond: 1_000, headers: { 'User-Agent': 'test' }, resets }
const call = { path: '/trades?limit=1', cost: 2 }

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

async function hostOf(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function clientOf(listener: RequestListener, onDate?: (second: number) => void): Promise<RestClient> {
  const client = new RestClient(await hostOf(listener), rules, true, undefined, onDate)
  cleanups.push(() => client.close())
  return client
}

function rows(body: unknown): RestAnswer<unknown> {
  return Array.isArray(body) ? { kind: 'rows', rows: body } : { kind: 'error', code: 'bad', message: 'no list' }
}

describe('REST', () => {
  it('answers rows, asked with the venue’s headers, and counts the cost', async () => {
    const client = await clientOf((request, response) => {
      response.end(JSON.stringify([request.url, request.headers['user-agent']]))
    })
    expect(await client.get(call, rows)).toEqual({ kind: 'rows', rows: ['/trades?limit=1', 'test'] })
    expect(client.used).toBe(2)
  })

  it('asks by POST where the question is a body', async () => {
    const client = await clientOf((request, response) => {
      let text = ''
      request.on('data', (chunk) => (text += String(chunk)))
      request.on('end', () => response.end(JSON.stringify([request.method, request.headers['content-type'], text])))
    })
    expect(await client.get({ ...call, body: { type: 'meta' } }, rows)).toEqual({
      kind: 'rows',
      rows: ['POST', 'application/json', '{"type":"meta"}'],
    })
  })

  it.each([
    ['429 as a limit with its time', 429, { 'Retry-After': '7' }, '', { kind: 'limited', waitMs: 7_000 }],
    ['418 as a limit', 418, {}, '', { kind: 'limited', waitMs: 10_000 }],
    ['429 with a time that has passed', 429, { 'X-Reset': '1' }, '', { kind: 'limited', waitMs: 10_000 }],
    ['403 as a refusal', 403, {}, 'no', { kind: 'unavailable', status: 403 }],
    ['451 as a refusal', 451, {}, 'no', { kind: 'unavailable', status: 451 }],
    ['500 as a failure', 500, {}, '[]', { kind: 'failed' }],
    ['408 as a failure', 408, {}, '{}', { kind: 'failed', message: 'HTTP 408' }],
    ['what is not JSON as a failure', 200, {}, '<html>', { kind: 'failed' }],
    ['400 with rows as the venue’s error', 400, {}, '[]', { kind: 'error', code: 'http_400' }],
    ['the venue’s own error as such', 200, {}, '{}', { kind: 'error', code: 'bad' }],
  ])('reads %s', async (_what, status, headers, body, outcome) => {
    const client = await clientOf((_request, response) => {
      response.writeHead(status, headers).end(body)
    })
    expect(await client.get(call, rows)).toMatchObject(outcome)
  })

  it('waits until the time that the venue names in a header of its own', async () => {
    const until = Math.ceil(Date.now() / 1_000) + 3_600
    const client = await clientOf((_request, response) => {
      response.writeHead(429, { 'X-Reset': String(until) }).end()
    })
    const outcome = await client.get(call, rows)
    expect(outcome.kind === 'limited' && Math.abs(outcome.waitMs - 3_600_000)).toBeLessThan(5_000)
  })

  it('tells what each answer says of the time, refusals too, but not what a cache had kept', async () => {
    const heard: number[] = []
    const answers: [status: number, headers: Record<string, string>][] = [
      [200, { date: 'Thu, 01 Jan 2026 00:00:00 GMT' }],
      [200, { date: 'Thu, 01 Jan 2026 00:00:01 GMT', age: '30' }],
      [200, { date: 'yesterday' }],
      [403, { date: 'Thu, 01 Jan 2026 00:00:02 GMT', age: '0' }],
    ]
    const client = await clientOf(
      (_request, response) => {
        const [status, headers] = answers.shift() ?? [200, {}]
        response.writeHead(status, headers).end('[]')
      },
      (second) => heard.push(second),
    )
    while (answers.length > 0) await client.get(call, rows)
    expect(heard).toEqual([Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1, 0, 0, 2)])
  })

  it('does not ask a venue again that refused us', async () => {
    let asked = 0
    const client = await clientOf((_request, response) => {
      asked++
      response.writeHead(451).end()
    })
    await client.get(call, rows)
    expect(await client.get(call, rows)).toMatchObject({ kind: 'unavailable' })
    expect(asked).toBe(1)
    expect(client.unavailable).toBe(true)
  })

  it.each([
    ['refuses us', 403, { kind: 'unavailable' }],
    ['has had too many calls', 429, { kind: 'limited', waitMs: 60_000 }],
  ])('leaves a host of the venue alone that %s, and goes on with its other one', async (_what, status, outcome) => {
    let asked = 0
    const other = await hostOf((_request, response) => {
      asked++
      response.writeHead(status, { 'retry-after': '60' }).end()
    })
    const client = new RestClient(await hostOf((_request, response) => response.end('[]')), rules, false)
    expect(await client.get({ ...call, base: other }, rows, 'poll')).toMatchObject(outcome)
    void client.get({ ...call, base: other }, rows, 'poll')
    expect(await client.get(call, rows)).toEqual({ kind: 'rows', rows: [] })
    expect([asked, client.unavailable, client.used]).toEqual([1, false, 2 * call.cost])
    client.close()
  })

  it('waits for a host that another venue of ours was told to wait for', async () => {
    const asked: string[] = []
    const base = await hostOf(({ url = '' }, response) => {
      asked.push(url)
      response.writeHead(asked.length === 1 ? 429 : 200, { 'retry-after': '0.3' }).end('[]')
    })
    const address = () => ({ base, replaced: false })
    const hosts = new RestHosts([binance, binanceSpot], { address, onDate: () => undefined })
    cleanups.push(() => hosts.close())
    const before = performance.now()
    expect(await hosts.of('binance', 'spotRest').get(call, rows)).toEqual({ kind: 'limited', waitMs: 300 })
    expect(await hosts.of('binance_spot', 'rest').get(call, rows)).toEqual({ kind: 'rows', rows: [] })
    expect(performance.now() - before).toBeGreaterThan(299)
  })

  it('has a bounded number of calls on their way and answers all', async () => {
    let [open, most] = [0, 0]
    const client = await clientOf((_request, response) => {
      most = Math.max(most, ++open)
      setImmediate(() => {
        open--
        response.end('[]')
      })
    })
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => client.get(call, rows)))
    expect(outcomes.every(({ kind }) => kind === 'rows')).toBe(true)
    expect(most).toBeLessThanOrEqual(4)
  })

  it('says that a venue that is not there failed', async () => {
    const client = new RestClient('http://127.0.0.1:1', rules, true)
    expect(await client.get(call, rows)).toMatchObject({ kind: 'failed' })
  })
})
