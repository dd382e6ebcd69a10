/** A record as it is known again: where it lies and what it is. `time` in milliseconds. */
export interface Stood {
  readonly offset: number
  readonly epoch: number
  readonly print: number
  readonly time: number
}
