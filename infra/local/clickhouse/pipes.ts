import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import type { Writable } from 'node:stream'
import { join } from 'node:path'

/** A named pipe in use: the engine writes its rows into it (`INTO OUTFILE`) or reads a body from it (`FROM INFILE`). */
export interface OutPipe {
  readonly path: string
  readonly rows: Socket
  /** No more writers: the rows end after what is already in the pipe. */
  finish(): void
  release(): void
}

export interface InPipe {
  readonly path: string
  readonly sink: Socket
  release(): void
}

/**
 * A pool of named pipes, made once (Node cannot make one). Each is used by one request at a time; the admission limit
 * keeps the pool from running out. Opened without blocking: a blocking open would hold a thread of the pool for ever.
 */
export class Pipes {
  readonly #dir = mkdtempSync(join(tmpdir(), 'clickhouse-pipes-'))
  readonly #free: string[]

  constructor(count: number) {
    this.#free = Array.from({ length: count }, (_, index) => join(this.#dir, `pipe-${index}`))
    execFileSync('mkfifo', ['-m', '600', ...this.#free], { timeout: 10_000 })
  }

  out(): OutPipe {
    const path = this.#take()
    const rows = new Socket({
      fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK),
      readable: true,
      writable: false,
    })
    // Keeps the pipe open between the engine's opening and our end; without it an early reader would see an end.
    const keep = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
    const finish = once(() => closeSync(keep))
    const release = once(() => {
      finish()
      this.#giveBack(path, rows)
    })
    return { path, rows, finish, release }
  }

  in(): InPipe {
    const path = this.#take()
    const sink = new Socket({
      fd: openSync(path, constants.O_RDWR | constants.O_NONBLOCK),
      readable: false,
      writable: true,
    })
    sink.on('error', () => undefined) // the engine closed its end: its own error says why
    const release = once(() => this.#giveBack(path, sink))
    return { path, sink, release }
  }

  close(): void {
    rmSync(this.#dir, { recursive: true, force: true })
  }

  /** Only once our end is closed: what is still in the pipe goes with its last user, not to the next one. */
  #giveBack(path: string, socket: Socket): void {
    if (socket.closed) this.#free.push(path)
    else socket.once('close', () => this.#free.push(path)).destroy()
  }

  #take(): string {
    const path = this.#free.pop()
    if (path === undefined) throw new Error('no pipe is free: the pool is smaller than the admission limit')
    return path
  }
}

/** Resolves when `stream` takes more, or when it or `also` is closed; leaves no listener behind. */
export function drained(stream: Writable, also: Writable = stream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done)
      also.off('close', done)
      resolve()
    }
    stream.on('drain', done).on('close', done)
    if (also !== stream) also.on('close', done)
    if (stream.destroyed || also.destroyed) done()
  })
}

function once(work: () => void): () => void {
  let done = false
  return () => {
    if (!done) work()
    done = true
  }
}
