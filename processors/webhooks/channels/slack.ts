import { chatDigest, jsonPost, readShaped, vendorDead, verdictOf, type Channel } from './channel.ts'
import { factLines, messageOf, fit } from './message.ts'

/**
 * "For best results, limit the number of characters in the text field to 4,000 characters. Slack will truncate messages
 * containing more than 40,000 characters." (docs.slack.dev, chat.postMessage)
 */
const TEXT_MAX = 4_000
/** "Maximum length for the text in this field is 3000 characters." (docs.slack.dev, section block) */
const BLOCK_MAX = 3_000

interface SlackDestination {
  readonly url: string
}

const fields = {
  url: {
    description: 'the address of an incoming webhook',
    maxLength: 300,
    example: 'https://hooks.slack.com/services/T000/B000/XXXX',
  },
} as const

const shape = /^https:\/\/hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)(?:\/[\w-]+){2,5}\/?$/

/** Slack: an app's incoming webhook. */
export const slack: Channel<SlackDestination> = {
  name: 'slack',
  description: 'a message in a Slack channel, by an incoming webhook',
  fields,
  digest: chatDigest(25),
  read(given) {
    const advice =
      'must be the address of an incoming webhook, https://hooks.slack.com/services/... : in Slack, Apps, Incoming Webhooks, Add to Slack.'
    return readShaped(fields, 'url', given, { shape, advice })
  },
  shown({ url }) {
    const { hostname, pathname } = new URL(url)
    return `${hostname}/${pathname.split('/')[2] ?? ''}/…`
  },
  request({ url }, event) {
    const message = messageOf(event)
    const section = (text: string): object => ({ type: 'section', text: { type: 'mrkdwn', text } })
    const blocks = [
      section(`*${fit(message.title, 200, escaped)}*`),
      section(fit(message.text, BLOCK_MAX, escaped)),
      section(fit(factLines(message), BLOCK_MAX, escaped)),
    ]
    const text = fit(`${message.title}: ${message.text}`, TEXT_MAX, escaped)
    return jsonPost(new URL(url), { text, blocks, unfurl_links: false, unfurl_media: false })
  },
  /**
   * "Incoming webhooks return more expressive errors": 400 invalid_payload, user_not_found; 403 action_prohibited; 404
   * channel_not_found, no_service; 410 channel_is_archived. "you'll receive a 429 Too Many Requests response with a
   * Retry-After HTTP header" (docs.slack.dev, incoming webhooks, rate limits)
   */
  verdict: (heard) => verdictOf(heard, vendorDead(heard, /user_not_found|no_team|team_disabled|no_service/)),
}

/** "You only need to replace these 3 characters": & < > (docs.slack.dev, formatting message text) */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
