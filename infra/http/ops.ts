import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { allowedHostsAt, refuses } from './guard.ts'
import { clientServer } from './server.ts'

export interface Health {
  readonly ok: boolean
  /** False: nothing is wrong, and what it is to take the place of must not end yet. */
  readonly ready?: boolean
  readonly [detail: string]: unknown
}

export interface OpsServer {
  readonly url: string
  close(): Promise<void>
}

/** By itself it wakes the process 100 times a second. */
const LAG_EVERY_MS = 100

/** What a service tells of its process: memory, CPU, collections; how late its timers of 100 ms are. */
export function processMetrics(): Registry {
  const register = new Registry()
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: LAG_EVERY_MS })
  return register
}

/** Makes gauges that are filled anew when they are asked for; all of them have the labels `common`. */
export function gaugesOf(registry: Registry, ...common: string[]) {
  return (name: string, help: string, labels: string[], fill: (gauge: Gauge) => void): Gauge =>
    new Gauge({
      name,
      help,
      labelNames: [...common, ...labels],
      registers: [registry],
      collect() {
        this.reset()
        fill(this)
      },
    })
}

/** Serves `/healthz` (503 when not ok), `/readyz` (nor ready) and `/metrics` (Prometheus text) of one service. */
export async function startOps(
  metrics: Registry,
  health: () => Health,
  { host, port }: { host: string; port: number },
): Promise<OpsServer> {
  const allowedHosts = allowedHostsAt(host)
  const server = clientServer((request, response) => {
    if (refuses(request, response, allowedHosts)) return
    if (request.url === '/metrics') {
      void metrics.metrics().then((text) => response.setHeader('content-type', metrics.contentType).end(text))
      return
    }
    if (request.url !== '/healthz' && request.url !== '/readyz') {
      response.writeHead(404).end('see /healthz, /readyz and /metrics\n')
      return
    }
    const state = health()
    const isFine = state.ok && (request.url === '/healthz' || state.ready !== false)
    response.writeHead(isFine ? 200 : 503, { 'content-type': 'application/json' }).end(`${JSON.stringify(state)}\n`)
  })
  const bound = await listen(server, host, port)
  return { url: `http://${host}:${bound}`, close: () => closeServer(server) }
}

/** Listens and says the port; a taken port is named in the error. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new Error(`port ${port} on ${host} is in use`, { cause: error }) : error)
    })
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
}

/** Stops listening and cuts what is still open. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
