/** A period's volume delta between two answers of the API: the last answer, and what the log has brought since. Pure. */

/** What the stream says of an asset's flow: totals since the console began to look, and up to when they count. */
export interface FlowTotals {
  readonly delta_usd: number
  readonly volume_usd: number
  /** Milliseconds. */
  readonly time: number
}

/** Totals of this long ago are kept to set an answer against, milliseconds. */
const KEPT_MS = 120_000

interface Answer {
  readonly value: number
  /** Totals of the stream at the time that the answer is as of. */
  readonly base: number
}

export class LiveCvd {
  #history: FlowTotals[] = []
  readonly #answers = new Map<string, Answer>()

  /** The stream's totals; those of another console process start anew, and so does what they are set against. */
  flowed(totals: FlowTotals): void {
    const last = this.#history.at(-1)
    if (last !== undefined && totals.time < last.time) return
    if (last?.time === totals.time) this.#history.pop()
    this.#history.push(totals)
    const oldest = totals.time - KEPT_MS
    if ((this.#history[0]?.time ?? 0) < oldest - KEPT_MS)
      this.#history = this.#history.filter(({ time }) => time >= oldest)
  }

  /** The stream began anew. */
  forget(): void {
    this.#history = []
    for (const [period, { value }] of this.#answers) this.#answers.set(period, { value, base: 0 })
  }

  /** The API's figure of a period, as of `time`. */
  answered(period: string, value: number, time: number): void {
    const at = this.#history.findLast((totals) => totals.time <= time) ?? this.#history[0]
    this.#answers.set(period, { value, base: at?.delta_usd ?? 0 })
  }

  /** The period's delta now; undefined before the first answer. */
  of(period: string): number | undefined {
    const answer = this.#answers.get(period)
    if (answer === undefined) return undefined
    const now = this.#history.at(-1)
    return now === undefined ? answer.value : answer.value + (now.delta_usd - answer.base)
  }
}
