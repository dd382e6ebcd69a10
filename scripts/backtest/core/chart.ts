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
  #points = new Map<number, number>()

  add(time: Micros, value: number): void {
    this.#points.set(Math.floor(time / this.#step), value)
    if (this.#points.size > POINTS_MAX) this.#widen()
  }

  /** Oldest first; each point's time is the start of its step. */
  points(): Point[] {
    return [...this.#points].sort(([a], [b]) => a - b).map(([at, value]) => ({ time: at * this.#step, value }))
  }

  #widen(): void {
    const points = this.points()
    this.#step *= 2
    this.#points = new Map(points.map(({ time, value }) => [Math.floor(time / this.#step), value]))
  }
}
