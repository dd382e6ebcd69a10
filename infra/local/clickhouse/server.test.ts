import { createWriteStream } from 'node:fs'
import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pino } from 'pino'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeServer, listen } from '../../http/ops.ts'
import { Admission } from './admission.ts'
import type { Done, Engine } from './engine.ts'
import { Pipes } from './pipes.ts'
import { createHttp, createMetrics } from './server.ts'
import { Sessions } from './sessions.ts'

const done: Done = { bytes: new Uint8Array(), elapsedNs: 0, readRows: 0, readBytes: 0, writtenRows: 0, writtenBytes: 0 }
const disk = { freeBytes: 0, requireSpace: () => undefined, stop: () => undefined }
const admission = new Admission({ running: 1, waiting: 1, waitMs: 60_000 })
const pipes = new Pipes(2)
const deadlines = { headersMs: 60_000, requestMs: 0, silentMs: 500, answerMs: 60_000 }

let server: Server
let client: Socket
/** What the engine gives as the rows of the next statement. */
let rows: () => AsyncIterable<string> | Iterable<string>
/** Resolves when the connection has been silent for as long as a client may be. */
let isSilent: Promise<unknown>

/** Writes rows where it is told to, as fast as they are taken. */
const engine: Engine = {
  version: '1',
  timezone: 'UTC',
  tableFunctions: [],
  connect: () => ({
    async run(sql) {
      const [, path = ''] = /INTO OUTFILE '(.+?)'/.exec(sql) ?? []
      await pipeline(Readable.from(rows(), { objectMode: false }), createWriteStream(path))
      return done
    },
    insert: async () => done,
    classify: async () => ({ statementCount: 1, queryClass: 0 }),
    close: () => undefined,
  }),
  kill: async () => undefined,
  killAll: async () => undefined,
  close: () => undefined,
}

beforeEach(async () => {
  const sessions = new Sessions(() => engine.connect())
  const parts = {
    engine,
    users: [{ name: 'default', password: '' } as const],
    reaching: /^$/,
    admission,
    sessions,
    pipes,
    disk,
  }
  server = createHttp(parts, createMetrics(admission, sessions, disk), pino({ level: 'silent' }), deadlines)
  isSilent = new Promise((resolve) => {
    server.once('connection', (socket) => socket.once('timeout', resolve))
  })
  const port = await listen(server, '127.0.0.1', 0)
  client = connect(port, '127.0.0.1').on('error', () => undefined)
})
afterEach(() => {
  client.destroy()
  return closeServer(server)
})
afterAll(() => pipes.close())

function send(statement: string, length = statement.length): void {
  client.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n${statement}`)
}

const running = (): number => admission.running

function* endless(): Generator<string> {
  for (;;) yield 'x'.repeat(64 * 1024)
}

describe('the place of a statement', () => {
  it('is given back where its client stops reading', async () => {
    rows = endless
    client.pause()
    send('SELECT 1')
    await expect.poll(running).toBe(1)
    await expect.poll(running).toBe(0)
  })

  it.each(['SELECT 1', 'INSERT INTO t FORMAT TSV\n1\n'])(
    'is given back where its client stops sending: %j',
    async (statement) => {
      send(statement, statement.length + 1)
      await expect.poll(running).toBe(1)
      await expect.poll(running).toBe(0)
    },
  )

  it('is kept while it has nothing to say, however long', async () => {
    rows = async function* () {
      await isSilent
      yield '7\n'
    }
    let taken = ''
    client.on('data', (chunk) => (taken += chunk.toString()))
    send('SELECT 7')
    await expect.poll(() => taken).toMatch(/^HTTP\/1.1 200 [^]*\r\n\r\n7\n$/)
  })
})
