import { jsonPost, readShaped, vendorDead, verdictOf, type Channel } from './channel.ts'
import { messageOf, fit, oneLine } from './message.ts'

/** "The maximum permitted length of this property is 1024 characters." (developer.pagerduty.com, payload.summary) */
const SUMMARY_MAX = 1_024
/** "The maximum permitted length of this property is 255 characters." (dedup_key) */
const DEDUP_MAX = 255
const DETAIL_MAX = 10_000

const severities: Readonly<Record<string, string>> = { high: 'critical', medium: 'error', low: 'warning' }

interface PagerDutyDestination {
  readonly routing_key: string
}

const fields = {
  routing_key: {
    description: 'the integration key of a service',
    maxLength: 32,
    example: '0123456789abcdef0123456789abcdef',
  },
} as const

/** PagerDuty: Events API v2, which opens an incident and resolves it. */
export const pagerduty: Channel<PagerDutyDestination> = {
  name: 'pagerduty',
  description: 'an incident in PagerDuty, by Events API v2; resolved where the alert tells of its end',
  fields,
  // An incident is opened and resolved by itself.
  digest: { most: 1, isUsual: false, isByAlert: false },
  read(given) {
    const advice =
      'must be the 32 letters and digits of an integration key: in PagerDuty, Services, Integrations, Add integration, Events API v2.'
    return readShaped(fields, 'routing_key', given, { shape: /^[A-Za-z0-9]{32}$/, advice })
  },
  shown: () => 'events.pagerduty.com',
  request({ routing_key }, event) {
    const { title, text, fields: details } = messageOf(event)
    const { trigger_id, trigger_count, severity, timestamp, status, test, event: kind } = details
    // What tells of the end of a trigger has the count of that trigger.
    const dedup_key = fit(test ? trigger_id : `${event.trigger.alert_id}_${trigger_count}`, DEDUP_MAX)
    const url = new URL('https://events.pagerduty.com/v2/enqueue')
    if (status === 'resolved') return jsonPost(url, { routing_key, dedup_key, event_action: 'resolve' })
    return jsonPost(url, {
      routing_key,
      dedup_key,
      event_action: 'trigger',
      client: 'Market data alerts',
      payload: {
        summary: fit(oneLine(`${title}: ${text}`), SUMMARY_MAX),
        source: 'market-data-alerts',
        severity: test ? 'info' : (severities[severity] ?? 'warning'),
        timestamp,
        component: fit(details.symbol, DEDUP_MAX),
        class: kind,
        custom_details: Object.fromEntries(
          Object.entries(details).map(([name, value]) => [
            name,
            typeof value === 'string' ? fit(value, DETAIL_MAX) : value,
          ]),
        ),
      },
    })
  },
  /** "400 Bad Request: Check that the JSON is valid", "429 Too Many Requests", "5xx": "retry" (Events API v2 overview) */
  verdict: (heard) => verdictOf(heard, vendorDead(heard, /routing.?key/i)),
}
