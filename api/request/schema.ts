/** A JSON Schema (2020-12), as OpenAPI 3.1 takes it. */
export type Schema = Readonly<Record<string, unknown>>

type Properties = Readonly<Record<string, Schema>>

const of =
  (type: string | readonly string[], more: Schema = {}) =>
  (description: string, extra: Schema = {}): Schema => ({ type, description, ...more, ...extra })

export const number = of('number')
export const integer = of('integer')
export const text = of('string')
export const boolean = of('boolean')
export const instant = of('string', { format: 'date-time' })
export const nullableInstant = of(['string', 'null'], { format: 'date-time' })
export const nullableNumber = of(['number', 'null'])
export const nullableText = of(['string', 'null'])
export const nullableInteger = of(['integer', 'null'])

export function oneOf(values: readonly string[], description: string): Schema {
  return { type: 'string', enum: values, description }
}

export function array(items: Schema, description: string): Schema {
  return { type: 'array', items, description }
}

/** An object whose properties are all required, but for those in `optional`. */
export function object(description: string, properties: Properties, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', description, properties, required }
}

/** What may be null: not said, or not there. */
export function nullable(schema: Schema): Schema {
  return {
    ...schema,
    type: [schema['type'], 'null'],
    ...('enum' in schema ? { enum: [...list(schema['enum']), null] } : {}),
  }
}

function list(values: unknown): readonly unknown[] {
  return Array.isArray(values) ? values : []
}

/** A schema of OpenAPI's components, by its name: one that holds itself cannot be written out. */
export function component(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

/** An object with one value of the same shape per key of a closed set. */
export function keyed(keys: readonly string[], value: Schema, description: string): Schema {
  return object(description, Object.fromEntries(keys.map((key) => [key, value])))
}
