import { availableParallelism, loadavg } from 'node:os'
import { vi } from 'vitest'

/** A unit test is over by then, on cores that have time for it. The law of a core or of a market says a limit of its own. */
const LIMIT_MS = 5_000
/** What the runner's own workers add to the load. */
const OWN_LOAD = 4

/** Where others keep the cores busy as well, a test lasts longer in the same measure. */
const others = Math.max(0, (loadavg()[0] ?? 0) - OWN_LOAD)
vi.setConfig({ testTimeout: LIMIT_MS * (1 + others / availableParallelism()) })
