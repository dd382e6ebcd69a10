import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WebSocketServer, type WebSocket } from 'ws'
import type { End } from './connection.ts'
import { SocketPool, type PoolTiming } from './pool.ts'
import { ticks } from '../runtime/process-clock.ts'
import type { FrameEvent } from '../venues/events.ts'
import type { SocketRules, TradeStream } from '../venues/venue.ts'
import { trades as okx } from '../venues/okx/trades.ts'

const tickMs = 5

const timing: PoolTiming = {
  handshakeMs: 30_000,
  ackWithinMs: 30_000,
  backoff: { firstMs: 5, maxMs: 20 },
  quietTakeoverMs: 100,
  unavailableMs: 60_000,
  refusedAgainMs: 60_000,
}

/** A venue of our own whose frames are `<kind> <symbol> <id>`. */
function venueWith(rules: Partial<SocketRules> = {}): TradeStream {
  return {
    ...okx,
    socket: {
      path: '/ws',
      copies: 1,
      silentAfterMs: 60_000,
      maxSymbolsPerConnection: 2,
      minFrameSpacingMs: 0,
      minConnectSpacingMs: 0,
      ...rules,
    },
    request: (op, symbols, id) => [JSON.stringify({ op, id, symbols })],
    parse: (frame): FrameEvent[] => {
      const [kind = '', symbol = '', id = '0'] = frame.split(' ')
      switch (kind) {
        case 'trade':
          return [
            {
              kind,
              trade: { symbol, id: Number(id), count: 1, sequence: null, price: '1', size: '1', taker: 'buy', time: 0 },
            },
          ]
        case 'subscribed':
        case 'unsubscribed':
          return [{ kind, symbols: symbol.split('+'), id: null }]
        case 'rejected':
          return [{ kind, symbols: symbol.split('+'), id: null, message: 'no' }]
        case 'closing':
          return [{ kind, message: 'soon' }]
        default:
          return [{ kind: 'refused', reason: 'not-json' }]
      }
    },
  }
}

interface Asked {
  readonly op: string
  readonly symbols: string[]
}

/** A venue's server: acknowledges by default; `sockets` are all that were ever opened. */
async function startServer(onAsked: (socket: WebSocket, asked: Asked, number: number) => void = acknowledge) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const sockets: WebSocket[] = []
  const asked: Asked[] = []
  server.on('connection', (socket) => {
    const number = sockets.push(socket)
    socket.on('message', (data: Buffer) => {
      const text = data.toString()
      if (!text.startsWith('{')) return void socket.emit('told', text)
      const request = JSON.parse(text) as Asked
      asked.push(request)
      onAsked(socket, request, number)
    })
  })
  cleanups.push(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, server, sockets, asked }
}

function acknowledge(socket: WebSocket, { op, symbols }: Asked): void {
  socket.send(`${op}d ${symbols.join('+')}`)
}

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

function startPool(venue: TradeStream, url: string, over: Partial<PoolTiming> = {}) {
  const seen = {
    frames: [] as string[],
    trades: [] as number[],
    acknowledged: [] as string[],
    refused: [] as string[],
    uncarried: [] as (readonly string[])[],
  }
  const ends: End[] = []
  const pool = new SocketPool(
    venue,
    url,
    {
      frame: (text, events) => {
        seen.frames.push(text)
        for (const event of events) if (event.kind === 'trade') seen.trades.push(event.trade.id)
      },
      acknowledged: (symbols) => seen.acknowledged.push(...symbols),
      refused: (symbols) => seen.refused.push(...symbols),
      lost: (_symbols, end, uncarried) => {
        ends.push(end)
        seen.uncarried.push(uncarried)
      },
    },
    { ...timing, ...over },
  )
  const timer = setInterval(() => pool.tick(ticks()), tickMs)
  cleanups.push(() => {
    clearInterval(timer)
    pool.close()
  })
  return { pool, seen, ends }
}

describe('a venue’s connections', () => {
  it('spread the symbols, are acknowledged, and bring trades', async () => {
    const server = await startServer()
    const { pool, seen } = startPool(venueWith(), server.url)
    pool.want(new Set(['A', 'B', 'C']))
    await vi.waitFor(() => expect(seen.acknowledged.toSorted()).toEqual(['A', 'B', 'C']))
    expect(server.sockets).toHaveLength(2)
    server.sockets[0]?.send('trade A 1')
    await vi.waitFor(() => expect(seen.trades).toEqual([1]))
    await vi.waitFor(() => expect(pool.state).toEqual({ state: 'live', sockets: 2 }))
  })

  it('are as many copies as the venue asks for', async () => {
    const server = await startServer()
    const { pool } = startPool(venueWith({ copies: 2 }), server.url)
    pool.want(new Set(['A']))
    await vi.waitFor(() => expect(pool.state).toEqual({ state: 'live', sockets: 2 }))
    server.sockets[0]?.terminate()
    await vi.waitFor(() => expect(server.sockets).toHaveLength(3))
    expect(server.asked.every(({ symbols }) => symbols.join('') === 'A')).toBe(true)
  })

  it('take on and give up symbols while they are open', async () => {
    const server = await startServer()
    const { pool, seen } = startPool(venueWith(), server.url)
    pool.want(new Set(['A']))
    await vi.waitFor(() => expect(seen.acknowledged).toEqual(['A']))
    pool.want(new Set(['A', 'B']))
    await vi.waitFor(() => expect(seen.acknowledged).toEqual(['A', 'B']))
    expect(server.sockets).toHaveLength(1)
    pool.want(new Set(['B']))
    await vi.waitFor(() =>
      expect(server.asked).toContainEqual(expect.objectContaining({ op: 'unsubscribe', symbols: ['A'] })),
    )
  })

  it('go on after frames that nobody can read', async () => {
    const server = await startServer()
    const { pool, seen, ends } = startPool(venueWith(), server.url)
    pool.want(new Set(['A']))
    await vi.waitFor(() => expect(seen.acknowledged).toEqual(['A']))
    for (const frame of ['{"half', '', '\u0000', 'trade A 5']) server.sockets[0]?.send(frame)
    await vi.waitFor(() => expect(seen.trades).toEqual([5]))
    expect(ends).toEqual([])
  })

  it('are opened again after a sudden end', async () => {
    const server = await startServer()
    const { pool, seen, ends } = startPool(venueWith(), server.url)
    pool.want(new Set(['A']))
    await vi.waitFor(() => expect(seen.acknowledged).toHaveLength(1))
    server.sockets[0]?.terminate()
    await vi.waitFor(() => expect(seen.acknowledged).toHaveLength(2))
    expect(ends).toMatchObject([{ kind: 'closed' }])
    await vi.waitFor(() => expect(pool.state.state).toBe('live'))
  })

  it('are given up and opened again when the venue goes silent', async () => {
    const server = await startServer()
    const { pool, ends } = startPool(venueWith({ silentAfterMs: 60 }), server.url)
    pool.want(new Set(['A']))
    await vi.waitFor(() => expect(ends).toContainEqual({ kind: 'silent' }))
    await vi.waitFor(() => expect(server.sockets.length).toBeGreaterThan(1))
  })

  it('are given up when a subscription is not acknowledged', async () => {
    const server = await startServer(() => undefined)
    const { pool, ends } = startPool(venueWith(), server.url, { ackWithinMs: 150 })
    pool.want(new Set(['A']))
    await vi.waitFor(() => expect(ends).toContainEqual({ kind: 'unacknowledged' }))
    expect(pool.state.state).toBe('connecting')
  })

  it('do without a symbol that the venue refuses', async () => {
    const server = await startServer((socket, { symbols }) => {
      for (const symbol of symbols) socket.send(`${symbol === 'B' ? 'rejected' : 'subscribed'} ${symbol}`)
    })
    const { pool, seen, ends } = startPool(venueWith(), server.url)
    pool.want(new Set(['A', 'B']))
    await vi.waitFor(() => expect(seen.refused).toEqual(['B']))
    await vi.waitFor(() => expect(pool.state.state).toBe('live'))
    expect(ends).toEqual([])
  })

  it('say which symbols nobody carries any more: those that no other copy has', async () => {
    const server = await startServer((socket, asked, number) => {
      if (number <= 2) acknowledge(socket, asked)
    })
    const { pool, seen } = startPool(venueWith({ copies: 2 }), server.url)
    pool.want(new Set(['A', 'B']))
    await vi.waitFor(() => expect(seen.acknowledged).toHaveLength(4))
    server.sockets[0]?.terminate()
    await vi.waitFor(() => expect(seen.uncarried).toEqual([[]]))
    server.sockets[1]?.terminate()
    await vi.waitFor(() => expect(seen.uncarried).toEqual([[], ['A', 'B']]))
  })

  it('send their ping, no more than the venue’s spacing allows', async () => {
    const server = await startServer()
    const told: string[] = []
    server.server.on('connection', (socket) => socket.on('told', (text: string) => told.push(text)))
    const ping = { everyMs: 30, frame: 'ping', onlyWhenQuiet: false }
    const { pool } = startPool(venueWith({ ping }), server.url)
    pool.want(new Set(['A']))
    await vi.waitFor(() => expect(told.slice(0, 2)).toEqual(['ping', 'ping']))
  })

  it('are replaced before their end without losing a trade', async () => {
    let next = 0
    const server = await startServer()
    // Every open socket gets every trade, as a venue does it; only those that subscribed listen.
    const feed = setInterval(() => {
      const frame = `trade A ${next++}`
      for (const socket of server.server.clients) socket.send(frame)
    }, 1)
    cleanups.push(() => clearInterval(feed))
    const { pool, seen } = startPool(venueWith({ lifetimeMs: 120 }), server.url)
    pool.want(new Set(['A']))
    await vi.waitFor(() => expect(server.sockets.length).toBeGreaterThan(4), 5_000)
    clearInterval(feed)
    const got = new Set(seen.trades)
    const last = Math.max(...got)
    const first = Math.min(...got)
    const missing = Array.from({ length: last - first }, (_, index) => first + index).filter((id) => !got.has(id))
    expect(missing).toEqual([])
    expect(server.server.clients.size).toBeLessThanOrEqual(2)
  })

  it('are replaced at once when the venue says that it will close', async () => {
    const server = await startServer((socket, asked, number) => {
      acknowledge(socket, asked)
      if (number === 1) socket.send('closing')
      else socket.send('trade A 1')
    })
    const { pool, ends } = startPool(venueWith(), server.url)
    pool.want(new Set(['A']))
    await vi.waitFor(() => expect(server.sockets).toHaveLength(2))
    await vi.waitFor(() => expect(server.server.clients.size).toBe(1))
    expect(ends).toEqual([])
    expect(pool.state.state).toBe('live')
  })

  it.each([
    [403, 'unavailable'],
    [451, 'unavailable'],
    [429, 'connecting'],
  ])('are not tried again soon after HTTP %i: %s', async (status, state) => {
    let attempts = 0
    const http = createServer()
    http.on('upgrade', (_request, socket) => {
      attempts++
      socket.end(`HTTP/1.1 ${status} No\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n`)
    })
    http.listen(0, '127.0.0.1')
    await once(http, 'listening')
    cleanups.push(() => http.close())
    const { pool, ends } = startPool(venueWith(), `ws://127.0.0.1:${(http.address() as AddressInfo).port}`)
    pool.want(new Set(['A']))
    await vi.waitFor(() => expect(ends).toMatchObject([{ kind: 'refused', status, retryAfterMs: 60_000 }]))
    await vi.waitFor(() => expect(pool.state).toEqual({ state, sockets: 0 }))
    const before = attempts
    let looks = 0
    await vi.waitFor(() => expect(++looks).toBeGreaterThan(10), { interval: tickMs * 4 })
    expect(attempts).toBe(before)
  })

  it('are not read while they are paused', async () => {
    const server = await startServer()
    const { pool, seen } = startPool(venueWith(), server.url)
    pool.want(new Set(['A']))
    await vi.waitFor(() => expect(seen.acknowledged).toEqual(['A']))
    pool.pause()
    server.sockets[0]?.send('trade A 1')
    let looks = 0
    await vi.waitFor(() => expect(++looks).toBeGreaterThan(5))
    expect(seen.trades).toEqual([])
    pool.resume()
    await vi.waitFor(() => expect(seen.trades).toEqual([1]))
  })

  it('are not given up for an acknowledgement that came while they were paused', async () => {
    const asked: WebSocket[] = []
    const server = await startServer((socket) => asked.push(socket))
    const { pool, seen, ends } = startPool(venueWith(), server.url, { ackWithinMs: 1_000 })
    pool.want(new Set(['A']))
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    pool.pause()
    asked[0]?.send('subscribed A')
    const since = performance.now()
    await vi.waitFor(() => expect(performance.now() - since).toBeGreaterThan(1_100))
    pool.resume()
    await vi.waitFor(() => expect(seen.acknowledged).toEqual(['A']))
    expect(ends).toEqual([])
  })
})
