import { setTimeout as delay } from 'node:timers/promises'
import { ReplayedApi, type Answer } from '../../api/testing/replayed-api.ts'
import { routesOfNow } from '../../api/testing/routes-of-now.ts'
import { hostsOf, type RunFile } from '../../infra/local/run-file.ts'
import type { OpenBooks } from '../accounts/books.ts'

/** Between two rounds of questions, milliseconds. */
const EVERY_MS = 5_000
/** An API that takes longer is away. */
const ANSWER_MS = 2_000
/** Answers that are wrong and shown whole. */
const SHOWN_MAX = 3

/** What became of the answers about now that were taken during a run. */
export interface AnswerReport {
  /** Held against what the log gives up to their position. */
  readonly checked: number
  /** Of those, which the log gives otherwise. */
  readonly wrong: number
  /** Taken after an accident had taken something off the log, or of a moment before one that was checked already. */
  readonly unjudged: number
  /** What of them is wrong, the first ones. */
  readonly faults: readonly string[]
}

interface Judged {
  /** Read anew each time. */
  readonly run: () => RunFile
  readonly books: Pick<OpenBooks, 'log' | 'codec' | 'partitions'>
  /** Whether the log is still as it was written. */
  readonly isWhole: () => boolean
}

/**
 * Asks every API for all that is told of now, again and again, and holds each answer against what the log alone gives up to
 * where the answer was cut: the same fold from the log's start in a process that nobody disturbs, compared byte for byte.
 */
export class AnswerJudge {
  readonly #judged: Judged
  readonly #replays = new Map<string, ReplayedApi>()
  readonly #stopped = new AbortController()
  readonly #faults: string[] = []
  readonly #counts = { checked: 0, wrong: 0, unjudged: 0 }
  readonly #running: Promise<void>

  constructor(judged: Judged) {
    this.#judged = judged
    this.#running = this.#run()
  }

  /** Ends with the round that has begun. */
  async stop(): Promise<AnswerReport> {
    this.#stopped.abort()
    await this.#running
    for (const replay of this.#replays.values()) await replay.stop()
    this.#replays.clear()
    return { ...this.#counts, faults: this.#faults }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped
    while (!signal.aborted) {
      try {
        await this.#round()
      } catch (error) {
        this.#faults.push(`answers cannot be judged any more: ${String(error)}`)
        return
      }
      await delay(EVERY_MS, undefined, { signal }).catch(() => undefined) // stopped: the loop looks
    }
  }

  async #round(): Promise<void> {
    for (const { name, url } of hostsOf(this.#judged.run(), 'api'))
      for (const target of routesOfNow) {
        const answer = await answerOf(url, target)
        if (answer !== undefined) await this.#judge(name, answer)
      }
  }

  /** Each API is held against a log that is read for it alone: one may be further than another. */
  async #judge(name: string, answer: Answer): Promise<void> {
    const { books, isWhole } = this.#judged
    const { codec, partitions } = books
    const replay =
      this.#replays.get(name) ?? (await ReplayedApi.start({ reader: books.log.reader(), codec, partitions }))
    this.#replays.set(name, replay)
    const given = isWhole() ? await replay.of(answer) : undefined
    if (given === undefined || !isWhole()) this.#counts.unjudged += 1
    else this.#counts.checked += 1
    if (given === undefined || given === answer.text || !isWhole()) return
    this.#counts.wrong += 1
    if (this.#faults.length < SHOWN_MAX)
      this.#faults.push(`${name} answered ${answer.target} with ${answer.text}, the log gives ${given}`)
  }
}

/** What is told of now, and of which moment of the log; undefined: it is not answered, or is of no one moment. */
async function answerOf(url: string, target: string): Promise<Answer | undefined> {
  try {
    const headers = { prefer: 'log-position' }
    const response = await fetch(url + target, { headers, signal: AbortSignal.timeout(ANSWER_MS) })
    const position = response.headers.get('log-position')
    const text = await response.text()
    return response.ok && position !== null ? { target, text, position } : undefined
  } catch {
    return undefined // being away is what chaos is about: the asker tells for how long
  }
}
