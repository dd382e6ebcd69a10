import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { connectClickhouse } from '../../infra/clickhouse/client.ts'
import { StopError } from '../command/command.ts'
import { disturb } from './disturb.ts'

it('leaves no part frozen where it is stopped', { timeout: 60_000 }, async ({ skip }) => {
  skip(process.platform !== 'linux', 'whether a process is frozen stands in /proc')
  const part = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1_000)'])
  const supervisor = createServer((_, response) => response.end(JSON.stringify([{ name: 'webhooks', pid: part.pid }])))
  await Promise.all([once(part, 'spawn'), once(supervisor.listen(0, '127.0.0.1'), 'listening')])
  const url = `http://127.0.0.1:${(supervisor.address() as AddressInfo).port}`
  const clickhouse = connectClickhouse({ url, user: '', password: '', deadlineMs: 1_000 })
  onTestFinished(() => {
    part.kill('SIGKILL')
    supervisor.close()
    return clickhouse.close()
  })
  const run = () => ({ mode: 'demo', data: '/nowhere', partitions: 1, parts: [{ name: 'supervisor', url }] }) as const
  const stop = new AbortController()
  const target = { run, patienceMs: 60_000, clickhouse, stop: stop.signal }
  const disturbing = disturb(target, { kind: 'freeze', part: 'webhooks', ms: 600_000 })
  const stateOf = (): string => /\) (\w)/.exec(readFileSync(`/proc/${part.pid}/stat`, 'utf8'))?.[1] ?? ''
  await vi.waitUntil(() => stateOf() === 'T', { timeout: 50_000 })
  stop.abort()
  await expect(disturbing).rejects.toBeInstanceOf(StopError)
  await vi.waitUntil(() => stateOf() !== 'T', { timeout: 50_000 })
})
