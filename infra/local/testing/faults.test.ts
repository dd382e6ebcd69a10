import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { freeze } from './faults.ts'

it('stops a process with all its threads, and does not end it', async () => {
  const child = spawn(process.execPath, ['-e', 'let n = 0; setInterval(() => process.stdout.write(`${n++}\\n`), 1)'])
  let heard = 0
  child.stdout.on('data', () => (heard += 1))
  await once(child.stdout, 'data')
  await freeze(child.pid ?? 0)
  // What it had written before may still be on its way.
  let before = -1
  const isSilent = (): boolean => heard === before || ((before = heard), false)
  await expect.poll(isSilent, { interval: 100 }).toBe(true)
  process.kill(child.pid ?? 0, 'SIGCONT')
  await expect.poll(() => heard).toBeGreaterThan(before)
  child.kill('SIGKILL')
  await once(child, 'exit')
})
