import { ApiError, type ErrorCode } from './errors.ts'
import type { Schema } from './schema.ts'
import { parseTime } from './time.ts'

/** What a parameter may be. */
export type Rule =
  /** Letters and digits, answered in upper case. */
  | { readonly kind: 'symbol' }
  | { readonly kind: 'choice'; readonly values: readonly string[]; readonly default: string }
  | { readonly kind: 'count'; readonly min: number; readonly max: number; readonly default: number }
  /** ISO 8601 or Unix milliseconds; may be left out. Its value is in milliseconds. */
  | { readonly kind: 'time' }
  /** As `symbol`, but may be left out. */
  | { readonly kind: 'filter' }
  /** A decimal number from `min` on. */
  | { readonly kind: 'decimal'; readonly min: number; readonly default: number }
  /** A registry id, taken in any case, given in lower case. */
  | { readonly kind: 'token' }
  /** Some of the batch's symbols, separated by commas; each counts once and comes in lower case. */
  | { readonly kind: 'batch'; readonly max: number }
  /** Symbols, separated by commas; each counts once and comes in upper case. */
  | { readonly kind: 'symbols'; readonly max: number }
  /** Some of the values, separated by commas; without it all of them. */
  | { readonly kind: 'choices'; readonly values: readonly string[] }
  /** A text of a shape; `description` names it. */
  | { readonly kind: 'shape'; readonly pattern: RegExp; readonly description: string; readonly optional: false }
  | { readonly kind: 'shape'; readonly pattern: RegExp; readonly description: string; readonly optional: true }

export interface Param {
  readonly in: 'path' | 'query'
  readonly rule: Rule
  readonly error: ErrorCode
  readonly description: string
  readonly example: string
}

export type Params = Readonly<Record<string, Param>>

interface Kinds {
  readonly symbol: string
  readonly choice: string
  readonly count: number
  readonly time: number | undefined
  readonly filter: string | undefined
  readonly decimal: number
  readonly token: string
  readonly batch: readonly string[]
  readonly symbols: readonly string[]
}

type ValueOf<R extends Rule> = R extends { readonly kind: 'choice'; readonly values: readonly (infer Value)[] }
  ? Value
  : R extends { readonly kind: 'choices'; readonly values: readonly (infer Value)[] }
    ? readonly Value[]
    : R extends { readonly kind: 'shape'; readonly optional: false }
      ? string
      : R extends { readonly kind: 'shape' }
        ? string | undefined
        : R extends { readonly kind: keyof Kinds }
          ? Kinds[R['kind']]
          : never

/** What `/api/v1/prices` supports. Source: service specification. */
export const batchSymbols: readonly string[] =
  'btc,eth,sol,xrp,bnb,ada,doge,avax,dot,link,matic,uni,apt,arb,op,sui,near,atom,pepe,shib,ton,trx,ltc'.split(',')

/** The values of a route's parameters, typed by their rules. */
export type Values<Input extends Params> = { readonly [Name in keyof Input]: ValueOf<Input[Name]['rule']> }

/** A parameter as the request has it: more than one where it is repeated. */
export type Raw = string | readonly string[] | undefined

/** Reads a route's parameters; throws the `ApiError` of the first one at fault, path before query. */
export function readParams<Input extends Params>(
  input: Input,
  path: Readonly<Record<string, Raw>>,
  query: Readonly<Record<string, Raw>>,
): Values<Input> {
  const entries = Object.entries(input).map(([name, param]) => {
    const raw = (param.in === 'path' ? path : query)[name]
    const value = raw === undefined ? absent(param.rule) : typeof raw === 'string' ? parse(param.rule, raw) : bad
    if (value === bad || value instanceof Wrong)
      throw new ApiError(param.error, messageOf(name, param.rule, value), { field: name })
    return [name, value]
  })
  return Object.fromEntries(entries) as Values<Input>
}

const bad = Symbol('bad')

/** A value that has something to be named. */
class Wrong {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

function messageOf(name: string, rule: Rule, value: unknown): string {
  return `${value instanceof Wrong ? `${value.why}: ` : ''}${name} must be ${ruleText(rule)}.`
}

function absent(rule: Rule): unknown {
  switch (rule.kind) {
    case 'symbol':
    case 'token':
    case 'batch':
    case 'symbols':
      return bad
    case 'choices':
      return rule.values
    case 'time':
    case 'filter':
      return undefined
    case 'shape':
      return rule.optional ? undefined : bad
    case 'choice':
    case 'count':
    case 'decimal':
      return rule.default
  }
}

/** Whether a request without the parameter is refused. */
export function isRequired(rule: Rule): boolean {
  return absent(rule) === bad
}

/** A symbol in any case, of a path, a query or a body, in upper case; undefined where it is none. */
export function upperSymbol(text: string): string | undefined {
  return /^[A-Za-z0-9]{1,20}$/.test(text) ? text.toUpperCase() : undefined
}

function parse(rule: Rule, text: string): unknown {
  switch (rule.kind) {
    case 'symbol':
    case 'filter':
      return upperSymbol(text) ?? bad
    case 'choice':
      return rule.values.includes(text) ? text : bad
    case 'count': {
      const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN
      return value >= rule.min && value <= rule.max ? value : bad
    }
    case 'time':
      return parseTime(text.replace(' ', '+')) ?? bad // a `+` of a query that nobody encoded
    case 'decimal': {
      const value = /^(?:\d{1,9}(?:\.\d{0,18})?|\.\d{1,18})(?:e[+-]?\d{1,2})?$/i.test(text) ? Number(text) : NaN
      return value >= rule.min ? value : bad
    }
    case 'token':
      return /^[A-Za-z0-9-]{1,64}$/.test(text) ? text.toLowerCase() : bad
    case 'batch':
      return parseBatch(text, rule.max)
    case 'symbols': {
      const symbols = listed(text).map(upperSymbol)
      return symbols.includes(undefined) ? bad : bounded(symbols, rule.max)
    }
    case 'choices': {
      const chosen = listed(text)
      return chosen.every((value) => rule.values.includes(value)) ? bounded(chosen, rule.values.length) : bad
    }
    case 'shape':
      return rule.pattern.test(text) ? text : bad
  }
}

function parseBatch(text: string, max: number): readonly unknown[] | Wrong | typeof bad {
  const named = listed(text).map((symbol) => symbol.toLowerCase())
  const unknown = named.find((symbol) => !batchSymbols.includes(symbol))
  // Only what could be a symbol is said back.
  if (unknown !== undefined) return /^[a-z0-9]{1,20}$/.test(unknown) ? new Wrong(`${unknown} is not supported`) : bad
  return bounded(named, max)
}

/** What stands between commas. */
function listed(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim())
  return parts.filter((part) => part !== '')
}

/** Each once, if there are any and not too many. */
function bounded(values: readonly unknown[], max: number): readonly unknown[] | typeof bad {
  const each = [...new Set(values)]
  return each.length === 0 || each.length > max ? bad : each
}

export function ruleText(rule: Rule): string {
  switch (rule.kind) {
    case 'symbol':
    case 'filter':
      return '1 to 20 letters and digits, for example BTC'
    case 'decimal':
      return `a number, ${rule.min} or more`
    case 'token':
      return 'a registry id such as bitcoin'
    case 'batch':
      return `1 to ${rule.max} of ${batchSymbols.join(', ')}, separated by commas`
    case 'symbols':
      return `1 to ${rule.max} symbols of letters and digits, separated by commas`
    case 'choices':
      return `some of ${rule.values.join(', ')}, separated by commas; all of them if left out`
    case 'choice':
      return `one of ${rule.values.join(', ')}`
    case 'count':
      return `a whole number from ${rule.min} to ${rule.max}`
    case 'time':
      return 'an ISO 8601 time or Unix milliseconds'
    case 'shape':
      return rule.description
  }
}

/** The rule as JSON Schema. */
export function ruleSchema(rule: Rule): Schema {
  switch (rule.kind) {
    case 'symbol':
    case 'filter':
      return { type: 'string', pattern: '^[A-Za-z0-9]{1,20}$' }
    case 'decimal':
      return { type: 'number', minimum: rule.min, default: rule.default }
    case 'token':
      return { type: 'string', pattern: '^[A-Za-z0-9-]{1,64}$' }
    case 'batch':
      return { type: 'string', description: `One to ${rule.max} of ${batchSymbols.join(', ')}, separated by commas` }
    case 'symbols':
      return { type: 'string', description: `One to ${rule.max} symbols, separated by commas` }
    case 'choices':
      return { type: 'string', description: ruleText(rule), default: rule.values.join(',') }
    case 'choice':
      return { type: 'string', enum: rule.values, default: rule.default }
    case 'count':
      return { type: 'integer', minimum: rule.min, maximum: rule.max, default: rule.default }
    case 'time':
      return { type: 'string' }
    case 'shape':
      return { type: 'string', pattern: rule.pattern.source }
  }
}
