import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { mainOf, partsOf, roleNames } from './role.ts'

describe.each(roleNames)('the image of %s', (role) => {
  it('holds no test, no simulator and no part of one machine', () => {
    const { files } = partsOf(role)
    expect(files.filter((file) => /\.test\.|\/testing\/|\/test-|infra\/(?:local|simulator)\//.test(file))).toEqual([])
  })

  it('holds what writes readable lines, for LOG_FORMAT=pretty', () => {
    expect(partsOf(role).packages.map(({ name }) => name)).toContain('pino-pretty')
  })
})

it('each holds only packages of its own', () => {
  const names = (role: (typeof roleNames)[number]): string[] => partsOf(role).packages.map(({ name }) => name)
  expect(names('processors').filter((name) => ['viem', 'koa', 'chdb', 'nodemailer', 'ws'].includes(name))).toEqual([])
  expect(roleNames.filter((role) => names(role).includes('typescript'))).toEqual([])
  expect(names('feeds')).toContain('ws')
  expect(names('webhooks')).toContain('nodemailer')
})

it('a program that handles no signal ends at one, which would do nothing to a container’s first process', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'role-'))
  writeFileSync(path.join(folder, 'main.ts'), mainOf('program.ts'))
  writeFileSync(path.join(folder, 'program.ts'), `setInterval(() => console.log('up'), 10)`)
  const child = spawn(process.execPath, ['main.ts'], { cwd: folder })
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([1, null])
  rmSync(folder, { recursive: true, force: true })
})
