import { periods } from '../../../processors/cvd/periods.ts'
import { signalClasses } from '../../../processors/cvd/signal.ts'
import { fundingClasses, sentiments } from '../../../processors/funding/classes.ts'
import { cascadeRisks } from '../../../processors/liquidations/cascade.ts'
import type { Signal } from '../../../schemas/records.ts'
import { fundingVenues } from '../../../schemas/venues.ts'

/** Which way a signal bets: its return is the price's own, or that with the sign turned. */
export type Side = 'long' | 'short'

/** A class that a signal must come to, or be in. */
export interface Condition {
  readonly kind: string
  /** Left out: any. */
  readonly period?: string
  readonly exchange?: string
  readonly to: readonly string[]
}

/** One line of a rules file: a decision is made when `when` comes about while every one of `and` holds. */
export interface Rule {
  readonly name: string
  readonly when: Condition
  readonly and?: readonly Condition[]
  readonly side: Side
  /** Upper-case symbols; left out: every one. */
  readonly symbols?: readonly string[]
}

/** A rules file that cannot be followed: the message names the rule and the field. */
export class RulesError extends Error {
  readonly code = 'bad-rules'
}

const RULES_MAX = 100

/** The signals that rules are made of, with what their records may say. */
const kinds: Readonly<Record<string, Readonly<Record<'class' | 'period' | 'exchange', readonly string[]>>>> = {
  cvd: { class: signalClasses, period: Object.keys(periods), exchange: [] },
  funding: { class: fundingClasses, period: [], exchange: fundingVenues },
  sentiment: { class: sentiments, period: [], exchange: [] },
  cascade_risk: { class: cascadeRisks, period: [], exchange: [] },
}

/** Reads a rules file: a list of rules. Throws `RulesError`. */
export function readRules(file: unknown): readonly Rule[] {
  if (!Array.isArray(file) || file.length === 0 || file.length > RULES_MAX)
    throw new RulesError(`a rules file is a list of 1 to ${RULES_MAX} rules`)
  const rules = file.map((rule: unknown, index) => readRule(rule, `rule ${index + 1}`))
  for (const { name, side } of rules) {
    if (rules.some((other) => other.name === name && other.side !== side))
      throw new RulesError(`${name}: rules of one name are one group, so that they must have one side`)
  }
  return rules
}

function readRule(rule: unknown, where: string): Rule {
  if (!isObject(rule)) throw new RulesError(`${where} must be an object`)
  const { name, when, and, side, symbols } = rule
  if (typeof name !== 'string' || name === '') throw new RulesError(`${where}: name must be a text`)
  checkFields(rule, ['name', 'when', 'and', 'side', 'symbols'], name)
  if (side !== 'long' && side !== 'short') throw new RulesError(`${name}: side must be long or short`)
  if (and !== undefined && !Array.isArray(and)) throw new RulesError(`${name}: and must be a list of conditions`)
  if (symbols !== undefined && !isTexts(symbols)) throw new RulesError(`${name}: symbols must be a list of symbols`)
  return {
    name,
    when: readCondition(when, `${name}: when`),
    side,
    ...(and === undefined
      ? {}
      : { and: and.map((part: unknown, at) => readCondition(part, `${name}: and, ${at + 1}`)) }),
    ...(symbols === undefined ? {} : { symbols: symbols.map((symbol) => symbol.toUpperCase()) }),
  }
}

function readCondition(value: unknown, where: string): Condition {
  if (!isObject(value)) throw new RulesError(`${where} must be an object with kind and to`)
  const { kind, period, exchange, to } = value
  checkFields(value, ['kind', 'period', 'exchange', 'to'], where)
  if (typeof kind !== 'string') throw new RulesError(`${where}: kind must be one of ${Object.keys(kinds).join(', ')}`)
  const known = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  if (known === undefined) throw new RulesError(`${where}: no kind ${kind}; there are ${Object.keys(kinds).join(', ')}`)
  if (!isTexts(to) || to.length === 0) throw new RulesError(`${where}: to must be a list of classes`)
  const check = (what: keyof typeof known, text: unknown): void => {
    if (typeof text !== 'string') throw new RulesError(`${where}: ${what} must be a text`)
    if (known[what].includes(text)) return
    const there = known[what].length === 0 ? ', which has none' : `; there are ${known[what].join(', ')}`
    throw new RulesError(`${where}: no ${what} ${text} of ${kind}${there}`)
  }
  for (const text of to) check('class', text)
  if (period !== undefined) check('period', period)
  if (exchange !== undefined) check('exchange', exchange)
  return {
    kind,
    to,
    ...(typeof period === 'string' ? { period } : {}),
    ...(typeof exchange === 'string' ? { exchange } : {}),
  }
}

function checkFields(value: object, known: readonly string[], where: string): void {
  const other = Object.keys(value).find((name) => !known.includes(name))
  if (other !== undefined) throw new RulesError(`${where}: no field ${other}; there are ${known.join(', ')}`)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

/** The class that each signal of each asset has come to. */
export class Standing {
  readonly #classes = new Map<string, Signal[]>()

  /** Notes a change of class. */
  note(signal: Signal): void {
    const known = this.#classes.get(signal.asset) ?? []
    this.#classes.set(signal.asset, [...known.filter((other) => !isSame(other, signal)), signal])
  }

  holds(asset: string, condition: Condition): boolean {
    return (this.#classes.get(asset) ?? []).some((signal) => meets(signal, condition))
  }
}

function isSame(a: Signal, b: Signal): boolean {
  return a.kind === b.kind && a.period === b.period && a.exchange === b.exchange
}

/** Whether a change of class is the one that a condition asks for. */
export function meets({ kind, period, exchange, to }: Signal, condition: Condition): boolean {
  return (
    kind === condition.kind &&
    condition.to.includes(to) &&
    (condition.period === undefined || condition.period === period) &&
    (condition.exchange === undefined || condition.exchange === exchange)
  )
}

/** What a signal bets on where no rules file says it: pressure and premium as their names have it. */
export function sideOf({ to }: Signal): Side | null {
  const name = to.toLowerCase()
  if (name.includes('bullish')) return 'long'
  return name.includes('bearish') ? 'short' : null
}
