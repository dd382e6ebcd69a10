import type { Clock, Meter, Report } from './ports.ts'

/** What a task says and counts where nobody listens. */

const nothing = (): void => undefined

/** Time stands still: nothing in a task depends on it but when it writes its state, and that goes by records here. */
export const stillClock: Clock = { now: () => 0, delay: () => Promise.resolve(), turn: () => Promise.resolve() }

export const quietMeter: Meter = {
  applied: nothing,
  outputs: nothing,
  restored: nothing,
  snapshot: nothing,
  deadLetter: nothing,
  refusedMarks: nothing,
  skipped: nothing,
  gap: nothing,
  fenced: nothing,
  failed: nothing,
}

export const quietReport: Report = { info: nothing, warn: nothing, error: nothing }
