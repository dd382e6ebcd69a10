import fc from 'fast-check'
import { expect } from 'vitest'
import { localCodec } from '../../../schemas/codec.ts'
import type { Message } from '../../../schemas/records.ts'
import { topicOf, type TopicName } from '../../../schemas/topics.ts'
import { DEAD_LETTERS } from '../dead-letters.ts'
import { Driver, type InjectedFault, type Step } from './driver.ts'
import type { ProcessorRow } from '../processor.ts'
import { bounded } from './law.ts'

/** Any log, any accidents, for the laws that stand beside the cores. */

export const PARTITIONS = 2
const codec = localCodec()

/** One record of the input log in its partition. */
export interface Input {
  readonly partition: number
  readonly message: Message
}

export interface Plan {
  readonly steps: readonly Step[]
  readonly instances: number
  readonly snapshotRecords: number
  /** A snapshot of more is written in several batches; left out: none is. */
  readonly snapshotBytes?: number | undefined
}

export const noFaults: Plan = { steps: [], instances: 1, snapshotRecords: 1_000_000 }

/** What readers see in the end: of upserts the last of each key, of sequences each record by its identity; and the counts. */
export interface Outcome {
  readonly records: ReadonlyMap<string, unknown>
  readonly counts: readonly Readonly<Record<string, number>>[]
  /** The times that were forwarded, by topic and partition, each once. */
  readonly times: readonly string[]
}

export interface Feeding {
  /** Record time between two records, milliseconds. */
  readonly everyMs?: number
  /** Indices of records in whose place there is a tombstone. */
  readonly gone?: ReadonlySet<number>
}

/** Runs the log through the real task as the plan says, then to its end. */
export async function outcomeOf(
  row: ProcessorRow,
  log: readonly Input[],
  { steps, instances, ...snapshots }: Plan,
  { everyMs = 1, gone = new Set() }: Feeding = {},
): Promise<Outcome> {
  const [topic] = row.inputs
  if (topic === undefined) throw new Error(`${row.name} reads nothing`)
  const driver = new Driver({ row, codec, partitions: PARTITIONS, instances, ...snapshots })
  for (const [index, { partition, message }] of log.entries()) {
    if (gone.has(index)) driver.feedBytes(topic, partition, 'key', null, index * everyMs)
    else driver.feed(topic, partition, 'key', message, index * everyMs)
  }
  for (const step of steps) await driver.step(step)
  await driver.drain()
  const tasks = await Promise.all([...Array(PARTITIONS).keys()].map((partition) => driver.task(partition)))
  const records = new Map([...recordsOf(driver, row.outputs), ...lettersOf(driver)])
  return { records, counts: tasks.map((task) => task.counts()), times: timesOf(driver, row.outputs) }
}

/** What `row` writes of any such log is the same, whatever the batches, redeliveries, crashes, freezes and owners. */
export function expectSame(row: ProcessorRow, logs: fc.Arbitrary<Input[]>): Promise<void> {
  const law = fc.asyncProperty(logs, plans, async (log, plan) => {
    expect(await outcomeOf(row, log, plan)).toEqual(await outcomeOf(row, log, noFaults))
  })
  return fc.assert(law, { ...bounded, numRuns: 150 })
}

/** What was set aside, by its place. How often it was tried tells of who tried it, not of the log. */
function lettersOf(driver: Driver): Map<string, unknown> {
  const letters = new Map<string, unknown>()
  for (const { key, message } of driver.outputs(DEAD_LETTERS)) {
    const letter = { ...message.value, attempts: 0 }
    const known = letters.get(key)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(letter))
      throw new Error(`${key} says two things`)
    letters.set(key, letter)
  }
  return new Map([...letters].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** A record that is there twice must be the same twice. */
function recordsOf(driver: Driver, topics: readonly TopicName[]): Map<string, unknown> {
  const records = new Map<string, unknown>()
  for (const topic of topics) {
    const isUpsert = topicOf(topic).kind === 'upsert'
    for (const { partition, key, message } of driver.outputs(topic)) {
      if (message === null || message.type === 'mark') continue
      const id = isUpsert ? `${topic}|${key}` : `${topic}|${partition}|${identityOf(message)}`
      const known = records.get(id)
      if (!isUpsert && known !== undefined && JSON.stringify(known) !== JSON.stringify(message.value))
        throw new Error(`${id} says two things`)
      records.set(id, message.value)
    }
  }
  return new Map([...records].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function timesOf(driver: Driver, topics: readonly TopicName[]): string[] {
  const times = topics.flatMap((topic) =>
    driver.outputs(topic).flatMap(({ partition, message }) => {
      return message?.type === 'mark' ? [`${topic}|${partition}|${message.value.time}`] : []
    }),
  )
  return [...new Set(times)].sort()
}

/** A sequence's record follows from one input, whose offset is in its version; several late ones, each with its minute, from one. */
function identityOf({ type, value }: Message): string {
  const given = { ...value } as Readonly<Record<string, unknown>>
  const { asset, key_id, route, kind, period, exchange, late, bounds_from, v } = given
  return [type, asset, key_id, route, kind, period, exchange, late, bounds_from, v].join('|')
}

/** The later ones lie within a snapshot of several batches. */
const contact = fc.oneof(fc.nat(4), fc.nat(12))
const faults: fc.Arbitrary<InjectedFault> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<InjectedFault>({ kind: 'none' }, { kind: 'stop' }, { kind: 'drop' }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('crash' as const),
      at: contact,
      when: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('freeze' as const), at: contact }) },
)

export const plans: fc.Arbitrary<Plan> = fc.record({
  instances: fc.integer({ min: 1, max: 3 }),
  snapshotRecords: fc.integer({ min: 1, max: 30 }),
  snapshotBytes: fc.constantFrom(undefined, undefined, 600),
  steps: fc.array(
    fc.record({
      partition: fc.nat(PARTITIONS - 1),
      take: fc.integer({ min: 1, max: 25 }),
      again: fc.nat(10),
      fault: faults,
      thaw: fc.boolean(),
    }),
    { maxLength: 30, size: 'max' },
  ),
})
