import { isChatService, readWebhookUrl, receiverOf, type BadUrl } from '../address.ts'
import { digestPayload, payloadOf } from '../payload.ts'
import {
  signedDigest,
  readText,
  verdictOf,
  type Channel,
  type Field,
  type Given,
  type Operator,
  type Refusal,
} from './channel.ts'

export interface UrlDestination {
  readonly url: string
}

/** The field of any HTTPS address. */
export const urlField: Field = { description: 'an HTTPS URL', maxLength: 2_048, example: 'https://example.com/hook' }

const fields = { url: urlField }

const advice: Readonly<Record<BadUrl, (name: string) => string>> = {
  'not-a-url': (name) => `${name} must be a whole URL, for example https://example.com/hook.`,
  'not-https': (name) => `${name} must begin with https://.`,
  credentials: (name) => `${name} must not hold a user or a password; put a secret into its path.`,
  'private-address': (name) => `${name} must lead to a public address, by its name or by its number.`,
  'too-long': (name) => `${name} may have at most 2048 characters.`,
  'no-port': (name) => `${name} must name a port that can be reached, or none.`,
}

const chatAdvice =
  'leads to a chat service, which takes messages of its own form only and would refuse the signed event: give channel instead, with the type slack, discord, telegram, teams, or template for others.'

/** Reads any address that may be called; `name`: how the caller knows the field. */
export function readUrl(text: unknown, { reach }: Operator, name: string): UrlDestination | Refusal {
  const read = typeof text === 'string' ? readWebhookUrl(text, reach) : { refused: 'not-a-url' as const }
  if ('refused' in read) return { field: name, refused: advice[read.refused](name) }
  return { url: read.url.href }
}

/** As `readUrl`, and not a chat service. */
export function readSignedUrl(text: unknown, operator: Operator, name: string): UrlDestination | Refusal {
  const read = readUrl(text, operator, name)
  if ('refused' in read || !isChatService(new URL(read.url))) return read
  return { field: name, refused: `${name} ${chatAdvice}` }
}

/** The signed event of the service's specification, to any HTTPS address. */
export const webhook: Channel<UrlDestination> = {
  name: 'webhook',
  description: 'the signed event, to an HTTPS address of yours',
  fields,
  digest: signedDigest(100),
  read(given: Given, operator) {
    const text = readText(fields, 'url', given)
    return typeof text === 'string' ? readSignedUrl(text, operator, 'url') : text
  },
  shown: ({ url }) => receiverOf(new URL(url)),
  request({ url }, { trigger, digest, mode, sign }) {
    const body = digest === undefined ? payloadOf(trigger, mode) : digestPayload(digest, mode)
    const headers = { 'content-type': 'application/json', ...sign(body) }
    return { by: 'https', url: new URL(url), headers, body }
  },
  verdict: (heard) => verdictOf(heard, heard.status === 410 ? 'gone' : undefined),
}
