import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocketServer, type WebSocket } from 'ws'
import { assignPartitions } from '../../../infra/kafka/membership.ts'
import { createLog } from '../../../infra/log.ts'
import { localCodec } from '../../../schemas/codec.ts'
import { addresses as allAddresses, type HostName, type VenueName } from '../../../schemas/venues.ts'
import { partitionOf } from '../../../schemas/catalogue.ts'
import { topicOf } from '../../../schemas/topics.ts'
import type { Gap, Mark, Message, PriceRange, Settlement, SpotTicker, Trade } from '../../../schemas/records.ts'
import { CoreTestDriver, only } from '../../kernel/testing/core-test-driver.ts'
import { MemoryBroker, stillClock } from '../../kernel/testing/memory-log.ts'
import { quietMeter, quietReport } from '../../kernel/quiet.ts'
import { prices } from '../../prices/prices.ts'
import { addressOf, type Addresses } from './host-settings.ts'
import { InstrumentTable } from './instrument-table.ts'
import { Listings } from './listings.ts'
import { poolTiming } from '../transport/pool.ts'
import { RestHosts } from '../transport/rest-client.ts'
import type { Fact, VenueTrade } from '../venues/events.ts'
import { alive } from '../venues/fact-fields.ts'
import { tickersPoll, tradeStreamOf, type Listed, type Venue } from '../venues/venue.ts'
import { Feeds, venueNumber } from './feeds.ts'
import { markedTopics } from './market-log.ts'
import { feedMetrics } from './metrics.ts'
import { hostClock } from './process-clock.ts'
import { FactBook } from '../facts/fact-book.ts'
import { PastOrders } from '../facts/past-orders.ts'
import { Resume } from './resume.ts'

/** A venue of our own: frames and bodies are facts as JSON, `subscribe A B` is answered with `ok A B`. */
function venueOf(): Venue {
  const rows = (_symbol: string, body: unknown) => ({ kind: 'rows', rows: body as Fact[] }) as const
  return {
    name: 'okx',
    budgets: { rest: { capacity: 100, refillPerSecond: 100 } },
    listings: [
      {
        market: 'spot',
        host: 'rest',
        listing: {
          first: { path: '/list', cost: 1 },
          parse: (body) => ({ kind: 'rows', rows: body as Listed[] }),
          seed: [],
          fromSymbol: () => undefined,
        },
      },
    ],
    streams: [
      {
        name: 'tickers',
        host: 'ws',
        topic: 'market.tickers',
        scope: { of: 'catalogue', market: 'spot' },
        socket: {
          path: '/',
          copies: 1,
          silentAfterMs: 60_000,
          maxSymbolsPerConnection: 100,
          minFrameSpacingMs: 0,
          minConnectSpacingMs: 0,
        },
        request: (op, symbols) => [`${op} ${symbols.join(' ')}`],
        parse: (frame) => {
          const [word, ...symbols] = frame.split(' ')
          if (word === 'ok') return [{ kind: 'subscribed', symbols, id: null }]
          if (word === 'no') return [{ kind: 'rejected', symbols, id: null, message: 'no' }]
          return [{ kind: 'fact', fact: JSON.parse(frame) as Fact }]
        },
      },
    ],
    polls: [
      {
        name: 'settled',
        host: 'rest',
        topic: 'market.funding',
        scope: { of: 'wanted', market: 'spot' },
        everyMs: 200,
        call: (symbol) => ({ path: `/settled/${symbol}`, cost: 1 }),
        parse: rows,
      },
      {
        name: 'past',
        host: 'rest',
        topic: 'market.funding',
        scope: { of: 'catalogue', market: 'spot' },
        everyMs: 'once',
        call: (symbol) => ({ path: `/past/${symbol}/0`, cost: 1 }),
        parse: (symbol, body) => {
          const [page, ...own] = body as [number, ...Fact[]]
          const next = page < 2 ? { next: { path: `/past/${symbol}/${page + 1}`, cost: 1 } } : {}
          return { kind: 'rows', rows: own, ...next }
        },
      },
    ],
  }
}

/** The same with trades: frames and pages are trades as JSON, ids go up by one. */
function tradingVenueOf(ids: 'contiguous' | 'none' = 'contiguous'): Venue {
  const [stream] = venueOf().streams
  if (stream === undefined) throw new Error('a venue without a channel')
  const trades = tradeStreamOf('okx', {
    channels: ['trades'],
    socket: { ...stream.socket, path: '/trades' },
    request: (op, symbols) => [`${op} ${symbols.join(' ')}`],
    parse: (frame) => {
      const [word, ...symbols] = frame.split(' ')
      if (word === 'ok') return [{ kind: 'subscribed', symbols, id: null }]
      return [{ kind: 'trade', trade: JSON.parse(frame) as VenueTrade }]
    },
    listing: {
      first: { path: '/list', cost: 1 },
      parse: (body) => ({ kind: 'rows', rows: body as Listed[] }),
      seed: [],
      fromSymbol: () => undefined,
    },
    backfill: {
      direction: 'forward',
      pageSize: 100,
      page: (_symbol, from, to) => ({ path: `/trades/${from}/${to}`, cost: 1 }),
      newest: () => ({ path: '/trades/0/1000000', cost: 1 }),
      parse: (_symbol, body) => ({ kind: 'rows', rows: body as VenueTrade[] }),
    },
  })
  // Whose ids have no order, the table says of each venue.
  const venue = ids === 'none' ? { ...trades, ids, venue: 'bybit' as const } : trades
  return { ...venueOf(), name: venue.venue, listings: [], streams: [], polls: [], trades: venue }
}

/** The same with heartbeats (`alive`), a price call and candles. */
function pricingVenueOf(): Venue {
  const base = venueOf()
  const streams = base.streams.map((stream) => ({
    ...stream,
    parse: (frame: string) => (frame === 'alive' ? [alive] : stream.parse(frame)),
  }))
  const rows = (body: unknown) => ({ kind: 'rows', rows: body as Fact[] }) as const
  const candles = {
    host: 'rest',
    pageSize: 1_000,
    call: (symbol: string) => ({ path: `/candles/${symbol}`, cost: 1 }),
    parse: (_symbol: string, _seconds: number, body: unknown) => rows(body),
  } as const
  return { ...base, streams, polls: [tickersPoll('SPOT', { path: '/spot', cost: 1 }, rows)], candles }
}

function tradeOf(id: number): VenueTrade {
  const time = Date.now() * 1_000
  return { symbol: 'BTCUSDT', id, count: 1, sequence: null, price: '2', size: '3', taker: 'buy', time }
}

function listed(symbol: string, over: Partial<Listed> = {}): Listed {
  const base = symbol.replace('USDT', '')
  return { symbol, base, quote: 'USDT', settle: 'USDT', sizeFactor: 1, priceFactor: 1, tick: null, live: true, ...over }
}

const codec = localCodec()
const partitions = 3
const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0).toReversed()) cleanup()
})

/** The venue's side: what it lists and answers, and who is connected. */
const venue = {
  trades: [] as VenueTrade[],
  list: [] as Listed[],
  answers: new Map<string, unknown>(),
  calls: [] as string[],
  status: 200,
}
let sockets: WebSocket[]
let asked: string[]
let venueHears: () => void
let addresses: Addresses
beforeEach(async () => {
  Object.assign(venue, {
    trades: [],
    list: [listed('BTCUSDT'), listed('ETHUSDT')],
    answers: new Map(),
    calls: [],
    status: 200,
  })
  sockets = []
  asked = []
  venueHears = () => undefined
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    venue.calls.push(path)
    const [, kind, from, to] = path.split('/')
    const page = kind === 'trades' ? venue.trades.filter(({ id }) => id >= Number(from) && id <= Number(to)) : undefined
    const body =
      page ?? (path === '/list' ? venue.list : (venue.answers.get(path) ?? (path.startsWith('/past') ? [2] : [])))
    response.writeHead(path === '/list' ? 200 : venue.status, { 'retry-after': '1' }).end(JSON.stringify(body))
  })
  const wss = new WebSocketServer({ server })
  wss.on('connection', (socket) => {
    sockets.push(socket)
    socket.on('message', (data: Buffer) => {
      asked.push(data.toString())
      venueHears()
      const [word, ...symbols] = data.toString().split(' ')
      if (word === 'subscribe')
        for (const symbol of symbols) socket.send(`${symbol.startsWith('X') ? 'no' : 'ok'} ${symbol}`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    for (const socket of wss.clients) socket.terminate()
    server.close()
    server.closeAllConnections()
  })
  const port = (server.address() as AddressInfo).port
  const none = Object.fromEntries(allAddresses.map(({ setting }) => [setting, ''])) as Addresses
  addresses = {
    ...none,
    OKX_WS_URL: `ws://127.0.0.1:${port}`,
    OKX_REST_URL: `http://127.0.0.1:${port}`,
    BYBIT_WS_URL: `ws://127.0.0.1:${port}`,
    BYBIT_REST_URL: `http://127.0.0.1:${port}`,
  }
})

function brokerInMemory(): MemoryBroker {
  return new MemoryBroker(stillClock)
}

/** The feeds over a log in memory, driven as the host does it. */
async function start(
  over: {
    againMs?: number
    source?: Venue
    venueTime?: number | undefined
    broker?: MemoryBroker
    tickMs?: number
    /** `false`: it ends while it still reads what the log has. */
    readsBack?: boolean
  } = {},
) {
  const { againMs = 3_600_000, source = venueOf(), broker = brokerInMemory(), tickMs = 5, readsBack = true } = over
  const log = broker.connect()
  const logger = createLog('test', { LOG_LEVEL: 'fatal' })
  const address = (name: VenueName, host: HostName) => addressOf(addresses, name, host)
  const rests = new RestHosts([source], { address, onDate: () => undefined })
  const lookUp = (): Promise<boolean> => Promise.resolve(false)
  const ports = { codec, lookUp, writer: log.writer(), meter: quietMeter, report: quietReport }
  const resume = new Resume(log.reader(), ports, partitions, () => undefined)
  cleanups.push(() => resume.stop())
  const table = await InstrumentTable.read(log.reader(), ports)
  const metrics = new Registry()
  const feeds: Feeds = new Feeds({
    venues: [source],
    addresses,
    clock: hostClock,
    rests,
    partitions,
    feedName: 'test',
    codec,
    writer: log.writer(),
    log: logger,
    metrics: feedMetrics(metrics),
    timing: { ...poolTiming, backoff: { firstMs: 5, maxMs: 20 } },
    writeError: (error) => {
      throw error
    },
    unknown: (name) => listings.soon(name),
    learn: (repairs) => {
      if (readsBack) void resume.tell(repairs)
    },
    backfillDays: { hours: 0, minutes: 0, archives: 0 },
    archiveDir: '',
    pastPaused: () => false,
    orders: new PastOrders(),
    knownPast: () => Promise.resolve(new Map()),
    logStart: (partition) => resume.startOf(partition),
    venueTime: () => ('venueTime' in over ? over.venueTime : 7),
  })
  const listings = new Listings(table, feeds.markets, againMs, logger, () => feeds.list(table))
  await listings.first()
  feeds.own([0, 1, 2])
  const timer = setInterval(() => feeds.tick(Date.now()), tickMs)
  const kill = (): void => {
    clearInterval(timer)
    listings.stop()
    feeds.stop()
    rests.close()
    feeds.close()
  }
  cleanups.push(kill)
  const read = async (topic: 'market.trades' | 'market.tickers' | 'market.funding'): Promise<Message[]> => {
    await resume.lookAtStart()
    feeds.beat(Date.now(), markedTopics)
    await feeds.drained()
    const messages: Message[] = []
    for (let partition = 0; partition < partitions; partition++) {
      for await (const records of log.reader().toEnd(topic, partition)) {
        for (const { value } of records) if (value !== null) messages.push(codec.decode(value))
      }
    }
    return messages
  }
  const of = async <Value>(
    topic: 'market.trades' | 'market.tickers' | 'market.funding',
    type: string,
  ): Promise<Value[]> =>
    (await read(topic)).filter((message) => message.type === type).map(({ value }) => value as Value)
  return { feeds, metrics, of, broker, kill }
}

function send(id: number): void {
  venue.trades.push(tradeOf(id))
  for (const socket of sockets) socket.send(JSON.stringify(venue.trades.at(-1)))
}

async function statesIn({ of }: Pick<Awaited<ReturnType<typeof start>>, 'of'>): Promise<string[]> {
  const marks = await of<Mark>('market.trades', 'mark')
  return marks.flatMap(({ changes }) => changes.map(({ state }) => state))
}

function idsIn(trades: readonly Trade[]): number[] {
  return [...new Set(trades.map(({ first_id: id }) => id))].toSorted((a, b) => a - b)
}

function say(fact: object): void {
  for (const socket of sockets) socket.send(JSON.stringify({ kind: 'ticker', time: null, ...fact }))
}

type Started = Awaited<ReturnType<typeof start>>

/** What the newest mark says of the venue's prices when so many seconds have passed. */
async function priceStateAfter(seconds: number, { feeds, of }: Started): Promise<string | undefined> {
  for (let second = 0; second < seconds; second++) {
    await vi.advanceTimersByTimeAsync(1_000)
    feeds.beat(Date.now(), markedTopics)
  }
  return (await of<Mark>('market.tickers', 'mark')).at(-1)?.venues[0]?.state
}

/** Sends a frame on these connections and waits until it has come. */
async function heard(frame: string, on: readonly WebSocket[], { metrics }: Started): Promise<void> {
  const frames = async (): Promise<number> =>
    (await metrics.getSingleMetric('mda_feed_frames_total')?.get())?.values[0]?.value ?? 0
  const before = await frames()
  for (const socket of on) socket.send(frame)
  await vi.waitFor(async () => expect(await frames()).toBeGreaterThan(before))
}

describe('feeds', () => {
  it('bring tickers of all that is listed, with marks that say the channel lives', async () => {
    const { of, feeds } = await start()
    expect(topicOf('market.tickers').records).toContain('spot_ticker')
    await vi.waitFor(() => expect(asked).toEqual(['subscribe BTCUSDT ETHUSDT']))
    say({ symbol: 'BTCUSDT', last: '100' })
    say({ symbol: 'ETHUSDT', last: '10' })
    say({ symbol: 'NONEUSDT', last: '1' })
    await vi.waitFor(async () => {
      const tickers = await of<SpotTicker>('market.tickers', 'spot_ticker')
      expect(new Set(tickers.map(({ asset, last }) => `${asset} ${last}`))).toEqual(new Set(['btc 100', 'eth 10']))
    })
    const marks = await of<Mark>('market.tickers', 'mark')
    expect(marks.at(-1)?.venues).toMatchObject([{ venue: 'okx', state: 'live', sockets: 1 }])
    expect(marks.at(-1)?.venue_time).toBe(7)
    expect(JSON.stringify(feeds.health('market.tickers'))).toContain('"state":"live"')
  })

  it('mark the topics whose turn it is, each once in each partition', async () => {
    const { feeds, of } = await start()
    feeds.beat(Date.now(), ['market.tickers'])
    expect(await of<Mark>('market.tickers', 'mark')).toHaveLength(2 * partitions) // reading marks all
    expect(await of<Mark>('market.trades', 'mark')).toHaveLength(2 * partitions)
  })

  it('have begun when they first marked, whatever the host’s clock said before', async () => {
    const now = Date.now
    const wall = vi.spyOn(Date, 'now').mockImplementation(() => now() + 7_200_000)
    const { of } = await start()
    wall.mockRestore()
    const marks = await of<Mark>('market.trades', 'mark')
    expect(marks.length).toBeGreaterThan(0)
    const aMoment = 1_000_000 // between two looks at the clock
    for (const { run, time } of marks) expect(run).toBeLessThanOrEqual(time + aMoment)
    expect(new Set(marks.map(({ run }) => run)).size).toBe(1)
  })

  it('mark nothing while the clock is wrong, and write what comes', async () => {
    const { of } = await start({ venueTime: undefined })
    await vi.waitFor(() => expect(asked).toEqual(['subscribe BTCUSDT ETHUSDT']))
    say({ symbol: 'BTCUSDT', last: '100' })
    await vi.waitFor(async () => expect(await of<SpotTicker>('market.tickers', 'spot_ticker')).toHaveLength(1))
    expect(await of<Mark>('market.tickers', 'mark')).toEqual([])
  })

  it('poll what is wanted again and again and read the past once, page by page', async () => {
    const now = Date.now() * 1_000
    const settlement = { kind: 'settlement', symbol: 'BTCUSDT', rate: '0.0001', mark: null }
    venue.answers.set('/past/BTCUSDT/0', [0, { ...settlement, time: now - 3_600_000_000 }])
    venue.answers.set('/past/BTCUSDT/1', [1, { ...settlement, time: now - 7_200_000_000 }])
    venue.answers.set('/past/BTCUSDT/2', [2, { ...settlement, time: now - 10_800_000_000 }])
    venue.answers.set('/settled/BTCUSDT', [{ ...settlement, time: now }])
    const { feeds, of } = await start()
    feeds.want(new Set(['btc']))
    await vi.waitFor(async () => {
      expect(await of<Settlement>('market.funding', 'settlement')).toHaveLength(4)
      expect(venue.calls.filter((path) => path === '/settled/BTCUSDT').length).toBeGreaterThan(2)
    })
    expect(venue.calls.filter((path) => path.startsWith('/past/BTC'))).toHaveLength(3)
    expect(venue.calls.filter((path) => path.startsWith('/settled/ETH'))).toEqual([])
    const marks = await of<Mark>('market.funding', 'mark')
    expect(marks.at(-1)?.venues).toMatchObject([{ venue: 'okx', state: 'live' }])
  })

  it('stop to poll what another process owns', async () => {
    const { feeds } = await start()
    feeds.want(new Set(['btc']))
    await vi.waitFor(() => expect(venue.calls).toContain('/settled/BTCUSDT'))
    feeds.own([0, 1])
    const before = venue.calls.length
    let ticks = 0
    await vi.waitFor(() => expect(++ticks).toBeGreaterThan(10), { interval: 50 })
    expect(venue.calls.length).toBeLessThanOrEqual(before + 2)
  })

  it('poll each its own venue where a group deals the venues out to hosts that have others', async () => {
    const hosts: Venue[] = [{ ...venueOf(), name: 'bybit' }, venueOf()]
    const members = hosts.map(({ name }) => ({ id: name, held: [], takes: [venueNumber(name, partitions)] }))
    const dealt = assignPartitions(partitions, members)
    for (const source of hosts) {
      const { feeds, kill } = await start({ source })
      feeds.own(dealt.get(source.name) ?? [])
      venue.calls = []
      feeds.want(new Set(['btc']))
      await vi.waitFor(() => expect(venue.calls).toContain('/settled/BTCUSDT'))
      kill()
    }
  })

  it('leave a venue alone that refuses, and say so', async () => {
    venue.status = 451
    const { feeds, of, metrics } = await start()
    feeds.want(new Set(['btc']))
    await vi.waitFor(async () => {
      const marks = await of<Mark>('market.funding', 'mark')
      expect(marks.at(-1)?.venues).toMatchObject([{ venue: 'okx', state: 'unavailable' }])
    })
    expect(venue.calls.filter((path) => path !== '/list').length).toBeLessThanOrEqual(3)
    expect(await metrics.metrics()).toContain('mda_feed_rest_unavailable{venue="okx",host="rest"} 1')
  })

  it('follow a list that changes: a listing, a delisting, a changed contract value', async () => {
    const { of } = await start({ againMs: 50 })
    await vi.waitFor(() => expect(asked).toEqual(['subscribe BTCUSDT ETHUSDT']))
    say({ symbol: 'BTCUSDT', last: '100' })
    await vi.waitFor(async () => expect(await of('market.tickers', 'spot_ticker')).toHaveLength(1))
    venue.list = [listed('BTCUSDT', { priceFactor: 10 }), listed('SOLUSDT')]
    await vi.waitFor(() =>
      expect(asked.slice(1).toSorted((a, b) => a.localeCompare(b))).toEqual([
        'subscribe SOLUSDT',
        'unsubscribe ETHUSDT',
      ]),
    )
    say({ symbol: 'BTCUSDT', last: '100' })
    say({ symbol: 'SOLUSDT', last: '5' })
    say({ symbol: 'ETHUSDT', last: '7' })
    await vi.waitFor(async () => {
      const tickers = await of<SpotTicker>('market.tickers', 'spot_ticker')
      expect(new Set(tickers.map(({ asset, last }) => `${asset} ${last}`))).toEqual(
        new Set(['btc 100', 'btc 10', 'sol 5']),
      )
    })
  })

  it('say in marks of prices that a market is listed no longer, so that its last price counts no more', async () => {
    const started = await start({ againMs: 50 })
    const { of, broker } = started
    await vi.waitFor(() => expect(asked).toEqual(['subscribe BTCUSDT ETHUSDT']))
    say({ symbol: 'BTCUSDT', last: '100' })
    say({ symbol: 'ETHUSDT', last: '10' })
    await vi.waitFor(async () => expect(await of('market.tickers', 'spot_ticker')).toHaveLength(2))
    venue.list = [listed('BTCUSDT')]
    const changes = async (topic: 'market.tickers' | 'market.trades') =>
      (await of<Mark>(topic, 'mark')).flatMap((mark) => mark.changes)
    const ended = { instrument: 'okx:spot:ETHUSDT', asset: 'eth', state: 'ended' }
    await vi.waitFor(async () => expect(await changes('market.tickers')).toMatchObject([ended]))
    expect(await changes('market.trades')).toEqual([])
    const counts = (asset: string): boolean | undefined => {
      const log = broker.records('market.tickers', partitionOf(asset, partitions))
      const driver = new CoreTestDriver(prices, 'market.tickers')
      driver.batch(...log.flatMap(({ value }) => (value === null ? [] : [codec.decode(value)])))
      return driver.state.assets.get(asset)?.sources.has('okx')
    }
    expect([counts('btc'), counts('eth')]).toEqual([true, false])
  })

  it('go on with the markets that they know while the venue’s list has none', async () => {
    const { of } = await start({ againMs: 20 })
    await vi.waitFor(() => expect(asked).toEqual(['subscribe BTCUSDT ETHUSDT']))
    venue.list = []
    const calls = venue.calls.length
    await vi.waitFor(() =>
      expect(venue.calls.slice(calls).filter((path) => path === '/list').length).toBeGreaterThan(2),
    )
    venue.list = [listed('BTCUSDT'), listed('ETHUSDT'), listed('SOLUSDT')]
    await vi.waitFor(() => expect(asked.slice(1)).toEqual(['subscribe SOLUSDT']))
    say({ symbol: 'ETHUSDT', last: '10' })
    await vi.waitFor(async () => expect(await of('market.tickers', 'spot_ticker')).toHaveLength(1))
  })

  it('ask for the list sooner when the venue refuses a symbol of it', async () => {
    venue.list = [listed('BTCUSDT'), listed('XUSDT')]
    vi.useFakeTimers({ toFake: ['setTimeout', 'Date'] })
    cleanups.push(() => vi.useRealTimers())
    await start()
    await vi.waitFor(() => expect(asked.length).toBeGreaterThan(0))
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(5_000)
      expect(venue.calls.filter((path) => path === '/list').length).toBe(2)
    })
  })

  it('say that a venue’s prices are down 15 s after its last sign of life, and what prices did meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] })
    cleanups.push(() => vi.useRealTimers())
    venue.answers.set('/spot', [{ kind: 'ticker', time: null, symbol: 'ETHUSDT', last: '10' }])
    const started = await start({ source: pricingVenueOf(), tickMs: 50 })
    const { of, broker } = started
    const stateAfter = (seconds: number) => priceStateAfter(seconds, started)
    const hear = (frame: string) => heard(frame, sockets, started)
    const ticker = (last: string): object => ({ kind: 'ticker', time: null, symbol: 'BTCUSDT', last })
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    await vi.waitFor(() => expect(venue.calls).toContain('/spot'))
    expect(await stateAfter(1)).toBe('live')
    await hear(JSON.stringify(ticker('100')))
    for (let quiet = 0; quiet < 2; quiet++) {
      expect(await stateAfter(13)).toBe('live')
      await hear('alive')
    }
    venue.status = 500
    expect(await stateAfter(14)).toBe('live')
    expect(await stateAfter(2)).toBe('down')
    expect(await stateAfter(29)).toBe('down')

    const minute = Math.floor(Date.now() / 60_000) * 60_000_000
    const candle = { symbol: 'BTCUSDT', open: '100', close: '100', volume: '1', takerBuy: null, trades: 1 }
    venue.answers.set('/candles/BTCUSDT', [{ kind: 'candle', ...candle, minute, low: '90', high: '105' }])
    venue.status = 200
    venue.answers.set('/spot', [ticker('101')])
    await hear(JSON.stringify(ticker('101')))
    for (let quiet = 0; quiet < 6; quiet++) {
      expect(await stateAfter(12)).toBe('live')
      await hear('alive')
    }
    await vi.waitFor(async () => expect(await of('market.tickers', 'price_range')).toHaveLength(1))
    await stateAfter(1)
    const own = broker.records('market.tickers', partitionOf('btc', partitions))
    const log = own.flatMap(({ value }) => (value === null ? [] : [codec.decode(value)]))
    const told = only(new CoreTestDriver(prices, 'market.tickers').batch(...log).take(), 'composite_price')
    expect(told.filter(({ late }) => late)).toMatchObject([{ asset: 'btc', low: 90, high: 105 }])
  })

  it('tell the book once a second whose prices count, for rates of stable coins', async () => {
    const note = vi.spyOn(FactBook.prototype, 'note')
    cleanups.push(() => note.mockRestore())
    const { feeds } = await start()
    await vi.waitFor(() => {
      feeds.beat(Date.now(), ['market.tickers'])
      expect(note.mock.lastCall).toMatchObject([[{ venue: 'okx', state: 'live' }], expect.any(Number)])
    })
    note.mockClear()
    feeds.beat(Date.now(), ['market.funding'])
    expect(note).not.toHaveBeenCalled()
  })

  it('say that a venue’s prices are down where one of its connections has been silent for 15 s', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] })
    cleanups.push(() => vi.useRealTimers())
    const base = pricingVenueOf()
    const streams = base.streams.map((stream) => ({
      ...stream,
      socket: { ...stream.socket, maxSymbolsPerConnection: 1 },
    }))
    const started = await start({ source: { ...base, streams, polls: [] }, tickMs: 50 })
    await vi.waitFor(() => expect(asked).toHaveLength(2))
    expect(await priceStateAfter(10, started)).toBe('live')
    await heard('alive', sockets, started)
    expect(await priceStateAfter(10, started)).toBe('live')
    await heard('alive', sockets.slice(1), started)
    expect(await priceStateAfter(10, started)).toBe('down')
    const asks = (): string[] => venue.calls.filter((path) => path.startsWith('/candles/'))
    for (let quiet = 0; quiet < 10; quiet++) {
      await heard('alive', sockets, started)
      expect(await priceStateAfter(10, started)).toBe('live')
    }
    expect(asks()).toHaveLength(1) // of the one that was silent
  })

  it('look up what prices did while the channel was not there', async () => {
    const base = venueOf()
    const lookup = {
      host: 'rest',
      pageSize: 1_000,
      call: (symbol: string) => ({ path: `/candles/${symbol}`, cost: 1 }),
      parse: (_symbol: string, _seconds: number, body: unknown) => ({ kind: 'rows', rows: body as Fact[] }) as const,
    } as const
    vi.useFakeTimers({ toFake: ['Date'] })
    cleanups.push(() => vi.useRealTimers())
    const { of } = await start({ source: { ...base, candles: lookup } })
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    say({ symbol: 'BTCUSDT', last: '100' })
    await vi.waitFor(async () => expect(await of('market.tickers', 'spot_ticker')).toHaveLength(1))
    const minute = Math.floor(Date.now() / 60_000) * 60_000_000
    const candle = {
      kind: 'candle',
      symbol: 'BTCUSDT',
      open: '100',
      close: '100',
      volume: '1',
      takerBuy: null,
      trades: 1,
    }
    venue.answers.set('/candles/BTCUSDT', [
      { ...candle, minute: minute - 600_000_000, low: '1', high: '9999' },
      { ...candle, minute, low: '90', high: '105' },
    ])
    vi.setSystemTime(Date.now() + 20_000)
    say({ symbol: 'BTCUSDT', last: '101' })
    await vi.waitFor(async () => expect(await of('market.tickers', 'spot_ticker')).toHaveLength(2))
    vi.setSystemTime(Date.now() + 70_000)
    await vi.waitFor(async () => {
      const ranges = await of<PriceRange>('market.tickers', 'price_range')
      expect(ranges).toMatchObject([
        { instrument: 'okx:spot:BTCUSDT', low: 90, high: 105, quote: 'USDT', quote_usd: 1 },
      ])
      expect((ranges[0]?.to ?? 0) - (ranges[0]?.from ?? 0)).toBeGreaterThanOrEqual(20_000_000)
    })
  })

  it.each([
    ['contiguous', ['opened 6', 'filled 6']],
    ['none', ['opened null', 'filled null']],
  ] as const)('repair trades that the log has lost after it had them, where ids are %s', async (ids, told) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    cleanups.push(() => vi.useRealTimers())
    const { feeds, of, broker } = await start({ source: tradingVenueOf(ids) })
    feeds.want(new Set(['btc']))
    await vi.waitFor(() => expect(asked).toEqual(['subscribe BTCUSDT']))
    for (let id = 1; id <= 10; id++) send(id)
    const idsOf = async (): Promise<number[]> => idsIn(await of('market.trades', 'trade'))
    await vi.waitFor(async () => expect(await idsOf()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))
    const partition = partitionOf('btc', partitions)
    const lost = broker
      .records('market.trades', partition)
      .find(({ value }) => (codec.decode(value ?? Buffer.alloc(0)).value as Trade).first_id === 6)
    broker.lose('market.trades', partition, lost?.offset ?? 0)
    expect(await idsOf()).toEqual([1, 2, 3, 4, 5])
    send(11)
    await vi.waitFor(async () => {
      vi.setSystemTime(Date.now() + 1_000)
      expect(await idsOf()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    })
    const gaps = await of<Gap>('market.trades', 'gap')
    expect(gaps.map(({ state, from_id: from }) => `${state} ${from}`)).toEqual(told)
  })

  it('repair what came while they were down, of an instrument whose trades retention has taken', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    cleanups.push(() => vi.useRealTimers())
    const partition = partitionOf('btc', partitions)
    const first = await start({ source: tradingVenueOf() })
    first.feeds.want(new Set(['btc']))
    await vi.waitFor(() => expect(asked).toEqual(['subscribe BTCUSDT']))
    for (const id of [1, 2, 3]) send(id)
    await vi.waitFor(async () => expect(idsIn(await first.of('market.trades', 'trade'))).toEqual([1, 2, 3]))
    first.broker.truncate('market.trades', partition, first.broker.at('market.trades', partition).end)
    await vi.waitFor(async () => {
      vi.setSystemTime(Date.now() + 1_000)
      const positions = (await first.of<Mark>('market.trades', 'mark')).flatMap((mark) => mark.positions)
      expect(positions.at(-1)).toMatchObject({ instrument: 'okx:perp:BTCUSDT', last_id: 3 })
    })
    first.kill()
    for (const id of [4, 5]) send(id)
    sockets = []
    const second = await start({ source: tradingVenueOf(), broker: first.broker })
    second.feeds.want(new Set(['btc']))
    await vi.waitFor(() => expect(asked).toHaveLength(2))
    send(6)
    await vi.waitFor(async () => {
      vi.setSystemTime(Date.now() + 1_000)
      expect(idsIn(await second.of('market.trades', 'trade'))).toEqual([4, 5, 6])
    })
  })

  it.each(['contiguous', 'none'] as const)(
    'repair what came while they were down, though a start in between ended before it had read the log, where ids are %s',
    async (ids) => {
      vi.useFakeTimers({ toFake: ['Date'] })
      cleanups.push(() => vi.useRealTimers())
      const source = tradingVenueOf(ids)
      const first = await start({ source })
      first.feeds.want(new Set(['btc']))
      await vi.waitFor(() => expect(asked).toHaveLength(1))
      for (const id of [1, 2, 3]) send(id)
      await vi.waitFor(async () => expect(idsIn(await first.of('market.trades', 'trade'))).toEqual([1, 2, 3]))
      await vi.waitFor(async () => {
        vi.setSystemTime(Date.now() + 1_000)
        const positions = (await first.of<Mark>('market.trades', 'mark')).flatMap((mark) => mark.positions)
        expect(positions).not.toEqual([])
      })
      first.kill()
      sockets = []
      vi.setSystemTime(Date.now() + 7_000_000)
      for (const id of [4, 5]) send(id)
      vi.setSystemTime(Date.now() + 200_000)
      const second = await start({ source, broker: first.broker, readsBack: false })
      second.feeds.want(new Set(['btc']))
      await vi.waitFor(() => expect(asked).toHaveLength(2))
      send(6)
      await vi.waitFor(async () => expect(idsIn(await second.of('market.trades', 'trade'))).toEqual([1, 2, 3, 6]))
      second.kill()
      sockets = []
      vi.setSystemTime(Date.now() + 1_000)
      const third = await start({ source, broker: first.broker })
      third.feeds.want(new Set(['btc']))
      await vi.waitFor(() => expect(asked).toHaveLength(3))
      send(7)
      await vi.waitFor(async () => {
        vi.setSystemTime(Date.now() + 1_000)
        expect(idsIn(await third.of('market.trades', 'trade'))).toEqual([1, 2, 3, 4, 5, 6, 7])
      })
    },
  )

  it.each(['contiguous', 'none'] as const)(
    'count what came after they were killed, of an instrument without a trade until then, where ids are %s',
    async (ids) => {
      vi.useFakeTimers({ toFake: ['Date'] })
      cleanups.push(() => vi.useRealTimers())
      const source = tradingVenueOf(ids)
      for (const id of [1, 2, 3]) send(id)
      vi.setSystemTime(Date.now() + 60_000)
      const first = await start({ source })
      first.feeds.want(new Set(['btc']))
      await vi.waitFor(() => expect(asked).toEqual(['subscribe BTCUSDT']))
      await vi.waitFor(async () => expect(await statesIn(first)).toContain('acknowledged'))
      first.kill()
      sockets = []
      vi.setSystemTime(Date.now() + 1_000)
      for (const id of [4, 5, 6]) send(id)
      const second = await start({ source, broker: first.broker })
      second.feeds.want(new Set(['btc']))
      await vi.waitFor(async () => {
        vi.setSystemTime(Date.now() + 1_000)
        expect(idsIn(await second.of('market.trades', 'trade'))).toEqual([4, 5, 6])
      })
      expect((await second.of<Gap>('market.trades', 'gap')).at(-1)?.state).toBe('filled')
    },
  )

  it('ask a venue for trades when the log knows of it, and so miss none if they are killed right then', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    cleanups.push(() => vi.useRealTimers())
    const first = await start({ source: tradingVenueOf() })
    const partition = partitionOf('btc', partitions)
    let known: readonly string[] = []
    venueHears = () => {
      const messages = first.broker
        .records('market.trades', partition)
        .map(({ value }) => codec.decode(value as Buffer))
      known = messages.flatMap(({ type, value }) => (type === 'mark' ? value.changes.map(({ state }) => state) : []))
      first.kill()
    }
    first.feeds.want(new Set(['btc']))
    await vi.waitFor(() => expect(known).toEqual(['asked']))
    sockets = []
    for (const id of [4, 5]) send(id)
    const second = await start({ source: tradingVenueOf(), broker: first.broker })
    second.feeds.want(new Set(['btc']))
    await vi.waitFor(async () => {
      vi.setSystemTime(Date.now() + 1_000)
      expect(idsIn(await second.of('market.trades', 'trade'))).toEqual([4, 5])
    })
  })

  it('miss no first trade that the stream did not bring', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    cleanups.push(() => vi.useRealTimers())
    for (const id of [1, 2, 3]) send(id)
    vi.setSystemTime(Date.now() + 60_000)
    const { feeds, of } = await start({ source: tradingVenueOf() })
    feeds.want(new Set(['btc']))
    await vi.waitFor(async () => expect(await statesIn({ of })).toContain('acknowledged'))
    vi.setSystemTime(Date.now() + 1_000)
    const listening = sockets
    sockets = []
    for (const id of [4, 5]) send(id)
    sockets = listening
    send(6)
    await vi.waitFor(async () => {
      vi.setSystemTime(Date.now() + 1_000)
      expect(idsIn(await of('market.trades', 'trade'))).toEqual([4, 5, 6])
    })
  })

  it('repair what came since their start, of an instrument of which the log has lost all', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    cleanups.push(() => vi.useRealTimers())
    const { feeds, of, broker } = await start({ source: tradingVenueOf() })
    feeds.want(new Set(['btc']))
    await vi.waitFor(() => expect(asked).toEqual(['subscribe BTCUSDT']))
    const idsOf = async (): Promise<number[]> => idsIn(await of('market.trades', 'trade'))
    for (const id of [1, 2, 3]) send(id)
    await vi.waitFor(async () => expect(await idsOf()).toEqual([1, 2, 3]))
    broker.lose('market.trades', partitionOf('btc', partitions), 0)
    send(4)
    await vi.waitFor(async () => {
      vi.setSystemTime(Date.now() + 1_000)
      expect(await idsOf()).toEqual([1, 2, 3, 4])
    })
  })
})
