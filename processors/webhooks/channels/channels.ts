import { receiverOf } from '../address.ts'
import { type Channel, isRefusal, type DigestRule, type Given, type Operator, type Refusal } from './channel.ts'
import { discord } from './discord.ts'
import { email } from './email.ts'
import { pagerduty } from './pagerduty.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'
import { template } from './template.ts'
import { webhook, type UrlDestination } from './webhook.ts'

/** Every way to tell somebody. A further one is a file beside this one and a line here. */
export const channels: readonly Channel[] = [webhook, slack, discord, telegram, teams, pagerduty, email, template]

/** A channel, and where it leads. */
export interface Target {
  readonly channel: Channel
  readonly destination: object
}

/** Reads a destination as its owner gave it: `type` and the fields of that channel, and no others. */
export function readTarget(given: Given, operator: Operator): Target | Refusal {
  const { type, ...rest } = given
  const channel = channelOf(type)
  if (channel === undefined)
    return { field: 'type', refused: `type must be one of ${channels.map(({ name }) => name).join(', ')}.` }
  const names = Object.keys(channel.fields)
  const unknown = Object.keys(rest).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    const refused = `a channel of type ${channel.name} has ${names.join(', ')}, and no ${JSON.stringify(unknown.slice(0, 40))}.`
    return { field: unknown.slice(0, 40), refused }
  }
  const destination = channel.read(rest, operator)
  return isRefusal(destination) ? destination : { channel, destination }
}

/** A target as it is sealed: of the signed webhook its URL as it always was, of others JSON. */
export function targetText({ channel, destination }: Target): string {
  return channel.name === webhook.name
    ? (destination as UrlDestination).url
    : JSON.stringify({ type: channel.name, ...destination })
}

/** The target that was sealed; throws where this version cannot read it. */
export function targetOf(text: string, operator: Operator): Target {
  if (!text.startsWith('{')) return { channel: webhook, destination: { url: new URL(text).href } }
  const read = readTarget(JSON.parse(text) as Given, operator)
  if (isRefusal(read)) throw new Error(`a sealed destination cannot be read: ${read.field}`)
  return read
}

/**
 * What limits and partitions know a receiver by: of the signed webhook host and port, of others the destination itself,
 * since everybody's lead to the same few hosts. `digestOf`: a keyed digest, hexadecimal.
 */
export function receiverFor(target: Target, digestOf: (text: string) => string): string {
  const { channel, destination } = target
  if (channel.name === webhook.name) return receiverOf(new URL((destination as UrlDestination).url))
  const clear = channel.isForOwner === true ? '' : channel.shown(destination)
  return `${channel.name}:${clear}#${digestOf(targetText(target))}`
}

/** What digests of a receiver can be. */
export function digestOf(receiver: string): DigestRule {
  return (channelOf(channelShown(receiver)?.type) ?? webhook).digest
}

/**
 * The channel of a receiver and where it leads, without secrets; undefined: a signed webhook. Where only its owner may know
 * the destination, or a part of it, that is left out, of receivers too that earlier releases have made with it.
 */
export function channelShown(receiver: string): { readonly type: string; readonly destination?: string } | undefined {
  const [, type, destination] = /^(\w+):(.*)#[0-9a-f]+$/s.exec(receiver) ?? []
  if (type === undefined || destination === undefined) return undefined
  const channel = channelOf(type)
  if (channel?.isForOwner === true) return { type }
  return { type, destination: channel?.narrowed?.(destination) ?? destination }
}

function channelOf(type: unknown): Channel | undefined {
  return channels.find(({ name }) => name === type)
}
