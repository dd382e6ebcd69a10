import { Kinds } from './kind.ts'
import { liquidation, type LiquidationTerms } from './liquidation.ts'
import { price, type PriceTerms } from './price.ts'

/** What an alert of the product waits for. */
export type AlertTerms = PriceTerms | LiquidationTerms

/** Every kind of alert that there is; those of one record are evaluated in this order. */
export const alertKinds = new Kinds<AlertTerms>([price, liquidation])
