import { createServer } from 'node:http'
import { Counter, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { closeServer, listen, startOps } from './ops.ts'

const anywhere = { host: '127.0.0.1', port: 0 }

describe('the ops server', () => {
  it('serves metrics and health, 503 when not well', async () => {
    const metrics = new Registry()
    new Counter({ name: 'things_total', help: 'Things', registers: [metrics] }).inc(2)
    let ok = true
    const ops = await startOps(metrics, () => ({ ok, lag: 3 }), anywhere)
    expect(await (await fetch(`${ops.url}/metrics`)).text()).toContain('things_total 2')
    const well = await fetch(`${ops.url}/healthz`)
    expect([well.status, await well.json()]).toEqual([200, { ok: true, lag: 3 }])
    ok = false
    expect((await fetch(`${ops.url}/readyz`)).status).toBe(503)
    expect((await fetch(`${ops.url}/other`)).status).toBe(404)
    await ops.close()
  })

  it('names a port that is taken', async () => {
    const first = createServer()
    const port = await listen(first, '127.0.0.1', 0)
    await expect(listen(createServer(), '127.0.0.1', port)).rejects.toThrow(`port ${port} on 127.0.0.1 is in use`)
    await closeServer(first)
  })
})
