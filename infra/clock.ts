import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'

/** The host's clock: for liveness, deadlines and delays, never for data. */
export const hostClock = {
  /** Milliseconds since the Unix epoch. */
  now: (): number => Date.now(),
  /** Milliseconds of a clock that nobody sets: only differences mean something. */
  steady: (): number => performance.now(),
  delay: (ms: number): Promise<void> => delay(ms),
  /** Lets input and output that is due go first. */
  turn: (): Promise<void> => turn(),
}
