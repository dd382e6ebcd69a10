import type { Route } from '../route.ts'

/**
 * Path and query as the router and the rules have understood them, however they were written: parameters in the
 * table's order, defaults said, others left out. Two requests that mean the same have the same, and it is an address
 * that answers.
 */
export function targetOf({ path, input: rules }: Route, input: Readonly<Record<string, unknown>>): string {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(textOf(input[name])))
  const query = Object.entries(rules).flatMap(([name, rule]) => {
    const value = input[name]
    return rule.in === 'path' || value === undefined ? [] : [`${name}=${encodeURIComponent(textOf(value))}`]
  })
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

/** A parameter's value: a text, a number or a list of texts. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value)
}
