/** Of a law that is tried on many logs: a machine under load tries fewer rather than none. */
export const bounded = { interruptAfterTimeLimit: 20_000 }

/** How long that may take, milliseconds. */
export const LAW_MS = 60_000
