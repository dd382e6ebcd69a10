/**
 * A failure that opening the task again cannot mend: the process stops and says why.
 * - `newer-state`: the state was written by newer code;
 * - `unreadable-state`: a record of the state topic cannot be decoded;
 * - `snapshot-too-large`: a part of a state no longer fits into one batch;
 * - `lost-log`: the log lost what was read of it, or is another one, and it was set to stop then;
 * - `two-owners`: another process owns the same partitions for good.
 */
export class FatalError extends Error {
  readonly code: 'newer-state' | 'unreadable-state' | 'snapshot-too-large' | 'lost-log' | 'two-owners'
  constructor(code: FatalError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Whether an error is the broker's refusal of an old owner; by code, since implementations may bring their own class. */
export function isFenced(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'fenced'
}

/**
 * What code threw over a record that it was given, or over what it held back of the records before (`flush`, `save`): the
 * state may be half changed, and whether the record is the cause shows when it is tried again.
 */
export class RecordFailure extends Error {
  readonly code = 'record-failed'
  readonly from: 'apply' | 'flush'
  constructor(from: RecordFailure['from'], cause: unknown) {
    super(`a record could not be ${from === 'apply' ? 'applied' : 'written out'}: ${String(cause)}`, { cause })
    this.from = from
  }
}

/** Errors that say how the host is, never what a record is. */
export function isOfHost(error: unknown): boolean {
  if (error instanceof FatalError || isFenced(error)) return true
  if (!(error instanceof Error)) return false
  const isNoMemory = 'code' in error && error.code === 'ERR_MEMORY_ALLOCATION_FAILED'
  return isNoMemory || (error instanceof RangeError && error.message === 'Array buffer allocation failed') // V8 gives no code
}

/** Says of what code threw that it was over records, unless it says how the host is. */
export function guarded<Result>(from: RecordFailure['from'], work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw failureOf(from, error)
  }
}

/** What `guarded` throws; by itself for what is done record by record, where a function for each is felt. */
export function failureOf(from: RecordFailure['from'], error: unknown): unknown {
  return isOfHost(error) || error instanceof RecordFailure ? error : new RecordFailure(from, error)
}
