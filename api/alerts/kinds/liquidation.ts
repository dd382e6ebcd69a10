import type { LiquidationTerms } from '../../../processors/alerts/kinds/liquidation.ts'
import { array, boolean, instant, number, object, oneOf, text } from '../../request/schema.ts'
import { inPages, readFirst, readRiskPage } from '../../views/what-if.ts'
import { field, isFigure, wrong } from '../fields.ts'
import type { ApiKind } from './kind.ts'

const CONDITION = 'cascade_risk'
const THRESHOLD_DEFAULT = 5

const body = {
  condition: { ...oneOf([CONDITION], 'The only one'), default: CONDITION },
  threshold_pct: number('Percent', { exclusiveMinimum: 0, maximum: 100, default: THRESHOLD_DEFAULT }),
  min_value_usd: number('USD', { minimum: 0, default: 0 }),
}

export const liquidation: ApiKind<LiquidationTerms> = {
  kind: 'liquidation',
  named: 'a liquidation alert',
  paths: { alert: '/liquidation/alert', alerts: '/liquidation/alerts' },
  priceUsdc: { create: 0.06, extend: 0.03 },
  idPrefix: 'liq_',

  conditions: [CONDITION],
  body,
  optional: Object.keys(body),
  example: { threshold_pct: 5, min_value_usd: 1_000_000 },
  errors: ['invalid_threshold_pct', 'invalid_min_value_usd'],
  read(body) {
    if ((field(body, 'condition') ?? CONDITION) !== CONDITION)
      throw wrong('invalid_condition', 'condition', `condition must be ${CONDITION}, or be left out.`)
    const threshold = field(body, 'threshold_pct') ?? THRESHOLD_DEFAULT
    if (!isFigure(threshold) || threshold <= 0 || threshold > 100)
      throw wrong('invalid_threshold_pct', 'threshold_pct', 'threshold_pct must be over 0 and at most 100.')
    const least = field(body, 'min_value_usd') ?? 0
    if (!isFigure(least) || least < 0)
      throw wrong('invalid_min_value_usd', 'min_value_usd', 'min_value_usd must be a number, 0 or more, in USD.')
    return { kind: 'liquidation', threshold_pct: threshold, min_value_usd: least }
  },

  answer: {
    condition: oneOf([CONDITION], 'Always cascade_risk'),
    threshold_pct: number('Percent of open interest at risk within 5 % of the price'),
    min_value_usd: number('Least open interest at risk, USD'),
  },
  show: ({ threshold_pct, min_value_usd }) => ({ condition: CONDITION, threshold_pct, min_value_usd }),

  webhook: {
    summary: 'A liquidation alert rang',
    severities: ['low', 'medium', 'high'],
    data: {
      triggered: boolean('False in a test event'),
      current_price: number('Median of the marks, USD'),
      oi_at_risk_usd: number('Open interest whose liquidation price lies within 5 % of the price, USD, estimated'),
      oi_at_risk_pct: number('The same, percent of open interest'),
      cascade_risk: oneOf(['low', 'medium', 'high'], 'As in the heatmap'),
      threshold_pct: number('Of the alert, percent'),
      sources: array(
        object('One venue', {
          exchange: text('Venue'),
          open_interest_usd: number('USD'),
          timestamp: instant('Its time'),
        }),
        'The open interest that was looked at',
      ),
    },
  },

  figures: () => [{ metric: 'liquidation_risk_pct', exchange: null, window: null, isMove: false, close: null }],
  blindAfter: 300_000_000,
  begins: (database, range) => readFirst(database, 'liquidation_risk_log', range),
  history: (database, range) => inPages(range, 86_400_000_000, (page) => readRiskPage(database, page)),
}
