import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { bodyComponents } from '../alerts/kinds/kinds.ts'

export const ajv = new Ajv2020({ allowUnionTypes: true, formats: { 'date-time': /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ } })

ajv.addVocabulary(['components'])

/** The schema with every object closed, so that a field that the document does not name is found. */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  return 'properties' in schema && !('additionalProperties' in schema)
    ? { ...inner, additionalProperties: false }
    : inner
}

/** What checks a schema of the document, every object closed, with the components that it may refer to. */
export function checkOf(schema: object): ValidateFunction {
  return ajv.compile({ ...Object(closed(schema)), components: { schemas: closed(bodyComponents) } })
}
