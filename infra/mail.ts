import { existsSync, readFileSync } from 'node:fs'
import { getCACertificates } from 'node:tls'
import { ConfigError, type Config } from './config/config.ts'
import type { Logger } from './log.ts'

/** What mail leaves through, for whoever sends it. */
export const mailSettings = ['SMTP_URL', 'SMTP_FROM', 'WEBHOOK_CA_FILE'] as const

export interface MailServer {
  /** `smtp://` or `smtps://`, with user and password where the server wants them. */
  readonly url: URL
  /** Sender, as `Market data alerts <alerts@example.com>`. */
  readonly from: string
}

/** The operator's SMTP server; undefined: there is none. Throws `ConfigError`. */
export function mailServer({
  SMTP_URL: server,
  SMTP_FROM: from,
}: Config<'SMTP_URL' | 'SMTP_FROM'>): MailServer | undefined {
  if (server === '' && from === '') return undefined
  if (!/^smtps?:\/\/./.test(server) || !URL.canParse(server) || !/@/.test(from))
    throw new ConfigError('SMTP_URL and SMTP_FROM belong together: smtp://host:587, and an address to send from')
  return { url: new URL(server), from }
}

/**
 * A further authority that receivers and the mail server are trusted by, PEM. A file that is not there is said and passed
 * over: nothing that it vouches for can be running.
 */
export function furtherAuthority(
  { WEBHOOK_CA_FILE: file }: Config<'WEBHOOK_CA_FILE'>,
  report: Logger,
): string | undefined {
  if (file === '') return undefined
  if (!existsSync(file)) {
    report.warn({ file }, 'WEBHOOK_CA_FILE is not there; receivers that it vouches for are refused')
    return undefined
  }
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`WEBHOOK_CA_FILE: ${file} cannot be read`, { cause: error })
  }
}

/** Connections to the operator's server at once; what comes beyond them waits. */
export const CONNECTIONS_MAX = 20
/** Of connecting and of the greeting; a connection that nothing is sent on is given up after as long. */
const TIMEOUT_MS = 10_000
/**
 * A server that is silent may still be looking through a message that it takes, milliseconds. "A spurious timeout at this
 * point would be very wasteful and would typically result in delivery of multiple copies" (RFC 5321, 4.5.3.2.6).
 */
export const REPLY_MS = 600_000

export interface MailerOptions extends MailServer {
  /** PEM of a further authority. */
  readonly ca: string | undefined
}

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The same however often it is sent. */
  readonly id: string
}

interface MailReply {
  /** SMTP's reply code. */
  readonly status: number
  /** Of a refusal the command and the reply. */
  readonly text: string
}

export interface Mailer {
  /** The server's reply; rejects where none came, or the signal ended it. */
  send(mail: Mail, signal: AbortSignal): Promise<MailReply>
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
    socketTimeout: REPLY_MS,
    idleTimeout: TIMEOUT_MS,
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
        return { status: Number.parseInt(response, 10), text: '' }
      } catch (error) {
        return refusalOf(error)
      }
    },
    close: () => transport.close(),
  }
}

/** What the server said no with; throws what is no reply of it. */
function refusalOf(error: unknown): MailReply {
  const { responseCode: code, command, response } = Object(error) as Readonly<Record<string, unknown>>
  if (typeof code !== 'number') throw error
  return { status: code, text: `${String(command)} ${String(response)}` }
}
