import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fileTape } from '../../infra/tapes/file-tape.ts'
import type { Tape } from '../../infra/tapes/tape.ts'
import { avroWriter, exportedTopics, planExport, writeTape } from '../../infra/tapes/write-tape.ts'
import { logs as alertLogs } from '../../processors/alerts/testing/any-log.ts'
import { longAgo, mark, SECOND, T0, trade } from '../../processors/cvd/testing/records.ts'
import { at as spot, mark as tickerMark } from '../../processors/prices/testing/records.ts'
import { round, testTaskOn } from '../../processors/kernel/testing/task.ts'
import { Task } from '../../processors/kernel/task.ts'
import type { Driver } from '../../processors/kernel/testing/driver.ts'
import type { ProcessorRow } from '../../processors/kernel/processor.ts'
import { PARTITIONS, plans, type Input, type Plan } from '../../processors/kernel/testing/fault-plans.ts'
import { processorsNamed } from '../../processors/topology.ts'
import { localCodec } from '../../schemas/codec.ts'
import type { Message } from '../../schemas/records.ts'
import { priceVenues } from '../../schemas/venues.ts'
import { liveRun, replayed, replayedFrom } from './testing/live-run.ts'
import { memoryTape } from './testing/tape.ts'
import { bounded, LAW_MS } from '../../processors/kernel/testing/law.ts'

const codec = localCodec()
const CVD = rowNamed('cvd')
const partition = fc.nat(PARTITIONS - 1)
const seconds = fc.integer({ min: 0, max: 120 })

const trades = fc
  .record({
    partition,
    after: seconds,
    id: fc.integer({ min: 1, max: 60 }),
    size: fc.integer({ min: 1, max: 999 }),
    taker: fc.constantFrom('buy' as const, 'sell' as const),
    venue: fc.constantFrom('binance:perp:BTCUSDT', 'bybit:perp:BTCUSDT'),
    gap: fc.constantFrom(null, null, 7),
  })
  .map(({ partition: own, after, id, size, taker, venue, gap }): Input => {
    const origin = gap === null ? 'stream' : 'backfill'
    const fields = { first_id: id, size: size / 1000, taker, origin, gap_id: gap, time: T0 + after * SECOND } as const
    return { partition: own, message: trade({ ...fields, instrument: venue }) }
  })
const marks = fc
  .record({ partition, after: seconds })
  .map(({ partition: own, after }): Input => ({ partition: own, message: mark(T0 + after * SECOND) }))
/** Mostly since so long ago that there are signals. */
const tradeLogs = fc
  .tuple(
    fc.integer({ min: 0, max: 3 }),
    fc.array(fc.oneof({ weight: 4, arbitrary: trades }, { weight: 1, arbitrary: marks }), {
      maxLength: 120,
      size: 'max',
    }),
  )
  .map(([covered, log]) => [...begun.slice(0, covered), ...log])
const begun: readonly Input[] = [0, 1, 1].map((own, at) => ({
  partition: own,
  message: longAgo({ instrument: at === 2 ? 'bybit:perp:BTCUSDT' : 'binance:perp:BTCUSDT' }),
}))

const tickers = fc
  .record({
    partition,
    venue: fc.constantFrom(...priceVenues),
    price: fc.integer({ min: 90, max: 110 }),
    after: seconds,
  })
  .map(({ partition: own, venue, price, after }): Input => ({ partition: own, message: spot(venue, price, after) }))
const tickerMarks = fc
  .record({ partition, after: seconds })
  .map(({ partition: own, after }): Input => ({ partition: own, message: tickerMark(after) }))
const tickerLogs = fc.array(fc.oneof({ weight: 4, arbitrary: tickers }, { weight: 1, arbitrary: tickerMarks }), {
  maxLength: 120,
  size: 'max',
})

function rowNamed(name: string): ProcessorRow {
  const [row] = processorsNamed([name])
  if (row === undefined) throw new Error(`${name} is in the topology`)
  return row
}

const cases = [
  ['cvd', tradeLogs],
  ['prices', tickerLogs],
  ['alerts', alertLogs],
] as const

describe('a replay', () => {
  it.each(cases)(
    'of any log of %s equals what the live host wrote, whatever befell it',
    async (name, logs) => {
      await fc.assert(
        fc.asyncProperty(logs, plans, fc.integer({ min: 1, max: 50 }), async (log, plan, batch) => {
          const { check } = await replayed(rowNamed(name), await liveRun(rowNamed(name), log, plan), batch)
          expect(check.differences).toEqual([])
        }),
        { ...bounded, numRuns: 120 },
      )
    },
    LAW_MS,
  )

  it.each(cases)(
    'of any log of %s has one output hash, however it is cut into batches, with or without what is not final',
    async (name, logs) => {
      await fc.assert(
        fc.asyncProperty(logs, fc.integer({ min: 1, max: 50 }), async (log, batch) => {
          const calm = await liveRun(rowNamed(name), log, { steps: [], instances: 1, snapshotRecords: 1_000 })
          const { hashes } = await replayed(rowNamed(name), calm, batch)
          const whole = await replayed(rowNamed(name), calm, 1_000)
          expect(new Set([...hashes, ...whole.hashes]).size).toBe(1)
        }),
        { ...bounded, numRuns: 60 },
      )
    },
    LAW_MS,
  )
})

describe('a replay of a log with a gap', () => {
  const steps = (from: number, to: number): Input[] =>
    Array.from({ length: to - from }, (_, at): Input[] => [
      { partition: 0, message: trade({ first_id: from + at, time: T0 + (from + at) * 10 * SECOND }) },
      { partition: 0, message: mark(T0 + ((from + at) * 10 + 12) * SECOND) },
    ]).flat()
  const calm: Plan = { steps: [], instances: 1, snapshotRecords: 1 }
  const feed = (driver: Driver, log: readonly Input[]): void => {
    for (const { partition: own, message } of log) driver.feed('market.trades', own, 'key', message, 0)
  }

  it('that retention took before it was read leaves out what the live host never read', async () => {
    const driver = await liveRun(CVD, [...begun, ...steps(1, 4)], calm)
    const lostFrom = driver.broker.at('market.trades', 0).end
    feed(driver, steps(4, 6))
    const lostTo = driver.broker.at('market.trades', 0).end
    feed(driver, steps(6, 9))
    const place = driver.broker.at('market.trades', 0)
    const whole = [...place.records]
    driver.broker.truncate('market.trades', 0, lostTo)
    await driver.drain()
    expect(lostFrom).toBeLessThan(lostTo)
    place.records = whole // a tape that was taken in time has all of it
    place.start = 0
    const { check } = await replayed(CVD, driver, 7)
    expect(check.differences).toEqual([])
    expect(check.tallies.get('derived.flow')?.compared).toBeGreaterThan(10)
  })

  it('that lost its tail goes on with the versions of the live host', async () => {
    const driver = await liveRun(CVD, [...begun, ...steps(1, 4)], calm)
    const { end } = driver.broker.at('market.trades', 0)
    feed(driver, [
      { partition: 0, message: mark(T0) },
      { partition: 0, message: mark(T0) },
    ])
    await driver.drain() // nothing followed from them
    driver.broker.lose('market.trades', 0, end)
    feed(driver, steps(4, 9))
    await driver.drain()
    const { check, hashes } = await replayed(CVD, driver, 7)
    expect(check.differences).toEqual([])
    expect(check.tallies.get('derived.flow')?.compared).toBeGreaterThan(15)
    const folder = mkdtempSync(path.join(tmpdir(), 'export-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const exported = await replayedFrom(await exportOf(memoryTape(driver.broker, codec, PARTITIONS), folder), CVD)
    expect(exported).toMatchObject({ check: { differences: [] }, hashes })
  })
})

/** What an export takes that names no topics. */
async function exportOf(tape: Tape, folder: string): Promise<Tape> {
  const header = await planExport(tape, exportedTopics(tape), { format: 'avro', from: 0, to: null })
  const around = { onProgress: () => undefined, stop: new AbortController().signal }
  await writeTape({ tape, folder, header, write: avroWriter(tape, folder), ...around })
  return fileTape(folder)
}

describe('the check against the live system', () => {
  const log = [1, 2, 3, 4].flatMap((step): Input[] => [
    { partition: 0, message: trade({ first_id: step, time: T0 + step * 10 * SECOND }) },
    { partition: 0, message: mark(T0 + (step * 10 + 12) * SECOND) },
  ])
  const calm: Plan = { steps: [], instances: 1, snapshotRecords: 1_000 }

  it('compares every row, signal and mark', async () => {
    const { check } = await replayed(CVD, await liveRun(CVD, [...begun, ...log], calm), 10)
    expect(check.tallies.get('derived.flow')).toMatchObject({ compared: 13, different: 0 })
    expect(check.tallies.get('derived.signals')?.compared).toBeGreaterThan(4)
  })

  it('finds a row of which one figure is another', async () => {
    const driver = await liveRun(CVD, log, calm)
    const row = driver.outputs('derived.flow').findLast(({ message }) => message.type === 'flow')
    if (row?.message.type !== 'flow') throw new Error('there are rows')
    const value = { ...row.message.value, buy: row.message.value.buy + Number.EPSILON * 2 }
    const wrong = codec.encode('derived.flow', 'flow', value)
    const place = driver.broker.at('derived.flow', 0)
    place.records = place.records.map((record) => (record.offset === row.offset ? { ...record, value: wrong } : record))
    const { check } = await replayed(CVD, driver, 10)
    expect(check.differences).toMatchObject([{ topic: 'derived.flow', record: 'flow', kind: 'different' }])
  })

  it('finds a row that is written again while the rows are read', async () => {
    const driver = await liveRun(CVD, log, calm)
    const tape = memoryTape(driver.broker, codec, PARTITIONS, 10)
    const place = driver.broker.at('derived.flow', 0)
    const row = driver.outputs('derived.flow').find(({ message }) => message.type === 'flow')
    if (row?.message.type !== 'flow') throw new Error('there are rows')
    const { value } = row.message
    const key = (other: Message): boolean => other.type === 'flow' && other.value.bucket === value.bucket
    const moved = { offset: place.end, time: 0, key: null }
    let isMoved = false
    const moving: Tape = {
      ...tape,
      span: async (...asked) => {
        const span = await tape.span(...asked)
        if (isMoved || asked[0] !== 'derived.flow' || asked[1] !== 0) return span
        isMoved = true
        const records = place.records.filter((record) => record.value === null || !key(codec.decode(record.value)))
        const again = codec.encode('derived.flow', 'flow', { ...value, v: value.v + 1_000 })
        place.records = [...records, { ...moved, value: again }]
        place.end += 1
        return span
      },
    }
    const { check } = await replayedFrom(moving, CVD)
    expect(isMoved).toBe(true)
    expect(check.differences).toEqual([])
    expect(check.tallies.get('derived.flow')?.overtaken).toBe(1)
  })

  it('finds no difference where rows stand as an older generation told them of a longer log', async () => {
    const driver = await liveRun({ ...CVD, generation: CVD.generation - 1 }, [], { ...calm, snapshotRecords: 1 })
    for (let step = 0; step < 60; step++) {
      const [time, at] = [T0 + step * 10 * SECOND, T0 / 1_000 + step * 10_000]
      driver.feed('market.trades', 0, 'key', trade({ first_id: step, time }), at)
      driver.feed('market.trades', 0, 'key', mark(time + 8 * SECOND), at + 8_000)
    }
    await driver.drain()
    driver.broker.truncate('market.trades', 0, 41)
    const host = testTaskOn(driver.broker, { codec })
    const task = await Task.open(CVD, 0, host)
    await round(task, host)
    const { check } = await replayed(CVD, driver, 10)
    // marks of before the cut, which no replay from there has, are told alike by both generations
    expect(check.differences.filter(({ record }) => record !== 'mark')).toEqual([])
    expect(check.tallies.get('derived.flow')?.older).toBeGreaterThan(5)
    expect(check.tallies.get('derived.flow')?.compared).toBeGreaterThan(60)
  })

  it('finds a mark that the live host never wrote, and one that follows from nothing', async () => {
    const driver = await liveRun(CVD, log, calm)
    const place = driver.broker.at('derived.signals', 0)
    const [first] = place.records
    place.records = place.records.slice(1)
    driver.feed(
      'derived.signals',
      0,
      'cvd',
      { type: 'mark', value: { ...mark(T0 + 30 * SECOND).value, writer: 'cvd' } },
      0,
    )
    const { check } = await replayed(CVD, driver, 10)
    expect(first).toBeDefined()
    expect(check.differences.map(({ kind }) => kind).sort()).toEqual(['missing-live', 'only-live'])
  })
})
