import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { flow, listAsset, NOW, startHarness, streamAsset, type Harness } from '../testing/harness.ts'

let api: Harness
beforeEach(async () => {
  api = await startHarness({ mayLook: true })
  const { fetch } = globalThis
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => fetch(api.url + path.replace(/^\/api/, ''), init))
})
afterEach(async () => {
  vi.unstubAllGlobals()
  await api.stop()
})

/** The page's own module; its types are a browser's. */
async function ask(path: string, sent?: object): Promise<{ status: number }> {
  const file = new URL('web/ask.ts', import.meta.url).href
  const { ask } = (await import(file)) as { ask: (path: string, sent?: object) => Promise<{ status: number }> }
  return ask(path, sent)
}

it('a page keeps a symbol wanted by what its reader asks for, not by what it shows by itself', async () => {
  const since = NOW - 3_600_000_000
  listAsset(api.database, 'wif')
  streamAsset(api.database, 'wif', since)
  api.database.flows.push(flow({ asset: 'wif', bucket: since }))
  expect((await ask('/api/cvd/WIF', { onlyLooks: true })).status).toBe(200)
  expect(api.wanted).toEqual([])
  expect((await ask('/api/cvd/WIF')).status).toBe(200)
  await expect.poll(() => api.wanted).toEqual(['wif'])
})
