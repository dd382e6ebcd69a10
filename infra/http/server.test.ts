import type { RequestListener, Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { closeServer, listen } from './ops.ts'
import { clientServer } from './server.ts'

const LONG_MS = 60_000
const long = { headersMs: LONG_MS, requestMs: LONG_MS, silentMs: LONG_MS, answerMs: LONG_MS }
/** More than the buffers of a connection hold. */
const large = Buffer.alloc(32 * 1024 * 1024)
const whole = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'

let server: Server
let client: Socket
afterEach(() => {
  client.destroy()
  return closeServer(server)
})

async function send(text: string): Promise<void> {
  const port = await listen(server, '127.0.0.1', 0)
  client = connect(port, '127.0.0.1', () => client.write(text)).on('error', () => undefined)
}

function connections(): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, many) => resolve(many)))
}

/** The status that is answered. */
function status(): Promise<string> {
  return new Promise((resolve) => client.once('data', (chunk) => resolve(chunk.toString('utf8', 9, 12))))
}

const answer: RequestListener = (request, response) => {
  request.resume().on('end', () => response.end('ok'))
}

describe('a server for clients', () => {
  it.each([
    ['head', { headersMs: 50 }, whole.slice(0, 20)],
    ['body', { headersMs: 50, requestMs: 50 }, whole.slice(0, -1)],
  ])('refuses a request whose %s does not come in its time', async (_, deadlines, text) => {
    server = clientServer(answer, { ...long, ...deadlines })
    await send(text)
    expect(await status()).toBe('408')
  })

  it('cuts who stops sending a request that may take as long as it likes', async () => {
    server = clientServer(answer, { ...long, requestMs: 0, silentMs: 50 })
    await send(whole.slice(0, -1))
    await expect.poll(connections).toBe(1)
    await expect.poll(connections).toBe(0)
  })

  it('cuts nobody whose request is not read here meanwhile', async () => {
    const late: RequestListener = (request, response) =>
      void request.socket.once('timeout', () => answer(request, response))
    server = clientServer(late, { ...long, requestMs: 0, silentMs: 500 })
    const body = 'x'.repeat(1024 * 1024) // more than is taken of a request before it is read
    await send(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    expect(await status()).toBe('200')
  })

  it('cuts who does not read its answer', async () => {
    server = clientServer((_, response) => void response.end(large), { ...long, silentMs: 50 })
    await send(whole)
    await expect.poll(connections).toBe(1)
    await expect.poll(connections).toBe(0)
  })

  it('cuts who takes a little of its answer again and again', async () => {
    server = clientServer((_, response) => void response.end(large), { ...long, answerMs: 100 })
    await send(whole)
    client.on('data', () => {
      client.pause()
      setTimeout(() => client.resume(), 2)
    })
    await expect.poll(connections).toBe(1)
    await expect.poll(connections).toBe(0)
    expect(client.bytesRead).toBeLessThan(large.length)
  })

  it('cuts no stream, which has not ended', async () => {
    const stream: RequestListener = ({ socket }, response) => {
      response.write('first')
      socket.once('timeout', () => response.end('last'))
    }
    server = clientServer(stream, { ...long, silentMs: 50, answerMs: 1 })
    await send(whole)
    let taken = ''
    client.on('data', (chunk) => (taken += chunk.toString()))
    await expect.poll(() => taken).toMatch(/first[^]*last/)
  })

  it('cuts nobody who waits for an answer, however long it is in the making', async () => {
    const late: RequestListener = ({ socket }, response) => void socket.once('timeout', () => response.end('late'))
    server = clientServer(late, { ...long, silentMs: 50 })
    await send(whole)
    expect(await status()).toBe('200')
  })
})
