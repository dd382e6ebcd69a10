/** Counts units in fixed windows of `windowMs`, as venues do. Time is an argument. */
export class Throttle {
  private readonly windowMs: number
  private window = -1
  private sum = 0

  constructor(windowMs: number) {
    this.windowMs = windowMs
  }

  /** Units used in the current window, these included. */
  use(nowMs: number, units = 1): number {
    const window = Math.floor(nowMs / this.windowMs)
    if (window !== this.window) this.sum = 0
    this.window = window
    this.sum += units
    return this.sum
  }

  /** Until the window ends, ms. */
  left(nowMs: number): number {
    return this.windowMs - (nowMs % this.windowMs)
  }
}
