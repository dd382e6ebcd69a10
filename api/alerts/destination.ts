import { isRefusal, type Given, type Operator } from '../../processors/webhooks/channels/channel.ts'
import {
  channels,
  channelShown,
  readTarget,
  targetText,
  type Target,
} from '../../processors/webhooks/channels/channels.ts'
import { readSignedUrl, webhook } from '../../processors/webhooks/channels/webhook.ts'
import type { Body } from '../body.ts'
import type { ErrorCode } from '../errors.ts'
import { object, oneOf, text, type Schema } from '../schema.ts'
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
  oneOf: channels.map(({ name, says, fields }) =>
    object(
      says,
      {
        type: oneOf([name], 'Which channel'),
        ...Object.fromEntries(
          Object.entries(fields).map(([key, { says: meaning, maxLength, oneOf: values, example }]) => [
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
export const channelShownSchema: Schema = object('Where the events go, where that is no signed webhook', {
  type: text('Which channel'),
  destination: text('Where it leads, without anything secret'),
})
