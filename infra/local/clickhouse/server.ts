import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import { performance } from 'node:perf_hooks'
import { refuses } from '../../http/guard.ts'
import type { Logger } from '../../log.ts'
import { QueryError } from './errors.ts'
import type { Metrics } from './metrics.ts'
import { runRequest, type Parts } from './run.ts'

/** Where ClickHouse answers statements; everything else is 404, as there. */
const PATHS = new Set(['/', '/play'])

/** ClickHouse's HTTP interface over the engine in this process. */
export function createHttp(parts: Parts, metrics: Metrics, log: Logger): Server {
  const server = createServer((request, response) => {
    if (refuses(request, response, [])) return
    void serve(request, response, parts, metrics, log)
  })
  // Bodies of inserts may take as long as they like; a connection that says nothing is dropped.
  server.requestTimeout = 0
  server.headersTimeout = 10_000
  server.keepAliveTimeout = 30_000
  return server
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  parts: Parts,
  metrics: Metrics,
  log: Logger,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  response.setHeader('X-ClickHouse-Server-Display-Name', hostname())
  response.setHeader('X-ClickHouse-Timezone', parts.engine.timezone)
  if (pathname === '/metrics') return metrics.answer(response)
  const says = plain(pathname, request.method ?? 'GET', searchParams)
  if (says !== undefined) {
    response.writeHead(says.status, { 'content-type': 'text/plain; charset=UTF-8' }).end(says.text)
    return
  }
  const started = performance.now()
  try {
    await runRequest(request, response, parts)
    metrics.done('ok', performance.now() - started)
  } catch (error) {
    refuse(request, response, QueryError.from(error), parts.engine.version)
    metrics.done('error', performance.now() - started)
    log.debug({ err: error, queryId: response.getHeader('X-ClickHouse-Query-Id') }, 'query failed')
  }
}

function plain(path: string, method: string, query: URLSearchParams): { status: number; text: string } | undefined {
  if (path === '/ping' || path === '/replicas_status') return { status: 200, text: 'Ok.\n' }
  if (!PATHS.has(path)) return { status: 404, text: `There is no handle ${path}\n` }
  const asks = query.has('query') || method === 'POST' || method === 'PUT'
  return asks ? undefined : { status: 200, text: 'Ok.\n' }
}

function refuse(request: IncomingMessage, response: ServerResponse, error: QueryError, version: string): void {
  request.resume() // what is left of the body, so that the connection can be used again
  if (response.headersSent) {
    response.destroy()
    return
  }
  response.removeHeader('Content-Encoding')
  response.writeHead(error.status, {
    'Content-Type': 'text/plain; charset=UTF-8',
    'X-ClickHouse-Exception-Code': String(error.code),
  })
  response.end(`${error.text(version)}\n`)
}
