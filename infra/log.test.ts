import { createServer } from 'node:http'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createPublicClient, http } from 'viem'
import { expect, it, onTestFinished } from 'vitest'
import { closeServer, listen } from './http/ops.ts'
import { createLog, messageOf } from './log.ts'

/** The line that is written where an error says so. */
function logged(env: Readonly<Record<string, string>>, says: string): string {
  const lines: string[] = []
  const log = createLog('test', { LOG_FORMAT: 'json', ...env }, { write: (line) => void lines.push(line) })
  log.child({}).warn({ err: new Error('outer', { cause: new Error(says) }) }, says)
  return lines.join('')
}

it.each([
  ['the text of a secret', { SERVICE_SECRET: 'the"secret-of-32-characters' }, 'the"secret-of-32-characters'],
  ['one of a list, under a former name', { SERVICE_SECRETS_OLD: '1:the-former-secret,2:another' }, 'the-former-secret'],
  ['a short login', { SMTP_URL: 'smtp://u:p@mail.example.com:587' }, 'smtp://u:p@mail.example.com'],
  ['what follows the host', { PAYMENT_RPC_URL: 'https://node.example.com/v2/key' }, 'node.example.com/v2/key'],
  ['the key of a facilitator', { PAYMENT_FACILITATOR_URL: 'https://pay.example.com/v2/key' }, 'pay.example.com/v2/key'],
  ['a key in a query', { PAYMENT_RPC_URL: 'https://node.example.com?key=key' }, 'node.example.com/?key=key'],
  ['a login', { SMTP_URL: 'smtp://user:password@mail.example.com:587' }, 'smtp://user:password@mail.example.com'],
  ['a login of what is no secret', { CLICKHOUSE_URL: 'http://user:password@db:8123/x' }, 'http://user:password@db'],
])('strikes out of a line %s', (_what, env, says) => {
  const line = logged(env, says)
  expect(line).toContain('***')
  expect(line).not.toContain(JSON.stringify(says).slice(1, -1))
  expect(JSON.parse(line)).toMatchObject({ level: 40, name: 'test' })
})

it('strikes out what stands in the file of a secret, where it can be read', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'log-'))
  const file = path.join(folder, 'secret')
  writeFileSync(file, 'what-stands-in-a-file\n')
  const line = logged({ SERVICE_SECRET_FILE: file, BACKUP_KEY_FILE: '/nowhere' }, 'what-stands-in-a-file')
  rmSync(folder, { recursive: true })
  expect(line).toContain('***')
  expect(line).not.toContain('what-stands-in-a-file')
})

it.each([
  ['an address without a path, as of a node of this machine', { PAYMENT_RPC_URL: 'http://127.0.0.1:8545' }],
  ['an address that is no secret', { CLICKHOUSE_URL: 'http://127.0.0.1:8123/path' }],
  ['a secret that is too short to be one, with which nothing starts', { CLICKHOUSE_PASSWORD: 'market' }],
])('leaves %s', (_what, env) => {
  const [says = ''] = Object.values(env)
  expect(logged(env, says)).toContain(says)
})

const DATA = `0xe3ee160e${'5a'.repeat(160)}` as const
const TO = `0x${'3c'.repeat(20)}` as const

/** What viem makes of a node that answers every request with that status, and names the request. */
async function nodeError(status: number, sends: boolean): Promise<Error> {
  const server = createServer((request, response) => {
    response.statusCode = status
    void request.toArray().then((chunks) => response.end(`busy: ${Buffer.concat(chunks as Buffer[]).toString()}`))
  })
  const port = await listen(server, '127.0.0.1', 0)
  onTestFinished(() => closeServer(server))
  const client = createPublicClient({ transport: http(`http://127.0.0.1:${port}`, { retryCount: 0 }) })
  const asked = sends ? client.sendRawTransaction({ serializedTransaction: DATA }) : client.call({ to: TO, data: DATA })
  return asked.then(
    () => new Error('it was answered'),
    (error: unknown) => new Error('the node is away', { cause: error }),
  )
}

it.each([
  [503, false],
  [503, true],
  [200, false],
])('tells of a node that answers %i with the request (a transaction: %s) no call', async (status, sends) => {
  const error = await nodeError(status, sends)
  const lines: string[] = []
  const log = createLog('test', { LOG_FORMAT: 'json' }, { write: (line) => void lines.push(line) })
  log.warn({ err: error }, 'failed')
  log.warn({ err: error.cause }, 'failed')
  log.warn({ why: messageOf(error) }, 'failed')
  for (const line of lines) {
    expect(line).toContain('HTTP request failed.')
    expect(line).not.toMatch(/5a5a|Request body|Arguments/)
  }
  expect(lines[0]).toContain('the node is away: HTTP request failed.')
  expect(lines[0]).toContain(status === 503 ? '; status 503; ' : 'is not valid JSON')
})
