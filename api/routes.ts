import * as flow from './outputs/flow.ts'
import * as funding from './outputs/funding.ts'
import * as liquidations from './outputs/liquidations.ts'
import { warmingUp } from './outputs/shared.ts'
import * as spot from './outputs/spot.ts'
import * as params from './parameters.ts'
import { dataRoute, type Route } from './route.ts'
import { alertRoutes } from './routes/alert-table.ts'
import { answerAbout } from './routes/answers.ts'
import { buildBasis } from './routes/basis.ts'
import { buildCvd } from './routes/cvd.ts'
import { answerAsset, answerWanted } from './routes/data.ts'
import { extremeAnswer } from './routes/extreme.ts'
import { buildFundingHistory } from './routes/funding-history.ts'
import { buildCompare, buildFunding, buildPredicted } from './routes/funding.ts'
import { buildHeatmap } from './routes/heatmap.ts'
import { buildHistory, rangeKey } from './routes/history.ts'
import { EVENTS_MAX, liquidationsAnswer } from './routes/liquidations.ts'
import { buildLongShort } from './routes/long-short.ts'
import { marketAnswer } from './routes/market.ts'
import { buildOhlcv } from './routes/ohlcv.ts'
import { opsRoutes } from './routes/ops-table.ts'
import { buildPrice } from './routes/price.ts'
import { pricesAnswer } from './routes/prices.ts'

const { symbol, interval, start, end } = params
const range = { start, end, limit: params.limitOf(200) }
const dataErrors = ['symbol_not_found', 'data_unavailable'] as const

/** Every route of the service. Router, validation, limits, OpenAPI and the index follow from it. */
export const routes: readonly Route[] = [
  dataRoute({
    path: '/cvd/:symbol',
    name: 'cvd',
    says: 'Cumulative volume delta over four venues',
    priceUsdc: 0.02,
    ttlMs: 5_000,
    input: { symbol, period: params.period },
    outputs: { 200: flow.cvdOutput, 202: warmingUp },
    errors: dataErrors,
    handle(call) {
      const { input, services } = call
      return answerAsset(call, this, { symbol: input.symbol, rest: [input.period] }, (subject) =>
        buildCvd(services, subject, input.period),
      )
    },
  }),
  dataRoute({
    path: '/cvd/history/:symbol',
    name: 'cvd_history',
    says: 'Volume delta by bucket, with its running total',
    priceUsdc: 0.02,
    ttlMs: 5_000,
    input: { symbol, interval, ...range },
    outputs: { 200: flow.historyOutput, 202: warmingUp },
    errors: dataErrors,
    async handle(call) {
      const { input, services } = call
      const rest = rangeKey(input)
      return answerAsset(call, this, { symbol: input.symbol, rest }, (subject) =>
        buildHistory(services, subject, input),
      )
    },
  }),
  dataRoute({
    path: '/ohlcv/:symbol',
    name: 'ohlcv',
    says: 'Candles from our own trade log',
    priceUsdc: 0.02,
    ttlMs: 5_000,
    input: { symbol, interval, exchange: params.candleExchange, ...range },
    outputs: { 200: flow.ohlcvOutput, 202: warmingUp },
    errors: dataErrors,
    async handle(call) {
      const { input, services } = call
      const rest = rangeKey(input)
      return answerAsset(call, this, { symbol: input.symbol, rest }, (subject) => buildOhlcv(services, subject, input))
    },
  }),
  dataRoute({
    path: '/funding-rate/extreme',
    name: 'funding_extreme',
    says: 'Perpetuals whose funding is out of the ordinary',
    priceUsdc: 0.02,
    ttlMs: 30_000,
    input: { threshold: params.threshold },
    outputs: { 200: funding.extremeOutput },
    errors: ['data_unavailable'],
    handle({ input, services }) {
      return extremeAnswer(services, this, input.threshold)
    },
  }),
  dataRoute({
    path: '/funding-rate/history/:symbol',
    name: 'funding_history',
    says: 'Settled funding rates',
    priceUsdc: 0.02,
    ttlMs: 30_000,
    input: { symbol, exchange: params.fundingExchange, start, end, limit: params.limitOf(100) },
    outputs: { 200: funding.fundingHistoryOutput },
    errors: dataErrors,
    async handle({ input, services }) {
      const rest = rangeKey(input)
      return answerAbout(services, this, { symbol: input.symbol, rest }, (about) =>
        buildFundingHistory(services, about, input),
      )
    },
  }),
  dataRoute({
    path: '/funding-rate/:symbol',
    name: 'funding_rate',
    says: 'Running funding rate of a perpetual',
    priceUsdc: 0.02,
    ttlMs: 30_000,
    input: { symbol },
    outputs: { 200: funding.fundingOutput },
    errors: dataErrors,
    handle({ input, services }) {
      return answerAbout(services, this, { symbol: input.symbol }, (about) => buildFunding(services, about))
    },
  }),
  dataRoute({
    path: '/futures/funding-compare/:symbol',
    name: 'funding_compare',
    says: 'Funding of three venues side by side',
    priceUsdc: 0.03,
    ttlMs: 30_000,
    input: { symbol },
    outputs: { 200: funding.compareOutput },
    errors: dataErrors,
    handle({ input, services }) {
      return answerAbout(services, this, { symbol: input.symbol }, (about) => buildCompare(services, about))
    },
  }),
  dataRoute({
    path: '/futures/predicted-funding/:symbol',
    name: 'predicted_funding',
    says: 'Predicted rate of the next settlement',
    priceUsdc: 0.02,
    ttlMs: 30_000,
    input: { symbol },
    outputs: { 200: funding.predictedOutput },
    errors: dataErrors,
    handle({ input, services }) {
      return answerAbout(services, this, { symbol: input.symbol }, (about) => buildPredicted(services, about))
    },
  }),
  dataRoute({
    path: '/futures/basis/:symbol',
    name: 'basis',
    says: 'Perpetuals against spot',
    priceUsdc: 0.02,
    ttlMs: 30_000,
    input: { symbol },
    outputs: { 200: funding.basisOutput },
    errors: dataErrors,
    handle({ input, services }) {
      return answerAbout(services, this, { symbol: input.symbol }, (about) => buildBasis(services, about))
    },
  }),
  dataRoute({
    path: '/futures/long-short/:symbol',
    name: 'long_short',
    says: 'Top traders’ long/short ratio',
    priceUsdc: 0.02,
    ttlMs: 30_000,
    input: { symbol },
    outputs: { 200: funding.longShortOutput, 202: warmingUp },
    errors: dataErrors,
    handle(call) {
      const { input, services } = call
      return answerWanted(call, this, input.symbol, (about) => buildLongShort(services, about))
    },
  }),
  dataRoute({
    path: '/liquidation/heatmap/:symbol',
    name: 'liquidation_heatmap',
    says: 'Estimated liquidation levels and cascade risk',
    priceUsdc: 0.05,
    ttlMs: 15_000,
    input: { symbol },
    outputs: { 200: liquidations.heatmapOutput, 202: warmingUp },
    errors: dataErrors,
    handle(call) {
      const { input, services } = call
      return answerWanted(call, this, input.symbol, (about) => buildHeatmap(services, about))
    },
  }),
  dataRoute({
    path: '/liquidation/recent',
    name: 'liquidation_recent',
    says: 'Newest liquidations and their statistics',
    priceUsdc: 0.03,
    ttlMs: 15_000,
    input: { limit: params.limitOf(50, EVENTS_MAX), symbol: params.symbolFilter },
    outputs: { 200: liquidations.liquidationsOutput },
    errors: dataErrors,
    handle({ input, services }) {
      return liquidationsAnswer(services, this, input)
    },
  }),
  dataRoute({
    path: '/price/:symbol',
    name: 'price',
    says: 'Composite price of five exchanges',
    priceUsdc: 0.005,
    ttlMs: 2_000,
    input: { symbol },
    outputs: { 200: spot.priceOutput },
    errors: dataErrors,
    handle({ input, services }) {
      return answerAbout(services, this, { symbol: input.symbol }, (about) => buildPrice(services, about))
    },
  }),
  dataRoute({
    path: '/api/v1/prices',
    name: 'prices',
    says: 'Prices of up to 20 symbols',
    priceUsdc: 0.005,
    ttlMs: 10_000,
    input: { symbols: params.symbols },
    outputs: { 200: spot.pricesOutput },
    errors: ['data_unavailable'],
    handle({ input, services }) {
      return pricesAnswer(services, this, input.symbols)
    },
  }),
  dataRoute({
    path: '/api/v1/market/:id',
    name: 'market',
    says: 'Details of a token',
    priceUsdc: 0.005,
    ttlMs: 30_000,
    input: { id: params.tokenId },
    outputs: { 200: spot.marketOutput },
    errors: ['market_not_found', 'data_unavailable'],
    handle({ input, services }) {
      return marketAnswer(services, this, input.id)
    },
  }),
  ...alertRoutes,
  ...opsRoutes(() => routes),
]
