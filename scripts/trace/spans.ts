import { createHash } from 'node:crypto'

/** What a trigger or a request became, as the records of the log tell it: times are microseconds since the Unix epoch. */

/** A span of a trace; `attributes` as OpenTelemetry has them, texts and numbers. */
interface Span {
  readonly service: string
  readonly name: string
  readonly from: number
  readonly to: number
  readonly isError?: boolean
  readonly attributes: Readonly<Record<string, string | number>>
  /** Moments within it. */
  readonly events?: readonly { readonly name: string; readonly time: number }[]
}

export interface Trace {
  /** What it is about: a trigger's or a request's id. Its ids follow from this, so that written twice it is the same trace. */
  readonly id: string
  readonly name: string
  readonly spans: readonly Span[]
}

/** A record of the log, as `GET /records/:id` gives it. */
export interface TracedRecord {
  readonly id: string
  readonly type: string
  readonly time: number
  /** Where a venue's message: when our feed had it. */
  readonly received: number | null
}

export interface TracedTrigger {
  readonly trigger: string
  readonly alert: string
  /** When the condition was met. */
  readonly time: number
  /** What caused it, and what that follows from; null: not kept any more, or none. */
  readonly cause: TracedRecord | null
  readonly source: TracedRecord | null
  readonly attempts: readonly {
    readonly number: number
    readonly outcome: string
    readonly status: number | null
    readonly error: string | null
    readonly started: number
    readonly finished: number
  }[]
}

/** From the venue's message to the webhook's answer. Between receipt and sending the log keeps no time of each hop. */
export function traceOfTrigger({ trigger, alert, time, cause, source, attempts }: TracedTrigger): Trace {
  const attributes = { 'mda.trigger': trigger, 'mda.alert': alert }
  const records = [cause, source].flatMap((record) => (record === null ? [] : [record]))
  const received = source?.received ?? null
  const sent = attempts[0]?.started
  return {
    id: trigger,
    name: 'alert rings',
    spans: [
      ...(source === null || received === null
        ? []
        : [
            {
              service: 'feeds',
              name: 'venue to feed',
              from: source.time,
              to: received,
              attributes: { 'mda.record': source.id, 'mda.type': source.type },
            },
          ]),
      {
        service: 'processors',
        name: 'received to webhook begun',
        from: received ?? time,
        to: sent ?? Math.max(time, received ?? time),
        attributes: { ...attributes, ...(cause === null ? {} : { 'mda.record': cause.id, 'mda.type': cause.type }) },
        events: [...records.map(({ type, time: at }) => ({ name: type, time: at })), { name: 'condition met', time }],
      },
      ...attempts.map(({ number, outcome, status, error, started, finished }) => ({
        service: 'webhooks',
        name: `attempt ${number}`,
        from: started,
        to: finished,
        isError: outcome !== 'delivered' && outcome !== 'digested',
        attributes: {
          ...attributes,
          'mda.outcome': outcome,
          ...(status === null ? {} : { 'http.response.status_code': status }),
          ...(error === null ? {} : { 'error.type': error }),
        },
      })),
    ],
  }
}

/** A step of a request that the log tells of: an intent and its outcome, a command and its event. */
export interface TracedStep {
  readonly service: string
  readonly name: string
  readonly from: number
  readonly to: number
  readonly isError: boolean
  readonly attributes: Span['attributes']
}

/** From a request's first record to its last: payment, commands, and what they led to. */
export function traceOfRequest(request: string, steps: readonly TracedStep[]): Trace {
  return { id: request, name: 'request', spans: steps }
}

/** The trace in OTLP's JSON form, as `POST /v1/traces` of a collector takes it: a root span over all others. */
export function toOtlp({ id, name, spans }: Trace): object {
  const traceId = idOf(id, 16)
  const rootId = idOf(`${id} root`, 8)
  const times = spans.flatMap((span) => [span.from, span.to, ...(span.events ?? []).map(({ time }) => time)])
  const root = { service: 'market-data-alerts', name, from: Math.min(...times), to: Math.max(...times) }
  const all = [
    { span: { ...root, attributes: { 'mda.id': id } }, spanId: rootId, parentSpanId: '' },
    ...spans.map((span, at) => ({ span, spanId: idOf(`${id} ${at}`, 8), parentSpanId: rootId })),
  ]
  const services = Map.groupBy(all, ({ span }) => span.service)
  return {
    resourceSpans: [...services].map(([service, told]) => ({
      resource: { attributes: [attributeOf(['service.name', service])] },
      scopeSpans: [
        {
          scope: { name: 'market-data-alerts' },
          spans: told.map(({ span, ...ids }) => ({ traceId, ...ids, ...otlpSpan(span) })),
        },
      ],
    })),
  }
}

/** 1: internal; status 1: ok, 2: error. Clocks apart may let a span end before it begins: then it ends where it begins. */
function otlpSpan({ name, from, to, attributes, events = [], isError = false }: Span): object {
  return {
    name,
    kind: 1,
    startTimeUnixNano: nanos(from),
    endTimeUnixNano: nanos(Math.max(from, to)),
    attributes: Object.entries(attributes).map(attributeOf),
    events: events.map(({ name: event, time }) => ({ name: event, timeUnixNano: nanos(time) })),
    status: { code: isError ? 2 : 1 },
  }
}

function attributeOf([key, value]: [string, string | number]): object {
  return { key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }
}

function nanos(micros: number): string {
  return `${BigInt(Math.round(micros)) * 1000n}`
}

function idOf(text: string, bytes: number): string {
  return createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 2 * bytes)
}
