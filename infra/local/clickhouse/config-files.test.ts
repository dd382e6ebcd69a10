import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { checkVersion, writeConfig, writeVersion } from './config-files.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'clickhouse-config-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

it('takes a new folder, its own, and one of an older engine', () => {
  checkVersion(dir, '26.7.2.1')
  writeVersion(dir, '26.7.2.1')
  checkVersion(dir, '26.7.2.1')
  checkVersion(dir, '27.1.0.0')
})

it.each(['26.8.1.1', '27.1.1.1'])('refuses a folder that engine %s wrote, with what to do', (engine) => {
  writeVersion(dir, engine)
  expect(() => checkVersion(dir, '26.7.2.1')).toThrow(/written by a newer version .*start that version/)
})

it('refuses a folder of a later layout', () => {
  writeFileSync(join(dir, 'version.json'), '{"format": 99, "engine": "26.7.2.1"}')
  expect(() => checkVersion(dir, '26.7.2.1')).toThrow(expect.objectContaining({ code: 'newer-data' }))
})

it('names the users file and bounds the memory in the configuration', () => {
  const config = readFileSync(writeConfig(dir), 'utf8')
  expect(config).toContain(`<users_config>${dir}/users.xml</users_config>`)
  expect(config).toContain('<max_server_memory_usage>')
})

it('merges and reads Kafka as a server does', () => {
  const config = readFileSync(writeConfig(dir), 'utf8')
  expect(config).toContain('<session_timeout_ms>300000</session_timeout_ms>')
  expect(config).toContain('<merge_selector_base>')
  expect(config.match(/<\/?clickhouse>/g)).toEqual(['<clickhouse>', '</clickhouse>'])
})
