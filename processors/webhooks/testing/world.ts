import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { hostClock } from '../../../infra/clock.ts'
import { closeServer, listen } from '../../../infra/http/ops.ts'
import type { Log } from '../../../infra/kafka/seam.ts'
import { makeCertificate } from '../../../infra/local/receiver/certificate.ts'
import { emptyFields } from '../../../schemas/codec.ts'
import type { Attempt, DeliveryOrder, Pending, Trigger, Message } from '../../../schemas/records.ts'
import { destinationDigest, sealUrl, type ServiceSecrets } from '../../alerts/secrets.ts'
import { codec, HandMembership, Notes } from '../../kernel/testing/task.ts'
import { MemoryBroker } from '../../kernel/testing/memory-log.ts'
import type { Clock } from '../../kernel/ports.ts'
import { receiverOf, type Reach } from '../address.ts'
import { type Caller, systemResolver, type Resolve } from '../agent.ts'
import { isRefusal, type Given } from '../channels/channel.ts'
import { readTarget, receiverFor, targetText } from '../channels/channels.ts'
import { createSender, type Send } from '../deliver.ts'
import { Dispatcher } from '../dispatcher.ts'
import type { OpenLimits } from '../limits.ts'
import type { Mailer } from '../../../infra/mail.ts'
import type { SlotLimits } from '../receiver-queues.ts'

/** What the dispatcher's tests begin with: receivers on this machine, a log in memory, a membership dealt by hand. */

export const secrets: ServiceSecrets = {
  newest: 1,
  byVersion: new Map([[1, 'a-secret-of-the-tests-that-is-long-enough']]),
}

/** A trigger of a price alert that goes to `url`. */
export function triggerTo(url: string, changes: Partial<Trigger> = {}): Trigger {
  const alert = changes.alert_id ?? 'alert_btc_1786060800_1'
  return {
    ...emptyFields('trigger'),
    trigger_id: `${alert}_1`,
    alert_id: alert,
    kind: 'price',
    asset: 'btc',
    symbol: 'BTC',
    receiver: receiverOf(new URL(url)),
    webhook: sealUrl(secrets, 1, alert, url),
    key_version: 1,
    severity: 'medium',
    test: false,
    current_price: 70_001.5,
    target_price: 70_000,
    condition: 'above',
    condition_met: 'BTC rose above 70000 USD: it is 70001.5 USD',
    sources: [{ exchange: 'binance', price: 70_001.5, open_interest_usd: null, time: 1_786_060_800_000_000 }],
    quality: 'good',
    late: false,
    trigger_count: 1,
    record: 'rec_YQ',
    time: 1_786_060_800_000_000,
    v: 1,
    ...changes,
  }
}

/** A trigger that goes to a channel, given as an alert's owner gives it. */
export function triggerFor(given: Given, changes: Partial<Trigger> = {}): Trigger {
  const target = readTarget(given, { reach: 'any', hasMail: true })
  if (isRefusal(target)) throw new Error(target.refused)
  const trigger = triggerTo('https://localhost/', changes)
  return {
    ...trigger,
    receiver: receiverFor(target, (text) => destinationDigest(secrets, 1, text)),
    webhook: sealUrl(secrets, 1, trigger.alert_id, targetText(target)),
  }
}

export function stopOrder(alert: string): DeliveryOrder {
  return {
    ...emptyFields('delivery_order'),
    order: 'stop',
    alert_id: alert,
    receiver: 'localhost:443',
    request_id: 'req',
    time: 0,
    v: 1,
  }
}

export function resendOrder({ trigger_id, alert_id, receiver }: Trigger, offset: number, partition = 0): DeliveryOrder {
  const position = { trigger_id, trigger_partition: partition, trigger_offset: offset }
  return { ...stopOrder(alert_id), order: 'resend', receiver, ...position }
}

/** One request that a receiver got. */
export interface Got {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Host clock, milliseconds. */
  readonly at: number
  /** The address that was dialled. */
  readonly address: string
}

export interface Receiver {
  readonly url: string
  readonly port: number
  readonly got: readonly Got[]
  readonly server: Server
  close(): Promise<void>
}

/** Certificates of one test file; `expired` has an authority of its own, which is trusted too. */
export class Certificates {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'webhooks-'))

  async make(): Promise<void> {
    await makeCertificate(path.join(this.#folder, 'good'))
    await makeCertificate(path.join(this.#folder, 'expired'), { days: -1 })
  }

  of(which: 'good' | 'expired'): { cert: string; key: string } {
    return { cert: this.#read(which, 'cert.pem'), key: this.#read(which, 'key.pem') }
  }

  get authorities(): string {
    return this.#read('good', 'ca.pem') + this.#read('expired', 'ca.pem')
  }

  get caFile(): string {
    return path.join(this.#folder, 'good', 'ca.pem')
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #read(which: string, name: string): string {
    return readFileSync(path.join(this.#folder, which, name), 'utf8')
  }
}

export type Answering = (request: IncomingMessage, response: ServerResponse, got: Got) => void

/** Starts an HTTPS receiver on a free port; it answers when the whole body is there. */
export async function startReceiver(
  { cert, key }: { cert: string; key: string },
  answer: Answering,
  host = '127.0.0.1',
): Promise<Receiver> {
  const got: Got[] = []
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      const address = request.socket.localAddress ?? ''
      const one = { id: headers['webhook-id'] ?? '', headers, body: Buffer.concat(chunks), at: Date.now(), address }
      got.push(one)
      answer(request, response, one)
    })
  })
  server.on('clientError', () => undefined)
  const port = await listen(server, host, 0)
  const name = host === '::1' ? '[::1]' : 'localhost'
  return { url: `https://${name}:${port}/hook`, port, got, server, close: () => closeServer(server) }
}

export function status(code: number, headers: Record<string, string> = {}): Answering {
  return (_, response) => void response.writeHead(code, headers).end('ok')
}

export interface SenderChoice {
  readonly mailer?: Mailer
  readonly bases?: ReadonlyMap<string, URL>
  readonly reach?: Reach
  readonly resolve?: Resolve
  readonly deadlineMs?: number
  readonly mailDeadlineMs?: number
  readonly mode?: string
}

export function senderTo(caller: Pick<Caller, 'post'>, choice: SenderChoice = {}): Send {
  const resolve = choice.resolve ?? systemResolver()
  const defaults = { mode: 'live', reach: 'loopback', deadlineMs: 5_000 } as const
  return createSender({ ...defaults, ...choice, secrets, resolve, caller, now: hostClock.now })
}

export interface World {
  readonly broker: MemoryBroker
  readonly notes: Notes
  readonly dispatcher: Dispatcher
  readonly membership: HandMembership
}

/** A dispatcher on a log in memory; partition 0 is its own. */
export function dispatch(
  send: Send,
  {
    broker = new MemoryBroker(hostClock),
    clock = hostClock,
    limits = { slots: 512, perReceiver: 16 },
    open,
    onFirstSent,
    log = broker.connect(),
  }: DispatchOptions = {},
): World {
  const notes = new Notes()
  const membership = new HandMembership()
  Object.defineProperty(membership, 'lastSeen', { get: () => clock.steady(), configurable: true })
  const { meter, report } = notes
  const lookUp = (): Promise<boolean> => Promise.resolve(false)
  const hint = (): Promise<void> => Promise.resolve()
  const dispatcher = new Dispatcher({
    membership,
    send,
    limits,
    ...(open !== undefined && { open }),
    ports: { log, reader: log.reader(), codec, lookUp, hint, clock, meter, report },
    deliveries: { attempted: () => undefined, sent: () => onFirstSent?.() },
    sessionMs: 6_000,
    onLostLog: 'go-on',
  })
  membership.deal(0)
  return { broker, notes, dispatcher, membership }
}

/** Time that runs faster than the host's; what waits waits a moment. */
export function fastClock(speed: number): Clock {
  const start = Date.now()
  const now = (): number => Math.round(start + (Date.now() - start) * speed)
  return {
    now,
    steady: now,
    delay: () => delay(1),
    turn: () => delay(0),
  }
}

export interface DispatchOptions {
  readonly broker?: MemoryBroker
  /** A client of the broker. */
  readonly log?: Log
  readonly clock?: Clock
  readonly limits?: SlotLimits
  /** Of each partition. */
  readonly open?: OpenLimits
  /** Told of each first attempt that was sent. */
  readonly onFirstSent?: () => void
}

/** Appends to `alerts.triggers`; gives the offset. */
export function append(broker: MemoryBroker, value: Trigger | DeliveryOrder, partition = 0): number {
  const bytes =
    'order' in value
      ? codec.encode('alerts.triggers', 'delivery_order', value)
      : codec.encode('alerts.triggers', 'trigger', value)
  const key = value.trigger_id ?? value.alert_id
  broker.append('alerts.triggers', partition, [{ key, value: bytes, time: Date.now() }])
  return broker.at('alerts.triggers', partition).end - 1
}

/** All attempts that were recorded, in log order. */
export function attempts(broker: MemoryBroker, partition = 0): Attempt[] {
  return broker.records('webhooks.attempts', partition).flatMap(({ value }) => {
    const message = value === null ? undefined : codec.decode(value)
    return message?.type === 'attempt' ? [message.value] : []
  })
}

/** What is pending: the last record of each key. */
export function pending(broker: MemoryBroker, partition = 0): Map<string, Pending> {
  const last = new Map<string, Pending>()
  for (const { key, value } of broker.records('webhooks.pending', partition)) {
    const message: Message | undefined = value === null ? undefined : codec.decode(value)
    if (message?.type === 'pending') last.set(key?.toString() ?? '', message.value)
    else last.delete(key?.toString() ?? '')
  }
  return last
}
