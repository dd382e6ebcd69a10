import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createGzip, type Gzip } from 'node:zlib'
import type { Logger } from '../../../infra/log.ts'
import { hostNow } from './process-clock.ts'
import type { FeedMetrics } from './metrics.ts'

/** Lines that wait for the disk, in bytes; beyond it frames are dropped and counted: a tape is a convenience. */
const maxBufferedBytes = 16 * 1024 * 1024
/** Lines are handed to the compressor in parts of this size. */
const partBytes = 64 * 1024
const flushEveryMs = 1_000
const pruneEvery = 60
const hourMs = 3_600_000

interface FramesOptions {
  readonly dir: string
  readonly maxBytes: number
  /** A frame was not kept, or the tapes cannot be written. */
  readonly onDrop: (count: number, error?: unknown) => void
}

interface Tape {
  readonly hour: number
  readonly gzip: Gzip
  readonly file: WriteStream
}

/**
 * Keeps raw frames as `<dir>/<venue>/<hour>-<run>.jsonl.gz`, one line a message: `{"recv_ns":N,"raw":<the frame>}`. A
 * frame that is not JSON stands as a string. When all tapes are over the limit the oldest hour goes.
 */
export class FramesWriter {
  readonly #options: FramesOptions
  readonly #run: number
  readonly #tapes = new Map<string, Tape>()
  readonly #lines = new Map<string, string[]>()
  #waiting = 0
  #bytes = 0
  #dropped = 0
  #ticks = 0
  /** By venue, its last part on the way to a tape: parts keep their order while one hour's tape ends and the next begins. */
  readonly #parts = new Map<string, Promise<void>>()
  readonly #timer: NodeJS.Timeout

  constructor(options: FramesOptions, now: number = hostNow()) {
    this.#options = options
    this.#run = now
    this.#timer = setInterval(() => void this.#everySecond(), flushEveryMs)
  }

  /** Takes one frame as it came; `json`: it is JSON. `received`: microseconds since the Unix epoch. */
  write(venue: string, text: string, received: number, json: boolean): void {
    if (this.#bytes > maxBufferedBytes) {
      this.#dropped++
      return
    }
    const first = text.charCodeAt(0)
    const raw = json && (first === 0x7b || first === 0x5b) ? withoutBreaks(text) : JSON.stringify(text)
    const line = `{"recv_ns":${received}000,"raw":${raw}}\n`
    const lines = this.#lines.get(venue)
    if (lines === undefined) this.#lines.set(venue, [line])
    else lines.push(line)
    this.#bytes += line.length
    this.#waiting += line.length
    if (this.#waiting >= partBytes) this.#flush(hostNow())
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#flush(hostNow())
    await Promise.all(this.#parts.values())
    await Promise.all([...this.#tapes.values()].map(endTape))
    this.#tapes.clear()
  }

  async #everySecond(): Promise<void> {
    this.#flush(hostNow())
    if (this.#dropped > 0) this.#options.onDrop(this.#dropped)
    this.#dropped = 0
    if (this.#ticks++ % pruneEvery !== 0) return
    await this.#prune().catch((error: unknown) => this.#options.onDrop(0, error))
  }

  #flush(now: number): void {
    const hour = Math.floor(now / hourMs)
    for (const [venue, lines] of this.#lines) {
      if (lines.length === 0) continue
      const part = lines.join('')
      lines.length = 0
      const before = this.#parts.get(venue) ?? Promise.resolve()
      this.#parts.set(
        venue,
        before.then(() => this.#writePart(venue, hour, part)),
      )
    }
    this.#waiting = 0
  }

  async #writePart(venue: string, hour: number, part: string): Promise<void> {
    try {
      const tape = await this.#tape(venue, hour)
      tape.gzip.write(part, () => this.#written(part.length))
    } catch (error) {
      this.#written(part.length)
      this.#options.onDrop(1, error)
    }
  }

  #written(bytes: number): void {
    this.#bytes -= bytes
  }

  async #tape(venue: string, hour: number): Promise<Tape> {
    const old = this.#tapes.get(venue)
    if (old?.hour === hour) return old
    this.#tapes.delete(venue)
    if (old !== undefined) await endTape(old)
    const dir = join(this.#options.dir, venue)
    await mkdir(dir, { recursive: true })
    const tape = openTape(join(dir, `${hourName(hour)}-${this.#run}.jsonl.gz`), hour, (error) => {
      if (this.#tapes.get(venue) === tape) this.#tapes.delete(venue)
      this.#options.onDrop(1, error)
    })
    this.#tapes.set(venue, tape)
    return tape
  }

  /** Drops the oldest hours of all venues together until the rest is within the limit; never the newest file. */
  async #prune(): Promise<void> {
    const files = await tapesIn(this.#options.dir)
    let total = files.reduce((sum, { size }) => sum + size, 0)
    for (const { path, size } of files.toSorted((a, b) => a.name.localeCompare(b.name)).slice(0, -1)) {
      if (total <= this.#options.maxBytes) return
      await rm(path, { force: true })
      total -= size
    }
  }
}

function openTape(path: string, hour: number, onError: (error: unknown) => void): Tape {
  const gzip = createGzip({ level: 1 })
  const file = createWriteStream(path, { flags: 'a' })
  // Both end: what the compressor still holds would count as waiting for ever.
  const fail = (error: unknown): void => {
    gzip.destroy()
    file.destroy()
    onError(error)
  }
  gzip.on('error', fail)
  file.on('error', fail)
  gzip.pipe(file)
  return { hour, gzip, file }
}

function endTape({ gzip, file }: Tape): Promise<void> {
  return new Promise((resolve) => {
    file.once('close', () => resolve())
    gzip.end()
  })
}

async function tapesIn(dir: string): Promise<{ path: string; name: string; size: number }[]> {
  const venues = await readdir(dir, { withFileTypes: true }).catch(() => [])
  const lists = venues
    .filter((entry) => entry.isDirectory())
    .map(async ({ name: venue }) => {
      const names = await readdir(join(dir, venue))
      return Promise.all(
        names
          .filter((name) => name.endsWith('.jsonl.gz'))
          .map(async (name) => {
            const path = join(dir, venue, name)
            return { path, name, size: (await stat(path)).size }
          }),
      )
    })
  return (await Promise.all(lists)).flat()
}

/** `2026-11-21T09` of hours since the epoch. */
function hourName(hour: number): string {
  return new Date(hour * hourMs).toISOString().slice(0, 13)
}

/** Line breaks between JSON tokens would break the tape's line; inside strings JSON has none. */
function withoutBreaks(text: string): string {
  return text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\r\n]+/g, ' ') : text
}

/** The tapes of a feed process; undefined where none are kept. */
export function openFrames(
  { FRAMES_DIR: dir, FRAMES_MAX_GB: gigabytes }: { readonly FRAMES_DIR: string; readonly FRAMES_MAX_GB: number },
  metrics: FeedMetrics,
  log: Logger,
): FramesWriter | undefined {
  if (dir === '') return undefined
  return new FramesWriter({
    dir,
    maxBytes: gigabytes * 1e9,
    onDrop: (count, error) => {
      metrics.framesDropped.inc(count)
      if (error !== undefined) log.warn({ err: error }, 'raw frames cannot be kept')
    },
  })
}
