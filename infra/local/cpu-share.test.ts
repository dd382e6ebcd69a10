import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { lowerCpuShare } from './cpu-share.ts'

/** Not every kernel shares by sessions. */
const shareOf = (pid: number | 'self'): string | undefined => {
  const file = `/proc/${pid}/autogroup`
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .replace(/^.*nice/, 'nice')
        .trim()
    : undefined
}

it('lowers the share of a session, and of no other', async () => {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
  await once(child, 'spawn')
  const { pid = 0 } = child
  const warnings: string[] = []
  try {
    const own = shareOf('self')
    lowerCpuShare(pid, (line) => warnings.push(line))
    expect(warnings).toEqual([])
    expect(shareOf(pid)).toBe(own === undefined ? undefined : 'nice 5')
    expect(shareOf('self')).toBe(own)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
})

it('is silent about a process that has gone', () => {
  const warnings: string[] = []
  lowerCpuShare(2 ** 22 + 1, (line) => warnings.push(line))
  expect(warnings).toEqual([])
})
