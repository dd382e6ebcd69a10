/**
 * Loaded into the feeds of a demo before anything else, so that chaos can have their clock lie: SIGUSR2 puts the process's
 * clock 55 minutes ahead, another puts it right. Its own monotonic clock and those of all other processes go on as they do.
 */
const AHEAD_MS = 55 * 60_000
/** It does not lie for longer, whoever forgot it. */
const LIES_MS_MAX = 120_000

const truth = Date.now
let aheadMs = 0
let end: NodeJS.Timeout | undefined
Date.now = () => truth() + aheadMs

process.on('SIGUSR2', () => {
  clearTimeout(end)
  aheadMs = aheadMs === 0 ? AHEAD_MS : 0
  if (aheadMs > 0) end = setTimeout(() => (aheadMs = 0), LIES_MS_MAX).unref()
})
