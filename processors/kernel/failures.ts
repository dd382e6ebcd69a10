import type { Message, Snapshot } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { Cause } from './dead-letters.ts'
import { isOfHost } from './errors.ts'

/** So many records of one asset and type may fail within a window of record time; the rest of it is set aside untried. */
export const FAILURES_MAX = 8
export const FAILURES_WINDOW_MS = 10_000

type Saved = Snapshot['failures']

/**
 * Which records have failed lately. Trying one that fails costs as much as restoring the state: where all records of an
 * asset fail, most of them are held back, so that the others of its partition go on. It counts by record time, so that a
 * replay holds back the same ones.
 */
export class Failures {
  /** By lane: the number of the last window in which records failed, and how many. */
  readonly #lanes = new Map<string, { window: number; count: number }>()

  constructor(saved: Saved = []) {
    for (const { lane, window, count } of saved) this.#lanes.set(lane, { window, count })
  }

  get isEmpty(): boolean {
    return this.#lanes.size === 0
  }

  isHeld(lane: string, time: number): boolean {
    const failed = this.#lanes.get(lane)
    return failed !== undefined && failed.count >= FAILURES_MAX && windowOf(time) <= failed.window
  }

  /** Behind `forget` of that time. One that is older than what failed counts with it. */
  add(lane: string, time: number): void {
    const { window, count } = this.#lanes.get(lane) ?? { window: windowOf(time), count: 0 }
    this.#lanes.set(lane, { window, count: count + 1 })
  }

  /** Lets go of windows that have passed. */
  forget(time: number): void {
    for (const [lane, { window }] of this.#lanes) if (window < windowOf(time)) this.#lanes.delete(lane)
  }

  saved(): Saved {
    return [...this.#lanes].map(([lane, { window, count }]) => ({ lane, window, count }))
  }
}

function windowOf(time: number): number {
  return Math.floor(time / FAILURES_WINDOW_MS)
}

/** What fails together: records of one type and asset; those without an asset by themselves. */
export function laneOf(topic: TopicName, { type, value }: Message): string {
  return `${topic}|${type}|${'asset' in value ? (value.asset ?? '') : ''}`
}

export function heldCause(lane: string): Cause {
  const message = `over ${FAILURES_MAX} records of ${lane} failed within ${FAILURES_WINDOW_MS} ms`
  return { reason: 'held', code: 'held', message, at: null, attempts: 0 }
}

/** Why a record failed; throws the error itself where it says nothing of the record. */
export function causeOfFailure(error: unknown, attempts: number): Cause {
  if (isOfHost(error)) throw error
  if (!(error instanceof Error))
    return { reason: 'failed', code: typeof error, message: String(error), at: null, attempts }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  return { reason: 'failed', code, message: error.message, at: lineOf(error), attempts }
}

/** The innermost line of our own code, file:line:column. */
function lineOf({ stack = '' }: Error): string | null {
  const own = stack.split('\n').find((line) => /^\s+at /.test(line) && !/node_modules|\(node:| node:/.test(line))
  return /([\w.-]+\.[cm]?[jt]s:\d+:\d+)\)?$/.exec(own ?? '')?.[1] ?? null
}
