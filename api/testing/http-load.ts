import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** How a load ended: answers, how long all took and each one, milliseconds. */
export interface Load {
  readonly answers: number
  readonly tookMs: number
  readonly latenciesMs: readonly number[]
}

export interface LoadOptions {
  readonly connections: number
  readonly count: number
  readonly path: (n: number) => string
  readonly headers?: Readonly<Record<string, string>>
  /** Of every answer; 200 where it is left out. */
  readonly status?: number
  /** So many a second; each is late from when its turn was, whether or not a connection was free. Left out: no pause. */
  readonly perSecond?: number
}

const HEADER_END = '\r\n\r\n'

/**
 * Sends `count` GET requests over `connections` kept connections, the next on each when the last was answered. Bare
 * sockets, so that the client costs little beside what it measures. Rejects at the first answer of another status.
 */
export async function load(
  url: string,
  { connections, count, path, headers = {}, status = 200, perSecond = Infinity }: LoadOptions,
): Promise<Load> {
  const { hostname, port, host } = new URL(url)
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const latenciesMs: number[] = []
  let next = 0
  const started = performance.now()
  const connection = async (): Promise<void> => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    try {
      while (next < count) {
        const n = next++
        const turn = started + (n * 1000) / perSecond
        const early = turn - performance.now()
        if (early > 0) await delay(Math.ceil(early))
        const since = perSecond === Infinity ? performance.now() : turn
        await exchange(socket, { lines: lines.join(''), path: path(n), status })
        latenciesMs.push(performance.now() - since)
      }
    } finally {
      socket.destroy()
    }
  }
  await Promise.all(Array.from({ length: connections }, connection))
  return { answers: latenciesMs.length, tookMs: performance.now() - started, latenciesMs }
}

/** One request and its answer, told apart by Content-Length. */
function exchange(
  socket: Socket,
  { lines, path, status }: { readonly lines: string; readonly path: string; readonly status: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let missing: number | undefined
    const done = (error?: Error): void => {
      socket.off('data', onData).off('error', done).off('close', onClose)
      if (error === undefined) resolve()
      else reject(error)
    }
    const onClose = (): void => done(new Error(`connection closed on ${path}`))
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk)
      if (missing === undefined) {
        const text = Buffer.concat(chunks).toString('latin1')
        const end = text.indexOf(HEADER_END)
        if (end < 0) return
        if (!text.startsWith(`HTTP/1.1 ${status} `)) return done(new Error(`${path}: ${text}`))
        missing = Number(/content-length: (\d+)/i.exec(text)?.[1]) - (text.length - end - HEADER_END.length)
      } else missing -= chunk.length
      if (missing <= 0) done()
    }
    socket.on('data', onData).on('error', done).on('close', onClose)
    socket.write(`GET ${path} HTTP/1.1\r\n${lines}\r\n`)
  })
}

/** The value below which the share `p` of the values lies. */
export function quantile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? NaN
}

/** Answers a second over several loads. */
export function perSecond(loads: readonly Load[]): number {
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)
  return (sum(loads.map(({ answers }) => answers)) / sum(loads.map(({ tookMs }) => tookMs))) * 1_000
}
