import { appendFileSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { allowedHostsAt, refuses } from '../../http/guard.ts'
import { closeServer, listen } from '../../http/ops.ts'
import { answerIn, answerOf, readManner, type Answer, type Manner } from './misbehave.ts'

/** Longest webhook that is read; ours are some KB. */
const BODY_BYTES_MAX = 256 * 1024
/** What Standard Webhooks allows a clock to be off, seconds. */
const TOLERANCE_SECONDS = 300
/** As usual of servers on the Internet (nginx: 75 s); Node's own 5 s are not. */
const KEPT_MS = 75_000

/** One webhook as the ledger has it: a line of JSON. */
export interface Entry {
  readonly id: string
  /** When it began to come, milliseconds since the Unix epoch with fractions. */
  readonly began: number
  /** When it was whole, ISO 8601. */
  readonly time: string
  readonly alert_id: string
  readonly verdict: Verdict
  /** 1 for the first of this id. */
  readonly attempt: number
  /** How it was answered. */
  readonly manner: Answer
  /** What its signatures can be checked by once more. */
  readonly headers: Headers
  readonly body: string
}

export interface ReceiverOptions {
  readonly cert: string
  readonly key: string
  readonly host: string
  readonly port: number
  /** `whsec_...`, for any alert. */
  readonly secrets: readonly string[]
  readonly manner: Manner
  /** File of the ledger; it goes on where it ended. */
  readonly ledger: string
  readonly onEvent: (entry: Entry) => void
  /** A webhook that came before its alert's secret, now that the secret is known. */
  readonly onChecked: (entry: Entry) => void
  readonly now: () => Date
}

export interface LocalReceiver {
  readonly url: string
  close(): Promise<void>
}

/**
 * An HTTPS receiver of webhooks on this machine: any POST is one, but for two control paths: `/secrets` takes the answer
 * of an alert's creation (`alert_id`, `webhook_secret`), `/misbehave` takes `{"manner": "500"}`.
 */
export async function startLocalReceiver(options: ReceiverOptions): Promise<LocalReceiver> {
  const receiver = new Receiver(options)
  const { cert, key, host, port } = options
  const allowedHosts = allowedHostsAt(host)
  const server = createServer({ cert, key }, (request, response) => {
    if (refuses(request, response, allowedHosts)) return
    receiver.take(request, response).catch(() => response.destroy()) // the sender has gone, or sent too much
  })
  server.keepAliveTimeout = KEPT_MS
  const bound = await listen(server, host, port)
  return { url: `https://localhost:${bound}`, close: () => closeServer(server) }
}

/** Webhooks that wait for their alert's secret; the oldest is given up first. */
const UNCHECKED_MAX = 100

class Receiver {
  readonly #options: ReceiverOptions
  #unchecked: readonly Entry[] = []
  readonly #secrets = new Map<string, string>()
  readonly #seen = new Map<string, number>()
  #manner: Manner

  constructor(options: ReceiverOptions) {
    this.#options = options
    this.#manner = options.manner
    for (const { id, attempt } of readLedger(options.ledger)) this.#seen.set(id, attempt)
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.timeOrigin + performance.now()
    const body = await readBody(request)
    const { method, url } = request
    if (method !== 'POST') {
      response.writeHead(405, { allow: 'POST' }).end('This receives webhooks: POST.\n')
    } else if (url === '/secrets' || url === '/misbehave') {
      const answer = this.#control(url, body)
      response.writeHead(answer === undefined ? 400 : 200).end(`${answer ?? 'That is not understood.'}\n`)
    } else {
      answerIn(this.#enter(request, began, body).manner, request, response)
    }
  }

  #control(path: string, body: Buffer): string | undefined {
    const given = parse(body)
    if (path === '/misbehave') {
      const manner = readManner(stringOf(given, 'manner'))
      if (manner !== undefined) this.#manner = manner
      return manner === undefined ? undefined : `From now on: ${manner}`
    }
    const [alert, secret] = [stringOf(given, 'alert_id'), stringOf(given, 'webhook_secret')]
    if (alert === '' || !secret.startsWith('whsec_')) return undefined
    this.#secrets.set(alert, secret)
    this.#check(alert, secret)
    return `Knows the secret of ${alert}`
  }

  /** Written before it is answered: what was said to be taken is in the ledger. */
  #enter({ headers }: IncomingMessage, began: number, bytes: Buffer): Entry {
    const { secrets, now, ledger, onEvent } = this.#options
    const id = text(headers, 'webhook-id')
    const alert = stringOf(parse(bytes), 'alert_id')
    const own = this.#secrets.get(alert)
    const at = now()
    const attempt = (this.#seen.get(id) ?? 0) + 1
    const entry: Entry = {
      id,
      began,
      time: at.toISOString(),
      alert_id: alert,
      verdict: verify(headers, bytes, own === undefined ? secrets : [own], at.getTime() / 1_000),
      attempt,
      manner: answerOf(this.#manner, { id, attempt }),
      headers: Object.fromEntries(signing.map((name) => [name, headers[name]])),
      body: bytes.toString('utf8'),
    }
    this.#seen.set(id, attempt)
    appendFileSync(ledger, `${JSON.stringify(entry)}\n`)
    onEvent(entry)
    if (entry.verdict === 'unknown-secret') this.#unchecked = [...this.#unchecked, entry].slice(-UNCHECKED_MAX)
    return entry
  }

  /** An alert may ring before anyone has told the receiver its secret. */
  #check(alert: string, secret: string): void {
    const isOwn = (entry: Entry): boolean => entry.alert_id === alert
    const found = this.#unchecked.filter(isOwn)
    this.#unchecked = this.#unchecked.filter((entry) => !isOwn(entry))
    for (const entry of found) this.#options.onChecked({ ...entry, verdict: checkAgain(entry, secret) })
  }
}

/** Checks the signatures of what came with another secret, as of when it came. */
export function checkAgain({ headers, body, time }: Entry, secret: string): Verdict {
  return verify(headers, Buffer.from(body), [secret], Date.parse(time) / 1_000)
}

/** What a ledger holds; nothing where there is none. */
export function readLedger(file: string): Entry[] {
  return entriesOf(readText(file))
}

/** What whole lines of a ledger hold. A line that a kill has cut is passed over. */
export function entriesOf(lines: string): Entry[] {
  return lines.split('\n').flatMap((line) => {
    const entry = parse(Buffer.from(line))
    return stringOf(entry, 'time') === '' ? [] : [entry as Entry]
  })
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined // it says nothing that is understood
  }
}

function stringOf(value: unknown, name: string): string {
  if (typeof value !== 'object' || value === null) return ''
  const field = (value as Readonly<Record<string, unknown>>)[name]
  return typeof field === 'string' ? field : ''
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw new Error(`more than ${BODY_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Headers that signatures are made of. */
const signing = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-svc-signature'] as const

export type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * What a receiver finds out about a webhook.
 * - `verified`: both signatures are right and it is of now;
 * - `stale`: they are, but its time is more than 5 minutes off: it may be a replay;
 * - `wrong`: no known secret makes them;
 * - `unknown-secret`: there is no secret to check with.
 */
export type Verdict = 'verified' | 'stale' | 'wrong' | 'unknown-secret'

/** Checks both signatures of the raw body with each secret; `now` in seconds. Written from the documentation alone. */
export function verify(headers: Headers, body: Buffer, secrets: readonly string[], now: number): Verdict {
  if (secrets.length === 0) return 'unknown-secret'
  if (!secrets.some((secret) => isServiceSignature(headers, body, secret) && isStandard(headers, body, secret)))
    return 'wrong'
  return Math.abs(now - Number(text(headers, 'webhook-timestamp'))) <= TOLERANCE_SECONDS ? 'verified' : 'stale'
}

/** `X-SVC-Signature: sha256=<hex>`: the key is the whole secret as UTF-8, the message is the body. */
function isServiceSignature(headers: Headers, body: Buffer, secret: string): boolean {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  return isSame(expected, text(headers, 'x-svc-signature'))
}

/** `webhook-signature: v1,<base64> ...`: the key is the secret's base64 part, the message is `id.timestamp.body`. */
function isStandard(headers: Headers, body: Buffer, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const head = `${text(headers, 'webhook-id')}.${text(headers, 'webhook-timestamp')}.`
  const expected = `v1,${createHmac('sha256', key).update(head).update(body).digest('base64')}`
  return text(headers, 'webhook-signature')
    .split(' ')
    .some((given) => isSame(expected, given))
}

function text(headers: Headers, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}

/** In a time that does not tell how much of it is right. */
function isSame(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const verdicts: Readonly<Record<Verdict, string>> = {
  verified: 'both signatures verified',
  stale: 'signatures right, but its time is more than 5 minutes off',
  wrong: 'WRONG SIGNATURE: do not believe it',
  'unknown-secret': 'signature not checked: the alert’s webhook_secret is not known here',
}

/** A webhook as a person reads it: what happened, whether it can be believed, the body. */
export function eventWords({ id, time, verdict, attempt, manner, body }: Entry): string {
  const value = eventOf(body)
  const marks = [
    value['test'] === true && 'TEST',
    value['demo'] === true && 'demo',
    attempt > 1 && `again, ${attempt}.`,
  ]
  const told = [value['event'], value['symbol'], ...marks.filter((mark) => mark !== false)].map(String).join(' ')
  const data = record(value['data'])
  const answered = manner === 'ok' ? '' : `\n  answered with: ${manner}`
  return [
    `${time}  ${told}`,
    `  ${what(data)}`,
    `  ${verdicts[verdict]}; webhook-id ${id}${answered}`,
    indent(JSON.stringify(value, undefined, 2)),
  ].join('\n')
}

/** What became of one that came before its secret. */
export function checkedWords({ id, verdict }: Entry): string {
  return `Its secret came: ${verdicts[verdict]}; webhook-id ${id}`
}

function eventOf(body: string): Readonly<Record<string, unknown>> {
  try {
    return record(JSON.parse(body))
  } catch {
    return { event: 'not JSON', data: { condition_met: body.slice(0, 200) } }
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

function what({ condition_met: met, oi_at_risk_pct: pct }: Readonly<Record<string, unknown>>): string {
  return typeof met === 'string' ? met : `${String(pct)} % of open interest is at risk of liquidation`
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ')
}
