import { getCACertificates } from 'node:tls'
import type { Answer } from './agent.ts'
import type { MailRequest } from './channels/channel.ts'

/** Connections to the operator's server at once; what comes beyond them waits, within the deadline of its attempt. */
const CONNECTIONS_MAX = 5
/** Of connecting, of the greeting and of silence: an attempt's deadline is no longer. */
const TIMEOUT_MS = 10_000

export interface MailerOptions {
  /** `smtp://` or `smtps://`, with user and password where the server wants them. */
  readonly url: URL
  /** Sender, as `Market data alerts <alerts@example.com>`. */
  readonly from: string
  /** PEM of a further authority. */
  readonly ca: string | undefined
}

export interface Mailer {
  /** The server's reply as an answer; rejects where none came, or the signal ended it. */
  send(mail: MailRequest, signal: AbortSignal): Promise<Answer>
  close(): void
}

/** Mails by the operator's SMTP server, over TLS unless that is this machine. */
export async function openMailer({ url, from, ca }: MailerOptions): Promise<Mailer> {
  const { createTransport } = await import('nodemailer') // only where there is a server: others need not load it
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  const transport = createTransport({
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    ...(url.port === '' ? {} : { port: Number(url.port) }),
    secure: url.protocol === 'smtps:',
    requireTLS: !isHere,
    ...(user === '' ? {} : { auth: { user, pass } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(ca === undefined ? {} : { tls: { ca: [...getCACertificates('default'), ca] } }),
  })
  const host = /@([\w.-]+)/.exec(from)?.[1] ?? 'localhost'
  return {
    async send({ to, subject, text, id }, signal) {
      const headers = { 'Auto-Submitted': 'auto-generated' } // RFC 3834: no out-of-office replies
      try {
        const mail = { from, to, subject, text, headers, messageId: `<${id}@${host}>`, signal }
        const { response } = await transport.sendMail(mail)
        return answerOf(Number.parseInt(response, 10), '')
      } catch (error) {
        return refusalOf(error)
      }
    },
    close: () => transport.close(),
  }
}

/** What the server said no with; throws what is no reply of it. */
function refusalOf(error: unknown): Answer {
  const { responseCode: code, command, response } = Object(error) as Readonly<Record<string, unknown>>
  if (typeof code !== 'number') throw error
  return answerOf(code, `${String(command)} ${String(response)}`)
}

function answerOf(status: number, text: string): Answer {
  return { status, retryAfter: undefined, body: 'whole', text }
}
