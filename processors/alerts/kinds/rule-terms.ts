import {
  candles,
  durationOf,
  isMetric,
  looksAtWindow,
  metricNames,
  metricOf,
  windows,
  type Metric,
  type MetricName,
} from '../metrics.ts'
import { seriesName, type SeriesSpec } from '../series.ts'

export const operators = [
  'above',
  'below',
  'crosses_above',
  'crosses_below',
  'between',
  'changes_by',
  'becomes',
] as const
export type Operator = (typeof operators)[number]

/** A figure beyond a bound: a rule's smallest part. Its fields stand in this order in the log. */
export interface Leaf {
  readonly metric: MetricName
  /** Null: over all venues. */
  readonly exchange: string | null
  readonly window: string | null
  /** Looked at when a candle of this length closes; null: at once. */
  readonly close: string | null
  readonly operator: Operator
  readonly value: number | readonly [number, number] | string
  /** How far behind the bound it counts as over, once the rule has rung. */
  readonly hysteresis: number
}

export type Condition = Leaf | { readonly all: readonly Condition[] } | { readonly any: readonly Condition[] }

/** What a rule waits for, and how it rings. Durations are texts such as `5m`. */
export interface RuleTerms {
  readonly kind: 'rule'
  readonly when: Condition
  /** How long it has to have held; null: not at all. */
  readonly held_for: string | null
  readonly repeat: boolean
  readonly cooldown: string
  /** Another message tells when it is over. */
  readonly resolved: boolean
  readonly note: string | null
  /** Of rules that were made together. */
  readonly group: string | null
  /** By which its owner finds it. */
  readonly tags: readonly string[]
}

/** What of a rule cannot be right, where, and what could be there. */
export interface Fault {
  /** JSON pointer into the rule. */
  readonly pointer: string
  readonly message: string
  readonly allowed: readonly string[]
}

const LEAVES_MAX = 10
export const DEPTH_MAX = 3
export const NOTE_MAX = 500
export const TAGS_MAX = 10
export const COOLDOWN_DEFAULT = '1m'

type Given = Readonly<Record<string, unknown>>

class Wrong extends Error {
  readonly fault: Fault
  constructor(pointer: string, message: string, allowed: readonly string[] = []) {
    super(message)
    this.fault = { pointer, message, allowed }
  }
}

/** Reads a rule from what anyone asks for: whole, its defaults filled in, or the first fault that it has. */
export function readRuleTerms(given: Given): RuleTerms | Fault {
  return readWith(given, (terms) => {
    assertCanBeOver(terms.when, '/when')
  })
}

/** Reads a rule of the log, where some stand that are refused now. */
export function readWrittenTerms(given: Given): RuleTerms | Fault {
  return readWith(given, () => undefined)
}

function readWith(given: Given, check: (terms: RuleTerms) => void): RuleTerms | Fault {
  try {
    const terms = read(given)
    check(terms)
    return terms
  } catch (error) {
    if (error instanceof Wrong) return error.fault
    throw error
  }
}

export function isFault(read: RuleTerms | Fault): read is Fault {
  return 'pointer' in read
}

function read(given: Given): RuleTerms {
  const when = readCondition(given['when'], '/when', 1)
  if (leavesOf(when).length > LEAVES_MAX) throw new Wrong('/when', `A rule has at most ${LEAVES_MAX} conditions.`)
  const repeat = flag(given['repeat'], '/repeat', true)
  const resolved = flag(given['resolved'], '/resolved', false)
  if (resolved && !repeat)
    throw new Wrong('/resolved', 'A rule that rings once is over with its ring; leave resolved out, or repeat.', [
      'false',
    ])
  return {
    kind: 'rule',
    when,
    held_for:
      given['held_for'] === undefined || given['held_for'] === null
        ? null
        : duration(given['held_for'], '/held_for', ['10s', '24h']),
    repeat,
    cooldown: duration(given['cooldown'] ?? COOLDOWN_DEFAULT, '/cooldown', ['1m', '7d']),
    resolved,
    note: words(given['note'], '/note', NOTE_MAX),
    group: words(given['group'], '/group', 64),
    tags: readTags(given['tags']),
  }
}

const noTags: readonly string[] = []

function readTags(given: unknown): readonly string[] {
  if (given === undefined || given === null) return noTags
  const isList = Array.isArray(given) && given.length <= TAGS_MAX
  if (!isList) throw new Wrong('/tags', `tags is a list of at most ${TAGS_MAX} names.`)
  const tags = given.map((tag, at) => words(tag, `/tags/${at}`, 32))
  return tags.length === 0 ? noTags : [...new Set(tags.filter((tag) => tag !== null))]
}

function readCondition(given: unknown, pointer: string, depth: number): Condition {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Wrong(pointer, 'A condition is an object: {"metric": ...}, {"all": [...]} or {"any": [...]}.', [
      'metric',
      'all',
      'any',
    ])
  const condition = given as Given
  const joint = (['all', 'any'] as const).find((name) => name in condition)
  if (joint === undefined) return readLeaf(condition, pointer)
  onlyFields(condition, [joint], pointer)
  if (depth > DEPTH_MAX) throw new Wrong(pointer, `Conditions are joined at most ${DEPTH_MAX} deep.`)
  const parts = condition[joint]
  if (!Array.isArray(parts) || parts.length === 0)
    throw new Wrong(`${pointer}/${joint}`, `${joint} is a list of one condition or more.`)
  const read = parts.map((part, at) => readCondition(part, `${pointer}/${joint}/${at}`, depth + 1))
  return joint === 'all' ? { all: read } : { any: read }
}

const leafFields = ['metric', 'exchange', 'window', 'close', 'operator', 'value', 'hysteresis']

function readLeaf(given: Given, pointer: string): Leaf {
  onlyFields(given, leafFields, pointer)
  const { metric: name } = given
  if (!isMetric(name))
    throw new Wrong(`${pointer}/metric`, `metric must be one of ${metricNames.join(', ')}.`, metricNames)
  const metric = metricOf(name)
  const operator = chosen(given['operator'], operatorsOf(metric), `${pointer}/operator`)
  const exchange =
    given['exchange'] === undefined || given['exchange'] === null
      ? null
      : chosen(given['exchange'], metric.exchanges, `${pointer}/exchange`)
  const close =
    given['close'] === undefined || given['close'] === null ? null : chosen(given['close'], candles, `${pointer}/close`)
  return {
    metric: name,
    exchange,
    window: readWindow(given['window'], { name, metric, operator }, `${pointer}/window`),
    close,
    operator,
    value: readValue(given['value'], metric, operator, `${pointer}/value`),
    hysteresis: readHysteresis(given['hysteresis'], operator, `${pointer}/hysteresis`),
  }
}

/** What can be asked of a metric. */
export function operatorsOf({ make }: Metric): readonly Operator[] {
  if (make === 'class') return ['becomes']
  return operators.filter((name) => name !== 'becomes' && (name !== 'changes_by' || make === 'value'))
}

/** The windows of which a condition has to name one; none: it has no window. */
export function windowsOf(metric: Metric, operator: Operator): readonly string[] {
  if (metric.periods !== undefined) return metric.periods
  return looksAtWindow(metric) || operator === 'changes_by' ? windows : []
}

interface Asked {
  readonly name: MetricName
  readonly metric: Metric
  readonly operator: Operator
}

function readWindow(given: unknown, { name, metric, operator }: Asked, pointer: string): string | null {
  const allowed = windowsOf(metric, operator)
  if (allowed.length > 0) return chosen(given, allowed, pointer)
  if (given === undefined || given === null) return null
  throw new Wrong(pointer, `${name} has no window; leave it out, or ask how much it changes_by in one.`)
}

function readValue(given: unknown, { classes }: Metric, operator: Operator, pointer: string): Leaf['value'] {
  if (classes !== undefined) return chosen(given, classes, pointer)
  if (operator === 'between') {
    const [low, high] = Array.isArray(given) ? (given as unknown[]) : []
    if (!isNumber(low) || !isNumber(high) || (given as unknown[]).length !== 2 || low > high)
      throw new Wrong(pointer, 'between takes two numbers, the lower first, for example [10, 20].')
    return [low, high]
  }
  if (!isNumber(given)) throw new Wrong(pointer, `${operator} takes a number.`)
  if (operator === 'changes_by' && given <= 0)
    throw new Wrong(pointer, 'changes_by takes a number over 0: it counts either way.')
  return given
}

function readHysteresis(given: unknown, operator: Operator, pointer: string): number {
  if (given === undefined || given === null) return 0
  if (!isNumber(given) || given < 0) throw new Wrong(pointer, 'hysteresis must be a number, 0 or more.')
  if (operator === 'becomes' && given > 0) throw new Wrong(pointer, 'A class has no hysteresis; leave it out.', ['0'])
  return given
}

/** Throws where a hysteresis reaches so far that what has rung is met for ever. */
function assertCanBeOver(condition: Condition, pointer: string): void {
  if ('all' in condition) condition.all.forEach((part, at) => assertCanBeOver(part, `${pointer}/all/${at}`))
  else if ('any' in condition) condition.any.forEach((part, at) => assertCanBeOver(part, `${pointer}/any/${at}`))
  else assertLeafCanBeOver(condition, `${pointer}/hysteresis`)
}

function assertLeafCanBeOver({ metric, operator, value, hysteresis }: Leaf, pointer: string): void {
  if (hysteresis === 0 || typeof value !== 'number') return
  if (operator === 'changes_by' && hysteresis >= value)
    throw new Wrong(pointer, `hysteresis must be less than value, ${value}; else the change is never over.`)
  if (operator.endsWith('above') && hysteresis > value && metricOf(metric).isNeverNegative === true)
    throw new Wrong(
      pointer,
      `hysteresis must be at most value, ${value}: ${metric} is never below 0, and so never over.`,
    )
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function chosen<Name extends string>(given: unknown, allowed: readonly Name[], pointer: string): Name {
  const known = allowed.find((name) => name === given)
  if (known !== undefined) return known
  const field = pointer.slice(pointer.lastIndexOf('/') + 1)
  const advice =
    allowed.length === 0 ? `${field} cannot be said of this metric` : `${field} must be one of ${allowed.join(', ')}`
  throw new Wrong(pointer, `${advice}.`, allowed)
}

function onlyFields(given: Given, allowed: readonly string[], pointer: string): void {
  const other = Object.keys(given).find((name) => !allowed.includes(name))
  if (other !== undefined) throw new Wrong(`${pointer}/${other}`, `There is no field ${other} here.`, allowed)
}

function flag(given: unknown, pointer: string, usual: boolean): boolean {
  if (given === undefined || given === null) return usual
  if (typeof given === 'boolean') return given
  throw new Wrong(pointer, `${pointer.slice(1)} must be true or false.`, ['true', 'false'])
}

function duration(given: unknown, pointer: string, [least, most]: readonly [string, string]): string {
  const [length = NaN, from = NaN, to = NaN] = [given, least, most].map(durationOf)
  if (length >= from && length <= to) return String(given)
  throw new Wrong(pointer, `${pointer.slice(1)} must be a time such as 90s, 5m or 2h, from ${least} to ${most}.`)
}

function words(given: unknown, pointer: string, most: number): string | null {
  if (given === undefined || given === null) return null
  if (typeof given === 'string' && given.length > 0 && given.length <= most) return given
  throw new Wrong(pointer, `${pointer.slice(1)} must be a text of at most ${most} characters.`)
}

/** All conditions of a rule, from left to right. */
export function leavesOf(condition: Condition): readonly Leaf[] {
  if ('all' in condition) return condition.all.flatMap(leavesOf)
  return 'any' in condition ? condition.any.flatMap(leavesOf) : [condition]
}

/** The series that a condition looks at. */
export function seriesOf(leaf: Leaf): string {
  return seriesName(specOf(leaf))
}

export function specOf({ metric, exchange, window, close, operator }: Leaf): SeriesSpec {
  return { metric, exchange, window, close, isMove: operator === 'changes_by' }
}

/** The interval of values in which a condition is met, and whether its ends are part of it. */
export interface Interval {
  readonly low: number
  readonly high: number
  readonly isClosed: boolean
}

/** `isWide`: what has rung stays met until it is behind the bound by the hysteresis. */
export function intervalOf({ operator, value, hysteresis, metric }: Leaf, isWide: boolean): Interval {
  const slack = isWide ? hysteresis : 0
  if (typeof value === 'string') {
    const index = metricOf(metric).classes?.indexOf(value) ?? NaN
    return { low: index, high: index, isClosed: true }
  }
  if (typeof value === 'object') return { low: value[0] - slack, high: value[1] + slack, isClosed: true }
  if (operator === 'changes_by') return { low: value - slack, high: Infinity, isClosed: true }
  const isBelow = operator === 'below' || operator === 'crosses_below'
  return isBelow
    ? { low: -Infinity, high: value + slack, isClosed: false }
    : { low: value - slack, high: Infinity, isClosed: false }
}

/** It has to have been seen not met before it is met. */
export function isEdge({ when }: RuleTerms): boolean {
  return leavesOf(when).some(({ operator }) => operator.startsWith('crosses') || operator === 'becomes')
}
