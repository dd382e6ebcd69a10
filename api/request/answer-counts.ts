import type { AnswerCount } from '../../schemas/records.ts'
import type { Logger } from '../../infra/log.ts'
import type { LogAccess } from '../present/wants.ts'

/** How often it is written what was answered; windows begin and end with multiples of it, milliseconds. */
const COUNTED_MS = 10_000

/** What is counted of answers since it was asked last. */
export class AnswerCounts {
  #counts = { answers: 0, failed: 0, slow: 0 }

  /** An answer of a status, `ms` after its request; from `slowMs` on it came too late. */
  add(status: number, ms: number, slowMs: number): void {
    this.#counts.answers += 1
    if (status >= 500) this.#counts.failed += 1
    if (ms > slowMs) this.#counts.slow += 1
  }

  take(): Pick<AnswerCount, 'answers' | 'failed' | 'slow'> {
    const taken = this.#counts
    this.#counts = { answers: 0, failed: 0, slow: 0 }
    return taken
  }
}

interface Telling {
  readonly instance: string
  readonly counts: AnswerCounts
  readonly connected: () => Promise<{
    readonly writer: Pick<LogAccess['writer'], 'send'>
    readonly codec: Pick<LogAccess['codec'], 'encode'>
  }>
  readonly log: Logger
  readonly now: () => number
}

/**
 * Tells control.answers every ten seconds, and at the end, what was answered; what the log did not take is told with the next.
 * Nobody was there while the process was frozen or its host asleep: that time is in no count.
 */
export function tellAnswers(telling: Telling): { stop(): Promise<void> } {
  let from = telling.now()
  let untold: readonly AnswerCount[] = []
  let timer: NodeJS.Timeout | undefined
  const tell = async (to: number, next = to): Promise<void> => {
    const { instance, counts, connected, log } = telling
    const told = joined(untold, { instance, from_time: from * 1000, to_time: to * 1000, ...counts.take() })
    from = next
    untold = []
    try {
      const { writer, codec } = await connected()
      const records = told.map((count) => ({
        key: instance,
        value: codec.encode('control.answers', 'answer_count', count),
        time: to,
      }))
      await writer.send('control.answers', 0, records)
    } catch (error) {
      untold = told
      log.warn({ err: error }, 'what was answered could not be told to the log; trying again in ten seconds')
    }
  }
  const plan = (): void => {
    const planned = telling.now()
    const seen = planned - (planned % COUNTED_MS)
    const due = seen + COUNTED_MS
    timer = setTimeout(() => {
      const now = telling.now()
      const isLate = now - due > COUNTED_MS
      void (isLate ? tell(Math.max(from, seen), now) : tell(now - (now % COUNTED_MS))).then(plan)
    }, due - planned)
    timer.unref()
  }
  plan()
  return {
    async stop() {
      clearTimeout(timer)
      await tell(telling.now())
    },
  }
}

/** `next` is one with the last of those before, unless there is time between the two. */
function joined(before: readonly AnswerCount[], next: AnswerCount): readonly AnswerCount[] {
  const last = before.at(-1)
  if (last === undefined || last.to_time !== next.from_time) return [...before, next]
  const { answers, failed, slow } = last
  const sum = { answers: answers + next.answers, failed: failed + next.failed, slow: slow + next.slow }
  return [...before.slice(0, -1), { ...last, to_time: next.to_time, ...sum }]
}
