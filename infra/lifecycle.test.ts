import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'

const lifecycle = new URL('lifecycle.ts', import.meta.url).href

/** A service in a process of its own whose stop is that expression; what it says and how it exits once it is told to end. */
async function stopped(stop: string): Promise<{ code: unknown; lines: string }> {
  const script = `
    import { runService, sayReady } from '${lifecycle}'
    const start = async () => (setInterval(() => undefined, 1000), () => ${stop})
    await runService({ name: 'one', description: '', settings: [], start }, 50)
    sayReady('up')`
  const command = ['--input-type=module', '-e', script]
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  let lines = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (lines += String(chunk)))
  await once(child, 'message')
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  const [code] = (await closed) as unknown[]
  return { code, lines }
}

it('exits 0 after a clean stop, and says nothing more', async () => {
  const { code, lines } = await stopped('Promise.resolve()')
  expect([code, lines.includes('was cut')]).toEqual([0, false])
})

it('says so, and exits 1, where its stop is cut', async () => {
  const { code, lines } = await stopped('new Promise(() => undefined)')
  expect(code).toBe(1)
  expect(lines).toContain('the stop was cut after 50 ms')
})
