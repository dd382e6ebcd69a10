import { Kinds } from './kind.ts'
import { liquidation, type LiquidationTerms } from './liquidation.ts'
import { price, type PriceTerms } from './price.ts'
import { rule } from './rule.ts'
import type { RuleTerms } from './rule-terms.ts'

/** What an alert of the product waits for. */
export type AlertTerms = PriceTerms | LiquidationTerms | RuleTerms

/** Every kind of alert that there is; those of one record are evaluated in this order. */
export const alertKinds = new Kinds<AlertTerms>([price, liquidation, rule])
