import type { LiquidationRisk } from '../../../schemas/records.ts'
import { decimalText } from '../../prices/decimal.ts'
import { EVERY_RECORD, isFigure, WAITING, type AlertKind, type Cause } from './kind.ts'

/** More than a share of open interest at risk, and at least so much of it: a level on two figures at once. */
export interface LiquidationTerms {
  readonly kind: 'liquidation'
  readonly threshold_pct: number
  readonly min_value_usd: number
}

interface RiskCause extends Cause {
  readonly risk: LiquidationRisk
}

export const liquidation: AlertKind<LiquidationTerms, 'liquidation_risk', RiskCause> = {
  kind: 'liquidation',
  input: 'liquidation_risk',
  needsSubscription: () => true, // open interest and marks are streamed for wanted assets only

  read({ condition, threshold_pct, min_value_usd }) {
    const isWhole = condition === 'cascade_risk' && isFigure(threshold_pct) && isFigure(min_value_usd)
    return isWhole ? { kind: 'liquidation', threshold_pct, min_value_usd } : undefined
  },
  write: ({ kind, threshold_pct, min_value_usd }) => {
    return { kind, condition: 'cascade_risk', target_price: null, threshold_pct, min_value_usd }
  },
  ringsOnce: () => false,

  levels: {
    share: { passes: '>', figure: ({ at_risk_5_pct: pct }) => pct },
    value: { passes: '>=', figure: ({ at_risk_5_usd: usd }) => usd, insteadOf: 'share' },
  },
  /** What rang has been back when either figure is short: both have to be looked at each time. */
  wait: ({ status }) => (status === 'active' ? 'share' : EVERY_RECORD),
  at: ({ threshold_pct: threshold, min_value_usd: least }, level) => (level === 'share' ? threshold : least),
  evaluate({ status, terms }, risk) {
    const isShort = !(risk.at_risk_5_usd >= terms.min_value_usd)
    const isAtRisk = risk.at_risk_5_pct > terms.threshold_pct && !isShort
    if (status !== 'active') return isAtRisk ? WAITING : { is: 'back' }
    if (isAtRisk) return { is: 'met', cause: causeOf(risk), isBack: false }
    return isShort ? { is: 'waiting', at: 'value' } : WAITING
  },

  describe: ({ threshold_pct: threshold, min_value_usd: least }) =>
    `over ${threshold} % of open interest, ${least} USD or more, at risk`,
  describeCause: ({ threshold_pct: threshold }, symbol, { risk }) => {
    const [short, exact] = [risk.at_risk_5_pct.toFixed(2), decimalText(risk.at_risk_5_pct)]
    const share = `${Number(short) > threshold ? short : exact} % of ${symbol} open interest (${Math.round(risk.at_risk_5_usd)} USD)`
    return `${share} is at risk of liquidation within 5 % of the price, over the threshold of ${threshold} %`
  },
  evidence: (_, cause) => {
    const { at_risk_5_usd = 0, at_risk_5_pct = 0, cascade_risk = 'low' } = cause?.risk ?? {}
    return { severity: cascade_risk, oi_at_risk_usd: at_risk_5_usd, oi_at_risk_pct: at_risk_5_pct, cascade_risk }
  },

  event: 'liquidation_alert',
  payload: ({ oi_at_risk_usd, oi_at_risk_pct, cascade_risk, threshold_pct }) => {
    return { oi_at_risk_usd, oi_at_risk_pct, cascade_risk, threshold_pct }
  },
  sourceFigure: 'open_interest_usd',
}

/** Without levels and clusters, which no trigger tells: causes are kept for a while. */
function causeOf(risk: LiquidationRisk): RiskCause {
  const sources = risk.exchanges.map(({ exchange, open_interest_usd, time }) => {
    return { exchange, price: null, open_interest_usd, time }
  })
  const quality = sources.length > 1 ? 'good' : 'degraded'
  const slim = { ...risk, levels: [], clusters: [] }
  return { price: risk.price, risk: slim, sources, quality, late: false, time: risk.time }
}
