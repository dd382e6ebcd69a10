import { describe, expect, it } from 'vitest'
import { isFault, readRuleTerms } from '../../../processors/alerts/kinds/rule-terms.ts'
import { apiKinds } from '../../alerts/kinds/kinds.ts'
import { rulesView } from './tables.ts'

interface View {
  readonly kinds: readonly { readonly kind: string; readonly terms: readonly string[]; readonly schema: Schema }[]
  readonly metrics: readonly {
    readonly name: string
    readonly exchanges: readonly string[]
    readonly classes: readonly string[]
    readonly operators: readonly { readonly operator: string; readonly windows: readonly string[] }[]
  }[]
}
interface Schema {
  readonly properties: Readonly<Record<string, { readonly oneOf?: readonly object[] }>>
}

const view = JSON.parse(JSON.stringify(rulesView())) as View

describe('what the form of alerts is made of', () => {
  const conditions = view.metrics.flatMap(({ name, exchanges, classes, operators }) =>
    operators.flatMap(({ operator, windows }) => {
      const [value = 1] = operator === 'between' ? [[1, 2]] : classes
      const asked = (windows.length === 0 ? [{}] : windows.map((window) => ({ window }))) as object[]
      const venues = [{}, ...exchanges.map((exchange) => ({ exchange }))]
      return asked.flatMap((window) => venues.map((venue) => ({ metric: name, operator, value, ...window, ...venue })))
    }),
  )

  it('offers only what the API takes, of every metric', () => {
    const refused = conditions.map((when) => readRuleTerms({ when })).filter(isFault)
    expect(refused).toEqual([])
    expect(conditions.length).toBeGreaterThan(500)
  })

  it('has every kind with the fields of its creation, and every channel', () => {
    expect(view.kinds.map(({ kind }) => kind)).toEqual(apiKinds.map(({ kind }) => kind))
    for (const { terms, schema } of view.kinds)
      expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining([...terms, 'symbol', 'channel']))
    expect(view.kinds.find(({ kind }) => kind === 'rule')?.schema.properties['channel']?.oneOf).toHaveLength(8)
  })
})
