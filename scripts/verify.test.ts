import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { writeRunFile } from '../infra/local/run-file.ts'
import { programFile } from '../infra/local/system.ts'

it('refuses a source that there is not, before it looks for a system', () => {
  const { status, stderr } = spawnSync(process.execPath, [programFile('scripts/verify.ts'), '--source', 'candels'], {
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 2, stderr: '--source must be ledger or candles, got candels\n' })
})

it('lets the market go on where it is stopped while the market is paused', { timeout: 60_000 }, async () => {
  const asked: string[] = []
  const simulator = createServer(({ method, url }, response) => {
    asked.push(`${method} ${url}`)
    if (method === 'POST') response.end('{"was_paused":false}') // what is asked then is not answered
  })
  await once(simulator.listen(0, '127.0.0.1'), 'listening')
  const data = mkdtempSync(path.join(tmpdir(), 'verify-'))
  onTestFinished(() => {
    simulator.close()
    rmSync(data, { recursive: true })
  })
  const url = `http://127.0.0.1:${(simulator.address() as AddressInfo).port}`
  writeRunFile(data, { mode: 'demo', data, partitions: 1, parts: [{ name: 'simulator', url }] })
  const verify = spawn(process.execPath, [programFile('scripts/verify.ts'), '--data', data, '--pause'])
  await vi.waitUntil(() => asked.includes('GET /tape'), { timeout: 50_000 })
  verify.kill('SIGINT')
  expect(await once(verify, 'exit')).toEqual([130, null])
  expect(asked).toEqual(['POST /pause', 'GET /tape', 'POST /resume'])
})

it('refuses to pause a market of candles, which it cannot', () => {
  const data = mkdtempSync(path.join(tmpdir(), 'verify-'))
  onTestFinished(() => rmSync(data, { recursive: true }))
  writeRunFile(data, { mode: 'live', data, partitions: 1, parts: [] })
  const args = [programFile('scripts/verify.ts'), '--data', data, '--pause']
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: '--pause goes with the ledger: by candles nothing can be paused\n',
  })
})
