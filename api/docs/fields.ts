import type { Schema } from '../request/schema.ts'

/** One field of an answer, a body or a message, as a row of a table. */
export interface Field {
  /** Path from the top: `exchanges.<binance, bybit>.cvd`, `points[].time`. */
  readonly path: string
  readonly type: string
  readonly description: string
}

/** Every field of an object's schema, depth first; objects whose values are all alike are shown once. */
export function fieldsOf(schema: Schema, prefix = ''): Field[] {
  const properties = entriesOf(schema['properties'])
  const required = listOf(schema['required'])
  const [first] = properties
  if (first !== undefined && properties.length > 1 && properties.every(([, value]) => isSame(value, first[1])))
    return within(`${prefix}<${properties.map(([name]) => name).join(', ')}>`, first[1], true)
  const own = properties.flatMap(([name, value]) => within(`${prefix}${name}`, value, required.includes(name)))
  const further = schema['additionalProperties']
  return isObject(further) ? [...own, ...within(`${prefix}<name>`, further, true)] : own
}

function within(path: string, schema: Schema, isRequired: boolean): Field[] {
  const row = { path, type: typeText(schema), description: saysOf(schema, isRequired) }
  const { items } = schema
  const below = isObject(items) ? fieldsOf(items, `${path}[].`) : fieldsOf(schema, `${path}.`)
  return [row, ...below]
}

/** `number`, `string or null`, `array of objects`. */
function typeText(schema: Schema): string {
  const types = typeof schema['type'] === 'string' ? [schema['type']] : listOf(schema['type']).map(String)
  const format = schema['format'] === 'date-time' ? 'ISO 8601 time' : undefined
  const words = types.map((type) => {
    if (type === 'string' && format !== undefined) return format
    if (type === 'array' && isObject(schema['items'])) return `array of ${typeText(schema['items'])}s`
    return type
  })
  return words.join(' or ')
}

function saysOf(schema: Schema, isRequired: boolean): string {
  const values = listOf(schema['enum']).filter((value) => value !== null)
  const bounds = [
    ...(isRequired ? [] : ['may be missing']),
    ...(values.length === 0 ? [] : [`one of ${values.map((value) => `\`${textOf(value)}\``).join(', ')}`]),
    ...(['minimum', 'exclusiveMinimum', 'maximum', 'maxLength', 'pattern', 'default'] as const).flatMap((rule) =>
      schema[rule] === undefined ? [] : [`${ruleWords[rule]} \`${textOf(schema[rule])}\``],
    ),
  ]
  const description = typeof schema['description'] === 'string' ? schema['description'] : ''
  return bounds.length === 0 ? description : `${description} (${bounds.join('; ')})`
}

const ruleWords = {
  minimum: 'at least',
  exclusiveMinimum: 'more than',
  maximum: 'at most',
  maxLength: 'characters at most',
  pattern: 'pattern',
  default: 'default',
} as const

/** A value of a rule: a text, a number, true. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function entriesOf(value: unknown): [string, Schema][] {
  return isObject(value) ? Object.entries(value).flatMap(([key, inner]) => (isObject(inner) ? [[key, inner]] : [])) : []
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
