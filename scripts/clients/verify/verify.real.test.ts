import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { vectors } from '../../../processors/webhooks/testing/vectors.ts'

/** Each example is run on the golden vectors, and on what somebody changed on the way. */

const run = promisify(execFile)
const folder = fileURLToPath(new URL('.', import.meta.url))
const work = mkdtempSync(path.join(tmpdir(), 'verify-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

interface Case {
  readonly what: string
  readonly secret: string
  readonly id: string
  readonly timestamp: string
  readonly standard: string
  readonly svc: string
  readonly now: number
  readonly body: string
  /** Of X-SVC-Signature, of Standard Webhooks. */
  readonly expected: string
}

const cases: readonly Case[] = vectors.flatMap(({ timestamp, ...vector }) => {
  const good = { ...vector, timestamp: String(timestamp), now: timestamp, what: 'as sent', expected: 'true true' }
  const flipped = (text: string): string => `${text.slice(0, 9)}${text[9] === 'A' ? 'B' : 'A'}${text.slice(10)}`
  return [
    good,
    { ...good, what: '5 minutes late', now: timestamp + 300 },
    { ...good, what: 'among other signatures', standard: `v1,AAAA v1a,x ${vector.standard}` },
    { ...good, what: 'too late', now: timestamp + 301, expected: 'true false' },
    { ...good, what: 'too early', now: timestamp - 301, expected: 'true false' },
    { ...good, what: 'another body', body: `${vector.body} `, expected: 'false false' },
    { ...good, what: 'an empty body', body: '', expected: 'false false' },
    { ...good, what: 'another id', id: `${vector.id}x`, expected: 'true false' },
    { ...good, what: 'another time', timestamp: String(timestamp + 1), expected: 'true false' },
    { ...good, what: 'a time that is none', timestamp: `${timestamp}x`, expected: 'true false' },
    { ...good, what: 'no time', timestamp: '', expected: 'true false' },
    { ...good, what: 'another signature', standard: flipped(vector.standard), expected: 'true false' },
    { ...good, what: 'half a signature', standard: vector.standard.slice(0, 20), expected: 'true false' },
    { ...good, what: 'a signature without its version', standard: vector.standard.slice(3), expected: 'true false' },
    { ...good, what: 'no signature', standard: '', svc: '', expected: 'false false' },
    { ...good, what: 'another svc', svc: flipped(vector.svc), expected: 'false true' },
    { ...good, what: 'svc without its name', svc: vector.svc.slice(7), expected: 'false true' },
    { ...good, what: 'characters beyond ASCII', svc: 'sha256=ü', standard: 'v1,ü', expected: 'false false' },
    { ...good, what: 'another secret', secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAA', expected: 'false false' },
  ]
})

const input = cases
  .map(({ secret, id, timestamp, standard, svc, now, body }) =>
    [secret, id, timestamp, standard, svc, now, Buffer.from(body).toString('base64')].join('\t'),
  )
  .join('\n')

/** A language: what must be there, what is done once, what is run. */
interface Language {
  readonly name: string
  readonly needs: readonly string[]
  readonly prepare?: readonly string[]
  readonly program: readonly string[]
}

const file = (name: string): string => path.join(folder, name)
const languages: readonly Language[] = [
  { name: 'TypeScript', needs: [process.execPath, '--version'], program: [process.execPath, file('check.ts')] },
  { name: 'Python', needs: ['python3', '--version'], program: ['python3', '-B', file('check.py')] },
  {
    name: 'Go',
    needs: ['go', 'version'],
    prepare: ['go', 'build', '-o', path.join(work, 'check'), file('verify.go'), file('check.go')],
    program: [path.join(work, 'check')],
  },
  {
    name: 'Java',
    needs: ['javac', '-version'],
    prepare: ['javac', '-d', work, file('Verify.java'), file('Check.java')],
    program: ['java', '-cp', work, 'Check'],
  },
]

function missing({ needs: [program = '', ...args], name }: Language): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: 60_000 })
    return false
  } catch {
    console.log(`skipped: the example in ${name}, because this machine has no ${program}`)
    return true
  }
}

async function outputOf([program = '', ...args]: readonly string[], text = ''): Promise<string> {
  const env = { ...process.env, GO111MODULE: 'off', PYTHONPATH: file('../python/market_data_alerts') }
  const running = run(program, args, { env, timeout: 240_000 })
  running.child.stdin?.end(text)
  return (await running).stdout
}

describe.each(languages.map((language) => [language.name, language] as const))(
  'the example in %s',
  (_name, language) => {
    it.skipIf(missing(language))('takes what we sent and nothing else', { timeout: 300_000 }, async () => {
      if (language.prepare !== undefined) await outputOf(language.prepare)
      const lines = (await outputOf(language.program, `${input}\n`)).trim().split('\n')
      const told = cases.map(({ what }, index) => `${what}: ${lines[index]?.trim()}`)
      expect(told).toEqual(cases.map(({ what, expected }) => `${what}: ${expected}`))
    })
  },
)
