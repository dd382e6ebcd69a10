import type { Codec } from '../../schemas/codec.ts'
import type { Log, LogReader, Position } from '../../infra/kafka/seam.ts'
import type { DeadLetter } from '../../schemas/records.ts'

/** The machine's time, handed in so that tests drive it. Used for liveness and delays only, never for data. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds of a clock that nobody sets: how long something takes or lasts. Only differences mean something. */
  steady(): number
  delay(ms: number): Promise<void>
  /** Lets what the network brought or waits to send go first; takes no time by itself. */
  turn(): Promise<void>
}

/** Where log lines go; a pino logger fits. */
export interface Report {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** What the kernel counts, by processor. Implementations turn it into metrics. */
export interface Meter {
  /** Input records applied, and how long decoding, folding and writing them took. */
  applied(processor: string, records: number, ms: number): void
  outputs(processor: string, topic: string, records: number): void
  restored(processor: string, ms: number): void
  snapshot(processor: string, bytes: number): void
  /** A record was set aside. */
  deadLetter(letter: DeadLetter): void
  /** Marks of feeds that nothing confirms. */
  refusedMarks(processor: string, marks: number): void
  /** The log had lost what lay at the position: `records` offsets were never read. */
  skipped(processor: string, topic: string, records: number): void
  /** A gap was written to the journal of gaps. */
  gap(processor: string, topic: string, reason: string): void
  /** A newer owner stands; this one was refused by the broker. */
  fenced(processor: string): void
  /** Any other failure of a task; it is opened again. */
  failed(processor: string): void
}

/** Everything that a task needs of the world. */
export interface Ports {
  readonly log: Log
  /** Restores states. The runner's fetches, which wait, have a reader of their own. */
  readonly reader: LogReader
  readonly codec: Codec
  /** Asks the registry for a schema id and makes the codec read it; false: there is no such id. Rejects when it cannot tell. */
  lookUp(id: number): Promise<boolean>
  /** Only for lag displays; its errors are ignored. */
  hint(processor: string, positions: readonly Position[]): Promise<void>
  readonly clock: Clock
  readonly meter: Meter
  readonly report: Report
}

/** What to do where the log lost what was read of it: go on where it differs, with a recorded gap, or stop and say so. */
export type LostLogPolicy = 'go-on' | 'stop'

/** When a partition's state is written: at the first of the two, if anything was applied. */
export interface SnapshotPolicy {
  readonly everyMs: number
  readonly everyRecords: number
  /** What of it is written in one batch at most; left out: what the broker takes. */
  readonly bytesMax?: number
}
