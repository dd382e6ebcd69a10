import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import { performance } from 'node:perf_hooks'
import { Counter, Histogram, Registry } from 'prom-client'
import { refuses } from '../../http/guard.ts'
import { gaugesOf } from '../../http/ops.ts'
import { clientServer, type Deadlines } from '../../http/server.ts'
import type { Logger } from '../../log.ts'
import { QueryError } from './errors.ts'
import { runRequest, type Parts } from './run.ts'
import type { Admission } from './admission.ts'
import type { Disk } from './disk.ts'
import type { Sessions } from './sessions.ts'

/** Where ClickHouse answers statements; everything else is 404, as there. */
const PATHS = new Set(['/', '/play'])

/** Bodies of inserts may take as long as they like, while something of them comes. */
const usual: Deadlines = { headersMs: 10_000, requestMs: 0, silentMs: 60_000, answerMs: 600_000 }

/** ClickHouse's HTTP interface over the engine in this process. */
export function createHttp(parts: Parts, metrics: Metrics, log: Logger, deadlines: Deadlines = usual): Server {
  const server = clientServer((request, response) => {
    if (refuses(request, response, [])) return
    void serve(request, response, parts, metrics, log)
  }, deadlines)
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

export interface Metrics {
  /** Counts a finished statement. */
  done(outcome: 'ok' | 'error', ms: number): void
  answer(response: ServerResponse): void
}

export function createMetrics(admission: Admission, sessions: Sessions, disk: Disk): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const seconds = new Histogram({
    name: 'mda_clickhouse_statement_seconds',
    help: 'Time of statements over HTTP',
    labelNames: ['outcome'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers,
  })
  const errors = new Counter({ name: 'mda_clickhouse_errors_total', help: 'Statements that failed', registers })
  const gauge = gaugesOf(registry)
  gauge('mda_clickhouse_running_statements', 'Statements that run now', [], (set) => set.set(admission.running))
  gauge('mda_clickhouse_waiting_statements', 'Statements that wait for a place', [], (set) =>
    set.set(admission.waiting),
  )
  gauge('mda_clickhouse_sessions', 'Sessions that are kept', [], (set) => set.set(sessions.size))
  gauge('mda_clickhouse_disk_free_bytes', 'Free space of the data folder', [], (set) => set.set(disk.freeBytes))
  gauge('mda_clickhouse_resident_bytes', 'Resident memory of the server with its engine', [], (set) =>
    set.set(process.memoryUsage.rss()),
  )
  return {
    done(outcome, ms) {
      seconds.observe({ outcome }, ms / 1000)
      if (outcome === 'error') errors.inc()
    },
    answer(response) {
      void registry.metrics().then((text) => response.setHeader('content-type', registry.contentType).end(text))
    },
  }
}
