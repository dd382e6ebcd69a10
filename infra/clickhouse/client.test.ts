import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectClickhouse, type Clickhouse } from './client.ts'

/** Takes requests and answers none. */
const server = createServer(() => undefined)
let clickhouse: Clickhouse

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

  it('is not up', async () => {
    expect(await clickhouse.ping()).toBe(false)
  })
})
