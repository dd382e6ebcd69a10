import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { ask } from './ask.ts'

const limits = { withinMs: 2_000, bytesMax: 100 }
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

describe('a question over HTTP', () => {
  it('gives the status and the whole text, whatever the status', async () => {
    const url = await answering((_, response) => {
      response.statusCode = 404
      response.write('not ')
      response.end('here, señor')
    })
    expect(await ask(url, limits)).toEqual({ status: 404, text: 'not here, señor' })
  })

  it('carries method, headers and body', async () => {
    const url = await answering((request, response) => {
      const { method, headers } = request
      response.write(`${method} ${request.url} ${headers['content-type']} `)
      request.pipe(response)
    })
    const question = { ...limits, method: 'PUT', headers: { 'content-type': 'text/x' }, body: 'é' } as const
    expect((await ask(`${url}/a?b=1`, question)).text).toBe('PUT /a?b=1 text/x é')
  })

  it('rejects an answer of more bytes than are read', async () => {
    const url = await answering((_, response) => response.end('x'.repeat(101)))
    await expect(ask(url, limits)).rejects.toThrow(/more than 100 bytes/)
    expect((await ask(url, { ...limits, bytesMax: 101 })).text).toHaveLength(101)
  })

  it.each<[string, RequestListener]>([
    ['says nothing', () => undefined],
    ['stops half way', (_, response) => void response.write('half')],
  ])('rejects a server that %s until the deadline', async (_, listener) => {
    await expect(ask(await answering(listener), { ...limits, withinMs: 50 })).rejects.toThrow(/abort/i)
  })

  it('rejects where nobody listens', async () => {
    const url = await answering(() => undefined)
    server?.close()
    await expect(ask(url, limits)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })
})
