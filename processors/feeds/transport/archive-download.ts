import { createHash } from 'node:crypto'
import { createWriteStream, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { hostNow } from '../runtime/process-clock.ts'
import { retryAfterMs } from './connection.ts'

/** A file has to be here within this time, milliseconds, and none of its parts may be waited for longer than that. */
const FILE_MS = 1_800_000
const STALL_MS = 30_000
/** No day of trades is larger, packed. */
const FILE_BYTES_MAX = 4e9
const CHECKSUM_BYTES_MAX = 1_024
/** Where a venue says "too many" without a time, and where it refuses the address. */
const TOO_MANY_MS = 60_000
const REFUSED_MS = 600_000

/** What a download came to. `damaged`: it is not what the venue's checksum says. */
export type Download =
  | { readonly kind: 'file'; readonly bytes: number; readonly isChecked: boolean }
  | { readonly kind: 'absent' }
  | { readonly kind: 'damaged'; readonly why: string }
  | { readonly kind: 'wait'; readonly waitMs: number; readonly status: number }
  | { readonly kind: 'failed'; readonly message: string }

interface Wanted {
  readonly url: string
  /** Of the file that holds its SHA-256; undefined: there is none. */
  readonly checksumUrl: string | undefined
  /** What is there is overwritten. */
  readonly file: string
  readonly stop: AbortSignal
}

/** Fetches a file whole, and compares it with its checksum where there is one. Never throws; what failed leaves no file. */
export async function download(wanted: Wanted): Promise<Download> {
  const outcome = await fetchFile(wanted).catch((error: unknown): Download => ({
    kind: 'failed',
    message: messageOf(error),
  }))
  if (outcome.kind !== 'file') rmSync(wanted.file, { force: true })
  return outcome
}

async function fetchFile({ url, checksumUrl, file, stop }: Wanted): Promise<Download> {
  let expected: string | undefined
  if (checksumUrl !== undefined) {
    const answer = await ask(checksumUrl, stop)
    if ('kind' in answer) return answer
    const text = await shortText(answer.response).finally(answer.end)
    expected = /^([0-9a-f]{64})\b/i.exec(text)?.[1]?.toLowerCase()
    if (expected === undefined) return { kind: 'damaged', why: `${checksumUrl} holds no SHA-256` }
  }
  const answer = await ask(url, stop)
  if ('kind' in answer) return answer
  const { response, heard, end } = answer
  const hash = createHash('sha256')
  let bytes = 0
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      heard()
      bytes += chunk.length
      hash.update(chunk)
      done(bytes > FILE_BYTES_MAX ? new Error(`it is longer than ${FILE_BYTES_MAX} bytes`) : null, chunk)
    },
  })
  mkdirSync(path.dirname(file), { recursive: true })
  const body = Readable.fromWeb(response.body ?? new ReadableStream())
  await pipeline(body, count, createWriteStream(file)).finally(end)
  const found = hash.digest('hex')
  if (expected !== undefined && found !== expected)
    return { kind: 'damaged', why: `its SHA-256 is ${found}, and ${expected} by the venue` }
  return { kind: 'file', bytes, isChecked: expected !== undefined }
}

interface Answer {
  readonly response: Response
  /** A part came. */
  readonly heard: () => void
  readonly end: () => void
}

/** The answer of a venue that has the file, else what it says. */
async function ask(url: string, stop: AbortSignal): Promise<Answer | Download> {
  const stalled = new AbortController()
  const timer = setTimeout(() => stalled.abort(new Error(`nothing came for ${STALL_MS} ms`)), STALL_MS)
  const signal = AbortSignal.any([AbortSignal.timeout(FILE_MS), stalled.signal, stop])
  const end = (): void => clearTimeout(timer)
  try {
    const response = await fetch(url, { signal })
    if (response.ok) return { response, heard: () => void timer.refresh(), end }
    end()
    await response.body?.cancel()
    const { status } = response
    if (status === 404) return { kind: 'absent' }
    const told = retryAfterMs(response.headers.get('retry-after'), hostNow())
    if (status === 418 || status === 429) return { kind: 'wait', waitMs: told ?? TOO_MANY_MS, status }
    if (status === 403 || status === 451) return { kind: 'wait', waitMs: told ?? REFUSED_MS, status }
    return { kind: 'failed', message: `HTTP ${status}` }
  } catch (error) {
    end()
    throw error
  }
}

async function shortText(response: Response): Promise<string> {
  let text = ''
  for await (const part of response.body ?? []) {
    text += Buffer.from(part).toString('latin1')
    if (text.length > CHECKSUM_BYTES_MAX) break
  }
  return text
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC')
    return 'the disk is full: free some room, or name another folder with ARCHIVE_DIR; it goes on by itself'
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error.message}${cause}`
}
