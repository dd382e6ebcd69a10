import type { Log, LogReader, LogRecord, OutRecord } from '../../seam.ts'

/** A log of its own for one test. */
export interface OpenLog {
  readonly log: Log
  /** A second client of the same log, as another process would have it. */
  readonly another: () => Promise<Log>
  /** Resolves when owners that gave no sign since the call are forgotten; left out where none ever is. */
  readonly forgotten?: () => Promise<void>
  readonly dispose: () => Promise<void>
}

export type Start = () => Promise<OpenLog>

/** 2024-08-05: long ago, as on a tape. */
export const T0 = 1_722_850_000_000
export const WAIT = { maxWaitMs: 50, maxBytesPerPartition: 1 << 20 }
export const IN = 'in'
export const OUT = 'out'
export const STATE = 'state'
export const TARGETS = [
  { topic: OUT, partition: 0 },
  { topic: STATE, partition: 0 },
]

/** The whole of a partition, or what follows `from`. */
export async function readAll(reader: LogReader, topic: string, from?: number, partition = 0): Promise<LogRecord[]> {
  const all: LogRecord[] = []
  for await (const records of reader.toEnd(topic, partition, from)) all.push(...records)
  return all
}

export function texts(records: readonly LogRecord[]): string[] {
  return records.map(({ value }) => value?.toString() ?? 'tombstone')
}

export function text(value: string): OutRecord {
  return { key: 'key', value: Buffer.from(value), time: T0 }
}

export function at(time: number): OutRecord {
  return { key: null, value: Buffer.from('x'), time }
}

export function positionOf(
  topic: string,
  partition: number,
  offset = 0,
): { topic: string; partition: number; offset: number } {
  return { topic, partition, offset }
}
