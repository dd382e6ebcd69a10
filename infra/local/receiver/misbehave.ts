import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

const SLOW_MS = 8_000
const DRIP_MS = 1_000
/** Of a `flaky` receiver. */
const REFUSED_ONE_IN = 10

/** How a receiver may answer beside `ok`: each as receivers on the internet are met. A number is that status. */
export const misbehaviours = {
  slow: 'answers after 8 s',
  hang: 'never answers',
  drip: 'answers one byte a second, without an end',
  endless: 'answers as fast as it can, without an end',
  reset: 'cuts the connection',
  half: 'cuts it in the middle of its answer',
  flaky: 'refuses one webhook in ten with 500 when it comes first',
} as const

export type Manner = 'ok' | keyof typeof misbehaviours | number

/** How one request is answered. */
export type Answer = Exclude<Manner, 'flaky'>

/** Reads `ok`, a name of `misbehaviours` or a status from 200 to 599; undefined for anything else. */
export function readManner(name: string): Manner | undefined {
  if (name === 'ok' || name in misbehaviours) return name as Manner
  return /^[2-5]\d\d$/.test(name) ? Number(name) : undefined
}

/** How such a receiver answers a webhook at its first, second or later attempt: the same at each run. */
export function answerOf(manner: Manner, { id, attempt }: { readonly id: string; readonly attempt: number }): Answer {
  if (manner !== 'flaky') return manner
  const isRefused = attempt === 1 && createHash('sha256').update(id).digest().readUInt32BE() % REFUSED_ONE_IN === 0
  return isRefused ? 500 : 'ok'
}

/** Answers one request in that manner. */
export function answerIn(manner: Answer, request: IncomingMessage, response: ServerResponse): void {
  if (typeof manner === 'number') return answerStatus(manner, response)
  switch (manner) {
    case 'ok':
      response.writeHead(204).end()
      return
    case 'slow':
      whileOpen(
        response,
        setTimeout(() => response.writeHead(200).end('ok'), SLOW_MS),
      )
      return
    case 'hang':
      return
    case 'drip':
      response.writeHead(200)
      whileOpen(
        response,
        setInterval(() => response.write('.'), DRIP_MS),
      )
      return
    case 'endless':
      flood(response)
      return
    case 'reset':
      request.socket.destroy()
      return
    case 'half':
      response.writeHead(200, { 'content-length': '1000' })
      response.write('half', () => request.socket.destroy())
  }
}

function answerStatus(status: number, response: ServerResponse): void {
  const headers: Record<string, string> = {}
  if (status === 429 || status === 503) headers['retry-after'] = '7'
  if (status >= 300 && status < 400) headers['location'] = 'https://169.254.169.254/'
  response.writeHead(status, headers).end()
}

function whileOpen(response: ServerResponse, timer: NodeJS.Timeout): void {
  response.once('close', () => clearTimeout(timer))
}

function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(16_384, '.')
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  }
  response.writeHead(200).on('drain', more)
  more()
}
