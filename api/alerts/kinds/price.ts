import { conditions, type PriceTerms } from '../../../processors/alerts/kinds/price.ts'
import { array, boolean, instant, number, object, oneOf, text } from '../../request/schema.ts'
import { readPrices } from '../../views/past-prices.ts'
import { readFirst } from '../../views/what-if.ts'
import { field, isFigure, wrong } from '../fields.ts'
import type { ApiKind } from './kind.ts'

/** Without a price for longer it is blind. */
const SILENCE = 60_000_000

/** `sources` in the webhook of a kind that rings at prices. */
export const priceSources = array(
  object('One venue', { exchange: text('Venue'), price: number('USD'), timestamp: instant('Its time') }),
  'The prices that the composite is the median of',
)

export const price: ApiKind<PriceTerms> = {
  kind: 'price',
  named: 'a price alert',
  paths: { alert: '/price-alert', alerts: '/price-alerts' },
  priceUsdc: { create: 0.04, extend: 0.02 },
  idPrefix: '',

  conditions,
  body: {
    condition: oneOf(conditions, 'above and below are levels, crosses_above and crosses_below ring once'),
    target_price: number('USD', { exclusiveMinimum: 0 }),
  },
  optional: [],
  example: { condition: 'above', target_price: 100_000 },
  errors: ['invalid_target_price'],
  read(body) {
    const asked = field(body, 'condition')
    const condition = conditions.find((name) => name === asked)
    if (condition === undefined)
      throw wrong('invalid_condition', 'condition', `condition must be one of ${conditions.join(', ')}.`)
    const target = field(body, 'target_price')
    if (!isFigure(target) || target <= 0)
      throw wrong('invalid_target_price', 'target_price', 'target_price must be a number over 0, in USD.')
    return { kind: 'price', condition, target_price: target }
  },

  answer: {
    condition: oneOf(conditions, 'What it waits for; crosses_* ring once'),
    target_price: number('USD'),
  },
  show: ({ condition, target_price }) => ({ condition, target_price }),

  webhook: {
    summary: 'A price alert rang',
    severities: ['low', 'medium', 'high'],
    data: {
      triggered: boolean('False in a test event'),
      current_price: number('Composite price, USD'),
      target_price: number('Of the alert, USD'),
      condition: oneOf(['above', 'below', 'crosses_above', 'crosses_below'], 'Of the alert'),
      condition_met: text('What happened, in words'),
      sources: priceSources,
    },
  },

  figures: () => [{ metric: 'price', exchange: null, window: null, isMove: false, close: null }],
  blindAfter: SILENCE,
  begins: (database, range) => readFirst(database, 'prices_log', range),
  history: (database, range, { target_price }) =>
    readPrices(database, range, { target: target_price, silence: SILENCE }),
}
