import type { Micros } from '../../../schemas/records.ts'

const POINTS_MAX = 4_000
const FIRST_STEP: Micros = 1_000_000

/** One point of a series. */
export interface Point {
  readonly time: Micros
  readonly value: number
}

/** The last value of each step of time, with as many steps as fit: when there are too many, they are twice as long. */
export class Series {
  #step = FIRST_STEP
  /** Steps that have a value, ascending, and the values. */
  #steps: number[] = []
  #values: number[] = []

  add(time: Micros, value: number): void {
    this.#put(Math.floor(time / this.#step), value)
    if (this.#steps.length > POINTS_MAX) this.#widen()
  }

  /** Oldest first; each point's time is the start of its step. */
  points(): Point[] {
    return this.#steps.map((step, at) => ({ time: step * this.#step, value: this.#values[at] ?? 0 }))
  }

  /** Looked for from the end on: nearly all come in order. */
  #put(step: number, value: number): void {
    const steps = this.#steps
    let at = steps.length
    while (at > 0 && (steps[at - 1] ?? 0) >= step) at -= 1
    if (steps[at] === step) {
      this.#values[at] = value
      return
    }
    steps.splice(at, 0, step)
    this.#values.splice(at, 0, value)
  }

  #widen(): void {
    const points = this.points()
    this.#step *= 2
    this.#steps = []
    this.#values = []
    for (const { time, value } of points) this.#put(Math.floor(time / this.#step), value)
  }
}
