import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answering, Got } from '../../testing/world.ts'

/** Stand-ins for the services behind channels: each takes and refuses what its vendor's documentation says it does. */

interface Reply {
  readonly status: number
  readonly body?: string | object
  readonly headers?: Readonly<Record<string, string>>
}

type Json = Readonly<Record<string, unknown>>

interface Vendor {
  /** The destination that it knows, as an alert's owner gives it. */
  readonly given: Json
  /** One that it does not know any more. */
  readonly dead: Json
  /** What it answers to whoever asks too often. */
  readonly limited: Reply
  /** Seconds that it asks for then; undefined: it names none. */
  readonly retryAfter: number | undefined
  answer(path: string, body: Buffer, headers: Got['headers']): Reply
}

const discordToken = 'discord-secret-token-of-the-webhook-stand-in'
const discordHook = `https://discord.com/api/webhooks/123456789012345678/${discordToken}`
const botToken = '987654321:telegram-secret-token-of-35-charact'
const teamsPath = '/workflows/0123abcd/triggers/manual/paths/invoke'
const teamsHost = 'https://prod-01.westeurope.logic.azure.com'
const routingKey = 'pagerdutysecretkey0123456789abcd'

const slack: Vendor = {
  given: { type: 'slack', url: 'https://hooks.slack.com/services/T0TEAM/B0HOOK/slack-secret' },
  dead: { type: 'slack', url: 'https://hooks.slack.com/services/T0TEAM/B0GONE/slack-secret' },
  limited: { status: 429, body: 'rate_limited', headers: { 'retry-after': '7' } },
  retryAfter: 7,
  answer(path, bytes) {
    if (path !== '/services/T0TEAM/B0HOOK/slack-secret') return { status: 404, body: 'no_service' }
    const body = jsonOf(bytes)
    if (typeof body?.['text'] !== 'string') return { status: 400, body: 'invalid_payload' }
    const texts = (body['blocks'] as Json[]).map((block) => Object(block['text']) as Json)
    const isWhole = texts.every(({ type, text }) => type === 'mrkdwn' && lengthIn(text, 1, 3_000))
    return isWhole && lengthIn(body['text'], 1, 40_000)
      ? { status: 200, body: 'ok' }
      : { status: 400, body: 'invalid_blocks' }
  },
}

const discord: Vendor = {
  given: { type: 'discord', url: discordHook },
  dead: { type: 'discord', url: discordHook.replace('123456', '654321') },
  limited: {
    status: 429,
    body: { message: 'You are being rate limited.', retry_after: 6.57, global: false },
    headers: { 'retry-after': '7' },
  },
  retryAfter: 6.57,
  answer(path, bytes) {
    const [, , , id, token] = path.split('/')
    if (id !== '123456789012345678') return { status: 404, body: { message: 'Unknown Webhook', code: 10_015 } }
    if (token !== discordToken) return { status: 401, body: { message: 'Invalid Webhook Token', code: 50_027 } }
    const body = jsonOf(bytes)
    if (!lengthIn(body?.['content'], 1, 2_000))
      return { status: 400, body: { message: 'Invalid Form Body', code: 50_035 } }
    return { status: 204 }
  },
}

const telegram: Vendor = {
  given: { type: 'telegram', bot_token: botToken, chat_id: '-1001234567890' },
  dead: { type: 'telegram', bot_token: botToken, chat_id: '42' },
  limited: {
    status: 429,
    body: {
      ok: false,
      error_code: 429,
      description: 'Too Many Requests: retry after 8',
      parameters: { retry_after: 8 },
    },
  },
  retryAfter: 8,
  answer(path, bytes) {
    const no = (status: number, description: string): Reply => {
      return { status, body: { ok: false, error_code: status, description } }
    }
    if (path !== `/bot${botToken}/sendMessage`) return no(401, 'Unauthorized')
    const { chat_id: chat, text } = jsonOf(bytes) ?? {}
    if (chat === '42') return no(403, 'Forbidden: bot was blocked by the user')
    if (chat !== '-1001234567890') return no(400, 'Bad Request: chat not found')
    if (!lengthIn(text, 1, Infinity)) return no(400, 'Bad Request: message text is empty')
    if (!lengthIn(text, 1, 4_096)) return no(400, 'Bad Request: message is too long')
    return { status: 200, body: { ok: true, result: { message_id: 1 } } }
  },
}

const teams: Vendor = {
  given: { type: 'teams', url: `${teamsHost}:443${teamsPath}?api-version=2016-06-01&sig=teams-secret` },
  dead: { type: 'teams', url: `${teamsHost}${teamsPath.replace('abcd', 'ffff')}?sig=teams-secret` },
  limited: { status: 429, body: { error: { code: 'WorkflowRunRateLimitExceeded' } }, headers: { 'retry-after': '9' } },
  retryAfter: 9,
  answer(path, bytes) {
    const { pathname, searchParams } = new URL(path, teamsHost)
    if (pathname !== teamsPath) return { status: 404, body: { error: { code: 'WorkflowNotFound' } } }
    if (searchParams.get('sig') !== 'teams-secret')
      return { status: 401, body: { error: { code: 'DirectApiAuthorizationRequired' } } }
    if (bytes.length > 28 * 1024) return { status: 413 }
    const [card] = (jsonOf(bytes)?.['attachments'] ?? []) as Json[]
    const isCard = card?.['contentType'] === 'application/vnd.microsoft.card.adaptive'
    return isCard ? { status: 202 } : { status: 400, body: { error: { code: 'TriggerInputSchemaMismatch' } } }
  },
}

const pagerduty: Vendor = {
  given: { type: 'pagerduty', routing_key: routingKey },
  dead: { type: 'pagerduty', routing_key: routingKey.toUpperCase() },
  limited: { status: 429 },
  retryAfter: undefined,
  answer(path, bytes) {
    const no = (error: string): Reply => {
      return { status: 400, body: { status: 'invalid event', message: 'Event object is invalid', errors: [error] } }
    }
    const { routing_key: key, event_action: action, dedup_key: dedup, payload } = jsonOf(bytes) ?? {}
    if (path !== '/v2/enqueue') return { status: 404 }
    if (key !== routingKey) return no('Invalid routing key')
    if (!lengthIn(dedup, 1, 255)) return no("Length of 'dedup_key' is incorrect (should be 255 characters or less)")
    const { summary, severity, source } = Object(payload) as Json
    if (action === 'trigger' && !lengthIn(summary, 1, 1_024)) return no("'payload.summary' is invalid")
    const isGraded = ['critical', 'error', 'warning', 'info'].some((one) => one === severity)
    if (action === 'trigger' && !(isGraded && lengthIn(source, 1, 1_024))) return no("'payload.severity' is invalid")
    return { status: 202, body: { status: 'success', message: 'Event processed', dedup_key: dedup } }
  },
}

/** By channel; of those that have a vendor. */
export const vendors: Readonly<Record<string, Vendor>> = { slack, discord, telegram, teams, pagerduty }

/** Words that no answer, log or table may hold: what is secret of the destinations above. */
export const vendorSecrets = ['slack-secret', discordToken, 'telegram-secret', 'teams-secret', routingKey]

/** Answers as a vendor does; its first `limited` answers say that it was asked too often. `taken`: bodies that it took. */
export function answering(vendor: Vendor, taken: Buffer[], limitedFirst = 0): Answering {
  let asked = 0
  return (request: IncomingMessage, response: ServerResponse, { body, headers }) => {
    asked += 1
    const isJson = headers['content-type']?.startsWith('application/json') === true
    const known =
      request.method === 'POST' && isJson ? vendor.answer(request.url ?? '', body, headers) : { status: 405 }
    const reply: Reply = asked <= limitedFirst ? vendor.limited : known
    if (reply.status < 300) taken.push(body)
    const text = typeof reply.body === 'object' ? JSON.stringify(reply.body) : reply.body
    response.writeHead(reply.status, reply.headers ?? {}).end(text)
  }
}

function jsonOf(body: Buffer): Json | undefined {
  const value = JSON.parse(body.toString('utf8')) as unknown
  return typeof value === 'object' && value !== null ? { ...value } : undefined
}

function lengthIn(value: unknown, least: number, most: number): boolean {
  return typeof value === 'string' && value.length >= least && value.length <= most
}
