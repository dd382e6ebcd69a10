import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const root = new URL('../../', import.meta.url)
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8')

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert?: string; readonly expr: string }[] }[]
}

const rules = (parse(read('infra/prometheus/rules.yml')) as Rules).groups.flatMap((group) => group.rules)
const alerts = rules.flatMap(({ alert }) => alert ?? [])

/** PROMTOOL names it; Debian has it in the package `prometheus`. */
const promtool = process.env['PROMTOOL'] ?? 'promtool'
const isThere = spawnSync(promtool, ['--version']).status === 0
if (!isThere) console.info('skipped: no promtool (Debian: prometheus), so that alert rules are read but not evaluated')

describe('alert rules', () => {
  it.skipIf(!isThere)('ring each by its own fault, and none in a quiet system', () => {
    const file = fileURLToPath(new URL('infra/prometheus/rules.test.yml', root))
    expect(execFileSync(promtool, ['test', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS')
  })

  it('have a test and a section of the guide each', () => {
    const { tests } = parse(read('infra/prometheus/rules.test.yml')) as { tests: readonly { readonly name: string }[] }
    expect(tests.slice(1).map(({ name }) => name)).toEqual(alerts)
    const sections = read('api/docs/guides/incidents.md').matchAll(/^## (.+)$/gm)
    expect([...sections].map(([, name]) => name)).toEqual(alerts)
  })

  it('ask for metrics that there are', () => {
    const named = new Set(rules.flatMap(({ expr }) => expr.match(/\bmda_\w+/g) ?? []))
    const source = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => /^(api|processors|infra)\/.*(?<!\.test)\.ts$/.test(file))
      .map(read)
      .join('\n')
    const isMade = (name: string): boolean =>
      source.includes(name.replace(/_bucket$/, '')) || source.includes(`'${name.replace('mda_feed_', '')}'`)
    expect([...named].filter((name) => !isMade(name))).toEqual([])
  })
})
