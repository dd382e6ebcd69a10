import type { Writer } from '../../infra/kafka/seam.ts'
import { UndecodableError } from '../../schemas/codec.ts'
import type { Snapshot, Stood } from '../../schemas/records.ts'
import type { DeadLetters } from './dead-letters.ts'
import type { Decoder } from './decoder.ts'
import { FatalError } from './errors.ts'
import { Failures } from './failures.ts'
import type { Folded } from './fold.ts'
import { noTime } from './partition-clock.ts'
import type { Ports } from './ports.ts'
import { wholeSince } from './position-check.ts'
import type { ProcessorRow } from './processor.ts'
import { erasure, settlingBatches, StateFold, wholeState, type Found, type StatePosition } from './snapshot.ts'

export interface Opened extends Folded {
  /** Offset to read next, of each input that was read. */
  readonly next: ReadonlyMap<string, number>
  /** What each input and output was left at then, by `topic/partition`. */
  readonly stood: Readonly<Record<string, Stood>>
  /** What stands with the state; undefined: there is none. */
  readonly position?: StatePosition
  /** What the state was made of. */
  readonly parts: ReadonlyMap<string, Buffer>
  /** What had failed when it was written. */
  readonly failures: Failures
  /** It has just taken the place of an older generation's, and nothing was told of it yet. */
  readonly isUntold?: boolean
}

/** What has caught up beside the state of an older generation: `Beside`. */
export interface CaughtUp {
  readonly partition: number
  /** What it could not read. */
  readonly letters: DeadLetters
  /** What is to stand in the place of the older state. */
  opened(): Opened
}

/**
 * The state of a partition whose claim is held, and where its inputs go on. The claim comes first: only then is the end
 * of the state topic the last word of every older owner.
 */
export async function openState(
  row: ProcessorRow,
  partition: number,
  claim: Writer,
  { ports, decoder, beside }: { ports: Ports; decoder: Decoder; beside?: CaughtUp | undefined },
): Promise<Opened> {
  const fold = new StateFold((value) => readSnapshot(row, partition, decoder, value))
  for await (const records of ports.reader.toEnd(row.state, partition)) await fold.add(records)
  const found = fold.found(row)
  if (found.kind === 'none' && beside !== undefined) return takePlace(row, claim, { found, beside }, ports)
  if (found.kind === 'none') {
    await startAnew(row, partition, claim, found, ports)
    const { reader, clock } = ports
    const since = await wholeSince(reader, row, partition, clock)
    const nothing = { next: new Map(), stood: {}, parts: new Map(), failures: new Failures() }
    const built = row.retold === undefined || found.built
    return { state: row.core.empty(), ...noTime, told: -1, since, built, ...nothing }
  }
  const { parts, position, unsettled } = found
  if (unsettled !== undefined) {
    const target = { codec: ports.codec, owner: row, recordTime: ports.clock.now() }
    for (const batch of settlingBatches(target, position, unsettled)) await claim.send(row.state, partition, batch)
  }
  const next = new Map(Object.entries(position.applied).map(([topic, last]) => [topic, last + 1]))
  return { ...position, position, state: row.core.load(parts), next, parts, failures: new Failures(position.failures) }
}

async function readSnapshot(row: ProcessorRow, partition: number, decoder: Decoder, value: Buffer): Promise<Snapshot> {
  try {
    const message = await decoder.decodeOrAsk(value)
    if (message.type === 'snapshot') return message.value
    throw unreadable(row, partition, `it holds a ${message.type}`)
  } catch (error) {
    if (error instanceof UndecodableError) throw unreadable(row, partition, error.message, error)
    throw error
  }
}

function unreadable(row: ProcessorRow, partition: number, why: string, cause?: Error): FatalError {
  const message = `state of ${row.name} in partition ${partition} of ${row.state} cannot be read: ${why}`
  return new FatalError('unreadable-state', message, { cause })
}

type Nothing = Extract<Found, { kind: 'none' }>

/** No state of this generation: everything is folded again from the log's start, and the higher `v` wins. */
async function startAnew(
  row: ProcessorRow,
  partition: number,
  claim: Writer,
  found: Nothing,
  { clock, codec, report }: Ports,
): Promise<void> {
  const { stale, writtenBy } = found
  if (stale.length === 0) return
  report.warn(
    { processor: row.name, partition, writtenBy, generation: row.generation, reason: row.reason, parts: stale.length },
    'state is of an older generation; rebuilding from the start of the log',
  )
  const target = { codec, owner: row, recordTime: clock.now() }
  for (const batch of erasure(target, found)) await claim.send(row.state, partition, batch)
}

/** What has caught up beside the older generation's state is written in its place. */
async function takePlace(
  row: ProcessorRow,
  claim: Writer,
  { found, beside }: { found: Nothing; beside: CaughtUp },
  { clock, codec }: Ports,
): Promise<Opened> {
  const opened = beside.opened()
  const { parts, next } = opened
  const stale = found.stale.filter((key) => !parts.has(key))
  const applied = Object.fromEntries([...next].map(([topic, offset]) => [topic, offset - 1]))
  const position = { ...opened, applied, failures: [] }
  const target = { codec, owner: row, recordTime: clock.now() }
  for (const batches of [erasure(target, { ...found, stale }), wholeState(target, { parts, position })])
    for (const batch of batches) await claim.send(row.state, beside.partition, batch)
  await beside.letters.write(claim)
  return { ...opened, position, isUntold: true }
}
