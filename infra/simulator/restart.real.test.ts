import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LedgerRow } from './ledger/history.ts'
import { startSimulator } from './start.ts'
import { openSocket, type TestSocket } from './testing/client.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'restart-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

async function ledger(url: string): Promise<LedgerRow[]> {
  return (await (await fetch(`${url}/ledger`)).json()) as LedgerRow[]
}

function ids(socket: TestSocket): number[] {
  return socket.json().flatMap(({ a }) => (typeof a === 'number' ? [a] : []))
}

function start(): ReturnType<typeof startSimulator> {
  return startSimulator({ dataDir: folder, port: 0, logFile: join(folder, 'log'), env: { SIMULATOR_RATE: '3000' } })
}

test('what was heard before a kill -9 is known after it, and ids, history and ledger go on', async () => {
  const known = new Map<number, string>()
  for (let round = 0; round < 3; round += 1) {
    const child = await start()
    const heard = openSocket(`${child.url.replace('http', 'ws')}/binance/market/ws/btcusdt@aggTrade`, [])
    await vi.waitFor(() => expect(ids(heard).length).toBeGreaterThan(200), 15_000)
    process.kill(child.pid, 'SIGKILL')
    await child.exited
    for (const frame of heard.json()) known.set(Number(frame['a']), `${String(frame['q'])} ${String(frame['m'])}`)
  }
  const last = await start()
  await fetch(`${last.url}/pause`, { method: 'POST' })
  const [row] = await ledger(last.url)
  const first = Math.min(...known.keys())
  expect(row?.first_id).toBe(first)
  expect(row?.last_id).toBeGreaterThanOrEqual(Math.max(...known.keys()))
  expect(row?.trades).toBe((row?.last_id ?? 0) - first + 1)
  const all: { a: number; q: string; m: boolean }[] = []
  for (let from = first; from <= (row?.last_id ?? 0); from += 1000) {
    const answer = await fetch(`${last.url}/binance/fapi/v1/aggTrades?symbol=BTCUSDT&limit=1000&fromId=${from}`)
    all.push(...((await answer.json()) as typeof all))
  }
  expect(all.length).toBe(row?.trades)
  const kept = new Map(all.map(({ a, q, m }) => [a, `${q} ${m}`]))
  for (const [id, text] of known) expect(kept.get(id)).toBe(text)
  const volume = (buy: boolean): number =>
    all.filter(({ m }) => m !== buy).reduce((sum, { q }) => sum + Math.round(Number(q) * 1000), 0)
  expect([Number(row?.buy_volume), Number(row?.sell_volume)]).toEqual([volume(true) / 1000, volume(false) / 1000])
  await last.stop()
})
