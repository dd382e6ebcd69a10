import type { AlertState, TriggerSource } from '../../schemas/alerts.ts'
import type { CompositePrice, LiquidationRisk, Micros } from '../../schemas/records.ts'
import { isRising } from './held.ts'

/** Why an alert rang, in figures. */
export interface Cause {
  /** The price that met the condition; for liquidation alerts the price of the time. */
  readonly price: number
  readonly risk: LiquidationRisk | null
  readonly sources: readonly TriggerSource[]
  readonly quality: string
  readonly late: boolean
  readonly time: Micros
}

/** The last price where it met the condition, else the extreme that did. Of a late record only its bounds are known. */
export function priceCause(alert: AlertState, { price, low, high, ...record }: CompositePrice): Cause {
  const { condition, target_price: target } = alert
  const isMetLast = target !== null && (isRising(condition) ? price > target : price < target)
  const extreme = isRising(condition) ? high : low
  return {
    price: isMetLast && !record.late ? price : extreme,
    risk: null,
    sources: priceSources(record.sources),
    quality: record.quality,
    late: record.late,
    time: record.time,
  }
}

export function riskCause(risk: LiquidationRisk): Cause {
  const sources = risk.exchanges.map(({ exchange, open_interest_usd, time }) => {
    return { exchange, price: null, open_interest_usd, time }
  })
  const quality = sources.length > 1 ? 'good' : 'degraded'
  return { price: risk.price, risk, sources, quality, late: false, time: risk.time }
}

export function priceSources(sources: CompositePrice['sources']): TriggerSource[] {
  return sources.map(({ exchange, price, time }) => ({ exchange, price, open_interest_usd: null, time }))
}
