import type { Log, LogReader, Membership, Slice } from '../../../infra/kafka/seam.ts'
import { localCodec, emptyFields } from '../../../schemas/codec.ts'
import type { DeadLetter, Message, Micros, SubscriptionChange } from '../../../schemas/records.ts'
import { DEAD_LETTERS } from '../dead-letters.ts'
import { Decoder } from '../decoder.ts'
import { quietMeter, quietReport } from '../quiet.ts'
import { MemoryBroker, stillClock } from './memory-log.ts'
import type { Clock, Meter, Ports, Report } from '../ports.ts'
import type { Output, Processor, ProcessorRow } from '../processor.ts'
import type { Task, TaskOptions } from '../task.ts'

/** What the kernel's tests begin with: a processor that counts, a log in memory, a membership dealt by hand. */

export const codec = localCodec()

/** A tally of marks and the state's generation of it: enough to see what was folded, restored and written. */
interface Tally {
  marks: number
  isChanged: boolean
}

/** Counts marks; each that it folds gives a mark whose `run` is the count. */
export const tally: Processor<Tally, Output<'derived.flow'>> = {
  empty: () => ({ marks: 0, isChanged: false }),
  apply(state, { message }, { partitionTime }, emit) {
    if (message.type !== 'mark') return
    state.marks += 1
    state.isChanged = true
    const value = { ...message.value, run: state.marks, time: partitionTime }
    emit({ topic: 'derived.flow', key: 'tally', message: { type: 'mark', value } })
  },
  *save(state) {
    if (state.isChanged) yield ['marks', Buffer.from(String(state.marks))] as const
    state.isChanged = false
  },
  load: (parts) => ({ marks: Number(parts.get('marks') ?? 0), isChanged: false }),
  counts: ({ marks }) => ({ marks }),
}

export const tallyRow: ProcessorRow = {
  name: 'tally',
  inputs: ['market.trades'],
  outputs: ['derived.flow'],
  state: 'state.cvd',
  generation: 1,
  reason: 'first version',
  core: tally,
}

export function mark(time: Micros, changes: readonly SubscriptionChange[] = []): Message<'mark'> {
  return {
    type: 'mark',
    value: { ...emptyFields('mark'), writer: 'feeds', run: 0, time, changes },
  }
}

/** Bytes of marks with these times. */
export function marks(...times: readonly Micros[]): { key: string; value: Buffer; time: number }[] {
  return times.map((time) => ({
    key: 'mark',
    value: codec.encode('market.trades', 'mark', mark(time).value),
    time: time / 1000,
  }))
}

/** The counts that a partition's outputs carry, in log order. */
export function counted(broker: MemoryBroker, partition = 0): number[] {
  return broker.records('derived.flow', partition).flatMap(({ value }) => {
    const message = value === null ? undefined : codec.decode(value)
    return message?.type === 'mark' ? [message.value.run] : []
  })
}

/** The places that were set aside, with why, in log order. */
export function lettersIn(broker: MemoryBroker, partition = 0): DeadLetter[] {
  return broker.records(DEAD_LETTERS, partition).flatMap(({ value }) => {
    const message = value === null ? undefined : codec.decode(value)
    return message?.type === 'dead_letter' ? [message.value] : []
  })
}

/** Notes what a task says and counts. */
export class Notes {
  readonly lines: string[] = []
  /** What each line tells beside its text. */
  readonly fields: object[] = []
  readonly sums: Record<string, number> = {}
  readonly report: Report
  readonly meter: Meter

  constructor() {
    const line = (level: string) => (fields: object, message: string) => {
      this.lines.push(`${level}: ${message}`)
      this.fields.push(fields)
    }
    this.report = { ...quietReport, info: line('info'), warn: line('warn'), error: line('error') }
    const add = (name: string, by = 1): void => void (this.sums[name] = (this.sums[name] ?? 0) + by)
    this.meter = {
      ...quietMeter,
      applied: (_, records) => add('applied', records),
      deadLetter: ({ reason }) => add(reason),
      refusedMarks: (_, marks) => add('refusedMarks', marks),
      skipped: (_, __, records) => add('skipped', records),
      gap: () => add('gaps'),
      fenced: () => add('fenced'),
      failed: () => add('failed'),
      snapshot: () => add('snapshots'),
    }
  }
}

export interface TestTask extends TaskOptions {
  readonly broker: MemoryBroker
  readonly notes: Notes
}

/** A fresh log and what a task needs; parts of it replaced as given. */
export function testTask(ports: Partial<Ports> = {}, clock: Clock = stillClock, everyRecords = 1): TestTask {
  const broker = new MemoryBroker(clock)
  return { ...testTaskOn(broker, ports, clock, everyRecords), broker }
}

/** A further instance on a log that is there. */
export function testTaskOn(
  broker: MemoryBroker,
  ports: Partial<Ports> = {},
  clock: Clock = stillClock,
  everyRecords = 1,
): TestTask {
  const notes = new Notes()
  const log = broker.connect()
  const all: Ports = {
    log,
    reader: log.reader(),
    codec,
    lookUp: () => Promise.resolve(false),
    hint: () => Promise.resolve(),
    clock,
    meter: notes.meter,
    report: notes.report,
    ...ports,
  }
  const decoder = new Decoder(all.codec, (id) => all.lookUp(id))
  return {
    broker,
    notes,
    ports: all,
    decoder,
    partitions: 12,
    snapshots: { everyMs: Infinity, everyRecords },
    onLostLog: 'go-on',
    retentionBytes: 1e12,
  }
}

/** A client of the broker whose fetches fail while it is away, or those of one partition's leader; it counts them. */
export function goesAway(
  broker: MemoryBroker,
  away: { isAway: boolean; asked: number; readonly partition?: number },
): Log {
  const log = broker.connect()
  const reader = (): LogReader => {
    const inner = log.reader()
    return {
      offsets: (...at) => inner.offsets(...at),
      endOfEpoch: (...at) => inner.endOfEpoch(...at),
      toEnd: (...at) => inner.toEnd(...at),
      close: () => inner.close(),
      async fetch(from, options) {
        if (!away.isAway) return inner.fetch(from, options)
        away.asked += 1
        const isAway = (partition: number): boolean => partition === (away.partition ?? partition)
        const moved = from
          .filter(({ partition }) => isAway(partition))
          .map((place): Slice => ({ ...broker.at(place.topic, 0).slice(place, 0), records: [], error: 'moved' }))
        const others = from.filter(({ partition }) => !isAway(partition))
        return others.length === 0 ? moved : [...moved, ...(await inner.fetch(others, options))]
      },
    }
  }
  return { ...log, reader }
}

/** One fetch and its work. */
export async function round(task: Task, { ports }: TestTask): Promise<void> {
  await task.work(await ports.reader.fetch(task.positions(), { maxWaitMs: 0, maxBytesPerPartition: 1e6 }))
}

/** A membership that the test deals out. */
export class HandMembership implements Membership {
  isFixed = false
  lastSeen = 0
  hasLeft = false
  #listener: (partitions: readonly number[]) => void = () => undefined

  onChange(listener: (partitions: readonly number[]) => void): void {
    this.#listener = listener
  }

  deal(...partitions: readonly number[]): void {
    this.#listener(partitions)
  }

  hint(): Promise<void> {
    return Promise.resolve()
  }

  leave(): Promise<void> {
    this.hasLeft = true
    return Promise.resolve()
  }
}
