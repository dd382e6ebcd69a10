import type { Route } from '../../../api/request/route.ts'
import { exampleOf } from '../../../api/payments/discovery.ts'
import { routes } from '../../../api/routes.ts'
import type { Answer } from '../../../api/testing/replayed-api.ts'
import { urlOf, type RunFile } from '../../../infra/local/run-file.ts'
import { again } from '../release-data.ts'

/** Routes that are left out, and what they tell that is not of the log alone. */
const leftOut: Readonly<Record<string, string>> = {
  metrics: 'what this process counted since its start',
  healthz: 'how each process of this start does',
  wallet_message: 'a nonce of its own in each answer',
  stream: 'what comes from now on',
  screener: 'of each market whether it was heard a moment before the asking',
  funding_extreme: 'of each market whether it was heard a moment before the asking',
}

/** Fields that tell when it was asked, and how long before that something was. */
const ofTheAsking: Readonly<Record<string, string>> = {
  timestamp: 'when it was answered',
  as_of: 'the newest input that there is',
  stale: 'whether that is old by now',
  scanned_at: 'when all markets were read for it',
  cached: 'whether somebody else had asked a moment before',
  age_ms: 'from the newest input to the asking',
  spot_age_ms: 'from the spot price to the asking',
  held_usdc: 'what each API instance of the last minute has set aside',
  time_to_funding_ms: 'from the asking to the next settlement',
}

/** What the examples of path parameters cannot be: what this system has. */
export interface Present {
  /** An API key that pays. */
  readonly payer: string
  /** By the first part of the path: the id there, and the token that opens it. */
  readonly ids: Readonly<Record<string, { readonly id: string; readonly token: string }>>
  /** A time of the log, ISO 8601. */
  readonly range: { readonly start: string; readonly end: string }
}

/** What a system told. */
export interface Everything {
  /** By target: what does not change while nothing is done to it. */
  readonly standing: Record<string, unknown>
  /** What is told of now, each with its moment of the log. */
  readonly ofNow: Answer[]
}

/**
 * What every GET route of the table answers: with the examples of its parameters, and over a range where it takes one.
 * What is not answered yet is asked again; a refusal stands with its status.
 */
export async function everyAnswer(run: RunFile, has: Present): Promise<Everything> {
  const url = urlOf(run, 'api')
  const told: Everything = { standing: {}, ofNow: [] }
  for (const route of routes.filter(({ method, name }) => method === 'GET' && leftOut[name] === undefined)) {
    const target = targetOf(route, has)
    const { text, position, ...answer } = await again(() => answerOf({ url, target, route, has }))
    if (position === null) told.standing[target] = answer.body
    else told.ofNow.push({ target, text, position })
  }
  return told
}

function targetOf(route: Route, { ids, range }: Present): string {
  const owned = ids[baseOf(route)]
  const target = owned === undefined ? exampleOf(route) : route.path.replace(/:(?:key_)?id/, owned.id)
  if (!('start' in route.input && 'end' in route.input)) return target
  const { interval, exchange } = route.input
  const query = new URLSearchParams({
    ...range,
    ...(interval !== undefined && { interval: interval.example }),
    ...(exchange !== undefined && { exchange: exchange.example }),
  })
  return `${target}?${query.toString()}`
}

/** `/alerts` of `/alerts/:id/deliveries`; empty: nothing in it is owned. */
function baseOf({ path }: Route): string {
  const [base = '', ...more] = path.split(/\/:(?:key_)?id/)
  return more.length > 0 ? base : ''
}

const ANSWER_MS = 30_000
/** Statuses of what can be told in a moment. */
const later: ReadonlySet<number> = new Set([202, 429, 503])

interface Told {
  readonly text: string
  /** Of what is told of now: its moment of the log. */
  readonly position: string | null
  readonly body: unknown
}

interface Asked {
  readonly url: string
  readonly target: string
  readonly route: Route
  readonly has: Present
}

async function answerOf({ url, target, route, has }: Asked): Promise<Told> {
  const token = has.ids[baseOf(route)]?.token
  const headers = {
    prefer: 'log-position',
    ...(route.priceUsdc > 0 && { 'x-api-key': has.payer }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  const response = await fetch(url + target, { headers, signal: AbortSignal.timeout(ANSWER_MS) })
  const text = await response.text()
  if (later.has(response.status)) throw new Error(`${target}: ${response.status} ${text}`)
  const position = response.headers.get('log-position')
  if (response.status !== 200) return { text, position: null, body: { status: response.status, text } }
  const words = text.replaceAll(url, 'http://api')
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  return { text, position, body: isJson ? steady(JSON.parse(words)) : words }
}

/** Without what is of the asking. */
function steady(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(steady)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name]) => ofTheAsking[name] === undefined)
  return Object.fromEntries(kept.map(([name, inner]) => [name, steady(inner)]))
}
