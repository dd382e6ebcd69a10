import { openapi } from './openapi.ts'
import * as outputs from './outputs.ts'
import type { Param } from './params.ts'
import { route, type Route } from './route.ts'
import { buildCvd } from './routes/cvd.ts'
import { answerAsset } from './routes/data.ts'
import { healthAnswer, readyAnswer } from './routes/health.ts'
import { buildHistory, checkRange } from './routes/history.ts'

import { metricsAnswer } from './routes/metrics.ts'
import { buildOhlcv, exchangeNames } from './routes/ohlcv.ts'
import { startPage } from './routes/start-page.ts'

const symbol = {
  in: 'path',
  rule: { kind: 'symbol' },
  error: 'invalid_symbol',
  says: 'Base asset, any case; BTC and BTCUSDT mean the same',
  example: 'BTC',
} as const satisfies Param

const interval = {
  in: 'query',
  rule: { kind: 'choice', values: ['1m', '5m', '15m', '1h', '4h', '1d'], default: '1h' },
  error: 'invalid_interval',
  says: 'Width of a bucket',
  example: '1m',
} as const satisfies Param

const start = {
  in: 'query',
  rule: { kind: 'time' },
  error: 'invalid_range',
  says: 'Earliest bucket start, inclusive; with it, the oldest `limit` rows are given',
  example: '2026-01-01T00:00:00Z',
} as const satisfies Param

const end = {
  in: 'query',
  rule: { kind: 'time' },
  error: 'invalid_range',
  says: 'Latest bucket start, exclusive',
  example: '2026-01-02T00:00:00Z',
} as const satisfies Param

const limit = {
  in: 'query',
  rule: { kind: 'count', min: 1, max: 1000, default: 200 },
  error: 'invalid_limit',
  says: 'Most rows',
  example: '100',
} as const satisfies Param

const dataErrors = ['symbol_not_found', 'data_unavailable'] as const

/** Every route of the service. Router, validation, limits, OpenAPI and the index follow from it. */
export const routes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/cvd/:symbol',
    name: 'cvd',
    says: 'Cumulative volume delta over four venues',
    priceUsdc: 0.02,
    limit: 'caller',
    ttlMs: 5_000,
    input: {
      symbol,
      period: {
        in: 'query',
        rule: { kind: 'choice', values: ['1h', '4h', '24h', '7d'], default: '1h' },
        error: 'invalid_period',
        says: 'Rolling period that ends now',
        example: '4h',
      },
    },
    outputs: { 200: outputs.cvdOutput, 202: outputs.warmingUp },
    errors: dataErrors,
    handle(call) {
      const { input, services } = call
      return answerAsset(call, this, { symbol: input.symbol, rest: [input.period] }, (subject) =>
        buildCvd(services, subject, input.period),
      )
    },
  }),
  route({
    method: 'GET',
    path: '/cvd/history/:symbol',
    name: 'cvd_history',
    says: 'Volume delta by bucket, with its running total',
    priceUsdc: 0.02,
    limit: 'caller',
    ttlMs: 5_000,
    input: { symbol, interval, start, end, limit },
    outputs: { 200: outputs.historyOutput, 202: outputs.warmingUp },
    errors: dataErrors,
    async handle(call) {
      const { input, services } = call
      checkRange(input)
      const rest = [input.interval, input.start, input.end, input.limit]
      return answerAsset(call, this, { symbol: input.symbol, rest }, (subject) =>
        buildHistory(services, subject, input),
      )
    },
  }),
  route({
    method: 'GET',
    path: '/ohlcv/:symbol',
    name: 'ohlcv',
    says: 'Candles from our own trade log',
    priceUsdc: 0.02,
    limit: 'caller',
    ttlMs: 5_000,
    input: {
      symbol,
      interval,
      exchange: {
        in: 'query',
        rule: { kind: 'choice', values: exchangeNames, default: 'binance' },
        error: 'invalid_exchange',
        says: 'Whose trades; all merges spot and perpetual prices, so its wicks are wider',
        example: 'coinbase',
      },
      start,
      end,
      limit,
    },
    outputs: { 200: outputs.ohlcvOutput, 202: outputs.warmingUp },
    errors: dataErrors,
    async handle(call) {
      const { input, services } = call
      checkRange(input)
      const rest = [input.interval, input.exchange, input.start, input.end, input.limit]
      return answerAsset(call, this, { symbol: input.symbol, rest }, (subject) => buildOhlcv(services, subject, input))
    },
  }),
  route({
    method: 'GET',
    path: '/healthz',
    name: 'healthz',
    says: 'How the system is: parts, venues, gaps, lag',
    priceUsdc: 0,
    limit: 'none',
    ttlMs: 1_000,
    input: {},
    outputs: { 200: outputs.healthOutput, 503: outputs.healthOutput },
    errors: [],
    handle(call) {
      return healthAnswer(call, this.ttlMs)
    },
  }),
  route({
    method: 'GET',
    path: '/readyz',
    name: 'readyz',
    says: 'Whether this instance can answer',
    priceUsdc: 0,
    limit: 'none',
    ttlMs: 1_000,
    input: {},
    outputs: { 200: outputs.readyOutput, 503: outputs.readyOutput },
    errors: [],
    handle(call) {
      return readyAnswer(call, this.ttlMs)
    },
  }),
  route({
    method: 'GET',
    path: '/metrics',
    name: 'metrics',
    says: 'Prometheus metrics of every service',
    priceUsdc: 0,
    limit: 'caller',
    ttlMs: 1_000,
    input: {},
    outputs: { 200: outputs.textOutput('Prometheus text, one label `service`') },
    errors: [],
    handle(call) {
      return metricsAnswer(call, this.ttlMs)
    },
  }),
  route({
    method: 'GET',
    path: '/openapi.json',
    name: 'openapi',
    says: 'This interface as OpenAPI 3.1',
    priceUsdc: 0,
    limit: 'caller',
    ttlMs: 60_000,
    input: {},
    outputs: { 200: { says: 'OpenAPI 3.1 document', type: 'application/json', schema: { type: 'object' } } },
    errors: [],
    async handle({ services }) {
      const body = JSON.stringify(openapi(routes, services.version), null, 2)
      return { kind: 'text', type: 'application/json; charset=utf-8', body, freshForMs: this.ttlMs }
    },
  }),
  route({
    method: 'GET',
    path: '/',
    name: 'index',
    says: 'What there is and what to try',
    priceUsdc: 0,
    limit: 'caller',
    ttlMs: 60_000,
    input: {},
    outputs: { 200: outputs.textOutput('A short text') },
    errors: [],
    async handle(call) {
      return startPage(call, routes)
    },
  }),
]
