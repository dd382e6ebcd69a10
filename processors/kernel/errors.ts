/**
 * A failure that opening the task again cannot mend: the process stops and says why.
 * - `newer-state`: the state was written by newer code;
 * - `unreadable-state`: a record of the state topic cannot be decoded;
 * - `snapshot-too-large`: a snapshot no longer fits into one batch.
 */
export class FatalError extends Error {
  readonly code: 'newer-state' | 'unreadable-state' | 'snapshot-too-large'
  constructor(code: FatalError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Whether an error is the broker's refusal of an old owner; by code, since implementations may bring their own class. */
export function isFenced(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'fenced'
}
