import { createServer } from 'node:http'
import { Counter, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { closeServer, listen, startOps } from './ops.ts'
import { ask, asPages, guarded } from './testing/pages.ts'

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

  it('is well and not ready while there is what must come first', async () => {
    let ready = false
    const ops = await startOps(new Registry(), () => ({ ok: true, ready }), anywhere)
    const statuses = () =>
      Promise.all(['/healthz', '/readyz'].map(async (path) => (await fetch(ops.url + path)).status))
    expect(await statuses()).toEqual([200, 503])
    ready = true
    expect(await statuses()).toEqual([200, 200])
    await ops.close()
  })

  it('answers no web page of another site, whatever its name points to', async () => {
    const ops = await startOps(new Registry(), () => ({ ok: true }), anywhere)
    expect(await asPages(`${ops.url}/metrics`)).toEqual(guarded)
    await ops.close()
  })

  it('goes by any name where it is reached from elsewhere', async () => {
    const ops = await startOps(new Registry(), () => ({ ok: true }), { host: '0.0.0.0', port: 0 })
    const url = `http://127.0.0.1:${new URL(ops.url).port}/healthz`
    expect((await ask(url, { host: 'feeds:9100' })).status).toBe(200)
    await ops.close()
  })

  it('names a port that is taken', async () => {
    const first = createServer()
    const port = await listen(first, '127.0.0.1', 0)
    await expect(listen(createServer(), '127.0.0.1', port)).rejects.toThrow(`port ${port} on 127.0.0.1 is in use`)
    await closeServer(first)
  })
})
