import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { Asker } from './asker.ts'

describe('who asks all the time', () => {
  it('knows for how long nobody answered, to the end', async () => {
    let status = 200
    const answered: number[] = []
    const server = createServer((_request, response) => {
      answered.push(status)
      response.writeHead(status).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const asker = new Asker(() => url)
    await expect.poll(() => answered.length).toBeGreaterThan(1)
    status = 503
    await expect.poll(() => answered.filter((each) => each === 503).length).toBeGreaterThan(3)
    expect(await asker.stop()).toBeGreaterThan(400) // two waits lie between three refusals
    server.close()
  })
})
