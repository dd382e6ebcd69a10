import { chatDigest, jsonPost, readShaped, vendorDead, verdictOf, type Channel } from './channel.ts'
import { factLines, messageOf, fit, jsonBytes } from './message.ts'

/**
 * "The message size limit is 28 KB" (learn.microsoft.com, incoming webhooks). Teams counts two bytes for a character, so
 * that half of it is sure; of those the card's frame takes less than 2 KB.
 */
const TEXT_BYTES_MAX = 10_000
const FACTS_BYTES_MAX = 1_000
const TITLE_BYTES_MAX = 500

interface TeamsDestination {
  readonly url: string
}

const fields = {
  url: {
    description: 'the address of a workflow’s webhook',
    maxLength: 1_000,
    example: 'https://prod-01.westeurope.logic.azure.com/workflows/0123/triggers/manual/paths/invoke?sig=SIGNATURE',
  },
} as const

const host = String.raw`(?:[\w-]+\.)+(?:logic\.azure\.(?:com|us)|environment\.api\.powerplatform\.(?:com|us))(?::443)?`
const shape = new RegExp(String.raw`^https://${host}/[\w./%-]*workflows/[\w./%-]+\?[\w.&=%~+-]+$`)

/** Microsoft Teams: a workflow that posts to a channel or chat when its webhook is called. */
export const teams: Channel<TeamsDestination> = {
  name: 'teams',
  description: 'a card in a Microsoft Teams channel or chat, by a workflow’s webhook',
  fields,
  digest: chatDigest(80),
  read(given) {
    const advice =
      'must be the address of a workflow, at logic.azure.com or environment.api.powerplatform.com, with its signature: in Teams, Workflows, "Send webhook alerts to a channel". Office 365 connectors (webhook.office.com) are retired.'
    return readShaped(fields, 'url', given, { shape, advice })
  },
  shown: ({ url }) => narrowed(new URL(url).hostname),
  narrowed,
  request({ url }, event) {
    const message = messageOf(event)
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [
        paragraph(fit(message.title, TITLE_BYTES_MAX, same, jsonBytes), { weight: 'Bolder', size: 'Medium' }),
        paragraph(fit(message.text, TEXT_BYTES_MAX, same, jsonBytes)),
        paragraph(fit(factLines(message), FACTS_BYTES_MAX, same, jsonBytes), { isSubtle: true }),
      ],
    }
    const card = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }
    return jsonPost(new URL(url), { type: 'message', attachments: [card] })
  },
  /** A workflow that was switched off or deleted is a 400 or 404 that names it; a changed signature is a 401. */
  verdict: (heard) => verdictOf(heard, vendorDead(heard, /WorkflowTriggerIsNotEnabled|WorkflowNotFound|disabled/i)),
}

/** Microsoft's part of a host: what stands before it is the customer's tenant or environment. */
function narrowed(host: string): string {
  return `…${/(?:logic\.azure|environment\.api\.powerplatform)\.(?:com|us)/.exec(host)?.[0] ?? ''}/…`
}

/** Runs of text, unlike text blocks, know no markdown: "TextRun: text does not support markdown" (adaptivecards.io). */
function paragraph(text: string, look: object = {}): object {
  return { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text, ...look }] }
}

function same(text: string): string {
  return text
}
