import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { workedQueries } from './queries.ts'

const queries = workedQueries()
const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8')

it('there are fifteen or more', () => {
  expect(queries.length).toBeGreaterThanOrEqual(15)
})

it.each(queries.map((query) => [query.name, query] as const))(
  '%s says what it asks, gives and takes',
  (name, query) => {
    const { header, sql } = query
    expect(header.Question).toMatch(/^[^?]{15,}\?/)
    expect(header['A row'].length).toBeGreaterThan(10)
    expect(header.Units.length).toBeGreaterThan(10)
    const taken = new Set([...sql.matchAll(/\{(\w+):/g)].map(([, parameter = '']) => parameter))
    const said = header.Parameters === 'none' ? [] : header.Parameters.split(', ')
    expect(new Set(said)).toEqual(taken)
    expect(readme).toContain(`(${name}.sql)`)
  },
)
