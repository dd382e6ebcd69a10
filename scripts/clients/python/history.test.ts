import { createServer } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { flow, NOW, startHarness, type Harness } from '../../../api/testing/harness.ts'
import { closeServer, listen } from '../../../infra/http/ops.ts'
import { can, Program, python } from './testing/program.ts'

const HOUR = 3_600_000_000
const tables = [
  ['to_polars', 'polars', { time: "Datetime(time_unit='us', time_zone='UTC')", float: 'Float64', bool: 'Boolean' }],
  ['to_pandas', 'pandas', { time: 'datetime64[us, UTC]', float: 'float64', bool: 'boolean' }],
  ['to_arrow', 'pyarrow', { time: 'timestamp[us, tz=UTC]', float: 'double', bool: 'bool' }],
] as const
const isNewEnough = can('import sys; assert sys.version_info >= (3, 11)')

interface Point {
  readonly time: string
  readonly cvd: number
  readonly complete: boolean
  readonly exchanges: Readonly<Record<string, { readonly delta: number }>>
}

let api: Harness
let clients: readonly Program[]
let client: Program
const running: { stop(): Promise<unknown> }[] = []
beforeAll(async () => {
  api = await startHarness()
  clients = [new Program(), new Program({}, true)]
  api.database.flows = Array.from({ length: 30 }, (_, index) =>
    flow({ bucket: NOW - (NOW % HOUR) - index * HOUR, buy: index === 9 ? 0.5 : 2, sell: 1 }),
  )
})
afterAll(async () => {
  for (const one of clients) one.stop()
  await api.stop()
})
afterEach(() => Promise.all(running.splice(0).map((one) => one.stop())))

interface Range {
  readonly symbol: string
  readonly interval: string
  readonly start: string
}
const range: Range = { symbol: 'BTC', interval: '1h', start: '2025-12-01' }

async function table(name: string, input: object, url = api.url): Promise<Readonly<Record<string, unknown>>> {
  const { answer, error } = await client.call(url, 'cvd_history', input, { table: name })
  expect(error).toBeUndefined()
  return answer ?? {}
}

async function points(): Promise<Point[]> {
  return (await api.get('/cvd/history/BTC?interval=1h&limit=1000')).body['points'] as Point[]
}

const kinds = [
  ['the client', 0],
  ['the client for asyncio', 1],
] as const

describe.each(kinds)('of %s', (_name, index) => {
  beforeAll(() => {
    client = clients[index] as Program
  })

  describe.skipIf(!isNewEnough)('a history in Python', () => {
    it('is its first page, as the API answered it', async () => {
      const { answer } = await client.call(api.url, 'cvd_history', { symbol: 'BTC', limit: 3 })
      expect(answer).toMatchObject({ symbol: 'BTC', interval: '1h', points: (await points()).slice(-3) })
    })

    it('has all rows over its pages where it has a start, else the newest of one page', async () => {
      expect(await table('rows', { ...range, limit: 7 })).toEqual({ rows: await points() })
      expect(await table('rows', range)).toEqual({ rows: await points() })
      expect(await table('rows', { symbol: 'BTC', interval: '1h', limit: 7 })).toEqual({
        rows: (await points()).slice(-7),
      })
    })

    it('counts days back from now', async () => {
      const ago = (Date.now() - NOW / 1000) / 86_400_000
      const { rows } = await table('rows', { symbol: 'BTC', interval: '1h', days: ago + 0.5 })
      expect(rows).toEqual((await points()).filter(({ time }) => Date.parse(time) >= NOW / 1000 - 43_200_000))
      const both = await client.call(api.url, 'cvd_history', { ...range, days: 1 })
      expect(both.error).toMatch(/^give days, or start and end/)
    })

    it('has settled rates oldest first, though their pages are newest first', async () => {
      const input = { symbol: 'BTC', start: '2025-12-01', limit: 5 }
      const { answer } = await client.call(api.url, 'funding_history', input, { table: 'rows' })
      const all = (await api.get('/funding-rate/history/BTC?limit=1000')).body['history'] as Point[]
      expect(answer).toEqual({ rows: all.toReversed() })
    })

    it('asks each page once, and again where it was refused', async () => {
      const asked: (string | null)[] = []
      const statuses = [200, 503, 200, 429, 200]
      const server = createServer((request, response) => {
        const start = new URL(request.url ?? '', 'http://localhost').searchParams.get('start')
        const status = statuses[asked.push(start) - 1] ?? 500
        const page = { points: [{ time: `${start}T00:00:00.000Z`, cvd: asked.length }], next: '2026-01-02' }
        const body = status === 200 ? { ...page, next: asked.length === 5 ? null : page.next } : { error: 'later' }
        response.writeHead(status, { 'retry-after': '1' }).end(JSON.stringify(body))
      })
      running.push({ stop: () => closeServer(server) })
      const url = `http://127.0.0.1:${await listen(server, '127.0.0.1', 0)}`
      const { rows } = await table('rows', { symbol: 'BTC', start: '2026-01-01' }, url)
      expect((rows as Point[]).map(({ cvd }) => cvd)).toEqual([1, 3, 5])
      expect(asked).toEqual(['2026-01-01', '2026-01-02', '2026-01-02', '2026-01-02', '2026-01-02'])
    })
  })

  describe.skipIf(!isNewEnough)('a paid history in Python', () => {
    it('sends the payment of a page that failed again when it is asked again, and of no other page', async () => {
      const paying = new Program({ SIGNS: 'one payment after the other' }, index === 1)
      running.push({ stop: async () => paying.stop() })
      const paid: unknown[] = []
      const statuses = [402, 200, 402, 503, 402, 402, 200, 402, 200]
      const server = createServer((request, response) => {
        const start = new URL(request.url ?? '', 'http://localhost').searchParams.get('start')
        const status = statuses[paid.push(request.headers['payment-signature']) - 1] ?? 500
        const point = { time: `${start}T00:00:00.000Z`, cvd: paid.length }
        const next = paid.length === 9 ? null : `2026-01-0${paid.length}`
        response.writeHead(status).end(JSON.stringify(status === 200 ? { points: [point], next } : { error: 'later' }))
      })
      running.push({ stop: () => closeServer(server) })
      const url = `http://127.0.0.1:${await listen(server, '127.0.0.1', 0)}`
      const input = { symbol: 'BTC', start: '2026-01-01' }
      const more = { table: 'rows', asks_again: true, options: { tries: 2 } }
      const { answer } = await paying.call(url, 'cvd_history', input, more)
      expect((answer?.['rows'] as Point[] | undefined)?.map(({ cvd }) => cvd)).toEqual([2, 7, 9])
      const signed = (n: number): string => `signed ${n}`
      // The second one is refused when it is handed back.
      const expired = [undefined, signed(2), signed(2), undefined, signed(3)]
      expect(paid).toEqual([undefined, signed(1), ...expired, undefined, signed(4)])
    })

    it.skipIf(index === 0)('asks and pays each page once where its await is given up and made again', async () => {
      const paying = new Program({ SIGNS: 'one payment after the other' }, true)
      running.push({ stop: async () => paying.stop() })
      const asked: (string | null)[] = []
      const isAsked = Promise.withResolvers<void>()
      const isMadeAgain = Promise.withResolvers<void>()
      let questions = 0
      const server = createServer((request, response) => {
        void (async () => {
          const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
          if (pathname === '/healthz') {
            if (++questions === 2) isMadeAgain.resolve()
            await isAsked.promise
            return response.end('{}')
          }
          if (request.headers['payment-signature'] === undefined) return response.writeHead(402).end('{}')
          const start = searchParams.get('start')
          asked.push(start)
          const next = start === '2026-01-01' ? '2026-01-02' : null
          if (next === null) {
            isAsked.resolve()
            await isMadeAgain.promise
          }
          return response.end(JSON.stringify({ points: [{ time: `${start}T00:00:00.000Z` }], next }))
        })()
      })
      running.push({ stop: () => closeServer(server) })
      const url = `http://127.0.0.1:${await listen(server, '127.0.0.1', 0)}`
      const input = { symbol: 'BTC', start: '2026-01-01' }
      const { answer, spent } = await paying.call(url, 'cvd_history', input, { table: 'rows', gives_up: true })
      const times = (answer?.['rows'] as Point[] | undefined)?.map(({ time }) => time.slice(0, 10))
      expect([times, asked, spent]).toEqual([['2026-01-01', '2026-01-02'], ['2026-01-01', '2026-01-02'], 2])
    })
  })

  describe.each(tables)('%s', (name, module, types) => {
    const has = isNewEnough && can(`import ${module}`)
    if (!has) console.log(`skipped: ${python} has no ${module}; set PYTHON to one that has`)

    it.skipIf(has || !isNewEnough)('says what is to be installed for it', async () => {
      const { error } = await client.call(api.url, 'cvd_history', range, { table: name })
      expect(error).toMatch(/pip install 'market-data-alerts-client\[(?:polars|pandas|arrow)\]'/)
    })

    it.skipIf(!has)('has a typed column for every figure, and a row for every point', async () => {
      const made = await table(name, { ...range, limit: 7 })
      const rows = made['rows'] as Readonly<Record<string, unknown>>[]
      const expected = await points()
      expect(rows.map(({ time }) => Date.parse(String(time)))).toEqual(expected.map(({ time }) => Date.parse(time)))
      for (const [index, { cvd, complete, exchanges }] of expected.entries())
        expect(rows[index]).toMatchObject({ cvd, complete, binance_delta: exchanges['binance']?.delta })
      const { time, float, bool } = types
      expect(made['types']).toMatchObject({ time, cvd: float, coinbase_sell_volume: float, complete: bool })
    })

    it.skipIf(!has)('has its columns and types without any row too, and null where nothing was said', async () => {
      const none = await table(name, { ...range, end: '2025-12-02' })
      expect(none).toMatchObject({ rows: [], types: { time: types.time, delta: types.float, complete: types.bool } })
      const input = { symbol: 'BTC', start: '2026-01-02', interval: '30m' }
      const { answer } = await client.call(api.url, 'open_interest_history', input, { table: name })
      const rows = answer?.['rows'] as Readonly<Record<string, unknown>>[]
      expect(rows.map((row) => row['okx_open_interest'])).toContain(null)
      expect(answer?.['types']).toMatchObject({ open_interest: types.float, bybit_open_interest_usd: types.float })
    })
  })
})
