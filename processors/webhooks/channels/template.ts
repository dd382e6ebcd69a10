import { signedDigest, isRefusal, readText, verdictOf, type Channel, type Given, type Refusal } from './channel.ts'
import { messageOf, type MessageFields, fit } from './message.ts'
import { decimalText } from '../../prices/decimal.ts'
import { receiverOf } from '../address.ts'
import { readUrl, urlField, type UrlDestination } from './webhook.ts'

const BODY_MAX = 4_000
/** Fields that a body names: what is sent is bounded by them. */
const PLACES_MAX = 40
/** Characters of one field that are put in. */
const FIELD_MAX = 2_000

interface TemplateDestination extends UrlDestination {
  readonly body: string
  readonly content_type: string
}

/** By content type: how a value is put in, so that it can never become anything but a value. */
const writers: Readonly<Record<string, (value: string | number | boolean) => string>> = {
  'application/json': (value) =>
    typeof value === 'string' ? JSON.stringify(value).slice(1, -1) : JSON.stringify(value),
  'application/x-www-form-urlencoded': (value) => encodeURIComponent(String(value)),
  'text/plain': (value) => (typeof value === 'number' ? decimalText(value) : String(value)),
}

const fields = {
  url: urlField,
  body: {
    description: 'what is sent, with {{field}} where a field is to be put in',
    maxLength: BODY_MAX,
    example: '{"message": "{{text}}", "price": {{current_price}}}',
  },
  content_type: {
    description: 'what the body is',
    maxLength: 40,
    isOptional: true,
    oneOf: Object.keys(writers),
    example: 'application/json',
  },
} as const

const sample: MessageFields = {
  title: 'a "title"',
  text: 'line\n"quoted" \\ {{text}}',
  event: 'price_alert',
  status: 'triggered',
  symbol: 'BTC',
  severity: 'high',
  current_price: 0.5,
  alert_id: 'alert_btc_1_1',
  trigger_id: 'alert_btc_1_1_1',
  trigger_count: 1,
  note: 'a "note"',
  timestamp: '2026-01-01T00:00:00.000Z',
  quality: 'good',
  late: false,
  record: 'a "record"',
  test: true,
  demo: false,
}

/** Any HTTPS address, with a body of the caller's: strict, without logic. */
export const template: Channel<TemplateDestination> = {
  name: 'template',
  description: 'a body of your own form, to any HTTPS address; signed as the webhook is',
  fields,
  digest: signedDigest(18),
  read(given, operator) {
    const url = readUrl(given['url'], operator, 'url')
    if (isRefusal(url)) return url
    const content_type = given['content_type'] ?? 'application/json'
    if (typeof content_type !== 'string' || !Object.hasOwn(writers, content_type))
      return { field: 'content_type', refused: `content_type must be one of ${Object.keys(writers).join(', ')}.` }
    const body = readBody(given, content_type)
    return typeof body === 'string' ? { ...url, body, content_type } : body
  },
  shown: ({ url }) => receiverOf(new URL(url)),
  isForOwner: true, // services give each of their users a host of its own
  request({ url, body, content_type }, event) {
    const bytes = Buffer.from(render(body, content_type, messageOf(event).fields), 'utf8')
    const headers = { 'content-type': `${content_type}; charset=utf-8`, ...event.sign(bytes) }
    return { by: 'https', url: new URL(url), headers, body: bytes }
  },
  verdict: (heard) => verdictOf(heard, heard.status === 410 ? 'gone' : undefined),
}

const placeholder = /\{\{\s*(\w+)\s*\}\}/g

/** Puts the fields in; a name that is none stays as it is, which `read` has refused. */
function render(body: string, contentType: string, values: MessageFields): string {
  const write = writers[contentType] ?? String
  const known = new Map(Object.entries(values))
  return body.replaceAll(placeholder, (whole, name: string) => {
    const value = known.get(name)
    return value === undefined ? whole : write(typeof value === 'string' ? fit(value.toWellFormed(), FIELD_MAX) : value)
  })
}

function readBody(given: Given, contentType: string): string | Refusal {
  const body = readText(fields, 'body', given)
  if (typeof body !== 'string') return body
  const wrong = (refused: string): Refusal => ({ field: 'body', refused })
  const names = [...body.matchAll(placeholder)].map(([, name = '']) => name)
  const unknown = names.find((name) => !Object.hasOwn(sample, name))
  if (unknown !== undefined)
    return wrong(
      `body names {{${unknown.slice(0, 40)}}}, which is no field; there are ${Object.keys(sample).join(', ')}.`,
    )
  if (names.length > PLACES_MAX) return wrong(`body may name at most ${PLACES_MAX} fields.`)
  if (/\{\{|\}\}/.test(body.replaceAll(placeholder, '')) && contentType !== 'application/json')
    return wrong('body has {{ or }} that encloses no field: write {{field}}.')
  if (contentType === 'application/json' && !isAlwaysJson(body))
    return wrong('body must be JSON once its fields are put in: set texts in quotes, as in {"message": "{{text}}"}.')
  return body
}

/** The hardest numbers that there are: a body that is JSON with them, and with the texts of `sample`, is JSON with any. */
const hardNumbers = [0, -1.5e-7, NaN]

function isAlwaysJson(body: string): boolean {
  try {
    for (const hard of hardNumbers)
      JSON.parse(render(body, 'application/json', { ...sample, current_price: hard, trigger_count: hard }))
    return true
  } catch {
    return false // that is the answer
  }
}
