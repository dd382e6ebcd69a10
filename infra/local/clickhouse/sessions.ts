import type { Connection } from './engine.ts'
import { code, QueryError } from './errors.ts'

const SESSIONS_MAX = 100
const TIMEOUT_SECONDS_MAX = 3600

interface Session {
  readonly connection: Connection
  busy: boolean
  timer: NodeJS.Timeout | undefined
}

/** A lent connection; `end` gives it back. */
export interface Lent {
  readonly connection: Connection
  end(): void
}

/** Connections that outlive their request, by user and `session_id`: temporary tables and SETs stay. */
export class Sessions {
  readonly #sessions = new Map<string, Session>()
  readonly #connect: () => Connection

  constructor(connect: () => Connection) {
    this.#connect = connect
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Takes the session, or makes it; 373 while another request has it. */
  lend(id: string, timeoutSeconds: number): Lent {
    const session = this.#sessions.get(id) ?? this.#make(id)
    if (session.busy)
      throw new QueryError(code.sessionLocked, `Session ${id} is locked by a concurrent client. (SESSION_IS_LOCKED)`)
    session.busy = true
    clearTimeout(session.timer)
    const keepMs = Math.min(timeoutSeconds, TIMEOUT_SECONDS_MAX) * 1000
    return {
      connection: session.connection,
      end: () => {
        session.busy = false
        session.timer = setTimeout(() => this.#end(id), keepMs).unref()
      },
    }
  }

  close(): void {
    for (const id of this.#sessions.keys()) this.#end(id)
  }

  #make(id: string): Session {
    if (this.#sessions.size >= SESSIONS_MAX) {
      const idle = [...this.#sessions].find(([, session]) => !session.busy)
      if (idle === undefined)
        throw new QueryError(code.tooManyQueries, 'all sessions are busy. (TOO_MANY_SIMULTANEOUS_QUERIES)')
      this.#end(idle[0])
    }
    const session: Session = { connection: this.#connect(), busy: false, timer: undefined }
    this.#sessions.set(id, session)
    return session
  }

  #end(id: string): void {
    const session = this.#sessions.get(id)
    if (session === undefined) return
    clearTimeout(session.timer)
    this.#sessions.delete(id)
    session.connection.close()
  }
}
