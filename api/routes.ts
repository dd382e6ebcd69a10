import * as flow from './routes/flow-output.ts'
import * as params from './routes/parameters.ts'
import { dataRoute, type Route } from './request/route.ts'
import { alertRoutes } from './routes/alert-table.ts'
import { basisHistory, basisRoute } from './routes/basis.ts'
import { cvdView } from './routes/cvd.ts'
import { replyTrades, replyWanted } from './routes/data.ts'
import { fundingExtreme } from './routes/extreme.ts'
import { dataErrors, warmingUp } from './routes/answers.ts'
import { fundingHistory } from './routes/funding-history.ts'
import { fundingCompare, fundingRate, predictedFunding } from './routes/funding.ts'
import { heatmapHistory, liquidationHeatmap } from './routes/heatmap.ts'
import { keyRoutes } from './routes/key-table.ts'
import { rangeKey, readHistory } from './routes/history.ts'
import { liquidationHistory, liquidationRecent } from './routes/liquidations.ts'
import { longShortHistory, longShort } from './routes/long-short.ts'
import { market } from './routes/market.ts'
import { readOhlcv, refuseUncounted } from './routes/ohlcv.ts'
import { openInterest, openInterestHistory } from './routes/open-interest.ts'
import { opsRoutes } from './routes/ops-table.ts'
import { price } from './routes/price.ts'
import { prices } from './routes/prices.ts'
import { screener } from './routes/screener.ts'
import { stream } from './routes/stream.ts'

const { symbol, interval, start, end } = params
const range = { start, end, limit: params.limitOf(200) }

/** Every route of the service. Router, validation, limits, OpenAPI and the index follow from it. */
export const routes: readonly Route[] = [
  dataRoute({
    path: '/cvd/:symbol',
    name: 'cvd',
    description: 'Cumulative volume delta over all venues that count',
    priceUsdc: 0.02,
    ttlMs: 5_000,
    input: { symbol, period: params.period },
    outputs: { 200: flow.cvdOutput, 202: warmingUp },
    errors: dataErrors,
    prepare: (call) => replyWanted(call, call.input.symbol, (context) => cvdView(context, call.input.period)),
  }),
  dataRoute({
    path: '/cvd/history/:symbol',
    name: 'cvd_history',
    description: 'Volume delta by bucket, with its running total',
    priceUsdc: 0.02,
    ttlMs: 5_000,
    input: { symbol, interval, since: params.anchor, ...range },
    outputs: { 200: flow.historyOutput, 202: warmingUp },
    errors: dataErrors,
    async prepare(call) {
      const { input, services } = call
      const key = { symbol: input.symbol, rest: rangeKey(input) }
      return replyTrades(call, key, (context) => readHistory(services, context, input))
    },
  }),
  dataRoute({
    path: '/ohlcv/:symbol',
    name: 'ohlcv',
    description: 'Candles from our own trade log',
    priceUsdc: 0.02,
    ttlMs: 5_000,
    input: { symbol, interval, exchange: params.candleExchange, ...range },
    outputs: { 200: flow.ohlcvOutput, 202: warmingUp },
    errors: dataErrors,
    async prepare(call) {
      const { input, services } = call
      refuseUncounted(services, input)
      const key = { symbol: input.symbol, rest: rangeKey(input) }
      return replyTrades(call, key, (context) => readOhlcv(services, context, input))
    },
  }),
  fundingExtreme,
  fundingHistory,
  fundingRate,
  fundingCompare,
  predictedFunding,
  basisRoute,
  basisHistory,
  openInterest,
  openInterestHistory,
  longShort,
  longShortHistory,
  liquidationHeatmap,
  heatmapHistory,
  liquidationRecent,
  liquidationHistory,
  screener,
  price,
  prices,
  market,
  stream,
  ...alertRoutes,
  ...keyRoutes,
  ...opsRoutes(() => routes),
]
