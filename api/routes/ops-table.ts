import { openapi } from '../openapi.ts'
import * as ops from '../outputs/ops.ts'
import { guideAnswer, pricingAnswer, resourcesAnswer } from '../payments/discovery.ts'
import { opsRoute, type Route } from '../route.ts'
import { docsRoutes } from './docs-table.ts'
import { healthAnswer, readyAnswer } from './health.ts'
import { metricsAnswer } from './metrics.ts'
import { startPage } from './start-page.ts'

/** The routes about the service itself; a part of the table in `routes.ts`, which some of them tell: `all`. */
export function opsRoutes(all: () => readonly Route[]): Route[] {
  return [...stateRoutes(), ...guideRoutes(all), ...docsRoutes(all)]
}

function stateRoutes(): Route[] {
  return [
    opsRoute({
      path: '/healthz',
      name: 'healthz',
      says: 'How the system is: parts, venues, gaps, lag',
      limit: 'none',
      ttlMs: 1_000,
      outputs: { 200: ops.healthOutput, 503: ops.healthOutput },
      handle(call) {
        return healthAnswer(call, this.ttlMs)
      },
    }),
    opsRoute({
      path: '/readyz',
      name: 'readyz',
      says: 'Whether this instance can answer',
      limit: 'none',
      ttlMs: 1_000,
      outputs: { 200: ops.readyOutput, 503: ops.readyOutput },
      handle(call) {
        return readyAnswer(call, this.ttlMs)
      },
    }),
    opsRoute({
      path: '/metrics',
      name: 'metrics',
      says: 'Prometheus metrics of every service',
      limit: 'caller',
      ttlMs: 1_000,
      outputs: { 200: ops.textOutput('Prometheus text, one label `service`') },
      handle(call) {
        return metricsAnswer(call, this.ttlMs)
      },
    }),
  ]
}

function guideRoutes(all: () => readonly Route[]): Route[] {
  return [
    opsRoute({
      path: '/openapi.json',
      name: 'openapi',
      says: 'This interface as OpenAPI 3.1',
      limit: 'caller',
      ttlMs: 60_000,
      outputs: { 200: { says: 'OpenAPI 3.1 document', type: 'application/json', schema: { type: 'object' } } },
      async handle({ services }) {
        const body = JSON.stringify(openapi(all(), services.version, services.payments), null, 2)
        return { kind: 'text', type: 'application/json; charset=utf-8', body, freshForMs: this.ttlMs }
      },
    }),
    opsRoute({
      path: '/pricing',
      name: 'pricing',
      says: 'Every route with its price, and how it is paid',
      limit: 'caller',
      ttlMs: 60_000,
      outputs: { 200: ops.pricingOutput },
      handle: async ({ services }) => pricingAnswer(services.payments, all()),
    }),
    opsRoute({
      path: '/.well-known/x402',
      name: 'well_known_x402',
      says: 'What can be bought, for clients that discover it',
      limit: 'caller',
      ttlMs: 60_000,
      outputs: { 200: ops.resourcesOutput },
      handle: async ({ services }) => resourcesAnswer(services.payments, all()),
    }),
    opsRoute({
      path: '/llms.txt',
      name: 'llms_txt',
      says: 'The routes in words, with prices and how to pay',
      limit: 'caller',
      ttlMs: 60_000,
      outputs: { 200: ops.textOutput('A text in Markdown') },
      handle: async ({ services }) => guideAnswer(services.payments, all()),
    }),
    opsRoute({
      path: '/',
      name: 'index',
      says: 'What there is and what to try',
      limit: 'caller',
      ttlMs: 60_000,
      outputs: { 200: ops.textOutput('A short text') },
      handle: async (call) => startPage(call, all()),
    }),
  ]
}
