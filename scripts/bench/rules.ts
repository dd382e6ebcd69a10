import { alerts } from '../../processors/alerts/alerts.ts'
import type { AlertsState } from '../../processors/alerts/state.ts'
import { createRule, mark, metric, price } from '../../processors/alerts/testing/records.ts'
import type { Output } from '../../processors/kernel/processor.ts'
import type { Message } from '../../schemas/records.ts'
import type { Bench, Figure } from '../figure.ts'

const COUNTS = [1_000, 100_000, 1_000_000] as const
/** Rules that the figures come by on their way: as many in a large book as in a small one. */
const NEAR = 800
/** Rounds of a price, figures of trades and of perpetuals, and a mark, a second apart; the best of some walks counts. */
const ROUNDS = 4_000
const WALKS = 3
const UPDATES = ROUNDS * 3

/** An asset's figures against a million mixed rules, a tenth of them for all symbols: as against a thousand; what a rule takes, and a start with all of them. */
const bench: Bench = () => {
  const states = COUNTS.map((count) => stateOf(count))
  const walks = states.map(({ state }) => Array.from({ length: WALKS }, (_, nth) => walk(state, nth)))
  const best = walks.map((all) => Math.min(...all.map(({ us }) => us)))
  const [rang = 0, ...others] = walks.map((all) => all.reduce((sum, one) => sum + one.rang, 0))
  if (rang === 0 || others.some((more) => more !== rang)) throw new Error('the walks did not ring alike')
  const figures = COUNTS.map((count, at): Figure => {
    const value = best[at] ?? NaN
    const baseline = best[0] ?? NaN
    const metric = `update, ${count.toLocaleString('en-US')} rules against 1,000`
    return { bench: 'rules', metric, value, unit: 'us', baseline, ratio: value / baseline, n: UPDATES * WALKS }
  })
  const most = COUNTS.at(-1) ?? 0
  const bytes = states.at(-1)?.bytes ?? NaN
  const seconds = secondsToStart(states.at(-1)?.parts ?? new Map<string, Buffer>(), most)
  return Promise.resolve([
    ...figures,
    { bench: 'rules', metric: 'triggers on that way', value: rang, unit: 'triggers', n: UPDATES * WALKS },
    { bench: 'rules', metric: 'memory of a rule', value: bytes, unit: 'bytes', n: most },
    { bench: 'rules', metric: 'start with their saved state', value: seconds, unit: 's', n: most },
  ])
}

export default bench

const ignore = (): void => undefined

function apply(state: AlertsState, message: Message, emit: (output: Output) => void): void {
  const entry = { topic: 'alerts.inputs', offset: 1, time: 0, message } as const
  alerts.apply(state, entry, { partition: 0, v: 1, partitionTime: 0 }, emit)
}

interface Loaded {
  readonly state: AlertsState
  readonly bytes: number
  /** As snapshots have it, of the most rules. */
  readonly parts: ReadonlyMap<string, Buffer>
}

function stateOf(count: number): Loaded {
  const state = alerts.empty()
  apply(state, mark(0), ignore)
  const before = process.memoryUsage().heapUsed
  for (let n = 0; n < count; n++) apply(state, ruleOf(n), ignore)
  const bytes = (process.memoryUsage().heapUsed - before) / count
  const isMost = count === COUNTS.at(-1)
  const parts = [...alerts.save(state)].flatMap(([key, part]): [string, Buffer][] =>
    part && isMost ? [[key, part]] : [],
  )
  return { state, bytes, parts: new Map(parts) }
}

function secondsToStart(parts: ReadonlyMap<string, Buffer>, count: number): number {
  const startedAt = performance.now()
  const state = alerts.load(parts)
  const seconds = (performance.now() - startedAt) / 1_000
  if (state.alerts.size !== count) throw new Error(`${state.alerts.size} of ${count} rules were there after the start`)
  return seconds
}

/** The first near the way of the figures, the others beyond it; of one condition, or two that are joined. */
function ruleOf(n: number): Message<'command'> {
  const far = n < NEAR ? (n % 100) / 100 : 2 + 50 * ((n * 0.618_033_988_7) % 1)
  const side = n % 2 === 0 ? { operator: 'above', value: far } : { operator: 'below', value: -far }
  const leaves = [
    { metric: 'cvd', ...side },
    { metric: 'cvd_change', window: '5m', ...side, value: side.value * 500 },
    { metric: 'funding_rate_pct', exchange: 'okx', ...side },
    { metric: 'open_interest_change_pct', window: '1m', ...side, value: side.value * 100 },
    { metric: 'price', operator: side.operator, value: 60_000 * (1 + side.value / 10) },
  ]
  const leaf = leaves[n % leaves.length] ?? {}
  const when =
    n % 7 === 0 ? { all: [leaf, leaves[(n + 1) % leaves.length]] } : n % 11 === 0 ? { any: [leaf, leaves[0]] } : leaf
  const isForAll = n % 10 === 9
  const { value } = createRule(when, {
    id: `alert_rule_btc_1786060800_${100_000 + n}${isForAll ? '.a0' : ''}`,
    hours: 720,
  })
  return { type: 'command', value: { ...value, asset: isForAll ? '*0' : value.asset } }
}

function walk(state: AlertsState, nth: number): { readonly us: number; readonly rang: number } {
  const messages = [...wayOf(nth * ROUNDS + 1)]
  let rang = 0
  const startedAt = performance.now()
  for (const message of messages) apply(state, message, ({ topic }) => (rang += Number(topic === 'alerts.triggers')))
  const us = ((performance.now() - startedAt) * 1_000) / UPDATES
  save(state)
  return { us, rang }
}

function* wayOf(first: number): Generator<Message> {
  for (let n = first; n < first + ROUNDS; n++) {
    const swing = Math.sin(n / 300)
    yield price(n, 60_000 * (1 + swing / 10))
    yield metric(n, 'cvd', { 'cvd@binance': swing, 'buy@binance': 1 + swing, 'sell@binance': 1 - swing / 2 })
    yield metric(n, 'funding', { 'funding_rate@okx': swing, 'open_interest@okx': 1_000 * (2 + swing) })
    yield mark(n)
  }
}

function save(state: AlertsState): void {
  for (const _part of alerts.save(state)) continue
}
