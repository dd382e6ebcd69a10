import { ApiError, type ErrorCode } from './errors.ts'
import type { Schema } from './schema.ts'
import { parseTime } from './time.ts'

/** What a parameter may be. */
export interface Rule<Value = unknown> {
  readonly read: (text: string) => Value | Wrong
  /** What it is in a request without it; `Wrong`: it is required. */
  readonly absent: Value | Wrong
  /** What it must be. */
  readonly words: string
  readonly schema: Schema
  /** What clients take for the text, where it is not what `schema` says. */
  readonly given?: 'time' | 'texts'
}

/** What is no value of a rule. */
class Wrong {
  /** What is to be named of it. */
  readonly why: string
  constructor(why = '') {
    this.why = why
  }
}

const wrong = new Wrong()

export interface Param {
  readonly in: 'path' | 'query'
  readonly rule: Rule
  readonly error: ErrorCode
  readonly description: string
  readonly example: string
}

export type Params = Readonly<Record<string, Param>>

/** The values of a route's parameters, typed by their rules. */
export type Values<Input extends Params> = {
  readonly [Name in keyof Input]: Input[Name]['rule'] extends Rule<infer Value> ? Value : never
}

/** A parameter as the request has it: more than one where it is repeated. */
export type Raw = string | readonly string[] | undefined

/** Reads a route's parameters; throws the `ApiError` of the first one at fault, path before query. */
export function readParams<Input extends Params>(
  input: Input,
  path: Readonly<Record<string, Raw>>,
  query: Readonly<Record<string, Raw>>,
): Values<Input> {
  const entries = Object.entries(input).map(([name, { in: location, rule, error }]) => {
    const raw = (location === 'path' ? path : query)[name]
    const value = raw === undefined ? rule.absent : typeof raw === 'string' ? rule.read(raw) : wrong
    if (!(value instanceof Wrong)) return [name, value]
    const why = value.why === '' ? '' : `${value.why}: `
    throw new ApiError(error, `${why}${name} must be ${rule.words}.`, { field: name })
  })
  return Object.fromEntries(entries) as Values<Input>
}

/** Whether a request without the parameter is refused. */
export function isRequired(rule: Rule): boolean {
  return rule.absent instanceof Wrong
}

/** A symbol in any case, of a path, a query or a body, in upper case; undefined where it is none. */
export function upperSymbol(text: string): string | undefined {
  return SYMBOL.test(text) ? text.toUpperCase() : undefined
}

const SYMBOL = /^[A-Za-z0-9]{1,20}$/
const TOKEN = /^[A-Za-z0-9-]{1,64}$/

/** Letters and digits, answered in upper case. */
export const symbolRule: Rule<string> = {
  ...shape(SYMBOL, '1 to 20 letters and digits, for example BTC'),
  read: (text) => upperSymbol(text) ?? wrong,
}

/** A registry id, taken in any case, given in lower case. */
export const tokenRule: Rule<string> = {
  ...shape(TOKEN, 'a registry id such as bitcoin'),
  read: (text) => (TOKEN.test(text) ? text.toLowerCase() : wrong),
}

/** ISO 8601 or Unix milliseconds; may be left out. Its value is in milliseconds. */
export const timeRule: Rule<number | undefined> = {
  read: (text) => parseTime(text.replace(' ', '+')) ?? wrong, // a `+` of a query that nobody encoded
  absent: undefined,
  words: 'an ISO 8601 time or Unix milliseconds',
  schema: { type: 'string' },
  given: 'time',
}

/** A text of a shape; `words` name it. */
export function shape(pattern: RegExp, words: string): Rule<string> {
  return {
    read: (text) => (pattern.test(text) ? text : wrong),
    absent: wrong,
    words,
    schema: { type: 'string', pattern: pattern.source },
  }
}

/** The same, but it may be left out. */
export function optional<Value>(rule: Rule<Value>): Rule<Value | undefined> {
  return { ...rule, absent: undefined }
}

export function choice<const Value extends string>(values: readonly Value[], usual: NoInfer<Value>): Rule<Value> {
  return {
    read: (text) => oneOf(values, text),
    absent: usual,
    words: `one of ${values.join(', ')}`,
    schema: { type: 'string', enum: values, default: usual },
  }
}

function oneOf<Value extends string>(values: readonly Value[], text: string): Value | Wrong {
  return values.find((value) => value === text) ?? wrong
}

/** A whole number. */
export function count({ min, max, usual }: Readonly<Record<'min' | 'max' | 'usual', number>>): Rule<number> {
  return {
    read: (text) => within(text, /^\d{1,9}$/, min, max),
    absent: usual,
    words: `a whole number from ${min} to ${max}`,
    schema: { type: 'integer', minimum: min, maximum: max, default: usual },
  }
}

/** A decimal number from `min` on. */
export function decimal({ min, usual }: Readonly<Record<'min' | 'usual', number>>): Rule<number> {
  return {
    read: (text) => within(text, /^(?:\d{1,9}(?:\.\d{0,18})?|\.\d{1,18})(?:e[+-]?\d{1,2})?$/i, min),
    absent: usual,
    words: `a number, ${min} or more`,
    schema: { type: 'number', minimum: min, default: usual },
  }
}

function within(text: string, notation: RegExp, min: number, max = Infinity): number | Wrong {
  const value = notation.test(text) ? Number(text) : NaN
  return value >= min && value <= max ? value : wrong
}

/** What `/api/v1/prices` supports. Source: service specification. */
export const batchSymbols: readonly string[] =
  'btc,eth,sol,xrp,bnb,ada,doge,avax,dot,link,matic,uni,apt,arb,op,sui,near,atom,pepe,shib,ton,trx,ltc'.split(',')

/** Some of the batch's symbols, separated by commas; each counts once and comes in lower case. */
export function batch(max: number): Rule<readonly string[]> {
  const of = `${max} of ${batchSymbols.join(', ')}, separated by commas`
  return {
    ...listOf(readOfBatch, max),
    words: `1 to ${of}`,
    schema: { type: 'string', description: `One to ${of}` },
  }
}

function readOfBatch(text: string): string | Wrong {
  const symbol = text.toLowerCase()
  if (batchSymbols.includes(symbol)) return symbol
  // Only what could be a symbol is said back.
  return SYMBOL.test(symbol) ? new Wrong(`${symbol} is not supported`) : wrong
}

/** Symbols, separated by commas; each counts once and comes in upper case. */
export function symbolList(max: number): Rule<readonly string[]> {
  return {
    ...listOf(symbolRule.read, max),
    words: `1 to ${max} symbols of letters and digits, separated by commas`,
    schema: { type: 'string', description: `One to ${max} symbols, separated by commas` },
  }
}

/** Some of the values, separated by commas; without it all of them. */
export function choices<Value extends string>(values: readonly Value[]): Rule<readonly Value[]> {
  const words = `some of ${values.join(', ')}, separated by commas; all of them if left out`
  return {
    ...listOf((text) => oneOf(values, text), values.length),
    absent: values,
    words,
    schema: { type: 'string', description: words, default: values.join(',') },
  }
}

/** What stands between commas, each once, if there are any and at most `max`. */
function listOf<Value>(
  read: (text: string) => Value | Wrong,
  max: number,
): Omit<Rule<readonly Value[]>, 'words' | 'schema'> {
  return {
    read: (text) => {
      const parts = text.split(',').map((part) => part.trim())
      const values = parts.filter((part) => part !== '').map(read)
      const each = new Set<Value>()
      for (const value of values) {
        if (value instanceof Wrong) return value
        each.add(value)
      }
      return each.size === 0 || each.size > max ? wrong : [...each]
    },
    absent: wrong,
    given: 'texts',
  }
}
