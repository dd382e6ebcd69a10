import type { Membership } from '../../infra/kafka/seam.ts'
import { CONNECTIONS_MAX } from '../../infra/mail.ts'
import type { Attempt } from '../../schemas/records.ts'
import type { Micros } from '../../schemas/records.ts'
import { Decoder } from '../kernel/decoder.ts'
import type { LostLogPolicy, Ports } from '../kernel/ports.ts'
import { Runner, type Lag, type Partitions } from '../kernel/run.ts'
import type { StopReason } from '../kernel/watch.ts'
import { channelShown } from './channels/channels.ts'
import { email } from './channels/email.ts'
import type { Send } from './deliver.ts'
import type { Delivery } from './delivery.ts'
import { LEFT_ALONE, openLimits, type OpenLimits } from './limits.ts'
import { ReceiverQueues, type SlotLimits } from './receiver-queues.ts'
import { Loader } from './loader.ts'
import type { Failure, Result } from './attempt.ts'
import { OWNER, Task } from './task.ts'

/** A receiver that takes longer is slow. */
const SLOW_MS = 1_000
/** At a clean end attempts may take this long to finish; what does not is made again by the next owner. */
const FINISH_MS = 5_000
const FINISH_STEP_MS = 20
const HINT_MS = 5_000
/** What has become due is looked at so often while there is anything to deliver. */
const LOOK_MS = 100
/** Destinations that are left alone at once; beyond, their attempts go on, each by its own schedule. */
const HELD_MAX = 10_000

/** Nothing was sent, so that nothing is known of the receiver. */
const untold: ReadonlySet<Failure> = new Set(['url_unreadable', 'message_unwritable'])

/** What the dispatcher counts; `trigger` to `sent` in milliseconds. */
export interface DeliveryMeter {
  attempted(outcome: Attempt['outcome'], error: string | null, ms: number): void
  sent(latencyMs: number): void
}

export interface DispatcherOptions {
  readonly membership: Membership
  readonly ports: Ports
  readonly send: Send
  readonly limits: SlotLimits
  /** Of each partition. */
  readonly open?: OpenLimits
  readonly deliveries: DeliveryMeter
  /** A membership that gave no sign of life for this long plus 5 s ends the process. */
  readonly sessionMs: number
  readonly onLostLog: LostLogPolicy
}

export interface DispatcherHealth {
  readonly ok: boolean
  readonly partitions: Readonly<Partitions>
  /** Deliveries that are not finished, those of them in line for a slot, and those under way. */
  readonly open: number
  readonly queued: number
  readonly inFlight: number
}

interface Waiting {
  readonly task: Task
  readonly delivery: Delivery
}

/** One attempt: what it told, and its result. */
interface Sent {
  readonly told: readonly Delivery[]
  readonly result: Result
}

interface UnderWay {
  readonly receiver: string
  readonly startedAt: number
}

/** Reads triggers of all partitions that are ours, makes their attempts, each receiver within its own limits. */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #decoder: Decoder
  readonly #loader: Loader
  readonly #runner: Runner<Task>
  readonly #posts: ReceiverQueues<Waiting>
  /** Emails share the few connections to one server by the same rules: of a mailbox that is slow or not known yet one. */
  readonly #mails = new ReceiverQueues<Waiting>({ slots: CONNECTIONS_MAX, perReceiver: 4 })
  /** In the order of their start. */
  readonly #underWay = new Set<UnderWay>()
  /** By partition: what its last task had not delivered when it ended. */
  readonly #oldest = new Map<number, Micros | undefined>()
  /** Destinations that are left alone, and until when, milliseconds. */
  readonly #held = new Map<string, number>()
  #isStopping = false
  #hintedAt = 0

  constructor(options: DispatcherOptions) {
    const { membership, ports, limits, sessionMs } = options
    this.#options = options
    this.#decoder = new Decoder(ports.codec, (id) => ports.lookUp(id))
    this.#loader = new Loader({ reader: ports.log.reader(), decoder: this.#decoder, clock: ports.clock })
    this.#posts = new ReceiverQueues(limits)
    const open = (partition: number): Promise<Task> => this.#open(partition)
    const waitMs = (): number | undefined => (this.#hasWork ? LOOK_MS : undefined)
    const hosted = [{ name: OWNER, membership, open, waitMs, onRound: () => this.#tick() }]
    this.#runner = new Runner({ hosted, ports, sessionMs })
  }

  /** Resolves when the process must end: why, and with which exit code. Never on a clean stop. */
  get failed(): Promise<StopReason> {
    return this.#runner.failed
  }

  /** A clean end: no new attempt; those under way may finish; what came of them is written; the membership is left. */
  async stop(): Promise<void> {
    const { clock } = this.#options.ports
    this.#isStopping = true
    const giveUpAt = clock.steady() + FINISH_MS
    while (this.#underWay.size > 0 && clock.steady() < giveUpAt) await clock.delay(FINISH_STEP_MS)
    await this.#runner.stop()
    await this.#loader.close()
  }

  health(): DispatcherHealth {
    return {
      ok: this.#runner.isWell,
      partitions: this.#runner.partitions()[OWNER] ?? { running: 0, waiting: 0 },
      open: this.#count('open'),
      queued: this.#posts.waiting + this.#mails.waiting,
      inFlight: this.#posts.inFlight + this.#mails.inFlight,
    }
  }

  /** Trigger time of the oldest that is not delivered, over all partitions, whatever its receiver and its attempts. */
  oldest(): Micros | undefined {
    const times = this.#runner.owners().flatMap(({ partition, work }) => {
      return (work === undefined ? this.#oldest.get(partition) : work.oldest()) ?? []
    })
    return times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b))
  }

  /** What the log has not acknowledged. */
  unwritten(): number {
    return this.#count('unwritten')
  }

  /** Triggers and orders that are not taken in, as of the last fetch. */
  lags(): Lag[] {
    return this.#runner.lags()
  }

  get #hasWork(): boolean {
    return this.#count('open') > 0 || this.#count('unwritten') > 0
  }

  #count(what: keyof ReturnType<Task['counts']>): number {
    return this.#runner.counts().get(OWNER)?.get(what) ?? 0
  }

  #queuesOf(receiver: string): ReceiverQueues<Waiting> {
    return channelShown(receiver)?.type === email.name ? this.#mails : this.#posts
  }

  async #open(partition: number): Promise<Task> {
    const { ports, onLostLog, open = openLimits } = this.#options
    const task = await Task.open(partition, {
      ports,
      onLostLog,
      open,
      isBusy: () => this.#posts.waitingForGood + this.#mails.waitingForGood >= open.inLine,
      decoder: this.#decoder,
      loader: this.#loader,
      onReady: (owner, delivery) => {
        this.#queuesOf(delivery.receiver).offer(delivery.receiver, { task: owner, delivery })
        this.#pump()
      },
    })
    for (const [receiver, until] of task.leftAlone()) this.#leaveAlone(receiver, until)
    task.owned.signal.addEventListener('abort', () => this.#oldest.set(partition, task.oldest()))
    return task
  }

  #tick(): void {
    const { clock } = this.#options.ports
    const now = clock.now()
    const steady = clock.steady()
    for (const [receiver, until] of this.#held) {
      if (until > now && until <= now + LEFT_ALONE.max / 1_000) continue // further off: the clock was put back
      this.#held.delete(receiver)
      this.#queuesOf(receiver).free(receiver)
    }
    for (const { receiver, startedAt } of this.#underWay) {
      if (steady - startedAt < SLOW_MS) break // all others began later
      this.#queuesOf(receiver).know(receiver, 'slow')
    }
    this.#pump()
    if (steady - this.#hintedAt < HINT_MS) return
    this.#hintedAt = steady
    const positions = this.#runner.owners().flatMap(({ work }) => work?.owned.positions() ?? [])
    void this.#options.membership.hint(positions).catch(() => undefined) // only for displays of lag
  }

  /** Starts what may start. */
  #pump(): void {
    while (!this.#isStopping) {
      const next = this.#posts.take() ?? this.#mails.take()
      if (next === undefined) return
      const { receiver, item } = next
      const told = item.task.start(item.delivery)
      if (told.length > 0) void this.#attempt(item.task, receiver, told)
      else this.#queuesOf(receiver).release(receiver) // it has ended, or its task has
    }
  }

  async #attempt(task: Task, receiver: string, told: readonly Delivery[]): Promise<void> {
    const underWay = { receiver, startedAt: this.#options.ports.clock.steady() }
    this.#underWay.add(underWay)
    try {
      const sent = await this.#send(task, told)
      if (sent !== undefined) this.#conclude(task, receiver, sent)
    } catch (error) {
      task.owned.fail(error)
    } finally {
      this.#underWay.delete(underWay)
      this.#queuesOf(receiver).release(receiver)
      this.#pump()
    }
  }

  /** What was sent, and what came of it; undefined: nothing was, and that was told. */
  async #send(task: Task, told: readonly Delivery[]): Promise<Sent | undefined> {
    const loaded = await Promise.all(told.map(async (each) => ({ each, trigger: await task.load(each) })))
    const found = loaded.flatMap(({ each, trigger }) => (trigger === undefined ? [] : [{ each, trigger }]))
    for (const { each, trigger } of loaded) if (trigger === undefined) task.lost(each)
    const [first] = found
    if (first === undefined) return undefined
    const { attempts, digest: id, triggered, byHand } = first.each
    const isFirst = attempts === 0 && id === null && !byHand // the answer may be here before it is told that all was sent
    const onSent = (at: Micros): void => {
      if (isFirst) this.#options.deliveries.sent((at - triggered) / 1_000)
    }
    const triggers = found.map(({ trigger }) => trigger)
    const digest = id === null || triggers.length === 1 ? undefined : { id, triggers }
    const result = await this.#options.send(first.trigger, attempts + 1, onSent, digest)
    return { told: found.map(({ each }) => each), result }
  }

  #conclude(task: Task, receiver: string, { told, result }: Sent): void {
    const ms = (result.finished - result.started) / 1_000
    const isUntold = result.is === 'failed' && untold.has(result.error)
    const isLimited = result.status === 429
    if (!isUntold) this.#queuesOf(receiver).know(receiver, ms < SLOW_MS && !isLimited ? 'good' : 'slow')
    for (const delivery of told) {
      const outcome = task.attempted(delivery, result)
      if (delivery.leftAloneUntil !== null) this.#leaveAlone(receiver, delivery.leftAloneUntil)
      if (outcome === undefined) return
      this.#options.deliveries.attempted(outcome, result.is === 'failed' ? result.error : null, ms)
    }
  }

  /** `until`: microseconds. What is over is let go of at the next look. */
  #leaveAlone(receiver: string, until: Micros): void {
    const known = this.#held.get(receiver)
    if (known === undefined && this.#held.size >= HELD_MAX) return
    this.#held.set(receiver, Math.max(known ?? 0, until / 1_000))
    this.#queuesOf(receiver).hold(receiver)
  }
}
