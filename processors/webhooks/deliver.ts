import { isIP } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { Trigger } from '../../schemas/records.ts'
import type { Micros } from '../../schemas/records.ts'
import { ownersId } from '../alerts/parts.ts'
import { keepNewest } from '../kernel/newest.ts'
import { openUrl, webhookSecret, type ServiceSecrets } from '../alerts/secrets.ts'
import { hostOf, mayReach, type Reach } from './address.ts'
import type { Answer, Caller, Post, Resolve } from './agent.ts'
import type { Channel, Digest, MailRequest, PostRequest } from './channels/channel.ts'
import { targetOf, type Target } from './channels/channels.ts'
import { REPLY_MS, type Mailer } from '../../infra/mail.ts'
import { failureOf, type Failure, type Result } from './attempt.ts'
import { signatureHeaders, signingKeys, type SigningKeys } from './signature.ts'

/** Over the name's resolution, connection, headers and body together. */
const DEADLINE_MS = 10_000
/** Of an email: over the connection and the server's last reply together. */
const MAIL_DEADLINE_MS = DEADLINE_MS + REPLY_MS
/** After it a call that was ended may still say how far its answer came. */
const LAST_WORD_MS = 1_000
/** Addresses of a name that one attempt tries while none takes a connection. */
const ADDRESSES_MAX = 3

export interface SenderOptions {
  readonly secrets: ServiceSecrets
  /** `demo` marks each payload. */
  readonly mode: string
  readonly reach: Reach
  /** By channel: what stands in for the origin of its vendor, in tests. */
  readonly bases?: ReadonlyMap<string, URL>
  readonly resolve: Resolve
  readonly caller: Pick<Caller, 'post'>
  /** Undefined: the operator has configured no SMTP. */
  readonly mailer?: Mailer | undefined
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** Of a request; an email has its own. */
  readonly deadlineMs?: number
  readonly mailDeadlineMs?: number
}

/** Opened webhooks that are remembered: opening costs as much as signing. */
const OPENED_MAX = 10_000

type ChannelRequest = ReturnType<Channel['request']>

interface Opened {
  readonly version: number
  readonly sealed: string
  readonly target: Target
  readonly keys: SigningKeys
}

/** Makes one attempt; never rejects for what a receiver does. `onSent`: the whole request has left. `digest`: that it begins. */
export type Send = (trigger: Trigger, attempt: number, onSent: (at: Micros) => void, digest?: Digest) => Promise<Result>

/** Sends triggers to where their sealed destinations say. */
export function createSender(options: SenderOptions): Send {
  const { mode, now } = options
  const micros = (): Micros => now() * 1_000
  const open = opener(options)
  const calling = { ...options, mayReach: checker(options.reach) }
  return async (trigger, attempt, onSent, digest) => {
    const triggerId = digest?.id ?? trigger.trigger_id
    const started = micros()
    const unsent = (error: Failure): Result => ({ started, finished: micros(), status: null, is: 'failed', error })
    const opened = open(trigger)
    if (opened === undefined) return unsent('url_unreadable')
    const { keys, target } = opened
    const { channel, destination } = target
    const sign = (body: Buffer): Record<string, string> => signatureHeaders({ keys, triggerId, body, at: started })
    const request = written(() => channel.request(destination, { trigger, digest, mode, sign }))
    if (request === undefined) return unsent('message_unwritable')
    const calls = { channel, request, attempt, onSent: () => onSent(micros()) }
    const outcome = await call(calling, calls)
    return { started, finished: micros(), ...outcome }
  }
}

/** Undefined: this version cannot write it, since the alert is of a kind that a newer one made. */
function written(write: () => ChannelRequest): ChannelRequest | undefined {
  try {
    return write()
  } catch {
    return undefined // it becomes the attempt's outcome, message_unwritable
  }
}

function rebased(url: URL, base: URL | undefined): URL {
  return base === undefined ? url : new URL(`${url.pathname}${url.search}`, base)
}

/** Opens a trigger's sealed destination and derives its secret; undefined where they were made under another secret. */
function opener(options: SenderOptions): (trigger: Trigger) => Opened | undefined {
  const opened = new Map<string, Opened>()
  return ({ alert_id: id, key_version: version, webhook: sealed }) => {
    const alert = ownersId(id)
    const known = opened.get(alert)
    if (known?.sealed === sealed && known.version === version) return known
    const fresh = openSealed(options, version, alert, sealed)
    if (fresh !== undefined) opened.set(alert, fresh)
    keepNewest(opened, OPENED_MAX)
    return fresh
  }
}

function openSealed(options: SenderOptions, version: number, alert: string, sealed: string): Opened | undefined {
  const { secrets, reach, mailer } = options
  try {
    const target = targetOf(openUrl(secrets, version, alert, sealed), { reach, hasMail: mailer !== undefined })
    return { version, sealed, target, keys: signingKeys(webhookSecret(secrets, version, alert)) }
  } catch {
    return undefined // it becomes the attempt's outcome, url_unreadable
  }
}

/** Addresses of which it is remembered whether they may be reached; they come again with each delivery. */
const CHECKED_MAX = 10_000

function checker(reach: Reach): (address: string) => boolean {
  const checked = new Map<string, boolean>()
  return (address) => {
    const known = checked.get(address)
    if (known !== undefined) return known
    if (checked.size >= CHECKED_MAX) checked.clear()
    const found = mayReach(address, reach)
    checked.set(address, found)
    return found
  }
}

type Outcome = Pick<Result, 'status'> &
  (
    | { readonly is: 'delivered'; readonly isCut: boolean }
    | { readonly is: 'failed'; readonly error: Failure; readonly retryAfterSeconds?: number }
  )

interface Calls extends Omit<SenderOptions, 'secrets' | 'mode' | 'reach'> {
  readonly mayReach: (address: string) => boolean
}

interface Calling {
  readonly channel: Channel
  readonly request: ChannelRequest
  readonly attempt: number
  readonly onSent: () => void
}

/** Calls, all within the deadline. */
async function call(options: Calls, calling: Calling): Promise<Outcome> {
  const { channel, request, onSent } = calling
  const { deadlineMs = DEADLINE_MS, mailDeadlineMs = MAIL_DEADLINE_MS } = options
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), request.by === 'https' ? deadlineMs : mailDeadlineMs)
  try {
    const answer =
      request.by === 'https'
        ? await beforeAbort(post(options, calling, request, deadline.signal), deadline.signal, LAST_WORD_MS)
        : await beforeAbort(mailed(options.mailer, request, deadline.signal), deadline.signal)
    if (typeof answer === 'string') return { status: null, is: 'failed', error: answer }
    if (request.by === 'smtp') onSent()
    return outcomeOf(channel, answer, options.now() * 1_000, deadline.signal)
  } catch (error) {
    return { status: null, is: 'failed', error: deadline.signal.aborted ? 'timeout' : failureOf(error) }
  } finally {
    clearTimeout(timer)
  }
}

async function mailed(mailer: Mailer | undefined, mail: MailRequest, signal: AbortSignal): Promise<Answer> {
  if (mailer === undefined) throw new Error('a destination that needs a mailer is refused without one')
  return { ...(await mailer.send(mail, signal)), retryAfter: undefined, body: 'whole' }
}

/** Resolves, checks and posts. */
async function post(
  options: Calls,
  { channel, attempt, onSent }: Calling,
  request: PostRequest,
  signal: AbortSignal,
): Promise<Answer | Failure> {
  const url = rebased(request.url, options.bases?.get(channel.name))
  const addresses = await beforeAbort(addressesOf(options, url, attempt), signal)
  if (typeof addresses === 'string') return addresses
  await turn() // what is ready by now leaves together: work between two requests costs more than itself
  const headers = { 'user-agent': 'market-data-alerts/1', ...request.headers }
  return callFirst(options.caller, { url, headers, body: request.body, signal, onSent }, addresses)
}

/** What may be dialled: the addresses as they were checked, never the name again. One that may not be spoils all. */
async function addressesOf(
  { resolve, mayReach: may }: Calls,
  url: URL,
  attempt: number,
): Promise<readonly string[] | Failure> {
  const host = hostOf(url.hostname)
  const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [host]
  if (addresses.length === 0) return 'dns'
  if (!addresses.every(may)) return 'private_address'
  const first = (attempt - 1) % addresses.length
  return [...addresses.slice(first), ...addresses.slice(0, first)].slice(0, ADDRESSES_MAX)
}

/** The next address only where the one before took no connection, so that nothing was sent there. */
async function callFirst(
  caller: Pick<Caller, 'post'>,
  request: Omit<Post, 'address'>,
  addresses: readonly string[],
): Promise<Answer> {
  let refusal: unknown
  for (const address of addresses) {
    try {
      return await caller.post({ ...request, address })
    } catch (error) {
      if (request.signal.aborted || failureOf(error) !== 'refused') throw error
      refusal = error
    }
  }
  throw refusal
}

function outcomeOf(channel: Channel, answer: Answer, now: Micros, signal: AbortSignal): Outcome {
  const { status, body } = answer
  const verdict = channel.verdict({ ...answer, now })
  switch (verdict.is) {
    case 'delivered':
      if (typeof body === 'string') return { status, is: 'delivered', isCut: body === 'cut' }
      return { status, is: 'failed', error: signal.aborted ? 'timeout' : 'reset' }
    case 'dead':
      return { status, is: 'failed', error: verdict.error }
    case 'retry': {
      const { error, afterSeconds: asked } = verdict
      return { status, is: 'failed', error, ...(asked === undefined ? {} : { retryAfterSeconds: asked }) }
    }
  }
}

/** Rejects at the deadline, or so long after it, even where what is waited for cannot be stopped. */
function beforeAbort<Value>(work: Promise<Value>, signal: AbortSignal, lastWordMs = 0): Promise<Value> {
  return new Promise((resolve, reject) => {
    const tooLate = (): void => reject(new Error('too late'))
    const end = (): void => void (lastWordMs === 0 ? tooLate() : setTimeout(tooLate, lastWordMs))
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject)
  })
}
