import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { localCodec } from '../../schemas/codec.ts'
import type { Audit, Message, Micros } from '../../schemas/records.ts'
import { Driver, type InjectedFault, type Step } from '../kernel/testing/driver.ts'
import { processorsNamed } from '../topology.ts'
import { candle, AuditTestDriver, flow, mark, SECOND, T0 } from './testing/records.ts'
import { HORIZON, MINUTE, SETTLE } from './state.ts'
import { bounded, LAW_MS } from '../kernel/testing/law.ts'

/** The two logs of one partition. */
interface Logs {
  readonly flow: readonly Message<'flow' | 'mark'>[]
  readonly candles: readonly Message<'candle' | 'mark'>[]
}

interface Plan {
  readonly steps: readonly Step[]
  readonly instances: number
  readonly snapshotRecords: number
}

const codec = localCodec()
const [row] = processorsNamed(['audit'])
const calm: Plan = { steps: [], instances: 1, snapshotRecords: 1_000_000 }

describe('the audit', () => {
  it(
    'follows from the two logs alone, however they are read and wherever it is restarted',
    () => {
      fc.assert(
        fc.property(logs(), fc.infiniteStream(fc.constantFrom('flow', 'candles', 'restart')), (given, order) => {
          expect(read(given, order)).toEqual(read(given, always('flow')))
          expect(read(given, always('candles'))).toEqual(read(given, always('flow')))
        }),
        { ...bounded, numRuns: 1000 },
      )
    },
    LAW_MS,
  )

  it(
    'is written the same in the end, whatever the batches, redeliveries, crashes, freezes and owners',
    async () => {
      await fc.assert(
        fc.asyncProperty(logs(), plans(), async (given, plan) => {
          expect(await written(given, plan)).toEqual(await written(given, calm))
        }),
        { ...bounded, numRuns: 150 },
      )
    },
    LAW_MS,
  )

  it(
    'compares every candle within its horizon once, with what the rows before the closing mark add up to',
    () => {
      fc.assert(
        fc.property(logs(), (given) => {
          const found = read(given, always('candles')).audits.map(({ instrument, minute, ours_volume, v }) => ({
            name: `${instrument}|${minute}`,
            ours_volume,
            offset: v % 2 ** 44,
          }))
          expect(found.toSorted(byName)).toEqual(expected(given).toSorted(byName))
        }),
        { ...bounded, numRuns: 500 },
      )
    },
    LAW_MS,
  )
})

type InputStep = 'flow' | 'candles' | 'restart'

function* always(step: InputStep): Generator<InputStep> {
  for (;;) yield step
}

/** What the core says of the logs when they are taken step by step, the rest of the longer one at the end. */
function read(given: Logs, order: Iterator<InputStep>): { audits: Audit[]; time: number; counts: object } {
  const fed = new AuditTestDriver()
  const at = { flow: 0, candles: 0 }
  while (at.flow < given.flow.length || at.candles < given.candles.length) {
    const step = order.next().value as InputStep
    const wanted = step === 'flow' ? at.flow < given.flow.length : at.candles === given.candles.length
    if (step === 'restart') fed.restart()
    else if (wanted) fed.flow(...given.flow.slice(at.flow, ++at.flow))
    else fed.candles(...given.candles.slice(at.candles, ++at.candles))
  }
  const audits = fed.audits.toSorted((a, b) => a.v - b.v)
  return { audits, time: tenSecondsOf(fed.marks.at(-1) ?? 0), counts: fed.counts }
}

/** The journal by identity, after the real task has run the logs as the plan says. */
async function written(given: Logs, { steps, instances, snapshotRecords }: Plan): Promise<unknown> {
  if (row === undefined) throw new Error('the audit is in the topology')
  const driver = new Driver({ row, codec, partitions: 1, instances, snapshotRecords })
  for (const [index, message] of given.flow.entries()) driver.feed('derived.flow', 0, 'key', message, index)
  for (const [index, message] of given.candles.entries()) driver.feed('market.candles', 0, 'key', message, index)
  for (const step of steps) await driver.step(step)
  await driver.drain()
  const journal = new Map<string, Audit>()
  let time = 0
  for (const { message } of driver.outputs('derived.audit')) {
    if (message.type === 'mark') time = Math.max(time, message.value.time)
    if (message.type !== 'audit') continue
    const id = `${message.value.instrument}|${message.value.minute}`
    expect(journal.get(id) ?? message.value).toEqual(message.value)
    journal.set(id, message.value)
  }
  const counts = (await driver.task(0)).counts()
  return { journal: new Map([...journal].sort(([a], [b]) => (a < b ? -1 : 1))), time: tenSecondsOf(time), counts }
}

/** Which of them the mark stands for: which time of them it has depends on which log was read first. */
function tenSecondsOf(time: Micros): number {
  return Math.floor(time / (10 * SECOND))
}

interface Found {
  readonly name: string
  readonly ours_volume: number
  readonly offset: number
}

const byName = (a: Found, b: Found): number => (a.name < b.name ? -1 : 1)

/** By the rules as they are told, from each log by itself. */
function expected({ flow: rows, candles }: Logs): Found[] {
  const audits = new Map<string, Found>()
  let time = 0
  const closed = Math.max(0, ...rows.map(({ type, value }) => (type === 'mark' ? value.time : 0)))
  for (const [offset, { type, value }] of candles.entries()) {
    if (type === 'mark') {
      time = Math.max(time, value.time)
      continue
    }
    const name = `${value.instrument}|${value.minute}`
    const isTaken = value.minute + MINUTE + HORIZON > time && value.minute + MINUTE + SETTLE <= closed
    if (isTaken && !audits.has(name)) {
      audits.set(name, { name, ours_volume: volume(rows, value.instrument, value.minute), offset })
    }
  }
  return [...audits.values()]
}

/** Sizes are eighths, so that sums are exact. */
function volume(rows: Logs['flow'], instrument: string, minute: number): number {
  const standing = new Map<string, { v: number; volume: number }>()
  for (const { type, value } of rows) {
    if (type === 'mark') {
      if (value.time >= minute + MINUTE + SETTLE) break
      continue
    }
    const isWithin = value.bucket >= minute && value.bucket < minute + MINUTE
    const key = `${value.bucket}|${value.part}`
    if (!isWithin || !value.final || value.instrument !== instrument) continue
    if (value.v >= (standing.get(key)?.v ?? 0)) standing.set(key, { v: value.v, volume: value.buy + value.sell })
  }
  return [...standing.values()].reduce((sum, { volume }) => sum + volume, 0)
}

const instrument = fc.constantFrom('binance:perp:BTCUSDT', 'bybit:perp:BTCUSDT')

/** Mostly of the same few minutes, seldom hours on: some beyond the horizon. */
const minutes = fc.oneof(
  { weight: 12, arbitrary: fc.nat(5) },
  { weight: 1, arbitrary: fc.integer({ min: 118, max: 126 }) },
)

const marks = fc
  .record({ minute: minutes, second: fc.nat(59) })
  .map(({ minute, second }) => mark(T0 + minute * MINUTE + second * SECOND))

const rows = fc
  .record({
    instrument,
    minute: minutes,
    bucket: fc.nat(5),
    part: fc.constantFrom(0, 0, 0, 7),
    buy: fc.nat(20),
    sell: fc.nat(20),
    v: fc.integer({ min: 1, max: 9 }),
    final: fc.constantFrom(true, true, false),
  })
  .map(({ minute, bucket, buy, sell, ...fields }) =>
    flow({ ...fields, buy: buy / 8, sell: sell / 8, bucket: T0 + minute * MINUTE + bucket * 10 * SECOND }),
  )

const candles = fc
  .record({ instrument, minute: minutes, volume: fc.nat(40), delay: fc.nat(400) })
  .map(({ instrument, minute, volume, delay }) => {
    const start = T0 + minute * MINUTE
    return candle({ instrument, minute: start, volume: volume / 8, received: start + MINUTE + delay * SECOND })
  })

function logs(): fc.Arbitrary<Logs> {
  return fc.record({
    flow: fc.array(fc.oneof({ weight: 3, arbitrary: rows }, { weight: 1, arbitrary: marks }), {
      maxLength: 60,
      size: 'max',
    }),
    candles: fc.array(fc.oneof({ weight: 2, arbitrary: candles }, { weight: 1, arbitrary: marks }), {
      maxLength: 30,
      size: 'max',
    }),
  })
}

function plans(): fc.Arbitrary<Plan> {
  const contact = fc.nat(3)
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
  const step = fc.record({
    partition: fc.constant(0),
    take: fc.integer({ min: 1, max: 15 }),
    again: fc.nat(8),
    fault: faults,
    thaw: fc.boolean(),
  })
  return fc.record({
    instances: fc.integer({ min: 1, max: 3 }),
    snapshotRecords: fc.integer({ min: 1, max: 30 }),
    steps: fc.array(step, { maxLength: 25, size: 'max' }),
  })
}
