import type { Writer } from '../../infra/kafka/seam.ts'
import { everywhereIn } from '../../processors/alerts/parts.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { AlertEvent, Command } from '../../schemas/records.ts'
import { ApiError } from '../request/errors.ts'

/** Commands that wait for their event at once; beyond, 503 at once. */
export const COMMANDS_WAITING_MAX = 2_000

export interface CommanderOptions {
  readonly writer: Writer
  readonly codec: Codec
  readonly partitions: number
}

interface Waiting {
  readonly resolve: (event: AlertEvent) => void
  /** The event, while the alert's state that follows from it has not been seen. */
  event?: AlertEvent
}

/** Ties commands to the events that follow from them, and events to the states that follow from those. */
export class Commander {
  readonly #options: CommanderOptions
  readonly #waiting = new Map<string, Waiting>()
  /** Requests whose event is there, by the alert whose state they wait for. */
  readonly #byAlert = new Map<string, Set<string>>()

  constructor(options: CommanderOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Resolves with the event when the state after it can be read by everybody. Bounded by whoever calls: `forget` it. */
  async send(command: Command, now: number): Promise<AlertEvent> {
    if (this.#waiting.size >= COMMANDS_WAITING_MAX)
      throw new ApiError('overloaded', 'Too many alerts are being changed; try again in a second.', {
        retryAfterSeconds: 1,
      })
    const { writer, codec, partitions } = this.#options
    const { asset, request_id: request } = command
    const value = codec.encode('alerts.inputs', 'command', command)
    const answered = new Promise<AlertEvent>((resolve) => this.#waiting.set(request, { resolve }))
    await writer.send('alerts.inputs', everywhereIn(asset) ?? partitionOf(asset, partitions), [
      { key: asset, value, time: now },
    ])
    return answered
  }

  forget(request: string): void {
    const event = this.#waiting.get(request)?.event
    this.#waiting.delete(request)
    if (event !== undefined) this.#leave(event.alert_id, request)
  }

  /** An event of the log; `version`: that of the alert's state as we have it. */
  heard(event: AlertEvent, version: (id: string) => number | undefined): void {
    const waiting = event.request_id === null ? undefined : this.#waiting.get(event.request_id)
    if (waiting === undefined || event.request_id === null) return
    const id = stateOf(event)
    if (id === undefined || isSeen(event, version(id))) {
      this.#waiting.delete(event.request_id)
      waiting.resolve(event)
      return
    }
    waiting.event = event
    const others = this.#byAlert.get(id) ?? new Set()
    this.#byAlert.set(id, others.add(event.request_id))
  }

  /** A state of the log. */
  seen(id: string, v: number): void {
    for (const request of this.#byAlert.get(id) ?? []) {
      const waiting = this.#waiting.get(request)
      if (waiting?.event === undefined || !isSeen(waiting.event, v)) continue
      this.#waiting.delete(request)
      this.#leave(id, request)
      waiting.resolve(waiting.event)
    }
  }

  #leave(id: string, request: string): void {
    const requests = this.#byAlert.get(id)
    requests?.delete(request)
    if (requests?.size === 0) this.#byAlert.delete(id)
  }
}

const changing: ReadonlySet<AlertEvent['event']> = new Set([
  'created',
  'extended',
  'cancelled',
  'repeated',
  'edited',
  'paused',
  'resumed',
])

/** The alert whose state follows from the event; for a repetition it is enough that it is there. */
function stateOf({ event, alert }: AlertEvent): string | undefined {
  return changing.has(event) ? alert?.alert_id : undefined
}

function isSeen({ event, v }: AlertEvent, version: number | undefined): boolean {
  return version !== undefined && (event === 'repeated' || version >= v)
}
