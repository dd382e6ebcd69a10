import { ask } from '../../infra/http/ask.ts'
import { roleOf } from '../../infra/local/run-file.ts'
import { terminalClock, type TerminalClock } from './words.ts'

/** How often the API is asked, and how often a person is told, milliseconds. */
const ASK_MS = 2_000
const TELL_MS = 10_000
const DEADLINE_MS = 10_000
const BYTES_MAX = 4_000_000
/** Fewer rows than this are the hour that has just passed. */
const WORTH_TELLING = 500

const NO_ROOM = 'since the disk has too little room for them: free some, or set BACKFILL_DAYS; it goes on by itself'

/** `backfill` of the API's `/healthz`. */
interface Backfill {
  readonly state: 'off' | 'starting' | 'running' | 'paused' | 'done'
  readonly wanted: number
  readonly missing: number
  readonly bytes_left: number
  readonly seconds_left: number | null
}

interface Health {
  readonly parts?: Readonly<Record<string, string>>
  readonly backfill?: Backfill
}

/**
 * Tells in a terminal how far the venues' past is read back, until it is. Never rejects: who does not answer is asked again.
 *
 * @param health The feeds' health; null: they do not answer now.
 */
export async function tellPast(
  health: () => Promise<Backfill | null>,
  say: (line: string) => void,
  { now, wait }: TerminalClock = terminalClock,
): Promise<void> {
  let toldAt = -Infinity
  let began: { readonly at: number; readonly missing: number } | undefined
  let isPaused = false
  for (;;) {
    const past = await health()
    if (past?.state === 'off' || (past?.state === 'done' && began === undefined)) return
    if (past?.state === 'done' && began !== undefined) {
      const seconds = Math.max(1, Math.round((now() - began.at) / 1_000))
      const rate = Math.round(began.missing / seconds).toLocaleString('en')
      say(`the past: all ${past.wanted.toLocaleString('en')} rows are in the log, in ${seconds} s, ${rate} a second`)
      return
    }
    if (past?.state === 'paused' && !isPaused) say(`the past: ${rows(past.missing)} wait, ${NO_ROOM}`)
    if (past !== null) isPaused = past.state === 'paused'
    if (past?.state === 'running' && (began !== undefined || past.missing >= WORTH_TELLING)) {
      if (began === undefined) say(`the past: ${rows(past.missing)} to read back, about ${megabytes(past)} MB of disk`)
      else if (now() - toldAt >= TELL_MS) say(`the past: ${wordsOf(past)}`)
      if (began === undefined || now() - toldAt >= TELL_MS) toldAt = now()
      began ??= { at: now(), missing: past.missing }
    }
    await wait(ASK_MS)
  }
}

/** How far all feeds together are, as the API at an address tells it; null: it, or one of them, does not answer now. */
export function pastOf(api: string): () => Promise<Backfill | null> {
  return async () => {
    try {
      const { text } = await ask(`${api}/healthz`, { withinMs: DEADLINE_MS, bytesMax: BYTES_MAX })
      // Written by the API of this very start.
      const { backfill = null, parts = {} } = JSON.parse(text) as Health
      const isOneAway = Object.entries(parts).some(
        ([name, state]) => roleOf(name) === 'feeds' && state === 'unreachable',
      )
      return isOneAway ? null : backfill
    } catch {
      return null // they begin again, or are busy: asked again
    }
  }
}

function wordsOf(past: Backfill): string {
  const percent = Math.floor((100 * (past.wanted - past.missing)) / Math.max(1, past.wanted))
  const left = past.seconds_left === null ? '' : `, about ${past.seconds_left} s left`
  return `${percent} % read back, ${rows(past.missing)} to come${left}`
}

function rows(count: number): string {
  return `${Math.round(count).toLocaleString('en')} rows`
}

function megabytes({ bytes_left }: Backfill): number {
  return Math.ceil(bytes_left / 1e6)
}
