import type { Schema } from '../../request/schema.ts'
import { alertKinds } from '../../../processors/alerts/kinds/kinds.ts'
import type { AlertState } from '../../../schemas/records.ts'
import type { Body } from '../../request/body.ts'
import { field } from '../fields.ts'
import type { ApiKind } from './kind.ts'
import { liquidation } from './liquidation.ts'
import { price } from './price.ts'
import { rule } from './rule.ts'

/** What the interface says of each kind; routes, documents, answers and trials follow from it. */
export const apiKinds: readonly ApiKind[] = [price, liquidation, rule]

export function apiKind(kind: string): ApiKind {
  const known = apiKinds.find((row) => row.kind === kind)
  if (known === undefined) throw new Error(`no kind of alert is called ${kind}`)
  return known
}

/**
 * The kind that a body means: the one that it names, a rule where it has `when`, else the one that knows its condition, or
 * that alone has a field of it; prices where none is so.
 */
export function kindMeant(body: Body): ApiKind {
  const { kind, condition, when } = body
  if (when !== undefined) return rule
  const named = apiKinds.find((row) => row.kind === kind)
  const known = apiKinds.find(({ conditions }) => conditions.some((name) => name === condition))
  return named ?? known ?? apiKinds.find((row) => hasFieldOf(row, body)) ?? price
}

/** `condition` is of several. */
function hasFieldOf(kind: ApiKind, body: Body): boolean {
  return Object.keys(kind.body).some((name) => name !== 'condition' && field(body, name) !== undefined)
}

type Recorded = Pick<AlertState, 'alert_id' | 'kind' | 'condition' | 'target_price' | 'threshold_pct' | 'min_value_usd'>

/** What a recorded alert waits for, as answers show it and in words. */
export function termsShown(alert: Recorded): { readonly fields: object; readonly words: string } {
  const terms = alertKinds.read(alert)
  if (terms === undefined) throw new Error(`this version does not know what alert ${alert.alert_id} waits for`)
  return { fields: apiKind(terms.kind).show(terms), words: alertKinds.of(terms).describe(terms) }
}

/** Schemas that bodies refer to, as OpenAPI's components have them. */
export const bodyComponents: Readonly<Record<string, Schema>> = Object.fromEntries(
  apiKinds.flatMap(({ components = {} }) => Object.entries(components)),
)
