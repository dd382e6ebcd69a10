import { setImmediate as turn } from 'node:timers/promises'

const LINE_EVERY_MS = 5_000
const BAR_EVERY_MS = 100
const BAR_WIDTH = 28

export interface Step {
  readonly records: number
  readonly total: number
  /** Record time reached, milliseconds. */
  readonly time: number
}

/** Where progress goes; `isTerminal`: a bar in place, else a line now and then. */
export interface Screen {
  readonly isTerminal: boolean
  write(text: string): void
}

/** Shows how far a long work is: events, the event time reached, the rate, what remains. */
export class ProgressBar {
  readonly #screen: Screen
  readonly #startedAt: number
  readonly #now: () => number
  #shownAt = 0

  constructor(screen: Screen, now: () => number = () => performance.now()) {
    this.#screen = screen
    this.#now = now
    this.#startedAt = now()
  }

  /** Told often; shows seldom. Where it shows, others may run. */
  step(step: Step): Promise<void> | undefined {
    const now = this.#now()
    const every = this.#screen.isTerminal ? BAR_EVERY_MS : LINE_EVERY_MS
    if (now - Math.max(this.#shownAt, this.#startedAt) < every) return undefined
    this.#show(step, now)
    return turn()
  }

  end(step: Step): void {
    this.#show(step, this.#now())
    if (this.#screen.isTerminal) this.#screen.write('\n')
  }

  #show(step: Step, now: number): void {
    this.#shownAt = now
    const seconds = (now - this.#startedAt) / 1000
    const text = lineOf(step, seconds)
    this.#screen.write(this.#screen.isTerminal ? `\r\u001b[2K${barOf(step)} ${text}` : `${text}\n`)
  }
}

function barOf({ records, total }: Step): string {
  const full = total === 0 ? BAR_WIDTH : Math.min(BAR_WIDTH, Math.round((records / total) * BAR_WIDTH))
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_WIDTH - full)}]`
}

/** `total` counts offsets, of which some hold no record: what remains is an upper bound. */
export function lineOf({ records, total, time }: Step, seconds: number): string {
  const rate = seconds > 0 ? records / seconds : 0
  const share = total === 0 ? 100 : Math.min(100, (records / total) * 100)
  const left = rate > 0 ? Math.max(0, total - records) / rate : 0
  const reached = time > 0 ? new Date(time).toISOString().slice(0, 19) : 'not begun'
  const count = `${records.toLocaleString('en')} of ${total.toLocaleString('en')} events`
  return `${share.toFixed(1)} %  ${count}  at ${reached}  ${Math.round(rate).toLocaleString('en')}/s  ${left.toFixed(0)} s left`
}
