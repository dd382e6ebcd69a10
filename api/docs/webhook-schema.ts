import { array, boolean, instant, integer, nullableText, number, object, oneOf, text, type Schema } from '../schema.ts'

/** What a webhook's body holds, as `processors/webhooks/payload.ts` writes it: the tests compare the two. */

const evidence = {
  quality: oneOf(['good', 'degraded'], 'degraded: one source only, or sources more than 1 % apart'),
  trigger_count: integer('Triggers of the alert so far, this one included', { minimum: 0 }),
  late: boolean('It happened while no source was there, and was told by candles afterwards'),
  record: text(
    'Id of the log record that caused it, for GET /records/{id}; of a test event that of its command, which is shown to nobody',
  ),
}

const top = (event: string, severities: readonly string[], data: Schema): Schema =>
  object(
    `The body of a ${event} webhook`,
    {
      event: oneOf([event], 'Which webhook'),
      alert_id: text('The alert'),
      symbol: text('As submitted'),
      severity: oneOf(severities, 'How grave it is'),
      trigger_id: text('The same on every attempt: also the webhook-id header, percent-encoded where it is not ASCII'),
      test: boolean('Only there in a test event, and true'),
      demo: boolean('Only there where the market is simulated, and true'),
      data,
      timestamp: instant('When the condition was met'),
    },
    ['test', 'demo'],
  )

export const priceAlertSchema = top(
  'price_alert',
  ['low', 'medium', 'high'],
  object('What happened', {
    triggered: boolean('False in a test event'),
    current_price: number('Composite price, USD'),
    target_price: number('Of the alert, USD'),
    condition: oneOf(['above', 'below', 'crosses_above', 'crosses_below'], 'Of the alert'),
    condition_met: text('What happened, in words'),
    sources: array(
      object('One venue', { exchange: text('Venue'), price: number('USD'), timestamp: instant('Its time') }),
      'The prices that the composite is the median of',
    ),
    ...evidence,
  }),
)

export const liquidationAlertSchema = top(
  'liquidation_alert',
  ['low', 'medium', 'high'],
  object('What happened', {
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
    ...evidence,
  }),
)

export const ruleAlertSchema = top(
  'rule_alert',
  ['medium'],
  object('What happened', {
    triggered: boolean('False in a test event, and where it is over'),
    current_price: number('Composite price, USD; 0: none is known'),
    status: oneOf(['triggered', 'resolved'], 'resolved: what it rang for is over'),
    condition: { type: 'object', description: '`when` of the rule' },
    figures: array(
      object('A figure of it', {
        metric: text('As in the rule'),
        exchange: nullableText('As in the rule'),
        window: nullableText('As in the rule'),
        value: { type: ['number', 'string', 'null'], description: 'Then; a class; null: not known' },
      }),
      'What it looks at, from left to right; none in a test event',
    ),
    condition_met: text('What happened, in words'),
    note: nullableText('Of the rule'),
    group: nullableText('Of the rule'),
    tags: array(text('A name'), 'Of the rule'),
    sources: array(
      object('One venue', { exchange: text('Venue'), price: number('USD'), timestamp: instant('Its time') }),
      'The prices that the composite is the median of',
    ),
    ...evidence,
  }),
)

const kinds = {
  price_alert: { summary: 'A price alert rang', schema: priceAlertSchema },
  liquidation_alert: { summary: 'A liquidation alert rang', schema: liquidationAlertSchema },
  rule_alert: { summary: 'A rule rang, or what it rang for is over', schema: ruleAlertSchema },
}

const digestSchema = object('The body of a digest webhook', {
  event: oneOf(['digest'], 'Which webhook'),
  trigger_id: text('Of the digest, the same on every attempt: also the webhook-id header'),
  alert_id: text('The alert'),
  count: integer('Events in it', { minimum: 2 }),
  events: array(
    { type: 'object', oneOf: Object.values(kinds).map(({ schema }) => schema) },
    'What it tells, oldest first, each as it would have come by itself',
  ),
})

/** The bodies by their `event`. */
export const webhooks: Readonly<Record<string, { readonly summary: string; readonly schema: Schema }>> = {
  ...kinds,
  digest: { summary: 'Several rang, and are told at once: where `digest: true` asks for it', schema: digestSchema },
}

export const webhookHeaders = object('Headers of every attempt', {
  'X-SVC-Signature': text('sha256=<hex>: HMAC-SHA256 of the raw body, key: the whole webhook_secret as UTF-8'),
  'webhook-id': text('The trigger_id, percent-encoded where it is not ASCII: the same on every attempt'),
  'webhook-timestamp': text('Unix seconds of the attempt', { pattern: String.raw`^\d+$` }),
  'webhook-signature': text('v1,<base64>: HMAC-SHA256 of id.timestamp.body, key: the secret after whsec_, decoded'),
})
