import type { Micros, Trigger } from '../../../schemas/records.ts'
import type { Reach } from '../address.ts'
import { retryAfterSeconds } from '../attempt.ts'

/** The fields of a destination, as its owner gave them or as they were sealed. */
export type Given = Readonly<Record<string, unknown>>

/** Why a destination cannot be taken: the field at fault, and one sentence that says how to mend it. */
export interface Refusal {
  readonly field: string
  readonly refused: string
}

/** What the operator of the service allows. */
export interface Operator {
  /** Where addresses may lead. */
  readonly reach: Reach
  /** Whether SMTP is configured. */
  readonly hasMail: boolean
  /** Whether a code is that which an address was mailed; left out: none is asked for. */
  readonly isMailCode?: ((address: string, code: string) => boolean) | undefined
}

/** A field of a destination, as its documentation and its schema say it. Its value is a text. */
export interface Field {
  readonly description: string
  /** Characters. */
  readonly maxLength: number
  readonly isOptional?: true
  readonly oneOf?: readonly string[]
  readonly example: string
}

/** A trigger that is to be told, or several at once. */
export interface ChannelEvent {
  /** Of a digest the first. */
  readonly trigger: Trigger
  readonly digest?: Digest | undefined
  /** Of the service; `demo` marks what is told. */
  readonly mode: string
  /** The headers that sign a body with the alert's secret, at the time of this attempt. */
  readonly sign: (body: Buffer) => Readonly<Record<string, string>>
}

/** Several triggers, told in one message. */
export interface Digest {
  /** The same over all attempts. */
  readonly id: string
  /** Two or more, in the order of the log. */
  readonly triggers: readonly Trigger[]
}

/** What a channel's digest can be. */
export interface DigestRule {
  /** Triggers that one message lists; 1: there are no digests. */
  readonly most: number
  /** A storm is told so unless its owner says otherwise. */
  readonly isUsual: boolean
  /** Of one alert only: it is signed with that alert's secret. */
  readonly isByAlert: boolean
}

/** Of a chat. */
export function chatDigest(most: number): DigestRule {
  return { most, isUsual: true, isByAlert: false }
}

/** Of what is signed. */
export function signedDigest(most: number): DigestRule {
  return { most, isUsual: false, isByAlert: true }
}

/** An HTTPS POST. */
export interface PostRequest {
  readonly by: 'https'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface MailRequest {
  readonly by: 'smtp'
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The same over all attempts. */
  readonly id: string
}

/** What a vendor answered. */
export interface Heard {
  /** HTTP status, or reply code of SMTP. */
  readonly status: number
  /** The header. */
  readonly retryAfter: string | undefined
  /** Beginning of the body where the status is no 2xx; of SMTP the command and its reply. */
  readonly text: string
  readonly now: Micros
}

/**
 * What an answer means. `dead` is never tried again: `gone`, since the destination is no more, which ends all deliveries of
 * the alert; `rejected`, since this message will never be taken.
 */
export type Verdict =
  | { readonly is: 'delivered' }
  | { readonly is: 'retry'; readonly error: 'status' | 'redirect'; readonly afterSeconds?: number }
  | { readonly is: 'dead'; readonly error: Dead }

export type Dead = 'gone' | 'rejected'

/** A way to tell somebody: a format over the one dispatcher. Everything that tells it from others is here. */
export interface Channel<Destination extends object = object> {
  /** `type` of the destination. */
  readonly name: string
  /** What it is, for people. */
  readonly description: string
  readonly fields: Readonly<Record<string, Field>>
  readonly digest: DigestRule
  /** Checks a destination; what it gives is sealed, and read again when it is opened. */
  read(given: Given, operator: Operator): Destination | Refusal
  /** Where it leads, without anything secret: shown to anyone, unless `isForOwner`. */
  shown(destination: Destination): string
  /** Even that can be the secret: it is in the answer of the creation, and nothing of it in others or in the log in clear. */
  readonly isForOwner?: true
  /** What may be shown of where an earlier release said that it leads; left out: all of it. */
  narrowed?(shown: string): string
  request(destination: Destination, event: ChannelEvent): PostRequest | MailRequest
  verdict(heard: Heard): Verdict
}

export function isRefusal(value: object): value is Refusal {
  return 'refused' in value
}

/** A field that must be a text within its limit; the refusal says which, and what it is for. */
export function readText(fields: Channel['fields'], name: string, given: Given): string | Refusal {
  const rule = fields[name]
  if (rule === undefined) throw new Error(`a channel reads a field that it does not have: ${name}`)
  const value = given[name]
  if (typeof value !== 'string' || value === '')
    return { field: name, refused: `${name} must be a text: ${rule.description}, for example ${rule.example}.` }
  if (value.length <= rule.maxLength) return value
  return { field: name, refused: `${name} may have at most ${rule.maxLength} characters.` }
}

/** A field that must have a form; `advice`: what it looks like and where one finds it. */
export function readShaped<Name extends string>(
  fields: Channel['fields'],
  name: Name,
  given: Given,
  { shape, advice }: { readonly shape: RegExp; readonly advice: string },
): Readonly<Record<Name, string>> | Refusal {
  const text = readText(fields, name, given)
  if (typeof text !== 'string') return text
  if (shape.test(text)) return { [name]: text } as Readonly<Record<Name, string>>
  return { field: name, refused: `${name} ${advice}` }
}

const deadStatuses: Readonly<Record<number, Dead>> = {
  400: 'rejected',
  401: 'gone',
  403: 'gone',
  404: 'gone',
  410: 'gone',
  413: 'rejected',
  422: 'rejected',
}

/** What a vendor's status means where its documentation says nothing else; `goneWords`: in a 400 about the destination. */
export function vendorDead({ status, text }: Heard, goneWords?: RegExp): Dead | undefined {
  return status === 400 && goneWords?.test(text) === true ? 'gone' : deadStatuses[status]
}

/** `afterSeconds`: what the vendor asks for elsewhere than in the `Retry-After` header. */
export function verdictOf(heard: Heard, dead: Dead | undefined, afterSeconds?: number): Verdict {
  const { status, retryAfter, now } = heard
  if (status >= 200 && status < 300) return { is: 'delivered' }
  if (dead !== undefined) return { is: 'dead', error: dead }
  const asked = afterSeconds ?? retryAfterSeconds(retryAfter, now)
  const error = status >= 300 && status < 400 ? 'redirect' : 'status'
  return { is: 'retry', error, ...(asked === undefined ? {} : { afterSeconds: asked }) }
}

/** A POST of JSON. */
export function jsonPost(url: URL, body: object): PostRequest {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return { by: 'https', url, headers, body: Buffer.from(JSON.stringify(body), 'utf8') }
}

/** A number of seconds in the JSON of an answer; undefined where it is none. */
export function secondsIn(text: string, ...path: readonly string[]): number | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined // whoever stands before the vendor answers what it likes; the header is asked then
  }
  for (const name of path) value = Object(value)[name] as unknown
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}
