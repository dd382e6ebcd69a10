import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { refuses } from '../http/guard.ts'
import { closeServer, listen, type OpsServer } from '../http/ops.ts'
import type { Supervisor } from './supervisor.ts'

const HOLD_MS_DEFAULT = 30_000
const HOLD_MS_MAX = 600_000

/**
 * The supervisor's loopback endpoint: `GET /parts` and `POST /hold/<part>?ms=30000`, which kills a part at once and
 * keeps it down that long.
 */
export async function startControl(supervisor: Supervisor): Promise<OpsServer> {
  const server = createServer((request, response) => answer(supervisor, request, response))
  const port = await listen(server, '127.0.0.1', 0)
  return { url: `http://127.0.0.1:${port}`, close: () => closeServer(server) }
}

function answer(supervisor: Supervisor, request: IncomingMessage, response: ServerResponse): void {
  if (refuses(request, response, [])) return
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const [, verb, part] = url.pathname.split('/')
  if (request.method === 'GET' && verb === 'parts') return reply(response, 200, supervisor.parts())
  if (request.method !== 'POST' || verb !== 'hold' || part === undefined)
    return reply(response, 404, { error: 'not_found', message: 'see GET /parts and POST /hold/<part>?ms=30000' })
  const ms = Number(url.searchParams.get('ms') ?? HOLD_MS_DEFAULT)
  if (!Number.isInteger(ms) || ms < 0 || ms > HOLD_MS_MAX)
    return reply(response, 400, { error: 'invalid_ms', message: `ms is a whole number from 0 to ${HOLD_MS_MAX}` })
  if (!supervisor.hold(part, ms)) return reply(response, 404, { error: 'unknown_part', message: part })
  return reply(response, 200, { part, ms })
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`)
}
