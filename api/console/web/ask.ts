/** Requests to the console's own server: every one with a deadline, every failure a value. */

export type Asked<Body> =
  | { readonly is: 'ok'; readonly status: number; readonly body: Body }
  /** `message`: a sentence for the reader. */
  | ({ readonly is: 'failed'; readonly status: number; readonly error: string; readonly message: string } & Fault)

/** Where a request is at fault, as the API says it. */
interface Fault {
  /** The parameter, with dots into it. */
  readonly field?: string
  /** JSON pointer into the body, where it says more. */
  readonly pointer?: string
  /** What could stand there. */
  readonly allowed?: readonly string[]
}

const DEADLINE_MS = 10_000

interface Sent {
  readonly method?: 'GET' | 'POST' | 'DELETE' | 'PATCH'
  readonly body?: object
  readonly key?: string
  /** Ends it early; it is then a failure `cancelled`. */
  readonly signal?: AbortSignal
  /** Longer than others may take. */
  readonly deadlineMs?: number
}

/** The JSON that a path answers. 202 (warming up) is a failure that says so. */
export async function ask<Body>(
  path: string,
  { method = 'GET', body, key, signal, deadlineMs = DEADLINE_MS }: Sent = {},
): Promise<Asked<Body>> {
  try {
    const response = await fetch(path, {
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([AbortSignal.timeout(deadlineMs), ...(signal === undefined ? [] : [signal])]),
    })
    if (response.status === 401) location.assign('/login')
    return answerOf<Body>(response.status, await response.json())
  } catch (error) {
    if (signal?.aborted === true)
      return { is: 'failed', status: 0, error: 'cancelled', message: 'Not needed any more.' }
    const late = error instanceof DOMException && error.name === 'TimeoutError'
    const message = late ? `No answer within ${deadlineMs / 1000} s.` : 'The console cannot be reached.'
    return { is: 'failed', status: 0, error: late ? 'timeout' : 'unreachable', message }
  }
}

function answerOf<Body>(status: number, json: unknown): Asked<Body> {
  // What our own server answers is as its routes say.
  if (status === 200 || status === 201) return { is: 'ok', status, body: json as Body }
  const { error, message, ...fault } = (typeof json === 'object' && json !== null ? json : {}) as Record<
    string,
    unknown
  >
  const words = typeof message === 'string' ? message : `The server answers ${status}.`
  return {
    is: 'failed',
    status,
    error: typeof error === 'string' ? error : String(status),
    message: words,
    ...(fault as Fault),
  }
}

/** Does jobs a few at a time, in their order. */
export async function inTurns(jobs: readonly (() => Promise<void>)[], atOnce: number): Promise<void> {
  const queue = [...jobs]
  const work = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) await job()
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

/** Calls `job` now and then again `everyMs` after each end, while the page is visible; at once when it
 * comes to be, since what it shows may be old by then. */
export function again(job: () => Promise<void>, everyMs: number): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isBusy = false
  const next = async (): Promise<void> => {
    if (isBusy) return
    clearTimeout(timer)
    isBusy = true
    if (document.visibilityState === 'visible') await job()
    isBusy = false
    timer = setTimeout(() => void next(), everyMs)
  }
  document.addEventListener('visibilitychange', () => void next())
  void next()
}
