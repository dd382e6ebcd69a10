import path from 'node:path'
import { topics, type TopicName } from '../schemas/topics.ts'
import { readHeader, readSegments, type Format, type Segment, type TapeHeader } from '../infra/tapes/folder.ts'
import { leftOut, type Place } from '../infra/tapes/message.ts'
import { parquetWriter } from '../infra/tapes/parquet-segment.ts'
import { avroWriter, exportedTopics, planExport, writeTape } from '../infra/tapes/write-tape.ts'
import type { Tape } from '../infra/tapes/tape.ts'
import { flag, readTime, runCommand, text, UsageError, type Values, stopSignal } from './command/command.ts'
import { openTape, tapeErrors } from './command/open-tape.ts'
import { ProgressBar } from './command/progress-bar.ts'

const usage = `npm run export -- [flags]: writes topics of a running system into files, as they lie in the log.

  --topics A,B     which (default: all that a backtest reads or is compared with: market.*, derived.*, alerts.*, and
                   control.gaps, always whole: what readers of the log could not read, without which a replay of what
                   they lived differs)
  --from T, --to T record times, ISO 8601 or unix milliseconds, from inclusive, to exclusive (default: all of it);
                   of compacted topics, where the newest value stands for all before it, what came after is taken too;
                   of other derived ones the hour after it, since a processor that lagged wrote there what follows from it
  --out DIR        the folder; run the same command again and it goes on where it was stopped
  --grow           the folder's export goes on to what is there now: an archive of what retention will delete
  --format F       avro (default): the records' own bytes, with their schema; parquet: a table for each record type, by day,
                   in half the bytes, for DuckDB, Polars and pandas (infra/tapes/README.md)
  --source S       kafka (default), or a folder of tapes, to write it in another format
  --data DIR       the running system's data folder (default .data); where nothing runs there, the log is that of
                   KAFKA_BROKERS, SCHEMA_REGISTRY_URL and NAMESPACE
  --help           this text

Exit 0: all is there; 1: stopped before the end; 2: it could not be done, as where the log has deleted what
would come next, or lost what the folder ends with.`

const flags = {
  topics: text,
  from: text,
  to: text,
  out: text,
  grow: flag,
  format: { ...text, default: 'avro' },
  source: { ...text, default: 'kafka' },
  data: { ...text, default: '.data' },
} as const

async function main(values: Values<typeof flags>, stop: AbortSignal): Promise<boolean> {
  if (values.out === undefined) throw new UsageError('name the folder with --out')
  const format: Format | undefined = (['avro', 'parquet'] as const).find((name) => name === values.format)
  if (format === undefined) throw new UsageError(`--format must be avro or parquet, got ${values.format}`)
  if (values.grow === true && values.to !== undefined) throw new UsageError('--grow goes on to now: leave out --to')
  const from = values.from === undefined ? 0 : readTime('--from', values.from)
  const to = values.to === undefined ? null : readTime('--to', values.to)
  const tape = await openTape(values.source, values.data)
  try {
    const header = await planExport(tape, topicsOf(values.topics, tape), { format, from, to })
    return await write(tape, path.resolve(values.out), header, values.grow === true, stop)
  } finally {
    await tape.close()
  }
}

function topicsOf(given: string | undefined, tape: Tape): TopicName[] {
  if (given === undefined) return exportedTopics(tape)
  const known = topics.map(({ name }) => name)
  return given.split(',').map((name) => {
    const topic = known.find((candidate) => candidate === name.trim())
    if (topic === undefined) throw new UsageError(`no topic ${name}; there are ${known.join(', ')}`)
    return topic
  })
}

async function write(
  tape: Tape,
  folder: string,
  header: TapeHeader,
  grow: boolean,
  stop: AbortSignal,
): Promise<boolean> {
  const bar = new ProgressBar({ isTerminal: process.stderr.isTTY, write: (text) => void process.stderr.write(text) })
  // An export that goes on is of what was there when it began.
  const { spans } = (grow ? undefined : readHeader(folder)) ?? header
  const total = lengthOf(spans) - lengthOf([...readSegments(folder).values()].flat())
  let records = 0
  let offsets = 0
  let time = 0
  const unreadable: Place[] = []
  const onProgress = (segment: Segment): void => {
    for (const offset of segment.unreadable ?? []) unreadable.push({ ...segment, offset })
    records += segment.records
    offsets += segment.to - segment.from
    time = Math.max(time, segment.lastTime)
    void bar.step({ records: offsets, total, time })
  }
  const writer = header.format === 'avro' ? avroWriter(tape, folder) : parquetWriter(tape, folder)
  const isDone = await writeTape({ tape, folder, header, write: writer, grow, onProgress, stop })
  bar.end({ records: offsets, total, time })
  const rest = isDone ? '' : '; stopped: run the same command again to go on'
  console.log([`${records} records written to ${folder}${rest}`, ...leftOut(unreadable)].join('\n'))
  return isDone
}

/** Offsets, of which some may hold no record. */
function lengthOf(spans: readonly { readonly from: number; readonly to: number }[]): number {
  return spans.reduce((sum, { from, to }) => sum + to - from, 0)
}

const stop = stopSignal()
await runCommand({ usage, flags, expected: tapeErrors }, (values) => main(values, stop))
