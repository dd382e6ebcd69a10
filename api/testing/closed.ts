import { Ajv2020 } from 'ajv/dist/2020.js'

export const ajv = new Ajv2020({ allowUnionTypes: true, formats: { 'date-time': /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ } })

/** The schema with every object closed, so that a field that the document does not name is found. */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  return 'properties' in schema && !('additionalProperties' in schema)
    ? { ...inner, additionalProperties: false }
    : inner
}
