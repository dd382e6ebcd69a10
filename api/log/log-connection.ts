import { setTimeout as delay } from 'node:timers/promises'
import { sharedCodec, type RegistryCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import type { Log } from '../../infra/kafka/seam.ts'
import type { Logger } from '../../infra/log.ts'

/** Between attempts to connect, milliseconds. */
const PAUSE_MS = 1_000

/** Where the log is, and whom to tell that it is not there. */
export interface LogAccess {
  readonly brokers: readonly string[]
  readonly namespace: string
  readonly registryUrl: string
  readonly log: Logger
}

interface ConnectionOptions extends LogAccess {
  readonly clientId: string
  /** How long one request to the broker is tried, milliseconds. */
  readonly giveUpMs: number
  /** What is logged at each attempt that fails. */
  readonly warning: string
}

/** Makes what is used of a connected log; closing that closes the log. */
type Open<Opened> = (kafka: Log, codec: RegistryCodec) => Promise<Opened>

/** A log that is connected however long it takes, and what is used of it. */
export class LogConnection<Opened extends { close(): Promise<void> }> {
  /** Undefined where it was closed before. Whoever waits has a deadline of their own. */
  readonly opened: Promise<Opened | undefined>
  readonly #stop = new AbortController()

  constructor(options: ConnectionOptions, open: Open<Opened>) {
    this.opened = connect(options, open, this.#stop.signal)
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await (await this.opened)?.close()
  }
}

async function connect<Opened>(
  options: ConnectionOptions,
  open: Open<Opened>,
  stop: AbortSignal,
): Promise<Opened | undefined> {
  while (!stop.aborted) {
    try {
      return await attempt(options, open)
    } catch (error) {
      options.log.warn({ err: error }, options.warning)
      await delay(PAUSE_MS)
    }
  }
  return undefined
}

async function attempt<Opened>(options: ConnectionOptions, open: Open<Opened>): Promise<Opened> {
  const { brokers, namespace, registryUrl, clientId, giveUpMs, log } = options
  const codec = await sharedCodec(registryUrl)
  const kafka = await connectLog({ brokers, namespace, clientId, log, giveUpMs })
  try {
    return await open(kafka, codec)
  } catch (error) {
    await kafka.close()
    throw error
  }
}

/**
 * What `work` gives of what is opened by then, or `late()` thrown after `ms`. What was not begun by then never is: whoever
 * asked has been told that it failed.
 */
export async function begunWithin<Opened, Value>(
  ms: number,
  opened: Promise<Opened>,
  work: (opened: Opened) => Promise<Value> | Value,
  late: () => Error,
): Promise<Value> {
  let isLate = false
  const done = opened.then((there) => {
    if (isLate) throw late()
    return work(there)
  })
  return within(ms, done, () => {
    isLate = true
    return late()
  })
}

/** `work`, or `late()` thrown when it takes longer than `ms`; the work itself is not stopped. */
export async function within<Value>(ms: number, work: Promise<Value>, late: () => Error): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms)
  })
  work.catch(() => undefined) // told by the race, unless it lost it
  return Promise.race([work, deadline]).finally(() => clearTimeout(timer))
}
