import type { FieldType } from './specification.ts'

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Whether a value is what the specification calls so. */
export function isOf(type: FieldType, value: unknown): boolean {
  switch (type) {
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    case 'int':
      return Number.isInteger(value)
    case 'number or null':
      return value === null || isOf('number', value)
    case 'timestamp':
      return typeof value === 'string' && INSTANT.test(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'array':
      return Array.isArray(value)
    case 'string':
    case 'boolean':
      return typeof value === type
  }
}

/** All values at a path like `exchanges.*.cvd` or `results[].symbol`; undefined where the field is not there. */
export function valuesAt(body: unknown, path: string): unknown[] {
  if (path === '') return [body]
  const [, head = '', rest = ''] = /^([^.[]+|\[\])\.?(.*)$/.exec(path) ?? []
  if (typeof body !== 'object' || body === null) return [undefined]
  const inner = head === '[]' || head === '*' ? Object.values(body) : [(body as Record<string, unknown>)[head]]
  return inner.flatMap((value) => valuesAt(value, rest))
}
