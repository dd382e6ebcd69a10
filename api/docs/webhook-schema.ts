import { alertKinds } from '../../processors/alerts/kinds/kinds.ts'
import { apiKinds } from '../alerts/kinds/kinds.ts'
import { array, boolean, instant, integer, object, oneOf, text, type Schema } from '../request/schema.ts'

/** What a webhook's body holds, as `processors/webhooks/payload.ts` writes it: the tests compare the two. */

const evidence = {
  quality: oneOf(['good', 'degraded'], 'degraded: one source only, or sources more than 1 % apart'),
  trigger_count: integer('Triggers of the alert so far, this one included', { minimum: 0 }),
  late: boolean('It happened while no source was there, and was told by candles afterwards'),
  record: text(
    'Id of the log record that caused it, for GET /records/{id}; of a test event that of its command, which is shown to nobody',
  ),
}

const demo = boolean('Only there where the market is simulated, and true')

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
      demo,
      data,
      timestamp: instant(
        'When the condition was met; of a late event the end of the time that the candles tell of: the minute is not known',
      ),
    },
    ['test', 'demo'],
  )

/** The body of each kind's webhook, by its `event`. */
const ofKinds = Object.fromEntries(
  apiKinds.map(({ kind, webhook: { summary, severities, data } }) => {
    const { event } = alertKinds.of({ kind })
    return [event, { summary, schema: top(event, severities, object('What happened', { ...data, ...evidence })) }]
  }),
)

const digestSchema = object(
  'The body of a digest webhook',
  {
    event: oneOf(['digest'], 'Which webhook'),
    trigger_id: text('Of the digest, the same on every attempt: also the webhook-id header'),
    alert_id: text('The alert'),
    demo,
    count: integer('Events in it', { minimum: 2 }),
    events: array(
      { type: 'object', oneOf: Object.values(ofKinds).map(({ schema }) => schema) },
      'What it tells, oldest first, each as it would have come by itself',
    ),
  },
  ['demo'],
)

/** The bodies by their `event`. */
export const webhooks: Readonly<Record<string, { readonly summary: string; readonly schema: Schema }>> = {
  ...ofKinds,
  digest: { summary: 'Several rang, and are told at once: where `digest: true` asks for it', schema: digestSchema },
}

export const webhookHeaders = object('Headers of every attempt', {
  'X-SVC-Signature': text('sha256=<hex>: HMAC-SHA256 of the raw body, key: the whole webhook_secret as UTF-8'),
  'webhook-id': text('The trigger_id, percent-encoded where it is not ASCII: the same on every attempt'),
  'webhook-timestamp': text('Unix seconds of the attempt', { pattern: String.raw`^\d+$` }),
  'webhook-signature': text('v1,<base64>: HMAC-SHA256 of id.timestamp.body, key: the secret after whsec_, decoded'),
})
