import type { Meter, Report } from './ports.ts'

/** What a task says and counts where nobody listens. */

const nothing = (): void => undefined

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
