import { alerts } from '../../processors/alerts/alerts.ts'
import { alertKinds } from '../../processors/alerts/kinds/kinds.ts'
import { isFault, readRuleTerms, type RuleTerms } from '../../processors/alerts/kinds/rule-terms.ts'
import { nobody } from '../../processors/alerts/record.ts'
import { durationOf, figureInputs, type MetricInput } from '../../processors/alerts/metrics.ts'
import { AHEAD_MAX } from '../../processors/alerts/state.ts'
import { emptyFields } from '../../schemas/codec.ts'
import type { CompositePrice, Figure, LiquidationRisk, Message, Micros } from '../../schemas/records.ts'

/** What of a file of rules and their tests cannot be read; the message says where. */
export class TestFileError extends Error {}

/** How a test went; no faults: every rule rang when it was expected to, and only then. */
export interface TestResult {
  readonly test: string
  readonly faults: readonly string[]
}

type Given = Readonly<Record<string, unknown>>

interface NamedRule {
  readonly name: string
  readonly terms: RuleTerms
}

/** Times at which rules ring, such as `buyers 1m10s`, and `buyers 2m over`. */
type Rings = readonly string[]

const SECOND: Micros = 1_000_000
/** Where the series begin: a bound of every candle. */
const T0: Micros = 1_767_225_600 * SECOND
const ASSET = 'btc'
const STEPS_MAX = 100_000

/** Rings the rules of a file over each of its tests by the core that decides about live ones. Throws `TestFileError`. */
export function testRules(file: unknown): readonly TestResult[] {
  const { rules, tests } = object(file, 'the file')
  const named = list(rules, 'rules').map((rule, at) => readRule(object(rule, `rules/${at}`), at))
  return list(tests, 'tests').map((test, at) => runTest(object(test, `tests/${at}`), named, `tests/${at}`))
}

function readRule(given: Given, at: number): NamedRule {
  const { name } = given
  if (typeof name !== 'string' || /\s/.test(name))
    throw new TestFileError(`rules/${at}/name: a rule has a name without spaces`)
  const terms = readRuleTerms(given)
  if (isFault(terms)) throw new TestFileError(`rules/${at} (${name})${terms.pointer}: ${terms.message}`)
  return { name, terms }
}

function runTest(test: Given, rules: readonly NamedRule[], where: string): TestResult {
  const every = durationOf(test['interval'] ?? '10s')
  if (every === undefined) throw new TestFileError(`${where}/interval: a time such as 10s`)
  const series = Object.entries(object(test['series'], `${where}/series`)).map(([name, values]) => {
    return { name, values: valuesOf(values, `${where}/series/${name}`) }
  })
  const expected = expectedOf(object(test['expect'] ?? {}, `${where}/expect`), rules, where)
  const rang = ring(rules, series, every)
  const faults = [
    ...expected.filter((one) => !rang.includes(one)).map((one) => `expected, but did not ring: ${one}`),
    ...rang.filter((one) => !expected.includes(one)).map((one) => `rang, but was not expected: ${one}`),
  ]
  return { test: typeof test['name'] === 'string' ? test['name'] : where, faults }
}

function expectedOf(expect: Given, rules: readonly NamedRule[], where: string): Rings {
  return Object.entries(expect).flatMap(([name, times]) => {
    if (!rules.some((rule) => rule.name === name))
      throw new TestFileError(`${where}/expect/${name}: there is no such rule`)
    return list(times, `${where}/expect/${name}`).map((time) => `${name} ${String(time)}`)
  })
}

interface Series {
  readonly name: string
  readonly values: readonly (number | null)[]
}

/** `1 2 _ 3+1x4 0x2`: values, none, steps from 3 by 1 four times on, a value twice more. Or a list of numbers and nulls. */
function valuesOf(given: unknown, where: string): readonly (number | null)[] {
  const parts: readonly unknown[] = typeof given === 'string' ? given.trim().split(/\s+/) : list(given, where)
  const values = parts.flatMap((part) => stepsOf(part, where))
  if (values.length > STEPS_MAX) throw new TestFileError(`${where}: at most ${STEPS_MAX} values`)
  return values
}

function stepsOf(part: unknown, where: string): readonly (number | null)[] {
  if (part === null || part === '_') return [null]
  const [, from, step = '0', times = '0'] =
    /^(-?[\d.]+)(?:([+-][\d.]+))?(?:x(\d{1,5}))?$/.exec(
      typeof part === 'number' ? String(part) : typeof part === 'string' ? part : '',
    ) ?? []
  if (from === undefined) throw new TestFileError(`${where}: ${JSON.stringify(part)} is no value; 5, _, 1+2x3 are`)
  return Array.from({ length: Number(times) + 1 }, (_, at) => Number(from) + at * Number(step))
}

/** When the rules ring, by time; those of one moment by name. */
function ring(rules: readonly NamedRule[], series: readonly Series[], every: Micros): Rings {
  const state = alerts.empty()
  const rang: string[] = []
  let offset = 0
  const apply = (message: Message): void => {
    const entry = { topic: 'alerts.inputs', offset, time: 0, message } as const
    alerts.apply(state, entry, { partition: 0, v: offset, partitionTime: state.time }, (output) => {
      if (output.message?.type !== 'trigger') return
      const { alert_id: name, trigger_id: id, time } = output.message.value
      rang.push(`${name} ${timeText(time - T0)}${id.endsWith('_over') ? ' over' : ''}`)
    })
    offset += 1
  }
  apply(markOf(T0))
  for (const rule of rules) apply(commandOf(rule))
  const steps = Math.max(0, ...series.map(({ values }) => values.length))
  for (let at = 0; at < steps; at++) {
    const time = T0 + (at + 1) * every
    for (let passed = state.time + SECOND; passed <= time; passed += SECOND) apply(markOf(passed))
    for (const message of messagesOf(series, at, time)) apply(message)
  }
  return rang
}

function messagesOf(series: readonly Series[], at: number, time: Micros): Message[] {
  const told = series.flatMap(({ name, values }) => {
    const value = values[at]
    const [figure = '', exchange = null] = name.split('@')
    return value === undefined || value === null ? [] : [{ figure, exchange, value }]
  })
  const byInput = Map.groupBy(told, ({ figure }) => inputOf(figure))
  return [...byInput].map(([input, figures]) => messageOf(input, figures, time))
}

function inputOf(figure: string): MetricInput {
  const input = figureInputs.get(figure)
  if (input !== undefined) return input
  throw new TestFileError(`series/${figure}: there is no such figure; there are ${[...figureInputs.keys()].join(', ')}`)
}

function messageOf(input: MetricInput, figures: readonly Figure[], time: Micros): Message {
  if (input === 'composite_price') return { type: 'composite_price', value: priceOf(figures, time) }
  if (input === 'liquidation_risk') return { type: 'liquidation_risk', value: riskOf(figures, time) }
  return { type: 'metric', value: { asset: ASSET, core: input, figures: [...figures], time, v: 0 } }
}

function priceOf(figures: readonly Figure[], time: Micros): CompositePrice {
  const price = figures.find(({ exchange }) => exchange === null)?.value ?? figures[0]?.value ?? 0
  const sources = figures.flatMap(({ exchange, value }) =>
    exchange === null ? [] : [{ exchange, instrument: '', price: value, low: value, high: value, time }],
  )
  return {
    asset: ASSET,
    price,
    low: price,
    high: price,
    change_24h: null,
    sources,
    quality: 'good',
    late: false,
    bounds_from: 0,
    time,
    v: 0,
  }
}

function riskOf(figures: readonly Figure[], time: Micros): LiquidationRisk {
  const value = (name: string): number | undefined => figures.find(({ figure }) => figure === name)?.value
  const cascade_risk = (['low', 'medium', 'high'] as const)[value('cascade_class') ?? 0] ?? 'unknown'
  const at_risk_5_pct = value('at_risk') ?? 0
  const none = {
    ...emptyFields('liquidation_risk'),
    price: 0,
    open_interest_usd: 0,
    at_risk_5_usd: 0,
    at_risk_10_usd: 0,
  }
  const swept = { at_risk_10_pct: 0, swept_long_usd: 0, swept_short_usd: 0, since: T0 }
  return { asset: ASSET, ...none, at_risk_5_pct, cascade_risk, ...swept, time, v: 0 }
}

function commandOf({ name, terms }: NamedRule): Message<'command'> {
  const hours = AHEAD_MAX / (3_600 * SECOND)
  const alert = { ...nobody, ...alertKinds.of(terms).write(terms), symbol: 'BTC', expires_in_hours: hours }
  const command = { request_id: name, action: 'create', asset: ASSET, alert_id: name, alert, created: T0 } as const
  return { type: 'command', value: { ...emptyFields('command'), ...command } }
}

function markOf(time: Micros): Message<'mark'> {
  const value = { ...emptyFields('mark'), writer: 'rules', run: 0, time }
  return { type: 'mark', value }
}

/** `1h2m3s`, without what is none. */
function timeText(micros: Micros): string {
  const seconds = Math.round(micros / SECOND)
  const parts = [
    [Math.floor(seconds / 3_600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const
  return parts.map(([count, unit]) => (count === 0 ? '' : `${count}${unit}`)).join('') || '0s'
}

function object(given: unknown, where: string): Given {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given as Given
  throw new TestFileError(`${where}: must be an object`)
}

function list(given: unknown, where: string): readonly unknown[] {
  if (Array.isArray(given)) return given as unknown[]
  throw new TestFileError(`${where}: must be a list`)
}
