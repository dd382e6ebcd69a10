import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { makeRole, roleNames } from './role.ts'

const run = promisify(execFile)
const folder = mkdtempSync(path.join(tmpdir(), 'roles-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(roleNames)('the image of %s', (role) => {
  it('starts where nothing else is, and names its packages with their licences', async () => {
    const target = path.join(folder, role)
    const { packages } = makeRole(role, target)
    const { stdout } = await run(process.execPath, ['main.ts', '--help'], { cwd: target, timeout: 30_000 })
    expect(stdout).toContain(`${role}: `)
    expect(existsSync(path.join(target, 'infra/docker/health.ts'))).toBe(true)
    const sbom = JSON.parse(readFileSync(path.join(target, 'sbom.cdx.json'), 'utf8')) as {
      components: { name: string; version: string; purl: string }[]
    }
    expect(sbom.components).toHaveLength(packages.length)
    expect(sbom.components.filter(({ purl }) => !/^pkg:npm\/(?:%40[\w.-]+\/)?[\w.-]+@\d/.test(purl))).toEqual([])
    expect(readFileSync(path.join(target, 'LICENCES.txt'), 'utf8')).toMatch(/^kafkajs 2\.2\.4: MIT$/m)
  }, 60_000)
})
