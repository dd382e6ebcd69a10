import type { BodyRule, Output } from '../route.ts'
import {
  array,
  boolean,
  instant,
  integer,
  nullable,
  nullableNumber,
  number,
  object,
  oneOf,
  text,
  type Schema,
} from '../schema.ts'

const conditions = ['above', 'below', 'crosses_above', 'crosses_below', 'cascade_risk']

const terms: Readonly<Record<string, Schema>> = {
  symbol: text('Any symbol of the catalogue', { pattern: '^[A-Z0-9]{1,20}$' }),
  condition: oneOf(conditions, 'As of an alert; cascade_risk tries a liquidation alert out'),
  target_price: number('USD; of price alerts', { exclusiveMinimum: 0 }),
  threshold_pct: number('Percent; of liquidation alerts', { exclusiveMinimum: 0, maximum: 100, default: 5 }),
  min_value_usd: number('USD; of liquidation alerts', { minimum: 0, default: 0 }),
}
const figures = ['target_price', 'threshold_pct', 'min_value_usd']
/** Of a creation, so that its body can be tried out as it is. */
const notLookedAt: Readonly<Record<string, Schema>> = {
  webhook_url: text('As of a creation; not looked at'),
  agent_wallet: text('As of a creation; not looked at'),
  expires_in_hours: integer('As of a creation; not looked at'),
}

/** What a creation takes; webhook_url, agent_wallet and expires_in_hours may be there and are not looked at. */
export const whatIfBody: BodyRule = {
  schema: object('An alert to be tried out', { ...terms, ...notLookedAt }, [...figures, ...Object.keys(notLookedAt)]),
  example: { symbol: 'BTC', condition: 'above', target_price: 60_000 },
  optional: false,
}

const span = { from: instant('Begin'), to: instant('End, exclusive') }

const coverage = object('What the answer rests on', {
  from: instant('First record that was looked at'),
  to: instant('Until when it looked'),
  complete: boolean('All 7 days, without a gap'),
  stopped_by: nullable(oneOf(['rows', 'seconds'], 'The bound that ended it early; null: none')),
  gap_count: integer('Gaps in it'),
  gap_seconds: number('Seconds of all gaps: the alert would have been blind'),
  gaps: array(object('A time without a record: over 1 minute for prices, 5 for risk', span), 'The newest 50'),
})

const trigger = object('A time at which it would have rung', {
  time: instant('When the condition was met'),
  price: number('What the webhook would have said, USD'),
  condition_met: text('The same in words'),
  quality: oneOf(['good', 'degraded'], 'degraded: one price source only, or sources over 1 % apart'),
  late: boolean('Told by candles after a time without any source'),
  record: text('The log record that rings it, for GET /records/:id'),
})

export const whatIfOutput: Output = {
  says: 'How often the alert would have rung in the last 7 days, decided by the code that decides about live alerts',
  type: 'application/json',
  schema: object(
    'A trial',
    {
      ...terms,
      trigger_count: integer('Times that it would have rung'),
      triggers_per_day: nullableNumber('The same by days that were covered; null: less than one was'),
      triggers: array(trigger, 'The newest 100, newest first'),
      records: integer('Prices, or estimates of risk, that were evaluated'),
      coverage,
      assumes: text('What is taken for granted'),
      as_of: instant('Time of the newest record'),
      timestamp: instant('When this was answered'),
      cached: boolean('The same question was asked within a minute'),
    },
    figures,
  ),
}
