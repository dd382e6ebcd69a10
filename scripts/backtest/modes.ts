import type { LogRecord } from '../../infra/kafka/seam.ts'
import { TapeError, type Span, type Tape } from '../../infra/tapes/tape.ts'
import type { RecordPosition } from '../../schemas/record-id.ts'
import type { Trade } from '../../schemas/records.ts'
import type { Mode } from './options.ts'

/** A tape whose records may stand in another order than in the log. */
export interface Arranged extends Tape {
  /** Where a record stood in the log, by its place here. */
  placeOf?(place: RecordPosition): RecordPosition
}

/** Trades that were filled in later and are held until their place has come, of one partition. */
const DISPLACED_MAX = 3_000_000

/** The tape in the order that a mode asks for. */
export function arrange(tape: Tape, mode: Mode): Arranged {
  if (mode === 'lived') return tape
  if (mode === 'archive') return { ...tape, read: (span) => onlyImported(tape, span) }
  return corrected(tape)
}

/** Archives hold trades and the marks that were made of them. */
async function* onlyImported(tape: Tape, span: Span): AsyncGenerator<readonly LogRecord[]> {
  for await (const records of tape.read(span)) {
    const wanted = records.filter((record) => {
      const trade = tradeOf(tape, span, record)
      return trade === undefined || trade.origin === 'import'
    })
    if (wanted.length > 0) yield wanted
  }
}

/**
 * Backfills where they belong: a trade that was filled in later stands before the first record that was received after
 * the venue's time of it. Places are counted anew, since the log's own would not go up.
 */
function corrected(tape: Tape): Arranged {
  const places = new Map<string, OffsetMap>()
  return {
    ...tape,
    read: (span) => {
      if (span.topic !== 'market.trades') return tape.read(span)
      const map = new OffsetMap()
      places.set(`${span.topic}/${span.partition}`, map)
      return inPlace(tape, span, map)
    },
    placeOf: (place) => {
      const map = places.get(`${place.topic}/${place.partition}`)
      return map === undefined ? place : { ...place, offset: map.original(place.offset) }
    },
  }
}

interface Displaced {
  readonly record: LogRecord
  /** Milliseconds. */
  readonly time: number
}

async function* inPlace(tape: Tape, span: Span, map: OffsetMap): AsyncGenerator<readonly LogRecord[]> {
  const displaced = await backfillsOf(tape, span)
  const moved = new Set(displaced.map(({ record }) => record.offset))
  let next = span.from
  let at = 0
  const place = (record: LogRecord, time: number): LogRecord => {
    map.add(next, record.offset)
    return { ...record, key: record.key, value: record.value, time, offset: next++ }
  }
  const putBefore = (time: number, batch: LogRecord[]): void => {
    for (let one = displaced[at]; one !== undefined && one.time < time; one = displaced[at]) {
      batch.push(place(one.record, one.time))
      at += 1
    }
  }
  for await (const records of tape.read(span)) {
    const batch: LogRecord[] = []
    for (const record of records) {
      if (moved.has(record.offset)) continue
      putBefore(record.time, batch)
      batch.push(place(record, record.time))
    }
    if (batch.length > 0) yield batch
  }
  const rest: LogRecord[] = []
  putBefore(Infinity, rest)
  if (rest.length > 0) yield rest
}

/** By venue time, then by the log's own order. */
async function backfillsOf(tape: Tape, span: Span): Promise<Displaced[]> {
  const found: Displaced[] = []
  for await (const records of tape.read(span)) {
    for (const record of records) {
      const trade = tradeOf(tape, span, record)
      if (trade?.origin !== 'backfill') continue
      const own = { ...record, key: record.key, value: Buffer.from(record.value ?? []) }
      found.push({ record: own, time: Math.floor(trade.time / 1000) })
    }
    if (found.length > DISPLACED_MAX)
      throw new TapeError(
        'refused',
        `over ${DISPLACED_MAX} trades of ${span.topic}/${span.partition} were filled in later; ask for a shorter range`,
      )
  }
  return found.sort((a, b) => a.time - b.time || a.record.offset - b.record.offset)
}

function tradeOf(tape: Tape, { topic }: Span, { value }: LogRecord): Trade | undefined {
  if (topic !== 'market.trades' || value === null || tape.codec.typeOf(value) !== 'trade') return undefined
  const message = tape.codec.decode(value)
  return message.type === 'trade' ? message.value : undefined
}

/** Places counted anew against those of the log: a step is noted only where the two do not go up together. */
class OffsetMap {
  readonly #starts: number[] = []
  readonly #originals: number[] = []
  #nextOriginal = -1

  /** The record at `offset` stood at `original`; called with offsets that go up by one. */
  add(offset: number, original: number): void {
    if (original !== this.#nextOriginal) {
      this.#starts.push(offset)
      this.#originals.push(original)
    }
    this.#nextOriginal = original + 1
  }

  original(offset: number): number {
    let low = 0
    let high = this.#starts.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    const start = this.#starts[low]
    return start === undefined ? offset : (this.#originals[low] ?? 0) + offset - start
  }
}
