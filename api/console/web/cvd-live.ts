/** A period's volume delta between two answers of the API: the last answer, and what the log has brought since. Pure. */

/** What the stream says of an asset's flow: totals, and from when up to when they count, milliseconds. */
export interface FlowTotals {
  /** When the console began to look: those of another console process begin anew. */
  readonly since: number
  readonly delta_usd: number
  readonly volume_usd: number
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

  flowed(totals: FlowTotals): void {
    if (totals.since !== this.#history.at(-1)?.since) this.#begin(totals)
    const last = this.#history.at(-1)
    if (last !== undefined && totals.time < last.time) return
    if (last?.time === totals.time) this.#history.pop()
    this.#history.push(totals)
    const oldest = totals.time - KEPT_MS
    if ((this.#history[0]?.time ?? 0) < oldest - KEPT_MS)
      this.#history = this.#history.filter(({ time }) => time >= oldest)
  }

  /** What is shown stays; what these totals count already is not added to it. */
  #begin({ delta_usd: base }: FlowTotals): void {
    for (const period of this.#answers.keys()) this.#answers.set(period, { value: this.of(period) ?? 0, base })
    this.#history = []
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
