import { createServer } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeServer, listen } from '../../infra/http/ops.ts'
import { peersOf } from '../peers.ts'
import { lostTrades, NOW, startHarness, type Harness } from '../testing/harness.ts'
import { markAges, secondsBehind } from '../views/health.ts'

let api: Harness
beforeEach(async () => {
  api = await startHarness()
})
afterEach(() => api.stop())

describe('/healthz', () => {
  it('tells the mode, the venues, the gaps and how far the log is', async () => {
    api.database.gaps = [{ asset: 'eth', venue: 'okx', state: 'opened', from: NOW, to: NOW, missing: 1 }]
    const { status, body } = await api.get('/healthz')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'ok',
      mode: 'live',
      version: '1.2.3',
      parts: { clickhouse: 'ok' },
      log: { status: 'ok', age_ms: 0, lag_ms: 0 },
      active_ws_connections: 5,
      open_gaps: 1,
    })
    expect(body['venues']).toMatchObject({ bybit: { state: 'live', sockets: 2, feeds: 1 } })
  })

  it.each([
    [30_000, 'ok'],
    [30_001, 'quiet'],
  ])('with a newest mark %i ms old the log is %s', async (ms, status) => {
    api.hang(ms)
    expect((await api.get('/healthz')).body['log']).toMatchObject({ status, age_ms: ms })
  })

  it.each([
    ['cvd', 10_000, 10_000, 'ok', 'ok'],
    ['cvd', 10_001, 10_001, 'late', 'degraded'],
    ['prices', 10_001, 10_001, 'late', 'degraded'],
    ['liquidations', 10_001, 10_001, 'late', 'degraded'],
    // these tell every ten seconds how far they are
    ['liquidated', 20_000, 10_000, 'ok', 'ok'],
    ['alerts', 20_000, 10_000, 'ok', 'ok'],
    ['alerts', 20_001, 10_001, 'late', 'degraded'],
  ])(
    'with %s %i ms behind derived data are %i behind and the log is %s',
    async (processor, ms, lag, status, overall) => {
      const { database } = api
      const time = NOW - ms * 1000
      database.derived = database.derived.map((row) => (row.processor === processor ? { ...row, time } : row))
      const { body } = await api.get('/healthz')
      expect(body).toMatchObject({ status: overall, log: { status, lag_ms: lag } })
      expect(body['processors']).toMatchObject({ [processor]: { age_ms: ms } })
    },
  )

  it('is not late for a processor whose own topic stands still', async () => {
    const { database } = api
    const time = NOW - 60_000_000
    database.derived = database.derived.map((row) => (row.processor === 'prices' ? { ...row, time } : row))
    database.times = database.times.map((row) => (row.topic === 'market.tickers' ? { ...row, time } : row))
    expect((await api.get('/healthz')).body).toMatchObject({ status: 'ok', log: { status: 'ok', lag_ms: 0 } })
  })

  it.each([
    ['all connections to all venues are down', () => true, 'degraded'],
    ['all venues refuse us', () => true, 'degraded', 'unavailable'],
    ['of one topic no venue is live', ({ topic }) => topic === 'market.tickers', 'degraded'],
    ['a topic is switched off', ({ topic }) => topic === 'market.tickers', 'ok', 'off'],
    ['one venue refuses us', ({ venue }) => venue === 'binance', 'ok', 'unavailable'],
    ['no feed process tells of venues', undefined, 'degraded'],
  ] satisfies [string, ((row: { venue: string; topic: string }) => boolean) | undefined, string, string?][])(
    'where %s the status follows',
    async (_what, isSo, status, state = 'down') => {
      const { database } = api
      const said = <Row extends { venue: string }>(rows: readonly Row[]): Row[] =>
        isSo === undefined ? [] : rows.map((row) => (isSo({ topic: '', ...row }) ? { ...row, state, sockets: 0 } : row))
      database.reports = said(database.reports)
      database.channels = said(database.channels)
      expect(await api.get('/healthz')).toMatchObject({ status: 200, body: { status, log: { status: 'ok' } } })
    },
  )

  it('finds ClickHouse there that is only busy', async () => {
    const query = api.database.query.bind(api.database)
    api.database.query = async (sql, params) => {
      await new Promise((resolve) => setTimeout(resolve, 1_200)) // the query's own time
      return query(sql, params)
    }
    expect((await api.get('/healthz')).body).toMatchObject({ status: 'ok', parts: { clickhouse: 'ok' } })
  })

  it('takes the best of several feeds for a venue', async () => {
    const [first] = api.database.reports
    if (first !== undefined) api.database.reports.push({ ...first, writer: 'feeds-b', state: 'down', sockets: 0 })
    expect((await api.get('/healthz')).body['venues']).toMatchObject({ binance: { state: 'live', feeds: 2 } })
  })
})

describe('what was set aside', () => {
  const letter = {
    processor: 'cvd',
    topic: 'market.trades',
    partition: 3,
    offset: 70,
    time: NOW,
    reason: 'failed',
    code: 'TypeError',
    at: 'bucket.ts:7:9',
  }

  it('is in the health, with how many and the newest', async () => {
    expect((await api.get('/healthz')).body['dead_letters']).toEqual({ count: 0, newest: null })
    api.advance(60_000)
    api.database.market.letters = [letter, { ...letter, offset: 69 }]
    const { status, body } = await api.get('/healthz')
    expect([status, body['dead_letters']]).toEqual([
      200,
      { count: 2, newest: { ...letter, time: '2026-01-02T03:04:05.000Z' } },
    ])
  })

  it('and what the log lost are in the health apart', async () => {
    expect((await api.get('/healthz')).body['log_gaps']).toEqual({ count: 0, newest: null })
    api.advance(60_000)
    const gap = { ...lostTrades({ reason: 'cut', missing: 0 }), from: NOW - 1_000_000 }
    api.database.logGaps = [{ ...gap, time: NOW - 1 }, gap]
    const { status, body } = await api.get('/healthz')
    const times = { from: '2026-01-02T03:04:04.000Z', to: '2026-01-02T03:04:05.000Z', time: '2026-01-02T03:04:05.000Z' }
    expect([status, body['log_gaps']]).toEqual([200, { count: 2, newest: { ...gap, ...times } }])
  })

  it('is there beside what this instance could not read itself', async () => {
    expect((await api.get('/healthz')).body['unread']).toEqual({ count: 0, newest: null })
  })
})

describe('what is told of channels, topics and the audit', () => {
  const audit = {
    venue: 'okx',
    compared: 1440,
    different: 3,
    unexplained: 1,
    worst_volume_difference: -0.25,
    worst_delta_difference: null,
    worst_instrument: 'okx:perp:BTC-USDT-SWAP',
    worst_minute: NOW - 60_000_000,
  }

  it('is in the health', async () => {
    api.database.market.audits = [audit]
    const down = api.database.channels.find(({ topic, venue }) => topic === 'market.tickers' && venue === 'kraken')
    api.database.channels = api.database.channels.map((row) => (row === down ? { ...row, state: 'down' } : row))
    const { body } = await api.get('/healthz')
    expect(body).toMatchObject({
      channels: {
        'market.tickers': { kraken: { state: 'down', sockets: 1, feeds: 1 }, binance: { state: 'live' } },
        'market.funding': { gate: { state: 'live' } },
      },
      topics: { 'market.tickers': { as_of: '2026-01-02T03:04:05.000Z', age_ms: 0 } },
      audit: {
        okx: {
          compared: 1440,
          different: 3,
          unexplained: 1,
          worst_volume_difference: -0.25,
          worst_delta_difference: null,
        },
      },
    })
  })

  it('says how far a topic is by its partition that is furthest behind', () => {
    const times = new Map([
      ['market.tickers/0', NOW],
      ['market.tickers/1', NOW - 7_000_000],
    ])
    expect(markAges(times, NOW)).toMatchObject({ 'market.tickers': { age_ms: 7_000 } })
    const has = new Map([...times].map(([key, time]) => [key, time - 4_000_000]))
    expect(secondsBehind({ times }, has)).toEqual(new Map([['market.tickers', 4]]))
  })

  it('is in the metrics', async () => {
    api.database.market.audits = [audit]
    api.database.channels = api.database.channels.map((row) =>
      row.venue === 'kraken' ? { ...row, state: 'down' } : row.venue === 'gate' ? { ...row, state: 'off' } : row,
    )
    const windows = ['all', '5m', '30m', '1h', '6h', '3d'].flatMap((name) => [
      [`kept_${name}`, 95],
      [`total_${name}`, name === '5m' ? 0 : 100],
    ])
    api.database.promises = [{ promise: 'delivered', ...Object.fromEntries(windows) }]
    const time = NOW - 7_000_000
    api.database.derived = api.database.derived.map((row) =>
      row.processor === 'prices' || row.processor === 'liquidated' ? { ...row, time } : row,
    )
    const text = String((await api.get('/metrics')).body['text'])
    expect(text).toMatch(/mda_promise_burn\{service="api",promise="delivered",window="1h"\} (5|4\.99)/)
    expect(text).not.toContain('window="5m"')
    expect(text).toMatch(/mda_promise_allowance_left\{service="api",promise="delivered"\} -(4|3\.99)/)
    expect(text).toContain('mda_venue_channel_live{service="api",topic="market.tickers",venue="kraken"} 0')
    expect(text).toContain('mda_venue_channel_live{service="api",topic="market.tickers",venue="okx"} 1')
    expect(text).not.toContain('venue="gate"')
    expect(text).toContain('mda_topic_age_seconds{service="api",topic="derived.flow"} 0')
    expect(text).toContain('mda_processor_behind_seconds{service="api",processor="prices"} 7')
    expect(text).toContain('mda_processor_behind_seconds{service="api",processor="liquidated"} 0')
    expect(text).toContain('mda_clickhouse_behind_seconds{service="api",topic="derived.flow"} 0')
    expect(text).toContain('mda_audit_minutes{service="api",venue="okx",result="unexplained"} 1')
    expect(text).toContain('mda_audit_worst_difference{service="api",venue="okx",figure="volume"} -0.25')
    expect(text).not.toContain('figure="delta"')
    expect(text).toContain('mda_clickhouse_disk_free_bytes{service="api"} 2000000000')
  })

  it('is absent before the log was read', async () => {
    const early = await startHarness({ source: { now: undefined, asked: () => undefined } })
    const { status, body } = await early.get('/metrics')
    await early.stop()
    expect(status).toBe(200)
    expect(String(body['text'])).not.toContain('mda_topic_age_seconds{')
    expect(body['text']).toContain('mda_clickhouse_up{service="api"} 1')
  })

  it('is there where ClickHouse cannot be read, but for the audit', async () => {
    expect((await api.get('/metrics')).body['text']).toContain('mda_clickhouse_up{service="api"} 1')
    api.advance(60_000)
    api.database.failure = new Error('away')
    const { status, body } = await api.get('/metrics')
    expect(status).toBe(200)
    expect(String(body['text'])).toContain('mda_topic_age_seconds{')
    expect(String(body['text'])).not.toContain('mda_audit_minutes{')
    expect(body['text']).toContain('mda_clickhouse_up{service="api"} 0')
    expect(body['text']).not.toContain('mda_clickhouse_disk_free_bytes{')
  })

  it('asks for what cannot be read as seldom as for what can: it may be too much to read', async () => {
    const query = api.database.query.bind(api.database)
    let asked = 0
    api.database.query = async (sql, params) => {
      if (!sql.includes('FROM promise_minutes')) return query(sql, params)
      asked += 1
      throw new Error('it takes too long')
    }
    const counts: number[] = []
    for (let scrape = 0; scrape < 4; scrape++) {
      expect(String((await api.get('/metrics')).body['text'])).not.toContain('mda_promise_burn{')
      counts.push(asked)
      api.advance(10_000)
    }
    expect(counts).toEqual([1, 1, 1, 2])
  })

  it('is there within the time of a scrape where ClickHouse hangs', async () => {
    api.database.gate = new Promise(() => undefined)
    const { text } = (await api.get('/metrics')).body
    expect(text).toContain('mda_topic_age_seconds{')
    expect(text).toContain('mda_clickhouse_up{service="api"} 0')
  })

  it('leaves out what a feed process said that is gone', async () => {
    api.hang(10_001)
    expect((await api.get('/healthz')).body['channels']).toEqual({})
  })
})

describe('/readyz', () => {
  it('is ready once there are derived data', async () => {
    expect((await api.get('/readyz')).body).toMatchObject({ status: 'ready' })
  })

  it('is not ready before', async () => {
    api.database.times = []
    expect((await api.get('/readyz')).status).toBe(503)
  })
})

describe('peers', () => {
  it('have their metrics in ours, each under its name, and a silent one is told', async () => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === '/healthz' ? 503 : 200
      response.end('# HELP x X\n# TYPE x gauge\nx 4\n')
    })
    const port = await listen(server, '127.0.0.1', 0)
    await api.stop()
    api = await startHarness({
      peers: [
        { name: 'feeds', url: `http://127.0.0.1:${port}` },
        { name: 'gone', url: 'http://127.0.0.1:1' },
      ],
    })
    await api.get('/cvd/BTC')
    const { text } = (await api.get('/metrics')).body
    expect(text).toContain('x{service="feeds"} 4')
    expect(text).toContain('mda_service_up{service="feeds"} 1')
    expect(text).toContain('mda_service_up{service="gone"} 0')
    expect(text).toContain('mda_api_requests_total{service="api",route="cvd",status="200"} 1')
    expect((await api.get('/healthz')).body).toMatchObject({
      status: 'degraded',
      parts: { clickhouse: 'ok', feeds: 'not ok', gone: 'unreachable' },
    })
    await closeServer(server)
  })

  it('that deliver say how old the oldest undelivered trigger is', async () => {
    const server = createServer((_request, response) => {
      response.end('{"ok":true,"open":3,"oldest_undelivered_ms":4500}\n')
    })
    const port = await listen(server, '127.0.0.1', 0)
    await api.stop()
    api = await startHarness({ peers: [{ name: 'webhooks', url: `http://127.0.0.1:${port}` }] })
    const { body } = await api.get('/healthz')
    expect(body).toMatchObject({ parts: { webhooks: 'ok' }, oldest_undelivered_ms: 4500 })
    await closeServer(server)
  })

  it('that read the past back say how far they are, which makes nothing unwell', async () => {
    const backfill = { state: 'running', wanted: 69_120, missing: 2_000, bytes_left: 268_000, seconds_left: 4 }
    const server = createServer((_request, response) => {
      response.end(JSON.stringify({ ok: true, dead_letters: { count: 0 }, backfill, venues: [] }))
    })
    const port = await listen(server, '127.0.0.1', 0)
    await api.stop()
    api = await startHarness({ peers: [{ name: 'feeds', url: `http://127.0.0.1:${port}` }] })
    const { body } = await api.get('/healthz')
    expect(body).toMatchObject({ status: 'ok', parts: { feeds: 'ok' }, backfill })
    await closeServer(server)
  })

  const all = { state: 'done', wanted: 69_120, missing: 0, bytes_left: 0, seconds_left: 0 }
  const none = { state: 'starting', wanted: 0, missing: 0, bytes_left: 0, seconds_left: null }
  const off = { ...none, state: 'off' }
  const half = { state: 'running', wanted: 100, missing: 50, bytes_left: 5_650, seconds_left: 7 }
  const slow = { ...half, missing: 20, bytes_left: 2_260, seconds_left: 30 }
  const stuck = { state: 'paused', wanted: 51_840, missing: 50_000, bytes_left: 5_650_000, seconds_left: null }
  it.each([
    ['what all of them want', [half, slow], { ...slow, wanted: 200, missing: 70, bytes_left: 7_910 }],
    ['that one has no room', [all, half, stuck], { ...stuck, wanted: 121_060, missing: 50_050, bytes_left: 5_655_650 }],
    ['that one still reads', [all, half], { ...half, wanted: 69_220 }],
    ['nothing of one to which no venue was dealt', [none, all], all],
    ['that none knows yet what there is', [off, none], none],
    ['that none reads', [off, off], off],
  ])('that read the past back say together, in whatever order, %s', async (_what, told, backfill) => {
    const servers = told.map((own) =>
      createServer((_request, response) => response.end(JSON.stringify({ backfill: own }))),
    )
    const ports = await Promise.all(servers.map((server) => listen(server, '127.0.0.1', 0)))
    const peers = ports.map((port) => ({ name: `feeds-${port}`, url: `http://127.0.0.1:${port}` }))
    for (const inOrder of [peers, peers.toReversed()]) {
      await api.stop()
      api = await startHarness({ peers: inOrder })
      expect((await api.get('/healthz')).body['backfill']).toEqual(backfill)
    }
    await Promise.all(servers.map((server) => closeServer(server)))
  })

  it('are read from name=url items', () => {
    expect(peersOf(['feeds=http://feeds:9100/'])).toEqual([{ name: 'feeds', url: 'http://feeds:9100' }])
    expect(() => peersOf(['http://feeds:9100'])).toThrow('feeds=http://feeds:9100, got "http://feeds:9100"')
  })
})
