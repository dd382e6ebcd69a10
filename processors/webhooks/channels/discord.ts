import { chatDigest, jsonPost, readShaped, secondsIn, vendorDead, verdictOf, type Channel } from './channel.ts'
import { factLines, messageOf, fit } from './message.ts'

/** "content: the message contents (up to 2000 characters)" (discord.com/developers, execute webhook) */
const CONTENT_MAX = 2_000
const FACTS_MAX = 400
const TITLE_MAX = 300
/** "SUPPRESS_EMBEDS 1 << 2: do not include any embeds when serializing this message" */
const SUPPRESS_EMBEDS = 4

interface DiscordDestination {
  readonly url: string
}

const fields = {
  url: {
    description: 'the address of a webhook',
    maxLength: 300,
    example: 'https://discord.com/api/webhooks/123456789012345678/the-token-of-this-webhook',
  },
} as const

const shape =
  /^https:\/\/(?:(?:ptb|canary)\.)?discord(?:app)?\.com\/api\/(?:v\d+\/)?webhooks\/\d{15,20}\/[\w-]{20,120}(?:\?thread_id=\d{15,20})?$/

/** Discord: a channel's webhook. */
export const discord: Channel<DiscordDestination> = {
  name: 'discord',
  description: 'a message in a Discord channel, by its webhook',
  fields,
  digest: chatDigest(14),
  read(given) {
    const advice =
      'must be the address of a webhook, https://discord.com/api/webhooks/ID/TOKEN: in Discord, Edit Channel, Integrations, Webhooks, Copy Webhook URL.'
    return readShaped(fields, 'url', given, { shape, advice })
  },
  shown: ({ url }) => `discord.com/${/webhooks\/(\d+)/.exec(url)?.[1] ?? ''}/…`,
  request({ url }, event) {
    const message = messageOf(event)
    const head = `**${fit(message.title, TITLE_MAX, escaped)}**\n`
    const facts = `\n${fit(factLines(message), FACTS_MAX, escaped)}`
    const text = fit(message.text, CONTENT_MAX - head.length - facts.length, escaped)
    // "parse: an array of allowed mention types to parse from the content": none of them pings anybody.
    const body = { content: head + text + facts, allowed_mentions: { parse: [] }, flags: SUPPRESS_EMBEDS }
    return jsonPost(new URL(url), body)
  },
  /**
   * "Your application should rely on the Retry-After header or retry_after field to determine when to retry the request";
   * retry_after: "The number of seconds to wait before submitting another request", a float. Unknown Webhook is a 404,
   * Invalid Webhook Token a 401. (discord.com/developers, rate limits, JSON error codes)
   */
  verdict: (heard) => verdictOf(heard, vendorDead(heard), secondsIn(heard.text, 'retry_after')),
}

/** Every character that Discord's markdown, mentions or links begin with, behind a backslash. */
function escaped(text: string): string {
  return text.replaceAll(/[\\*_~`|<>#@[\]()]/g, String.raw`\$&`)
}
