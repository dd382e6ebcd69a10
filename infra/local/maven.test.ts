import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fetchKafka } from './maven.ts'

let folder: string
let said: string[]
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'maven-'))
  said = []
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A Maven that fails that often, and then puts a jar where it is told to. */
function mavenThatFails(times: number): string {
  const program = path.join(folder, 'mvn')
  const script = `#!/bin/sh
echo "$@" >> "${folder}/calls"
[ "$(wc -l < "${folder}/calls")" -gt ${times} ] || { echo "[ERROR] Could not transfer artifact"; exit 1; }
for given in "$@"; do case "$given" in -DoutputDirectory=*) : > "\${given#*=}/kafka.jar";; esac; done
`
  writeFileSync(program, script, { mode: 0o755 })
  return program
}

function fetchWith(maven: string): Promise<readonly string[]> {
  return fetchKafka({ maven, cache: path.join(folder, 'cache'), onProgress: (line) => void said.push(line) })
}

function calls(): string[] {
  return readFileSync(path.join(folder, 'calls'), 'utf8').trim().split('\n')
}

describe('what Maven fetches', () => {
  it('is fetched once and kept', async () => {
    const maven = mavenThatFails(0)
    const jars = await fetchWith(maven)
    expect(jars.map((jar) => path.basename(jar))).toEqual(['kafka.jar'])
    expect(await fetchWith(maven)).toEqual(jars)
    expect(calls()).toHaveLength(1)
  })

  it('is asked for once more where that fails, also what could not be got before', async () => {
    expect(await fetchWith(mavenThatFails(1))).toHaveLength(1)
    expect(calls().map((call) => call.split(' ').includes('-U'))).toEqual([false, true])
    expect(said.join()).toContain('Could not transfer artifact; trying once more')
  })

  it('is given up after that, with the reason', async () => {
    const failed = 'Maven could not fetch Apache Kafka (54 MB): Could not transfer artifact'
    await expect(fetchWith(mavenThatFails(2))).rejects.toThrow(failed)
    expect(calls()).toHaveLength(2)
    expect(readdirSync(path.join(folder, 'cache'))).toEqual([]) // what may have filled the disk
  })
})
