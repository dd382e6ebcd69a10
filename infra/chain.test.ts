import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { connectNode } from './chain.ts'

const LONG_MS = 60_000
const SHORT_MS = 100
let server: Server | undefined

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function answering(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The last of them answers every further call. */
function inTurn(...listeners: readonly [RequestListener, ...RequestListener[]]): {
  listener: RequestListener
  calls: () => number
} {
  let calls = 0
  const listener: RequestListener = (request, response) => {
    const next = listeners[Math.min(calls++, listeners.length - 1)]
    request.resume().on('end', () => next?.(request, response))
  }
  return { listener, calls: () => calls }
}

const tells: RequestListener = (_, response) => {
  response.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0","id":1,"result":"0x7"}')
}
const drops: RequestListener = ({ socket }) => void socket.destroy()
const isBusy: RequestListener = (_, response) => void response.writeHead(503).end('busy')
const asksForAnHour: RequestListener = (_, response) => void response.writeHead(429, { 'retry-after': '3600' }).end()
const refuses: RequestListener = (_, response) => void response.writeHead(401).end('no key')
const stallsInBody: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"jsonrpc":"2.0",')
}

describe('a node of the chain', () => {
  it.each([
    ['says nothing', () => undefined],
    ['stalls in its body', stallsInBody],
  ])('that %s is waited for until the deadline of the call', async (_, listener) => {
    const { listener: counted, calls } = inTurn(listener)
    const client = connectNode(await answering(counted), SHORT_MS)
    await expect(client.getBlockNumber()).rejects.toThrow(/HTTP request failed/)
    expect(calls()).toBeLessThanOrEqual(1) // it may be over before the call has come
  })

  it.each([
    ['asks to come again in an hour', asksForAnHour, 2],
    ['is busy', isBusy, 2],
    ['drops its connections', drops, 2],
    ['refuses', refuses, 1],
  ])('that %s is asked no more than once again', async (_, listener, times) => {
    const { listener: counted, calls } = inTurn(listener)
    const client = connectNode(await answering(counted), LONG_MS)
    await expect(client.getBlockNumber()).rejects.toThrow(/HTTP request failed/)
    expect(calls()).toBe(times)
  })

  it.each([
    ['is busy', isBusy],
    ['drops a connection', drops],
  ])('that %s once is asked once more', async (_, listener) => {
    const client = connectNode(await answering(inTurn(listener, tells).listener), LONG_MS)
    expect(await client.getBlockNumber()).toBe(7n)
  })
})
