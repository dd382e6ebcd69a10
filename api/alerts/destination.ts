import { isRefusal, type Given, type Operator } from '../../processors/webhooks/channels/channel.ts'
import {
  channels,
  channelShown,
  readTarget,
  targetText,
  type Target,
  digestOf,
} from '../../processors/webhooks/channels/channels.ts'
import { readSignedUrl, webhook } from '../../processors/webhooks/channels/webhook.ts'
import { readDeliveryTerms, readQuietHours } from '../../processors/webhooks/quiet-hours.ts'
import type { Body } from '../request/body.ts'
import type { ErrorCode } from '../request/errors.ts'
import { object, oneOf, text, type Schema, boolean, nullable } from '../request/schema.ts'
import { field, wrong } from './fields.ts'

/** Where an alert's events go, as its creation says: `webhook_url` or `channel`. */
export interface Destination {
  readonly target: Target
  /** Of what was asked for, to compare: the URL as submitted, or the channel with its fields. */
  readonly asked: string
  /** What the creation's answer repeats: the URL as submitted, of a channel nothing secret. */
  readonly shown: object
}

/** Reads where events go; throws the `ApiError` of the field at fault. */
export function readDestination(body: Body, operator: Operator): Destination {
  const channel = field(body, 'channel')
  if (channel === undefined) return readWebhook(body, operator)
  if (field(body, 'webhook_url') !== undefined)
    throw wrong('invalid_channel', 'channel', 'Give webhook_url or channel, not both.')
  if (typeof channel !== 'object' || channel === null || Array.isArray(channel))
    throw wrong(
      'invalid_channel',
      'channel',
      'channel must be an object such as {"type": "slack", "url": "https://..."}.',
    )
  const target = orRefuse(readTarget(channel as Given, operator), 'invalid_channel', 'channel.')
  const { name: type } = target.channel
  const shown = { channel: { type, destination: target.channel.shown(target.destination) } }
  return { target, asked: targetText(target), shown }
}

function readWebhook(body: Body, operator: Operator): Destination {
  if (field(body, 'webhook_url') === undefined)
    throw wrong(
      'invalid_webhook_url',
      'webhook_url',
      'Say where it tells: webhook_url, such as https://example.com/hook, or channel, such as {"type": "slack", "url": "https://..."}.',
    )
  const url = field(body, 'webhook_url')
  const destination = orRefuse(readSignedUrl(url, operator, 'webhook_url'), 'invalid_webhook_url', '')
  return { target: { channel: webhook, destination }, asked: String(url), shown: { webhook_url: url } }
}

function orRefuse<Value extends object>(
  read: Value | { readonly field: string; readonly refused: string },
  code: ErrorCode,
  under: string,
): Value {
  if (isRefusal(read)) throw wrong(code, `${under}${read.field}`, `${under}${read.refused}`)
  return read
}

/** What an answer says of a channel; nothing of a signed webhook, whose address nobody is shown. */
export function channelAnswer(receiver: string): { readonly channel?: object } {
  const channel = channelShown(receiver)
  return channel === undefined ? {} : { channel }
}

/** `channel` of a creation's body. */
export const channelSchema: Schema = {
  type: 'object',
  description: 'Where the events go, instead of webhook_url: a chat, an incident, or a body of your own form',
  oneOf: channels.map(({ name, description, fields }) =>
    object(
      description,
      {
        type: oneOf([name], 'Which channel'),
        ...Object.fromEntries(
          Object.entries(fields).map(([key, { description: meaning, maxLength, oneOf: values, example }]) => [
            key,
            values === undefined ? text(meaning, { maxLength, examples: [example] }) : oneOf(values, meaning),
          ]),
        ),
      },
      Object.entries(fields).flatMap(([key, { isOptional }]) => (isOptional === true ? [key] : [])),
    ),
  ),
}

/** `channel` of an answer. */
export const channelShownSchema: Schema = object(
  'Where the events go, where that is no signed webhook',
  {
    type: text('Which channel'),
    destination: text('Where it leads, without anything secret; of a template only the creation’s answer says it'),
  },
  ['destination'],
)

const time = { pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' }

const hours = {
  from: text('First minute, HH:MM', { ...time, examples: ['22:00'] }),
  to: text('First minute after them, HH:MM', { ...time, examples: ['07:00'] }),
  time_zone: text('IANA name, such as Europe/Berlin', { examples: ['Europe/Berlin'] }),
}

/** How messages come: fields of a creation and of a change. */
export const deliverySchemas: Readonly<Record<string, Schema>> = {
  quiet_hours: nullable(
    object('What rings in these hours of a day is told in one message at their end; anyone may read them', hours),
  ),
  digest: boolean('Beyond 10 messages a minute the rest is told in one; left out: so for chats and email'),
}

/** The same in answers. */
export const deliveryShownSchemas: Readonly<Record<string, Schema>> = {
  quiet_hours: nullable(object('What rings in these hours is told in one message at their end', hours)),
  digest: boolean('Beyond 10 messages a minute the rest is told in one'),
}

/** Reads them as the log has them; null: as is usual for the receiver. */
export function readDelivery(body: Body, receiver: string): string | null {
  const quiet = field(body, 'quiet_hours')
  const digest = field(body, 'digest')
  if (digest !== undefined && typeof digest !== 'boolean')
    throw wrong('invalid_digest', 'digest', 'digest must be true or false.')
  if (digest === true && digestOf(receiver).most === 1)
    throw wrong('invalid_digest', 'digest', 'This channel takes no digests: each message is an incident of its own.')
  if (quiet === undefined && digest === undefined) return null
  return JSON.stringify({
    ...(quiet !== undefined && { quiet_hours: readHours(quiet) }),
    ...(digest !== undefined && { digest }),
  })
}

function readHours(given: unknown): string {
  const { from, to, time_zone: zone, ...more } = { ...Object(given) } as Record<string, unknown>
  const areTexts = typeof from === 'string' && typeof to === 'string' && typeof zone === 'string'
  const written = areTexts && Object.keys(more).length === 0 ? `${from}-${to} ${zone}` : ''
  if (readQuietHours(written) !== undefined) return written
  const example = '{"from": "22:00", "to": "07:00", "time_zone": "Europe/Berlin"}'
  throw wrong('invalid_quiet_hours', 'quiet_hours', `quiet_hours must be such as ${example}, from and to not the same.`)
}

/** As answers show them. */
export function deliveryShown({ delivery, receiver }: { delivery: string | null; receiver: string }): object {
  const { quiet_hours: quiet, digest = digestOf(receiver).isUsual } = readDeliveryTerms(delivery)
  const hourOf = (minutes: number): string =>
    [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':')
  const shown = quiet && { from: hourOf(quiet.from), to: hourOf(quiet.to), time_zone: quiet.zone }
  return { quiet_hours: shown ?? null, digest }
}
