import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import type { LedgerRow } from '../ledger/history.ts'
import { type Simulator, type SimulatorOptions, startVenues } from '../simulator.ts'

/** A running simulator for a test, with its own data folder that goes with it. */
export interface TestVenues extends Simulator {
  /** GET as JSON, or the text where it is none; `path` from the root. */
  get(path: string): Promise<{ status: number; body: unknown; headers: Headers }>
  post(path: string, body?: object): Promise<{ status: number; body: unknown }>
  ledger(query?: string): Promise<LedgerRow[]>
  /** Opens a socket and sends `frames` when it is open. */
  open(path: string, frames?: readonly string[]): TestSocket
}

export interface TestSocket {
  /** Text frames so far, oldest first. */
  readonly frames: string[]
  /** As `frames`, parsed; what is not JSON is left out. */
  json(): Record<string, unknown>[]
  send(text: string): void
  /** Code with which the venue closed it. */
  closed(): number | undefined
  close(): void
}

export async function testVenues(options: Partial<SimulatorOptions> = {}): Promise<TestVenues> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'venues-'))
  const simulator = await startVenues({
    host: '127.0.0.1',
    port: 0,
    seed: 1,
    rate: 500,
    connectLimits: false,
    ...options,
    dataDir,
  })
  const sockets: TestSocket[] = []
  const call = async (
    path: string,
    init?: RequestInit,
  ): Promise<{ status: number; body: unknown; headers: Headers }> => {
    const answer = await fetch(`${simulator.url}${path}`, init)
    return { status: answer.status, body: parsed(await answer.text()), headers: answer.headers }
  }
  return {
    url: simulator.url,
    get: (path) => call(path),
    post: (path, body) => call(path, { method: 'POST', body: JSON.stringify(body ?? {}) }),
    // The operator's path answers with the ledger's rows.
    ledger: async (query = '') => (await call(`/ledger${query}`)).body as LedgerRow[],
    open(path, frames = []) {
      const socket = openSocket(`${simulator.url.replace('http', 'ws')}${path}`, frames)
      sockets.push(socket)
      return socket
    },
    async close() {
      for (const socket of sockets) socket.close()
      await simulator.close()
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export function openSocket(url: string, frames: readonly string[]): TestSocket {
  const socket = new WebSocket(url)
  const heard: string[] = []
  let code: number | undefined
  socket.on('open', () => {
    for (const frame of frames) socket.send(frame)
  })
  socket.on('message', (data: Buffer) => heard.push(data.toString('utf8')))
  socket.on('close', (closeCode) => (code ??= closeCode))
  // A refused upgrade is told as its HTTP status.
  socket.on('unexpected-response', (_request, response) => (code = response.statusCode ?? 0))
  socket.on('error', () => (code ??= 0))
  return {
    frames: heard,
    json: () =>
      heard.map(parsed).filter((value) => typeof value === 'object' && value !== null) as Record<string, unknown>[],
    send: (text) => socket.send(text),
    closed: () => code,
    close: () => socket.terminate(),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
