import type { AnswerCount } from '../schemas/records.ts'
import type { Logger } from '../infra/log.ts'
import type { LogAccess } from './wants.ts'

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

/** Tells control.answers every ten seconds, and at the end, what was answered; what the log did not take is told with the next. */
export function tellAnswers(telling: Telling): { stop(): Promise<void> } {
  let from = telling.now()
  let untold: AnswerCount | undefined
  let timer: NodeJS.Timeout | undefined
  const tell = async (to: number): Promise<void> => {
    const { instance, counts, connected, log } = telling
    const count = joined(untold, { instance, from_time: from * 1000, to_time: to * 1000, ...counts.take() })
    from = to
    untold = undefined
    try {
      const { writer, codec } = await connected()
      const value = codec.encode('control.answers', 'answer_count', count)
      await writer.send('control.answers', 0, [{ key: instance, value, time: to }])
    } catch (error) {
      untold = count
      log.warn({ err: error }, 'what was answered could not be told to the log; trying again in ten seconds')
    }
  }
  const plan = (): void => {
    const ms = COUNTED_MS - (telling.now() % COUNTED_MS)
    timer = setTimeout(() => {
      const now = telling.now()
      void tell(now - (now % COUNTED_MS)).then(plan)
    }, ms)
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

function joined(before: AnswerCount | undefined, next: AnswerCount): AnswerCount {
  if (before === undefined) return next
  const { answers, failed, slow } = before
  const sum = { answers: answers + next.answers, failed: failed + next.failed, slow: slow + next.slow }
  return { ...before, to_time: next.to_time, ...sum }
}
