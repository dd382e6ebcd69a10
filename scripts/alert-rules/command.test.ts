import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeServer, listen } from '../../infra/http/ops.ts'
import { startAlerts, type AlertHarness } from '../../api/testing/alert-calls.ts'

const script = fileURLToPath(new URL('../alert-rules.ts', import.meta.url))
/** Each command is a process of its own. */
const PATIENCE = { timeout: 30_000 }

let api: AlertHarness
let folder: string
let tokens: string

beforeEach(async () => {
  api = await startAlerts()
  folder = mkdtempSync(path.join(tmpdir(), 'rules-'))
  tokens = path.join(folder, 'tokens')
})
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true })
  await api.stop()
})

function write(file: string, symbols: Readonly<Record<string, string>>): string {
  const where = path.join(folder, file)
  const rules = Object.entries(symbols).map(([name, symbol], value) => {
    return { name, symbol, when: { metric: 'cvd', operator: 'above', value } }
  })
  writeFileSync(where, JSON.stringify({ defaults: { webhook_url: 'https://hooks.example.com/secret' }, rules }))
  return where
}

interface Ended {
  readonly code: unknown
  readonly out: string
  readonly told: string
}

function run(...words: readonly string[]): Promise<Ended> {
  const all = [script, '--tokens', tokens, '--api', api.url, ...words]
  return new Promise((resolve) => {
    execFile(process.execPath, all, (error, out, told) => resolve({ code: error?.code ?? 0, out, told }))
  })
}

const known = (): string[] => Object.keys(JSON.parse(readFileSync(tokens, 'utf8')) as object).toSorted()

describe('npm run rules', () => {
  it('has the tokens of all rules where two apply at once', PATIENCE, async () => {
    const names = (letter: string): string[] => Array.from({ length: 10 }, (_, at) => `${letter}${10 + at}`)
    const of = (letter: string): Record<string, string> => Object.fromEntries(names(letter).map((one) => [one, 'BTC']))
    const [first, second] = [write('a.json', of('a')), write('b.json', of('b'))]
    const ended = await Promise.all([run('apply', first), run('apply', second)])
    expect(ended.map(({ code }) => code)).toEqual([0, 0])
    expect(known()).toEqual([...names('a'), ...names('b')])
  })
  it('applies the others where one is refused, and ends with 2', PATIENCE, async () => {
    const { code, out, told } = await run('apply', write('a.json', { a: 'BTC', b: 'NONE', c: 'BTC' }))
    expect([code, out]).toEqual([2, '+ a: it is new\n+ c: it is new\n'])
    expect(told).toMatch(/a\.json:1: b: 404 symbol_not_found [^]*\n1 of 3 rules refused/)
    expect(known()).toEqual(['a', 'c'])
  })
  it('says in a line what did not answer, or answered otherwise than an API', PATIENCE, async () => {
    const proxy = createServer((_request, response) => void response.writeHead(502).end('<html>no such host</html>'))
    const url = `http://127.0.0.1:${await listen(proxy, '127.0.0.1', 0)}`
    const file = write('a.json', { a: 'BTC' })
    const odd = await run('apply', file, '--api', url)
    expect([odd.code, odd.told]).toEqual([2, `${file}:1: a: 502 <html>no such host</html>\n`])
    await closeServer(proxy)
    const away = await run('apply', file, '--api', url)
    expect([away.code, away.told]).toEqual([2, expect.stringMatching(`^POST ${url}/alerts: fetch failed .*ECONN.*\n$`)])
  })
})
