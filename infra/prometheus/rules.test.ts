import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const root = new URL('../../', import.meta.url)
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8')

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert?: string; readonly record?: string; readonly expr: string }[]
  }[]
}

const rules = (parse(read('infra/prometheus/rules.yml')) as Rules).groups.flatMap((group) => group.rules)
const alerts = rules.flatMap(({ alert }) => alert ?? [])
const source = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => /^(api|processors|infra)\/.*(?<!\.test)\.ts$/.test(file))
  .map(read)
  .join('\n')

/** PROMTOOL names it; Debian has it in the package `prometheus`. */
const promtool = process.env['PROMTOOL'] ?? 'promtool'
const isThere = spawnSync(promtool, ['--version']).status === 0
if (!isThere) console.info('skipped: no promtool (Debian: prometheus), so that alert rules are read but not evaluated')

describe('alert rules', () => {
  it.skipIf(!isThere)('ring each by its own fault, and none in a quiet system', { timeout: 60_000 }, () => {
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
    const isMade = (name: string): boolean =>
      source.includes(name.replace(/_bucket$/, '')) || source.includes(`'${name.replace('mda_feed_', '')}'`)
    expect([...named].filter((name) => !isMade(name))).toEqual([])
  })

  it('compare histograms with the bounds of their buckets only: between two nobody knows', () => {
    const compared = [...sharesAsked(), ...quantilesAsked()]
    expect(compared).not.toEqual([])
    expect(compared.filter(({ histogram, bound }) => !bucketsOf(histogram).includes(bound))).toEqual([])
  })
})

interface Compared {
  readonly histogram: string
  readonly bound: number
}

/** Rules that count what lies up to a bound. */
function sharesAsked(): Compared[] {
  return rules.flatMap(({ expr }) =>
    [...expr.matchAll(/(\w+)_bucket\{[^}]*le="([\d.]+)"/g)].map(([, histogram = '', bound]) => ({
      histogram,
      bound: Number(bound),
    })),
  )
}

/** Rules that compare a recorded quantile with a bound. */
function quantilesAsked(): Compared[] {
  return rules.flatMap(({ record = '', expr }) => {
    const histogram = /histogram_quantile\(.*?(\w+)_bucket/.exec(expr)?.[1]
    if (histogram === undefined) return []
    const asked = rules.flatMap((rule) => [...rule.expr.matchAll(new RegExp(`${record} [<>]=? ([\\d.]+)`, 'g'))])
    return asked.map(([, bound]) => ({ histogram, bound: Number(bound) }))
  })
}

/** As the code has them: a list, or the constant that is one. */
function bucketsOf(histogram: string): number[] {
  const [, given = ''] = new RegExp(`name: '${histogram}'[^}]*buckets: (\\w+|\\[[^\\]]+\\])`).exec(source) ?? []
  const [, list = given] = new RegExp(`const ${given} = (\\[[^\\]]+\\])`).exec(source) ?? []
  return (list.match(/[\d.]+/g) ?? []).map(Number)
}
