import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { route } from './route.ts'
import { routes } from '../routes.ts'
import { DatabaseError } from '../views/database.ts'
import { FakeDatabase } from '../testing/fake-database.ts'
import { fakePayments } from '../testing/fake-payments.ts'
import { fakePresent } from '../testing/fake-present.ts'
import { NOW, startHarness, type Harness, type HarnessOptions } from '../testing/harness.ts'

let api: Harness
afterEach(() => api.stop())

async function start(options: HarnessOptions = {}): Promise<Harness> {
  api = await startHarness(options)
  return api
}

/** Sends a request target that a client library would tidy up, and gives the status and the body. */
function raw({ url }: Harness, target: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('end', () => resolve(`${text.slice(9, 12)} ${/"error":"(\w+)"/.exec(text)?.[1] ?? ''}`.trim()))
    socket.on('error', reject)
    socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  })
}

describe('a path', () => {
  it.each([
    ['/cvd/BTC', '200'],
    ['/cvd/BTC/', '200'],
    ['/cvd/%42TC', '200'],
    ['/cvd/BTC?period=4h&color=red', '200'],
    ['http://elsewhere/cvd/BTC', '200'],
    ['/cvd/BTC//', '404 not_found'],
    ['//cvd/BTC', '404 not_found'],
    ['/cvd//BTC', '404 not_found'],
    ['/cvd%2FBTC', '404 not_found'],
    ['/CVD/BTC', '404 not_found'],
    ['/cvd', '404 not_found'],
    ['/cvd/', '404 not_found'],
    ['/cvd/BTC/x', '404 not_found'],
    ['/x/../cvd/BTC', '404 not_found'],
    ['/cvd/BTC%2F..%2Fhealthz', '400 invalid_symbol'],
    ['/cvd/%2e%2e', '400 invalid_symbol'],
    ['/cvd/%E0%A4%A', '400 invalid_symbol'],
    ['/cvd/%00', '400 invalid_symbol'],
    ['/cvd/history', '404 symbol_not_found'],
    ['/cvd/history/BTC', '200'],
    ['/cvd/NOPE', '404 symbol_not_found'],
    ['/cvd/USDT', '404 symbol_not_found'],
    ['/cvd/BTC?period=2h', '400 invalid_period'],
    ['/cvd/BTC?period=1h&period=4h', '400 invalid_period'],
    ['/cvd/BTC?__proto__=1&constructor=2', '200'],
    ['/ohlcv/BTC?exchange=kraken', '400 invalid_exchange'],
    ['/ohlcv/BTC?interval=2m', '400 invalid_interval'],
    ['/ohlcv/BTC?limit=1001', '400 invalid_limit'],
    ['/ohlcv/BTC?start=2026-01-02&end=2026-01-01', '400 invalid_range'],
    ['/ohlcv/BTC?start=2026-01-02&end=2026-01-02', '400 invalid_range'],
    ['/cvd/history/BTC?start=soon', '400 invalid_range'],
    ['/', '200'],
    ['http://[', '404 not_found'],
    ['http://a]/', '404 not_found'],
  ])('%s gives %s', async (target, expected) => {
    expect(await raw(await start(), target)).toBe(expected)
  })
})

describe('a method', () => {
  it('that a route has not is refused with those it has', async () => {
    const { status, headers, body } = await (await start()).get('/cvd/BTC', { method: 'POST', body: '{}' })
    expect([status, headers.get('allow'), body['error']]).toEqual([405, 'GET, HEAD, OPTIONS', 'method_not_allowed'])
  })

  it('HEAD is GET without a body', async () => {
    const { status, headers, body } = await (await start()).get('/cvd/BTC', { method: 'HEAD' })
    expect([status, body['text']]).toEqual([200, ''])
    expect(Number(headers.get('content-length'))).toBeGreaterThan(100)
  })

  it('OPTIONS says what there is', async () => {
    const { status, headers } = await (await start()).get('/cvd/BTC', { method: 'OPTIONS' })
    expect([status, headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  it('OPTIONS of nothing is nothing', async () => {
    expect((await (await start()).get('/nope', { method: 'OPTIONS' })).status).toBe(404)
  })
})

describe('an answer', () => {
  it.each([
    ['abc-1.X_2', true],
    ['a'.repeat(64), true],
    ['a'.repeat(65), false],
    ['has blank', false],
    ['<script>', false],
  ])('takes the request id %s: %s', async (id, taken) => {
    const { headers, body } = await (await start()).get('/nope', { headers: { 'x-request-id': id } })
    expect(headers.get('x-request-id') === id).toBe(taken)
    expect(body['request_id']).toBe(headers.get('x-request-id'))
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  it.each([
    ['demo', 'demo'],
    ['tape', 'tape'],
    ['live', null],
  ] as const)('in mode %s says X-Mode: %s', async (mode, expected) => {
    const { headers } = await (await start({ mode })).get('/cvd/BTC')
    expect(headers.get('x-mode')).toBe(expected)
  })

  it('may be kept as long as we keep it, by the caller alone where it has a price', async () => {
    await start()
    expect((await api.get('/ohlcv/BTC')).headers.get('cache-control')).toBe('private, max-age=5')
    api.hang(1_500)
    expect((await api.get('/ohlcv/BTC')).headers.get('cache-control')).toBe('private, max-age=3')
    expect((await api.get('/openapi.json')).headers.get('cache-control')).toBe('public, max-age=60')
    api.hang(1_500)
    expect((await api.get('/openapi.json')).headers.get('cache-control')).toBe('public, max-age=58')
    expect((await api.get('/cvd/NOPE')).headers.get('cache-control')).toBe('no-store')
  })
})

describe('what is measured', () => {
  it.each([
    ['', 1],
    [' that is paid for', 0],
  ])('of an answer%s says how long it took, and %i times that it was slow', async (_, slow) => {
    const payments = slow === 0 ? await fakePayments() : null
    let ticks = 0
    const [source, steady] = [fakePresent(new FakeDatabase(), 12), () => ticks]
    const now = (): number => NOW / 1_000 - 1_000 * ticks // it is set back meanwhile
    await start({ now, steady, source: { ...source, now: source.now, asked: () => void (ticks += 3_000) }, payments })
    await api.get('/cvd/BTC')
    expect(api.services.metrics.answers.take()).toMatchObject({ answers: 1, slow })
    await api.get('/nope')
    expect(api.services.metrics.answers.take()).toMatchObject({ answers: 1, slow: 0 })
    const text = await api.services.metrics.registry.metrics()
    expect(text).toMatch(/^mda_api_request_seconds_sum\{.*route="cvd".*\} 3$/m)
    expect(text).toMatch(/^mda_api_request_seconds_sum\{.*route="none".*\} 0$/m)
    expect(text).toMatch(/^mda_api_in_flight_requests 0$/m)
    await payments?.stop()
  })

  it('tells answers out of the cache from others', async () => {
    await start()
    for (const _ of [1, 2, 3]) await api.get('/ohlcv/BTC')
    const text = await api.services.metrics.registry.metrics()
    const count = (cached: boolean): string | undefined =>
      new RegExp(`^mda_api_data_answers_total\\{.*cached="${cached}".*\\} (\\d)$`, 'm').exec(text)?.[1]
    expect([count(false), count(true)]).toEqual(['1', '2'])
  })
})

describe('limits', () => {
  it('are told in headers and end in 429', async () => {
    await start({ limit: { perSecond: 1, burst: 2 } })
    const { headers } = await api.get('/cvd/BTC')
    const told = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) => headers.get(name))
    expect(told).toEqual(['2', '1', '1'])
    expect((await api.get('/nope')).status).toBe(404)
    const refused = await api.get('/cvd/BTC')
    expect([refused.status, refused.body['error'], refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limited',
      '1',
    ])
    expect((await api.get('/healthz')).status).toBe(200)
    api.advance(1_000)
    expect((await api.get('/cvd/BTC')).status).toBe(200)
  })

  it('count a target that no path can be read of', async () => {
    await start({ limit: { perSecond: 1, burst: 1 } })
    expect([await raw(api, 'http://['), await raw(api, 'http://[')]).toEqual(['404 not_found', '429 rate_limited'])
    expect(api.services.metrics.answers.take()).toMatchObject({ answers: 2, failed: 0 })
  })

  it('go by a clock that nobody sets', async () => {
    let [now, ticks] = [NOW / 1_000, 0]
    await start({ limit: { perSecond: 1, burst: 1 }, now: () => now, steady: () => ticks })
    const status = async (): Promise<number> => (await api.get('/')).status
    expect(await status()).toBe(200)
    now += 3_600_000
    expect(await status()).toBe(429)
    now -= 7_200_000
    ticks += 1_000
    expect(await status()).toBe(200)
  })

  it('count the address that our proxy names', async () => {
    await start({ limit: { perSecond: 1, burst: 1 }, trustProxy: true })
    const from = async (address: string): Promise<number> =>
      (await api.get('/', { headers: { 'x-forwarded-for': address } })).status
    expect([await from('1.1.1.1'), await from('1.1.1.1'), await from('6.6.6.6, 2.2.2.2')]).toEqual([200, 429, 200])
  })

  it('ignore what a caller says of itself without a proxy', async () => {
    await start({ limit: { perSecond: 1, burst: 1 } })
    const from = async (address: string): Promise<number> =>
      (await api.get('/', { headers: { 'x-forwarded-for': address } })).status
    expect([await from('1.1.1.1'), await from('2.2.2.2')]).toEqual([200, 429])
  })

  it('let bodies that are still coming take a tenth of the places for each caller, paid for or not', async () => {
    await start({ inFlightMax: 20, trustProxy: true })
    const { hostname, port } = new URL(api.url)
    const answers: string[] = []
    const send = (caller: string, body: string): Socket => {
      const head = `Host: localhost\r\nContent-Length: 2\r\nX-Payment: x\r\nX-Forwarded-For: ${caller}`
      const socket = connect(Number(port), hostname)
      socket.on('data', (chunk) => answers.push(`${caller} ${chunk.toString('utf8', 9, 12)}`))
      socket.write(`POST /price-alert HTTP/1.1\r\n${head}\r\n\r\n${body}`)
      return socket
    }
    const slow = ['1.1.1.1', '1.1.1.1', '1.1.1.1', '2.2.2.2'].map((caller) => send(caller, '['))
    await expect.poll(() => answers).toEqual(['1.1.1.1 429'])
    send('1.1.1.1', '[]')
    await expect.poll(() => answers).toEqual(['1.1.1.1 429', '1.1.1.1 400'])
    for (const socket of slow) socket.write(']')
    await expect.poll(() => answers.length).toBe(5)
    const late = send('1.1.1.1', '[')
    send('3.3.3.3', '[]')
    await expect.poll(() => answers.at(-1)).toBe('3.3.3.3 400')
    late.write(']')
    await expect
      .poll(() => answers.slice(2).toSorted())
      .toEqual([...Array<string>(3).fill('1.1.1.1 400'), '2.2.2.2 400', '3.3.3.3 400'])
  })

  it('refuse at once what is too much at once, but for probes', async () => {
    await start({ inFlightMax: 2 })
    const { promise, resolve } = Promise.withResolvers<void>()
    api.database.gate = promise
    const waiting = [api.get('/cvd/history/BTC'), api.get('/ohlcv/BTC')]
    await expect.poll(() => api.database.asked.length).toBeGreaterThan(0)
    await expect.poll(async () => (await api.get('/openapi.json')).status).toBe(503)
    const { body, headers } = await api.get('/openapi.json')
    expect([body['error'], headers.get('retry-after')]).toEqual(['overloaded', '1'])
    const probe = api.get('/healthz')
    resolve()
    expect((await probe).status).toBe(200)
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200])
    expect((await api.get('/openapi.json')).status).toBe(200)
  })

  it('refuse who pays as well, where too much is going on', async () => {
    const payments = await fakePayments()
    const { promise, resolve } = Promise.withResolvers<void>()
    const source = fakePresent(new FakeDatabase(), 12)
    await start({ inFlightMax: 1, payments, source: { ...source, now: source.now, asked: () => promise } })
    const both = [1, 2].map(() => api.get('/cvd/BTC', { headers: { 'x-payment': 'x' } }))
    expect((await Promise.race(both)).body['error']).toBe('overloaded')
    resolve()
    await Promise.all([...both, payments.stop()])
  })
})

describe('a failure', () => {
  it.each(['unreachable', 'late'] as const)('of a database that is %s passes by itself', async (code) => {
    await start()
    api.database.failure = new DatabaseError(code, new Error('10.0.0.7:8123'))
    const { status, body, headers } = await api.get('/ohlcv/BTC')
    expect([status, body['error'], headers.get('retry-after')]).toEqual([503, 'data_unavailable', '5'])
    expect(JSON.stringify(body)).not.toContain('10.0.0.7')
    api.database.failure = undefined
    expect((await api.get('/ohlcv/BTC')).status).toBe(200)
  })

  it.each([new Error('secret table'), new DatabaseError('refused', new Error('secret table'))])(
    'that we did not expect shows nothing of its cause: %s',
    async (failure) => {
      await start()
      api.database.failure = failure
      const { status, body } = await api.get('/ohlcv/BTC')
      expect([status, body['error']]).toEqual([500, 'internal_error'])
      expect(Object.keys(body)).toEqual(['error', 'message', 'request_id'])
      expect(JSON.stringify(body)).not.toContain('secret')
    },
  )

  it.each<[string, string, NonNullable<RequestInit['body']>, string]>([
    ['as text', 'text/plain', '{}', 'unsupported_media_type'],
    ['that is too large', 'application/json', `"${'x'.repeat(16 * 1024)}"`, 'body_too_large'],
    ['that is too large, in pieces', 'application/json', new Blob(['x'.repeat(17_000)]).stream(), 'body_too_large'],
    ['that is no JSON', 'application/json', '{', 'invalid_body'],
    ['that is no UTF-8', 'application/json', Buffer.from('{"symbol": "é"}', 'latin1'), 'invalid_body'],
  ])('of a body %s is told, and the connection closed where its rest is not read', async (_, type, body, expected) => {
    await start()
    const init = { method: 'POST', headers: { 'content-type': type }, body, duplex: 'half' } as const
    const { headers, body: said } = await api.get('/price-alert', init)
    expect([said['error'], headers.get('connection') === 'close']).toEqual([expected, expected !== 'invalid_body'])
  })

  it('of a handler leaves the next request alone', async () => {
    const [first] = routes
    const broken = route({
      method: 'GET',
      path: '/broken',
      name: 'broken',
      description: '',
      priceUsdc: 0,
      limit: 'caller',
      ttlMs: 0,
      input: {},
      outputs: {},
      errors: [],
      prepare() {
        throw new TypeError('x is not a function')
      },
    })
    await start({ handlers: first === undefined ? [broken] : [first, broken] })
    expect((await api.get('/broken')).status).toBe(500)
    expect((await api.get('/cvd/BTC')).status).toBe(200)
  })
})
