import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { connectClickhouse, LateError, type Clickhouse } from './client.ts'

let answer: RequestListener
let closed: number
const server = createServer((request, response) => {
  response.once('close', () => closed++)
  answer(request, response)
})
let clickhouse: Clickhouse

beforeEach(() => {
  closed = 0
  answer = () => undefined
})
beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const access = { url: `http://127.0.0.1:${port}`, user: 'default', password: '' }
  clickhouse = connectClickhouse({ ...access, deadlineMs: 50 })
})
afterAll(async () => {
  await clickhouse.close()
  server.closeAllConnections()
  server.close()
})

describe('a ClickHouse that does not answer', () => {
  it.each([
    ['a query', () => clickhouse.rows('SELECT\n  1'), 'SELECT 1'],
    ['a statement', () => clickhouse.run(`DROP TABLE ${'t'.repeat(200)}`), `DROP TABLE ${'t'.repeat(109)} ...`],
    ['an insert', () => clickhouse.insert('trades', [{ id: 1 }]), 'INSERT INTO trades'],
  ])('is said with what was asked and for how long: %s', async (_what, ask, told) => {
    await expect(ask()).rejects.toThrow(`ClickHouse did not answer in 50 ms: ${told}`)
  })

  it.each<[string, string, () => Promise<unknown>]>([
    ['rows', '{"n":1}\n', () => clickhouse.rows('SELECT 1')],
    ['a document', ' ', () => clickhouse.document('SELECT 1')],
  ])('is said so, and left, where it does not end its answer: %s', async (_what, part, ask) => {
    answer = (_, response) => {
      response.write(part)
      const trickle = setInterval(() => response.write(part), 10)
      response.once('close', () => clearInterval(trickle))
    }
    await expect(ask()).rejects.toThrow(new LateError('ClickHouse did not answer in 50 ms: SELECT 1'))
    await expect.poll(() => closed).toBe(1)
  })

  it('is not up', async () => {
    expect(await clickhouse.ping()).toBe(false)
  })
})
