import { expect, it } from 'vitest'
import { toOtlp, traceOfTrigger, type TracedTrigger } from './spans.ts'

const T = 1_767_323_045_000_000

const trigger: TracedTrigger = {
  trigger: 'alert_btc_1_1_1',
  alert: 'alert_btc_1_1',
  time: T + 20_000,
  cause: { id: 'rec_cause', type: 'composite_price', time: T + 20_000, received: null },
  source: { id: 'rec_source', type: 'spot_ticker', time: T, received: T + 15_000 },
  attempts: [
    { number: 1, outcome: 'retry', status: 503, error: 'status', started: T + 40_000, finished: T + 60_000 },
    { number: 2, outcome: 'delivered', status: 200, error: null, started: T + 5_000_000, finished: T + 5_020_000 },
  ],
}

interface Otlp {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string
        readonly spanId: string
        readonly parentSpanId: string
        readonly name: string
        readonly startTimeUnixNano: string
        readonly endTimeUnixNano: string
        readonly status: { readonly code: number }
      }[]
    }[]
  }[]
}
const spansOf = (told: TracedTrigger) =>
  (toOtlp(traceOfTrigger(told)) as Otlp).resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans),
  )

it('goes from the venue’s message to each attempt, below one root over all of it', () => {
  const spans = spansOf(trigger)
  expect(spans.map(({ name, status }) => [name, status.code])).toEqual([
    ['alert rings', 1],
    ['venue to feed', 1],
    ['received to webhook begun', 1],
    ['attempt 1', 2],
    ['attempt 2', 1],
  ])
  const [root, ...others] = spans
  expect([root?.startTimeUnixNano, root?.endTimeUnixNano]).toEqual([`${T}000`, `${T + 5_020_000}000`])
  expect(new Set(others.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root?.spanId]))
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(5)
  expect(root?.traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(root?.spanId).toMatch(/^[0-9a-f]{16}$/)
})

it('is the same trace when it is made again', () => {
  expect(spansOf(trigger)).toEqual(spansOf(trigger))
})

it('says less where records are not kept any more, and never ends before it begins', () => {
  const spans = spansOf({ ...trigger, cause: null, source: null, attempts: [] })
  expect(spans.map(({ name }) => name)).toEqual(['alert rings', 'received to webhook begun'])
  const early = spansOf({ ...trigger, source: { id: 'rec_source', type: 'spot_ticker', time: T, received: T - 5 } })
  for (const { startTimeUnixNano: from, endTimeUnixNano: to } of early) expect(BigInt(to) >= BigInt(from)).toBe(true)
})
