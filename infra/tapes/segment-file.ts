import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { LogRecord } from '../kafka/seam.ts'
import type { SegmentFile } from './folder.ts'
import { diskError, TapeError } from './tape.ts'

/** Writes a file whole and durable: a reader never sees a part of it. Throws `TapeError` `disk` where there is no room. */
export function writeFile(folder: string, name: string, bytes: Buffer): SegmentFile {
  const file = path.join(folder, name)
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(`${file}.part`, bytes, { flush: true })
    renameSync(`${file}.part`, file)
  } catch (error) {
    throw diskError(file, error)
  }
  return { path: name, bytes: bytes.length, sha256: sha256(bytes) }
}

/** The bytes of a file of a tape, checked against what was noted of it. */
export function readChecked(folder: string, { path: name, bytes, sha256: expected }: SegmentFile): Buffer {
  const file = path.join(folder, name)
  let content: Buffer
  try {
    content = readFileSync(file)
  } catch (error) {
    throw new TapeError('corrupt', `${file} is missing; export it again`, { cause: error })
  }
  if (content.length !== bytes || sha256(content) !== expected)
    throw new TapeError('corrupt', `${file} is damaged: its checksum is not the noted one; export it again`)
  return content
}

function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Name of a segment's file without its ending: offsets have 16 digits, so that names sort. */
export function segmentName(topic: string, partition: number, from: number): string {
  return `${topic}/${partition}/${String(from).padStart(16, '0')}`
}

/** The first and the largest record time, milliseconds. */
export function timesOf(records: readonly LogRecord[]): { firstTime: number; lastTime: number } {
  let firstTime = Infinity
  let lastTime = 0
  for (const { time } of records) {
    firstTime = Math.min(firstTime, time)
    lastTime = Math.max(lastTime, time)
  }
  return { firstTime: Number.isFinite(firstTime) ? firstTime : 0, lastTime }
}
