/** A step that a stop has to wait for, a segment or a batch, ends within this time or is given up. */
const STOP_MS = 15_000

/** Exit code of a command that was stopped before its end. */
const STOPPED = 130

/**
 * Aborts at the first SIGINT or SIGTERM. The command then ends at its next step; where none comes in time, or the signal
 * comes again, it ends at once. What commands write is whole or does not count, so that no moment is a bad one.
 */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(STOPPED)
    stop.abort()
    setTimeout(() => {
      console.error('the step under way did not end; stopped in the middle of it')
      process.exit(STOPPED)
    }, STOP_MS).unref()
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return stop.signal
}
