import {
  chatDigest,
  isRefusal,
  readShaped,
  verdictOf,
  type Channel,
  type Dead,
  type Given,
  type Heard,
  type Refusal,
} from './channel.ts'
import { factLines, messageOf, fit } from './message.ts'

/** RFC 5322: a line "SHOULD be no more than 78 characters"; a longer one is folded. */
const SUBJECT_MAX = 200
const TEXT_MAX = 20_000

interface EmailDestination {
  readonly to: string
}

/** RFC 5321: 254 characters of a path. */
const fields = {
  to: { description: 'an email address', maxLength: 254, example: 'me@example.com' },
  code: {
    description: 'the code that POST /email-codes has mailed to it',
    maxLength: 40,
    isOptional: true,
    example: '3f2a-9c01-77de-b4a8',
  },
} as const

const shape = {
  shape: /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$/,
  advice: 'must be one plain email address, such as me@example.com.',
}

const OFF = 'email is not switched on here: choose another type, or ask the operator to set SMTP_URL and SMTP_FROM.'
const UNCONFIRMED =
  'code must be the one in the mailbox of that address: POST /email-codes with {"to": "..."} mails it there.'

/** Reads `to`, as everybody who takes an address does. */
export function readAddress(given: Given): EmailDestination | Refusal {
  return readShaped(fields, 'to', given, shape)
}

/** An email by the operator's SMTP server. */
export const email: Channel<EmailDestination> = {
  name: 'email',
  description: 'an email; where the operator of the service has configured SMTP',
  fields,
  digest: chatDigest(150),
  /** The code is looked at and left behind: what is sealed is the address alone. */
  read(given, { hasMail, isMailCode }) {
    const read = readAddress(given)
    if (isRefusal(read)) return read
    if (!hasMail) return { field: 'type', refused: OFF }
    const { code } = given
    if (isMailCode === undefined || (typeof code === 'string' && isMailCode(read.to, code))) return read
    return { field: 'code', refused: UNCONFIRMED }
  },
  shown: ({ to }) => addressShown(to),
  request({ to }, event) {
    const message = messageOf(event)
    const footer = `You get this since the alert ${message.fields.alert_id} names your address.`
    const text = `${fit(message.text, TEXT_MAX)}\n\n${fit(factLines(message), TEXT_MAX)}\n\n${fit(footer, TEXT_MAX)}\n`
    const id = encodeURIComponent(message.fields.trigger_id) // as a Message-ID can have it
    return { by: 'smtp', to, subject: fit(message.title, SUBJECT_MAX), text, id }
  },
  verdict: (heard) => verdictOf(heard, deadOf(heard)),
}

/** `m…@example.com`. */
export function addressShown(to: string): string {
  return `${to.slice(0, 1)}…${to.slice(to.indexOf('@'))}`
}

/**
 * RFC 5321: 552 of a recipient, "exceeded storage allocation", and any 5yz of the text refuse this message for good. Who is
 * refused else is the operator, as what a server says before it knows the recipient: that is the operator's to mend.
 */
function deadOf(heard: Heard): Dead | undefined {
  if (heard.status < 500) return undefined
  if (isNoMailbox(heard)) return 'gone'
  return /^(?:RCPT TO 552|DATA)/.test(heard.text) ? 'rejected' : undefined
}

/** RFC 3463: X.1 is about an address (7 and 8 of it the sender's, 0 anybody's), X.2.1 "mailbox disabled". */
const noMailboxCode = /^5\.(?:1\.(?![078]$)|2\.1$)/
/** Exchange Online of a recipient that it does not know, as 5.4.1. */
const unknownWords = /recipient address rejected/i
/** What a 550 without such a code says where it is not the mailbox that is refused, but who sends. */
const senderWords = /relay|denied|blocked|blacklist|policy|prohibit|rcpthosts|limit|sender|authentic/i

/**
 * RFC 5321: of a recipient 550 "mailbox unavailable", 551 "user not local", 553 "mailbox name not allowed"; RFC 7504: 556.
 * Servers answer the same where they do not relay for the operator, block him or have had enough mail of him for today.
 * `text`: the command and the reply.
 */
export function isNoMailbox({ status, text }: Pick<Heard, 'status' | 'text'>): boolean {
  if (!text.startsWith('RCPT TO') || status < 500) return false
  const words = text.replaceAll(/[^\s<]+@[^\s>]+/g, '') // an address may have any of them
  const [code] = /(?<![\d.])5(?:\.\d{1,3}){2}(?!\.?\d)/.exec(words) ?? []
  if (code === '5.4.1') return unknownWords.test(words)
  if (code !== undefined && code !== '5.1.0') return noMailboxCode.test(code)
  return [550, 551, 553, 556].includes(status) && !senderWords.test(words)
}
