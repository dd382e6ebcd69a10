import { createServer, request, type IncomingMessage, type Server } from 'node:http'
import { pino } from 'pino'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { closeServer, listen } from '../../infra/http/ops.ts'
import { RateLimiter } from '../request/limits.ts'
import { createConsole } from './server.ts'
import { Board, type Update } from '../stream/board.ts'
import type { Hub } from '../stream/hub.ts'
import { keysMax } from './stream/digest.ts'
import { CLIENTS_MAX, pageHub } from './stream/pages.ts'

const token = 'a-token-of-24-characters'
const stops: (() => Promise<void> | void)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

interface Started {
  readonly url: string
  readonly board: Board
  readonly hub: Hub<null>
  /** Requests that reached the API, with the path that it saw. */
  readonly asked: string[]
  readonly say: (update: Update) => void
}

async function start(options: { token?: string; isStarting?: boolean } = {}): Promise<Started> {
  const board = new Board([[0]], keysMax)
  const hub = pageHub(board, Date.now, () => undefined)
  const asked: string[] = []
  const app = createConsole({
    mode: 'demo',
    token: options.token,
    trustProxy: false,
    logins: new RateLimiter({ perSecond: 0.1, burst: 3, callersMax: 10 }),
    log: pino({ level: 'silent' }),
    now: Date.now,
    steady: Date.now,
    hub,
    words: (_, { key, value }) => JSON.stringify([key, value]),
    begun: () => (options.isStarting === true ? undefined : [eth(0)]),
    views: { symbols: async () => ({ symbols: [] }), broken: () => Promise.reject(new Error('a secret of ours')) },
    invoice: async (key, month) => `${key} ${month}`,
    api: async (req, res) => {
      asked.push(`${req.method} ${req.url} ${req.headers.authorization ?? ''}`.trim())
      res.setHeader('Cache-Control', 'public, max-age=60')
      res.end('{"from":"the API"}')
    },
  })
  const handle = app.callback()
  const server: Server = createServer((req, res) => void handle(req, res))
  const url = `http://127.0.0.1:${await listen(server, '127.0.0.1', 0)}`
  stops.push(
    () => hub.close(),
    () => closeServer(server),
  )
  let offset = 0
  const say = (update: Update): void => {
    board.take({ topic: 0, partition: 0, offset }, [update])
    offset += 1
  }
  return { url, board, hub, asked, say }
}

interface Got {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** A request with any Host: `fetch` would not send it. */
function send(url: string, headers: Record<string, string> = {}, method = 'GET', body = ''): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

interface Heard {
  readonly text: () => string
  readonly ids: () => string[]
  close(): void
}

/** Listens to the stream until it is closed. */
function hear(url: string, query: string, headers: Record<string, string> = {}): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/stream?${query}`, { headers, agent: false }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('error', () => undefined) // we cut it ourselves
      stops.push(() => void sent.destroy())
      const ids = (): string[] => [...text.matchAll(/^id: (\S+)$/gm)].map(([, id = '']) => id)
      resolve({ text: () => text, ids, close: () => sent.destroy() })
    })
    sent.on('error', reject)
    sent.end()
  })
}

const btc = (price: number): Update => ({ kind: 'price', key: 'btc', asset: 'btc', value: { price } })
const eth = (price: number): Update => ({ kind: 'price', key: 'eth', asset: 'eth', value: { price } })

describe('the console on loopback', () => {
  it('serves every page whole, and nothing in it comes from elsewhere', async () => {
    const { url } = await start()
    for (const path of ['/', '/symbol/BTC', '/alerts', '/system']) {
      const { status, text, headers } = await send(url + path)
      expect([path, status]).toEqual([path, 200])
      expect(text).toContain('made by the venue simulator')
      expect(text).not.toMatch(/\{\{|<script>|<style|style="|\son\w+="/)
      expect([...text.matchAll(/(?:src|href)="(?!\/|#|https:\/\/www\.tradingview\.com)/g)]).toEqual([])
      expect(headers['content-security-policy']).toContain("default-src 'none'")
      expect(headers['content-security-policy']).not.toContain('unsafe')
    }
  })

  it('serves scripts without their types, and packages from where they are installed', async () => {
    const { url } = await start()
    const script = await send(`${url}/app/symbol-charts.ts`)
    expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8')
    expect(script.text).toContain("from '/vendor/lightweight-charts.mjs'")
    expect(script.text).not.toMatch(/interface|: HTMLElement/)
    expect((await send(`${url}/vendor/lightweight-charts.mjs`)).status).toBe(200)
    const again = await send(`${url}/app/symbol-charts.ts`, { 'if-none-match': script.headers.etag ?? '' })
    expect([again.status, again.text]).toEqual([304, ''])
    expect((await send(`${url}/app/../server.ts`)).status).toBe(404)
  })

  it('hands what is below /api to the API, and lets nobody keep the answers', async () => {
    const { url, asked } = await start()
    const { text, headers } = await send(`${url}/api/cvd/BTC?period=1h`)
    expect(text).toBe('{"from":"the API"}')
    expect(headers['cache-control']).toBe('no-store')
    expect(asked).toEqual(['GET /cvd/BTC?period=1h'])
  })

  it.each([
    ['by another name', { host: 'evil.example' }, 421],
    ['from a page of another site', { origin: 'https://evil.example' }, 403],
    ['from an image of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, 403],
  ])('refuses what is asked %s, on every path', async (_how, headers, status) => {
    const { url, asked } = await start()
    for (const path of ['/', '/stream', '/view/symbols', '/api/cvd/BTC', '/app/market.ts'])
      expect([path, (await send(url + path, headers)).status]).toEqual([path, status])
    expect((await send(`${url}/api/price-alert`, headers, 'POST', '{}')).status).toBe(status)
    expect(asked).toEqual([])
  })

  it('gives the invoice of a key and month as a file, and nothing for what is none', async () => {
    const { url } = await start()
    const key = `a${'0'.repeat(19)}`
    const invoice = await fetch(`${url}/invoice/${key}-2026-11.csv`)
    expect([invoice.status, await invoice.text()]).toEqual([200, `${key} 2026-11`])
    expect(invoice.headers.get('content-disposition')).toBe(`attachment; filename="invoice-${key}-2026-11.csv"`)
    for (const name of [`${key}-2026-13.csv`, `${key}.csv`, 'x-2026-11.csv'])
      expect((await fetch(`${url}/invoice/${name}`)).status).toBe(404)
  })

  it.each([undefined, token])('has no page for a target that no path can be read of, token %s', async (given) => {
    const { url } = await start(given === undefined ? {} : { token: given })
    const status = await new Promise((resolve, reject) => {
      const sent = request(url, { path: 'http://[', agent: false }, (response) => resolve(response.resume().statusCode))
      sent.on('error', reject).end()
    })
    expect(status).toBe(404)
  })

  it('does not show what failed', async () => {
    const { url } = await start()
    const { status, text } = await send(`${url}/view/broken`)
    expect([status, text.includes('secret')]).toEqual([500, false])
  })
})

describe('the console behind a token', () => {
  const withToken = { authorization: `Bearer ${token}` }

  it('gives nothing away without it', async () => {
    const { url, asked } = await start({ token })
    for (const path of ['/view/symbols', '/stream', '/api/cvd/BTC', '/app/market.ts', '/vendor/lightweight-charts.mjs'])
      expect([path, (await send(url + path)).status]).toEqual([path, 401])
    const page = await send(url, { accept: 'text/html' })
    expect([page.status, page.headers.location]).toEqual([302, '/login'])
    expect((await send(`${url}/api/price-alert`, {}, 'POST', '{}')).status).toBe(401)
    expect(asked).toEqual([])
    expect(await send(`${url}/healthz`)).toMatchObject({ status: 200, text: '{"ok":true}' })
  })

  it('takes it as a bearer, and does not pass it on', async () => {
    const { url, asked } = await start({ token })
    expect((await send(`${url}/api/cvd/BTC`, withToken)).status).toBe(200)
    expect(asked).toEqual(['GET /cvd/BTC'])
    expect((await send(`${url}/view/symbols`, { authorization: 'Bearer wrong' })).status).toBe(401)
  })

  it('lets in who logs in, until they log out', async () => {
    const { url } = await start({ token })
    const login = await send(`${url}/login`, {}, 'POST', `token=${token}`)
    expect([login.status, login.headers.location]).toEqual([303, '/'])
    const cookie = login.headers['set-cookie']?.[0] ?? ''
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/)
    expect((await send(`${url}/view/symbols`, { cookie: cookie.split(';')[0] ?? '' })).status).toBe(200)
    const logout = await send(`${url}/logout`, { cookie: cookie.split(';')[0] ?? '' }, 'POST')
    expect(logout.headers['set-cookie']?.[0]).toContain('Max-Age=0')
  })

  it('lets nobody guess: after three wrong tries even the right one has to wait', async () => {
    const { url } = await start({ token })
    for (let tries = 0; tries < 3; tries += 1)
      expect((await send(`${url}/login`, {}, 'POST', 'token=guess')).headers.location).toBe('/login?wrong')
    const late = await send(`${url}/login`, {}, 'POST', `token=${token}`)
    expect(late.status).toBe(429)
    expect(Number(late.headers['retry-after'])).toBeGreaterThan(0)
    expect(late.headers['set-cookie']).toBeUndefined()
  })

  it('reads no form that is too long', async () => {
    const { url } = await start({ token })
    const { headers } = await send(`${url}/login`, {}, 'POST', `pad=${'x'.repeat(5_000)}&token=${token}`)
    expect(headers['set-cookie']).toBeUndefined()
  })
})

describe('the stream', () => {
  it('says all that is known, and then what changes, of what was asked for', async () => {
    const { url, say } = await start()
    say(btc(1))
    say(eth(2))
    const page = await hear(url, 'kinds=price&asset=btc')
    await vi.waitFor(() => expect(page.text()).toContain('event: ready'))
    say(eth(3))
    say({ kind: 'gap', key: 'g', asset: 'btc', value: {} })
    say(btc(4))
    await vi.waitFor(() => expect(page.text()).toContain('data: ["btc",{"price":4}]'))
    expect(page.text()).not.toMatch(/eth|gap/)
  })

  it('goes on where a page was cut off, losing nothing and saying nothing twice', async () => {
    const { url, say } = await start()
    say(btc(1))
    say(eth(1))
    const before = await hear(url, 'kinds=price')
    await vi.waitFor(() => expect(before.ids()).toHaveLength(1))
    expect(before.text()).toContain('data: {"resumed":false}')
    before.close()
    say(btc(2))
    say(btc(3))
    const after = await hear(url, 'kinds=price', { 'last-event-id': before.ids()[0] ?? '' })
    await vi.waitFor(() => expect(after.text()).toContain('data: {"resumed":true}'))
    expect(after.text().match(/event: price\n.*\ndata: .*/g)).toEqual([
      expect.stringContaining('data: ["btc",{"price":3}]') as string,
    ])
    const byQuery = await hear(url, `kinds=price&last_event_id=${after.ids().at(-1) ?? ''}`)
    await vi.waitFor(() => expect(byQuery.text()).toContain('data: {"resumed":true}'))
    expect(byQuery.text()).not.toContain('event: price')
  })

  it.each(['nonsense', 'a.AQHoBw'])('says so and all that is known where it cannot go on (%s)', async (id) => {
    const { url, say } = await start()
    say(btc(1))
    const page = await hear(url, 'kinds=price', { 'last-event-id': id })
    await vi.waitFor(() => expect(page.text()).toContain('data: {"resumed":false}'))
    expect(page.text()).toContain('event: missed')
    expect(page.text()).toContain('{"price":1}')
  })

  it('is refused while the log is not followed, for unknown kinds, and to one page too many', async () => {
    const early = await start({ isStarting: true })
    const refused = await send(`${early.url}/stream`)
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2'])
    const { url, hub } = await start()
    expect((await send(`${url}/stream?kinds=price,secrets`)).status).toBe(400)
    await Promise.all(Array.from({ length: CLIENTS_MAX }, () => hear(url, 'kinds=price')))
    expect((await send(`${url}/stream?kinds=price`)).status).toBe(503)
    expect(hub.clients).toBe(CLIENTS_MAX)
  })

  it('forgets a page that is gone', async () => {
    const { url, hub } = await start()
    const page = await hear(url, 'kinds=price')
    expect(hub.clients).toBe(1)
    page.close()
    await vi.waitFor(() => expect(hub.clients).toBe(0))
  })
})
