import { jsonOutput, route, type BodyRule, type Call, type Route } from '../request/route.ts'
import { addressShown, readAddress } from '../../processors/webhooks/channels/email.ts'
import { isRefusal } from '../../processors/webhooks/channels/channel.ts'
import { wrong } from '../alerts/fields.ts'
import { jsonReply, type Reply } from '../request/reply.ts'
import { object, text } from '../request/schema.ts'

const body: BodyRule = {
  schema: object('Whose code', { to: text('An email address', { maxLength: 254, examples: ['me@example.com'] }) }),
  example: { to: 'me@example.com' },
  optional: false,
}

const output = jsonOutput(
  'The mail server has taken it',
  object('A code that was mailed', {
    to: text('The address, without most of its name'),
    message: text('What to do with the code'),
  }),
)

/** What an alert that goes to an email address is made with. */
export const emailCodeRoute: Route = route({
  method: 'POST',
  path: '/email-codes',
  name: 'email_code',
  description: 'Mail an address the code that alerts to it are made with',
  priceUsdc: 0,
  limit: 'caller',
  ttlMs: 0,
  input: {},
  body,
  outputs: { 200: output },
  errors: ['invalid_channel', 'data_unavailable'],
  prepare: replyEmailCode,
})

async function replyEmailCode({ services, body: given = {}, caller }: Call): Promise<Reply> {
  const { emailCodes } = services.alerts
  const read = readAddress(given)
  if (isRefusal(read)) throw wrong('invalid_channel', read.field, read.refused)
  if (emailCodes === null)
    throw wrong(
      'invalid_channel',
      'to',
      'Email is not switched on here: ask the operator to set SMTP_URL and SMTP_FROM.',
    )
  await emailCodes.mail(read.to, caller, services.steady())
  const message = 'Give the code as channel.code when you make an alert to this address; it does not end.'
  return jsonReply(200, { to: addressShown(read.to), message })
}
