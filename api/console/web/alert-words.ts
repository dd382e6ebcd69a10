/** Rules in words, and words as rules. Pure. */
import type { AlertBacktestAnswer } from './answers.ts'
import * as format from './format.ts'

/** What the API says of what it takes: a JSON Schema. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly (string | null)[]
  readonly items?: Schema
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly maxLength?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly oneOf?: readonly Schema[]
}

/** A line of the API's table of metrics. */
export interface Metric {
  readonly name: string
  readonly says: string
  /** `{base}`: of the symbol. */
  readonly unit: string
  readonly exchanges: readonly string[]
  readonly classes: readonly string[]
  /** With the windows of which one has to be named; none: it has none. */
  readonly operators: readonly { readonly operator: string; readonly windows: readonly string[] }[]
}

/** A condition as the API has it. */
export interface Leaf {
  readonly metric: string
  readonly exchange?: string | null
  readonly window?: string | null
  readonly close?: string | null
  readonly operator: string
  readonly value: number | string | readonly (number | string)[]
  readonly hysteresis?: number | string
}
export type Joint = 'all' | 'any'
export type Condition = Leaf | Readonly<Partial<Record<Joint, readonly Condition[]>>>

export function isLeaf(condition: Condition): condition is Leaf {
  return 'metric' in condition
}

/** The conditions of a group; a single one is a group of one. */
export function partsOf(condition: Condition): { readonly joint: Joint; readonly parts: readonly Condition[] } {
  if (isLeaf(condition)) return { joint: 'all', parts: [condition] }
  const joint = condition.any === undefined ? 'all' : 'any'
  return { joint, parts: condition[joint] ?? [] }
}

/** All conditions, from left to right. */
export function leavesOf(condition: Condition): readonly Leaf[] {
  return isLeaf(condition) ? [condition] : partsOf(condition).parts.flatMap(leavesOf)
}

const sizes: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, b: 1e9 }

/** Commas only where they group thousands: elsewhere they may be a decimal point, which is not guessed. */
const written = /^([+-]?(?:(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([kmb]?)$/i

/** 5,000,000, 5M and 5000000 are the same; what is no number stays as it was written, for the API to say so. */
export function numberOf(text: string): number | string {
  const [, digits = '', size = ''] = written.exec(text.trim().replace('−', '-')) ?? []
  if (digits === '') return text
  return Number((Number(digits.replaceAll(',', '')) * (sizes[size.toLowerCase()] ?? 1)).toPrecision(15))
}

/** The same in digits alone, as an address has it; undefined: it is no number. */
export function digitsOf(text: string): string | undefined {
  const number = numberOf(text)
  if (typeof number === 'string') return undefined
  return number.toLocaleString('en', { useGrouping: false, maximumSignificantDigits: 15 })
}

/** `crosses_above` as a sentence goes on behind its subject. */
export function operatorWords(operator: string): string {
  const words = operator.replaceAll('_', ' ')
  return /^(?:above|below|between)$/.test(words) ? `is ${words}` : words
}

export function unitOf({ unit }: Pick<Metric, 'unit'>, symbol: string): string {
  return unit.replace('{base}', symbol === '' ? 'base units' : symbol)
}

/** Names as one writes them in a line. */
export function namesOf(text: string): readonly string[] {
  return text.split(/[\s,;]+/).filter((name) => name !== '')
}

/** Whom a rule is about: one symbol, several, or all, where the API takes them. */
export function symbolFieldsOf(
  text: string,
  { properties = {} }: Schema,
): { symbol: string } | { symbols: readonly string[] | 'all' } {
  const names = namesOf(text)
  if (!('symbols' in properties)) return { symbol: text.trim() }
  if (text.trim().toLowerCase() === 'all') return { symbols: 'all' }
  return names.length > 1 ? { symbols: names } : { symbol: text.trim() }
}

/** A name of the API as people write it. */
export function nameWords(name: string): string {
  if (name === 'url') return 'URL'
  const words = name.replaceAll('_', ' ').replace(/ (usd|pct)$/, (unit) => (unit === ' usd' ? ', USD' : ', %'))
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** A trial of one symbol, with its figures. */
export type Trial = Pick<AlertBacktestAnswer, 'trigger_count' | 'triggers_per_day' | 'triggers' | 'no_past'> &
  Required<Pick<AlertBacktestAnswer, 'figures' | 'coverage'>>
export type Figure = Trial['figures'][number]

/** The same of several symbols. */
export type SeveralTrial = Pick<AlertBacktestAnswer, 'trigger_count'> & Required<Pick<AlertBacktestAnswer, 'by_symbol'>>

/** What a trial says, in a sentence or two. */
export function trialWords({
  trigger_count: count,
  triggers_per_day: daily,
  coverage,
  no_past: untold,
}: Trial): string {
  const { from, to, own_from: own, gap_seconds: blind, stopped_by: stopped } = coverage
  const times = count === 0 ? 'not have rung' : `have rung ${format.count(count)} ${count === 1 ? 'time' : 'times'}`
  const often = daily === null || count === 0 ? '' : `, ${daily.toPrecision(2)} a day`
  const length = format.duration(Date.parse(to) - Date.parse(from))
  const span = coverage.complete ? `in the last ${coverage.days} days` : `in the ${length} that are known`
  const missed = blind < 1 ? '' : ` For ${format.duration(blind * 1000)} of them nothing was told.`
  const cut = stopped === null ? '' : ' There was too much to look at: the newest part is left out.'
  const isOwn = own !== null && Date.parse(own) - Date.parse(from) < SEAM_MS
  const told = isOwn
    ? ''
    : ` ${own === null ? 'All of it' : `What was before ${format.moment(Date.parse(own))}`} is told by the venues’ past.`
  const [first] = untold
  const none = first === undefined ? '' : ` Only our own log is looked at: of ${nameWords(first.metric)} ${first.why}.`
  return `Would ${times} ${span}${often}.${told}${none}${missed}${cut}`
}

/** A trial whose own log begins this much later is told by that alone, milliseconds. */
const SEAM_MS = 300_000

/** What the trial of several symbols says, in a line. */
export function severalWords({ trigger_count: count, by_symbol: by }: SeveralTrial): string {
  const each = by.map(
    ({ symbol, trigger_count: own, coverage }) => `${symbol} ${coverage === null ? 'not known' : format.count(own)}`,
  )
  return `All of them: ${format.count(count)} (${each.join(', ')}).`
}

/** What a fault says; the choices only where the message does not name them. */
export function faultWords(message: string, allowed: readonly string[] = []): string {
  const isTold = allowed.every((choice) => message.includes(choice))
  return isTold ? message : `${message} Possible: ${allowed.join(', ')}.`
}
