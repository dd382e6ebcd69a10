import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, vi } from 'vitest'
import { RestClient } from '../transport/rest-client.ts'
import { hostTime } from './process-clock.ts'

it('REST goes on at once when a clock that was two hours ahead is corrected', async () => {
  const server = createServer((_request, response) => response.end('[]'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = new RestClient(base, { capacity: 1, refillPerSecond: 20 }, true)
  const get = () => client.get({ path: '/', cost: 1 }, () => ({ kind: 'rows', rows: [] }))
  const stamps = vi.spyOn(hostTime, 'now').mockImplementation(() => Date.now() + 7_200_000)
  try {
    expect((await get()).kind).toBe('rows')
    stamps.mockRestore()
    const answer = await Promise.race([get(), new Promise((resolve) => setTimeout(resolve, 2_000, 'stalled'))])
    expect(answer).toMatchObject({ kind: 'rows' })
  } finally {
    stamps.mockRestore()
    client.close()
    server.close()
    server.closeAllConnections()
  }
})
