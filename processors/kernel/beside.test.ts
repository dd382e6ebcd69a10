import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { LogReader, LogRecord } from '../../infra/kafka/seam.ts'
import { localCodec } from '../../schemas/codec.ts'
import type { Message, Micros } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { cvd, CVD } from '../cvd/cvd.ts'
import { gap, mark, SECOND, T0, trade } from '../cvd/testing/records.ts'
import { takeIn } from '../present/present.ts'
import { emptyPresent } from '../present/state.ts'
import { processorsNamed } from '../topology.ts'
import { Beside, catchUpAll, findBesides } from './beside.ts'
import { MemoryBroker } from './testing/memory-log.ts'
import type { Clock } from './ports.ts'
import type { Processor, ProcessorRow } from './processor.ts'
import { quietReport } from './quiet.ts'
import { runProcessors } from './run.ts'
import { Task } from './task.ts'
import { HandMembership, lettersIn, round, testTaskOn, type TestTask } from './testing/task.ts'
import { generationOf, offsetOf } from './version.ts'

const IN = 'market.trades'
const codec = localCodec()
const core = cvd as Processor<unknown>
const older = rowOf(7, core)
const newer = rowOf(8, core)

function rowOf(generation: number, core: Processor<unknown>): ProcessorRow {
  const [row] = processorsNamed([CVD])
  if (row === undefined) throw new Error('there is no cvd')
  return { ...row, generation, core }
}

/** Trades of two instruments, and a mark behind each two; time is where they end. */
class Market {
  #seconds = 0
  readonly #step: number
  readonly clock: Clock = {
    now: () => (T0 + this.#seconds * SECOND) / 1_000,
    steady: () => (T0 + this.#seconds * SECOND) / 1_000,
    delay: () => turn(),
    turn: () => turn(),
  }
  readonly broker = new MemoryBroker(this.clock)

  /** `step`: seconds between two trades. */
  constructor(step = 1) {
    this.#step = step
  }

  trade(count: number): void {
    for (let n = 0; n < count; n++) {
      const id = this.#seconds / this.#step
      const time = T0 + this.#seconds * SECOND
      this.#seconds += this.#step
      const one = { first_id: id, time, size: 1 + (id % 5), taker: id % 3 === 0 ? 'sell' : 'buy' } as const
      this.#append(trade(one), time)
      this.#append(trade({ ...one, instrument: 'bybit:perp:ETHUSDT', asset: 'eth' }), time)
      this.#append(mark(time + this.#step * SECOND), time)
    }
  }

  /** A gap of a minute, that is filled now. */
  filled(minute: number): void {
    const from_time = T0 + minute * 60 * SECOND
    const to_time = from_time + 60 * SECOND
    this.#append(gap({ state: 'filled', from_time, to_time }), T0 + this.#seconds * SECOND)
  }

  /** A trade of the first minute that was missed, as it is filled in now. */
  fill(): void {
    const time = T0 + this.#seconds * SECOND
    const missed = { first_id: 1_000_000, time: T0 + 30 * SECOND, received: time, size: 7 }
    this.#append(trade({ ...missed, origin: 'backfill', gap_id: 999_999 }), time)
  }

  host(report = quietReport): TestTask {
    return testTaskOn(this.broker, { codec, report, clock: this.clock }, this.clock, 50)
  }

  records(topic: TopicName): readonly Message[] {
    return this.broker.records(topic, 0).flatMap(({ value }) => (value === null ? [] : [codec.decode(value)]))
  }

  /** Gives its offset. */
  bytes(value: Buffer): number {
    const time = T0 + this.#seconds * SECOND
    return this.broker.append(IN, 0, [{ key: 'key', value, time: time / 1_000 }])
  }

  #append(message: Message, time: Micros): void {
    const value = codec.encode(IN, message.type, message.value)
    this.broker.append(IN, 0, [{ key: 'key', value, time: time / 1_000 }])
  }
}

/** Reads on to the end. */
async function readAll(task: Task, { broker, ports }: TestTask): Promise<void> {
  while (broker.at(IN, 0).end > (task.positions()[0]?.offset ?? 0))
    await task.work(await ports.reader.fetch(task.positions(), { maxWaitMs: 0, maxBytesPerPartition: 100_000 }))
}

type Row = Message<'flow'> | Message<'flow_hour'>

function startOf(row: Row): Micros {
  return row.type === 'flow' ? row.value.bucket : row.value.hour
}

/** The rows that the newer generation makes of the whole of a market, trade by trade ten seconds apart. */
async function tableOf(steps: readonly (number | 'fill')[]): Promise<Map<string, Row>> {
  const market = new Market(10)
  for (const step of steps) {
    if (step === 'fill') market.fill()
    else market.trade(step)
  }
  const host = market.host()
  await readAll(await Task.open(newer, 0, host), host)
  return rowsOf(market)
}

/** Rows of past times, by key. */
function rowsOf({ broker }: Market): Map<string, Row> {
  const rows = new Map<string, Row>()
  for (const [key, message] of table(broker.records('derived.flow', 0)))
    if (message.type === 'flow' || message.type === 'flow_hour') rows.set(key, message)
  return rows
}

async function find(row: ProcessorRow, host: TestTask): Promise<Beside> {
  const beside = await Beside.find(row, 0, host)
  if (beside === undefined) throw new Error('there is nothing to catch up with')
  return beside
}

/** What was told of each key in the end: that of the highest version. */
function table(records: readonly LogRecord[]): Map<string, Message> {
  const last = new Map<string, Message>()
  for (const { key, value } of records) {
    const message = value === null ? undefined : codec.decode(value)
    if (message === undefined || !('v' in message.value)) continue
    const known = last.get(String(key))
    const v = known !== undefined && 'v' in known.value ? known.value.v : 0
    if (message.value.v >= v) last.set(String(key), message)
  }
  return last
}

/** Which records of it follow from which place, whatever generation told them. */
function places(records: readonly LogRecord[]): Set<string> {
  const told = new Set<string>()
  for (const { key, value } of records) {
    const message = value === null ? undefined : codec.decode(value)
    if (message !== undefined && 'v' in message.value) told.add(`${String(key)} ${offsetOf(message.value.v)}`)
  }
  return told
}

describe('a higher generation beside an older one', () => {
  it('takes its place where all was told, and the tables of the past are its own', async () => {
    const market = new Market()
    const host = market.host()
    market.trade(600)
    const old = await Task.open(older, 0, host)
    await round(old, host)
    const next = market.host()
    const beside = await find(newer, next)
    await beside.catchUp()
    market.trade(30)
    await round(old, host)
    const task = await Task.open(newer, 0, { ...next, beside })
    market.trade(5)
    await expect(round(old, host)).rejects.toMatchObject({ code: 'fenced' })
    await round(task, next)

    const alone = new Market()
    alone.trade(635)
    const fresh = alone.host()
    await round(await Task.open(newer, 0, fresh), fresh)
    for (const topic of ['derived.flow', 'derived.signals', 'alerts.inputs'] as const) {
      const told = places(market.broker.records(topic, 0))
      for (const place of places(alone.broker.records(topic, 0))) expect(told).toContain(place)
    }
    const expected = table(alone.broker.records('derived.flow', 0))
    expect(expected.size).toBeGreaterThan(100)
    expect(table(market.broker.records('derived.flow', 0))).toEqual(expected)
  })

  it.each(['beside', 'as it is owned', 'without a state'])(
    'leaves rows that a cut log cannot make, built %s',
    async (how) => {
      const market = new Market(10)
      const host = market.host()
      market.trade(300)
      const cut = market.broker.at(IN, 0).end
      market.trade(90)
      market.fill()
      market.trade(60)
      await readAll(await Task.open(older, 0, host), host)
      const before = rowsOf(market)
      market.broker.truncate(IN, 0, cut)
      if (how === 'without a state') market.broker.replace(older.state, 0)

      const next = market.host()
      const beside = how === 'beside' ? await find(newer, next) : undefined
      await beside?.catchUp()
      const task = await Task.open(newer, 0, { ...next, beside })
      market.trade(6)
      await readAll(task, next)
      await task.snapshot()
      const again = market.host()
      const reopened = await Task.open(newer, 0, again)
      market.trade(270)
      await readAll(reopened, again)

      const hours = [...rowsOf(market).values()].filter(({ type }) => type === 'flow_hour')
      expect(hours.map(({ value }) => [value.asset, value.buy + value.sell, generationOf(value.v)])).toEqual([
        ['btc', 1087, 7],
        ['eth', 1080, 7],
        ['btc', 1080, 8],
        ['eth', 1080, 8],
        ['btc', 15, 8],
        ['eth', 15, 8],
      ])
      const since = T0 + 3_060 * SECOND // a minute behind the first record that is left
      const whole = await tableOf([390, 'fill', 336])
      const expected = [...whole].map(([key, row]) => [key, startOf(row) < since ? before.get(key) : row] as const)
      expect(rowsOf(market)).toEqual(new Map(expected))
    },
  )

  it.each(['beside', 'as it is owned', 'without a state'])(
    'leaves rows that retention takes the trades of while it catches up, built %s',
    async (how) => {
      const market = new Market(10)
      const host = market.host()
      market.trade(700)
      await readAll(await Task.open(older, 0, host), host)
      if (how === 'without a state') market.broker.replace(older.state, 0)
      const next = market.host()
      let fetches = 0
      const cutting = (inner: LogReader): LogReader => {
        const ask = inner.fetch.bind(inner)
        const fetch: typeof ask = (from, options) => {
          if (options.maxBytesPerPartition > 1 && fetches++ === 4) market.broker.truncate(IN, 0, 900)
          return ask(from, { ...options, maxBytesPerPartition: 10_000 })
        }
        return Object.assign(inner, { fetch })
      }
      if (how === 'beside') {
        const reader = () => cutting(next.ports.log.reader())
        const beside = await find(newer, { ...next, ports: { ...next.ports, log: { ...next.ports.log, reader } } })
        await beside.catchUp()
        await readAll(await Task.open(newer, 0, { ...next, beside }), next)
      } else {
        const task = await Task.open(newer, 0, next)
        const reader = cutting(market.host().ports.reader)
        await readAll(task, { ...next, ports: { ...next.ports, reader } })
      }
      const whole = await tableOf([700])
      const told = rowsOf(market)
      const open = [...whole].filter(([key, { value }]) => value.final && told.get(key)?.value.final === false)
      // where no state says that others told before, rows are told at once: the hour and bucket of the cut stay open
      expect(open.map(([, { type }]) => type)).toEqual(
        how === 'without a state' ? ['flow_hour', 'flow_hour', 'flow', 'flow', 'flow'] : [],
      )
      for (const [key] of open) for (const rows of [told, whole]) rows.delete(key)
      const plain = (rows: Map<string, Row>) =>
        new Map([...rows].map(([key, row]) => [key, { ...row.value, v: 0 }] as const))
      expect(plain(told)).toEqual(plain(whole))
      expect(new Set([...rowsOf(market).values()].map(({ value }) => generationOf(value.v)))).toEqual(new Set([7, 8]))
    },
  )

  it.each(['beside', 'as it is owned'])(
    'says that trades are in no row where a gap of before a cut log is filled, built %s',
    async (how) => {
      const market = new Market(10)
      const host = market.host()
      market.trade(300) // the trade of the first minute is missing
      const cut = market.broker.at(IN, 0).end
      market.trade(420)
      await readAll(await Task.open(older, 0, host), host)
      market.broker.truncate(IN, 0, cut)
      const next = market.host()
      const beside = how === 'beside' ? await find(newer, next) : undefined
      await beside?.catchUp()
      const task = await Task.open(newer, 0, { ...next, beside })
      await readAll(task, next)
      await task.snapshot()
      const since = T0 + 3_060 * SECOND // a minute behind the first record that is left
      market.fill()
      market.filled(0)
      market.filled(55) // in the hour that is left as it was
      market.filled(60) // of this hour all is told
      await readAll(task, next)
      const lost = market.records('control.gaps').map(({ value }) => value)
      expect(lost).toMatchObject([
        { reader: CVD, topic: IN, reason: 'retention', missing: null, from_time: T0, to_time: since - 1 },
        { from_time: T0 + 3_300 * SECOND, to_time: T0 + 3_300 * SECOND },
      ])
      // a crash: what was not written of the state is read again, and the same is said once
      const again = market.host()
      const reopened = await Task.open(newer, 0, again)
      expect(reopened.positions()[0]?.offset).toBeLessThan(task.positions()[0]?.offset ?? 0)
      market.trade(30)
      await readAll(reopened, again)
      expect(market.records('control.gaps')).toHaveLength(2)
    },
  )

  it('says what differs of what both told, and what is the same', async () => {
    const market = new Market()
    const host = market.host()
    market.trade(600)
    await round(await Task.open(older, 0, host), host)
    const lines: object[] = []
    const report = {
      ...quietReport,
      warn: (fields: object) => lines.push(fields),
      info: (fields: object) => lines.push(fields),
    }
    await (await find(newer, market.host(report))).catchUp()
    expect(lines).toMatchObject([{ from: 7, to: 8, other: 0, first: undefined }])
    const twice: Processor<unknown> = {
      ...core,
      apply(state: unknown, entry, context, emit) {
        const { message } = entry
        const isBtc = message.type === 'trade' && message.value.asset === 'btc'
        const value = isBtc ? { ...message.value, size: 2 * message.value.size } : message.value
        core.apply(state, { ...entry, message: { ...message, value } as Message }, context, emit)
      },
    }
    lines.length = 0
    await (await find(rowOf(8, twice), market.host(report))).catchUp()
    const [differ] = lines as { same: number; other: number; first: string }[]
    expect(differ?.same).toBeGreaterThan(100)
    expect(differ?.other).toBeGreaterThan(100)
    expect(differ?.first).toContain('btc')
  })

  it('never lets the present go back, while it catches up, is switched to and goes on', async () => {
    const market = new Market()
    const host = market.host()
    market.trade(600)
    const old = await Task.open(older, 0, host)
    await round(old, host)
    const next = market.host()
    const beside = await find(newer, next)
    await beside.catchUp()
    market.trade(20)
    await round(old, host)
    const task = await Task.open(newer, 0, { ...next, beside })
    market.trade(20)
    while (market.broker.at(IN, 0).end > (task.positions()[0]?.offset ?? 0))
      await task.work(await next.ports.reader.fetch(task.positions(), { maxWaitMs: 0, maxBytesPerPartition: 1_000 }))

    const state = emptyPresent()
    const closed: number[] = []
    const generations = new Set<number>()
    for (const [offset, message] of market.records('derived.flow').entries()) {
      takeIn(state, { topic: 'derived.flow', offset, message })
      const known = state.cvd.get('btc')
      if (known === undefined) continue
      closed.push(known.closed)
      generations.add(generationOf(known.v))
    }
    expect(closed).toEqual(closed.toSorted((a, b) => a - b))
    expect([...generations]).toEqual([7, 8])
  })

  it('is written whole or not at all: a crash between leaves nobody a state', async () => {
    const market = new Market()
    const host = market.host()
    market.trade(600)
    await round(await Task.open(older, 0, host), host)
    const next = market.host()
    const beside = await find(newer, next)
    let sends = 0
    const log = {
      ...next.ports.log,
      claim: async (...args: Parameters<typeof next.ports.log.claim>) => {
        const claim = await next.ports.log.claim(...args)
        return {
          ...claim,
          send: (...batch: Parameters<typeof claim.send>) =>
            sends++ > 0 ? Promise.reject(new Error('crash')) : claim.send(...batch),
        }
      },
    }
    const crashing = { ...next, ports: { ...next.ports, log }, beside }
    await expect(Task.open(newer, 0, crashing)).rejects.toThrow('crash')
    await expect(Task.open(older, 0, market.host())).rejects.toMatchObject({ code: 'newer-state' })
    // nobody catches up beside what is half written
    expect(await Beside.find(rowOf(9, core), 0, market.host())).toBeUndefined()
    // the same process, which has it still
    const task = await Task.open(newer, 0, { ...next, beside })
    expect(task.positions()[0]?.offset).toBeGreaterThan(1_000)
    // and one that has nothing
    const again = await Task.open(newer, 0, market.host())
    expect(again.positions()).toEqual(task.positions())
  })

  it('takes in each gap of the log that the older one has told of, once', async () => {
    const market = new Market()
    const host = market.host()
    market.trade(200)
    const old = await Task.open(older, 0, host)
    await readAll(old, host)
    market.broker.lose(IN, 0, 300)
    market.trade(200)
    await readAll(old, host)
    const gaps: unknown[] = []
    const noting: Processor<unknown> = {
      ...core,
      apply(state, entry, context, emit) {
        const { type, value } = entry.message
        if (type === 'log_gap') gaps.push([value.reason, value.position, value.next])
        core.apply(state, entry, context, emit)
      },
    }
    const beside = await find(rowOf(8, noting), market.host())
    await beside.catchUp()
    market.trade(200)
    await readAll(old, host)
    await beside.catchUp()
    expect(gaps).toEqual([['cut', 600, 300]])
  })

  it.each([
    ['goes on for as long as something comes', false],
    ['gives up where nothing could be read for two minutes', true],
  ])('%s', async (_, isAway) => {
    const market = new Market()
    const host = market.host()
    market.trade(300)
    await readAll(await Task.open(older, 0, host), host)
    const next = market.host()
    let ms = 0
    const clock = { ...market.clock, steady: () => ms }
    const reader = (): LogReader => {
      const inner = next.ports.log.reader()
      const ask = inner.fetch.bind(inner)
      const fetch: typeof ask = async (from, options) => {
        if (options.maxBytesPerPartition <= 1) return ask(from, options)
        ms += 50_000
        const slices = await ask(from, { ...options, maxBytesPerPartition: 10_000 })
        return isAway ? slices.map((slice) => ({ ...slice, records: [], next: slice.from, error: 'moved' })) : slices
      }
      return Object.assign(inner, { fetch })
    }
    const beside = await find(newer, { ...next, ports: { ...next.ports, clock, log: { ...next.ports.log, reader } } })
    const end = await beside.catchUp().catch(String)
    expect(end).toBe(isAway ? 'Error: nothing could be read of market.trades' : undefined)
    expect(ms).toBeGreaterThan(120_000)
  })

  it('is not looked for where the state is its own, a newer one or none', async () => {
    const market = new Market()
    const host = market.host()
    market.trade(100)
    expect(await Beside.find(newer, 0, host)).toBeUndefined()
    await round(await Task.open(newer, 0, host), host)
    expect(await Beside.find(newer, 0, host)).toBeUndefined()
    expect(await Beside.find(older, 0, host)).toBeUndefined()
    expect([...(await findBesides(rowOf(9, core), [0, 1], host)).keys()]).toEqual([0])
  })

  it('that cannot fold a record is left out: its partition is built when it is owned', async () => {
    const market = new Market()
    const host = market.host()
    market.trade(200)
    await round(await Task.open(older, 0, host), host)
    const broken: Processor<unknown> = {
      ...core,
      apply() {
        throw new Error('broken')
      },
    }
    const besides = await findBesides(rowOf(8, broken), [0], host)
    const lines: string[] = []
    await catchUpAll(besides, { ...quietReport, warn: (_, message) => lines.push(message) })
    expect(besides.size).toBe(0)
    expect(lines).toEqual(['a higher generation could not catch up beside the older one; it is built when it is owned'])
  })

  it('folds each record once where the registry is away in the middle of it', async () => {
    const market = new Market()
    const host = market.host()
    market.trade(300)
    const unknown = market.bytes(Buffer.from([0, 0, 99, 0, 0, 1]))
    market.trade(300)
    await round(await Task.open(older, 0, host), host)
    const folded: number[] = []
    const noting: Processor<unknown> = {
      ...core,
      apply(state, entry, context, emit) {
        folded.push(entry.offset)
        core.apply(state, entry, context, emit)
      },
    }
    let isAway = true
    const lookUp = () => (isAway ? Promise.reject(new Error('the registry is away')) : Promise.resolve(false))
    const next = testTaskOn(market.broker, { codec, report: quietReport, clock: market.clock, lookUp }, market.clock)
    const beside = await find(rowOf(8, noting), next)
    await expect(beside.catchUp()).rejects.toThrow('the registry is away')
    expect(beside.isSpent).toBe(false)
    isAway = false
    await beside.catchUp()
    expect(beside.isSpent).toBe(false)
    expect(folded.length).toBeGreaterThan(unknown)
    expect(new Set(folded).size).toBe(folded.length)
  })

  it('that fails when its partition is opened is left out, and the record at which it failed is set aside', async () => {
    const market = new Market()
    const host = market.host()
    market.trade(200)
    const old = await Task.open(older, 0, host)
    await round(old, host)
    const next = market.host()
    const fails = market.broker.at(IN, 0).end + 150
    const failing: Processor<unknown> = {
      ...core,
      apply(state, entry, context, emit) {
        if (entry.offset === fails) throw new Error('it cannot be folded')
        core.apply(state, entry, context, emit)
      },
    }
    const row = rowOf(8, failing)
    const besides = await findBesides(row, [0], next)
    await catchUpAll(besides, quietReport)
    expect([...besides.keys()]).toEqual([0])
    market.trade(200)
    await round(old, host)

    const membership = new HandMembership()
    const runner = runProcessors({ ...next, rows: [{ row, membership, besides }], sessionMs: Infinity })
    membership.deal(0)
    await expect.poll(() => runner.partitions()[CVD]?.running).toBe(1)
    await expect.poll(() => lettersIn(market.broker).map(({ offset }) => offset)).toEqual([fails])
    expect(besides.size).toBe(0)
    await runner.stop()
  })

  it('is spent where what it told could not be written', async () => {
    const market = new Market()
    const host = market.host()
    market.trade(600)
    await round(await Task.open(older, 0, host), host)
    const next = market.host()
    let closed = 0
    const writer = () => ({
      send: () => Promise.reject(new Error('the broker is away')),
      close: () => Promise.resolve(void (closed += 1)),
    })
    const beside = await find(newer, { ...next, ports: { ...next.ports, log: { ...next.ports.log, writer } } })
    await expect(beside.catchUp()).rejects.toThrow('the broker is away')
    expect([beside.isSpent, closed]).toEqual([true, 1])
  })

  it('is spent where its state could not be written out', async () => {
    const market = new Market()
    const host = market.host()
    market.trade(200)
    await readAll(await Task.open(older, 0, host), host)
    const broken: Processor<unknown> = {
      ...core,
      save() {
        throw new Error('it cannot be written')
      },
    }
    const beside = await find(rowOf(8, broken), market.host())
    await beside.catchUp()
    expect(() => beside.opened()).toThrow('it cannot be written')
    expect(beside.isSpent).toBe(true)
  })

  it('gives the parts of its state as they are when it is asked', async () => {
    const market = new Market()
    const host = market.host()
    market.trade(200)
    await readAll(await Task.open(older, 0, host), host)
    const saved = [[['a', Buffer.from('1')] as const, ['b', Buffer.from('1')] as const], [['a', null] as const]]
    const beside = await find(rowOf(8, { ...core, save: () => saved.shift() ?? [] }), market.host())
    await beside.catchUp()
    expect([...beside.opened().parts.keys()]).toEqual(['a', 'b'])
    expect([...beside.opened().parts.keys()]).toEqual(['b'])
  })

  it('goes no further than the older one has, and stays a minute behind what is written now', async () => {
    const market = new Market()
    const host = market.host()
    market.trade(200)
    const old = await Task.open(older, 0, host)
    await readAll(old, host)
    await old.snapshot()
    market.trade(200)
    const beside = await find(newer, market.host())
    await beside.catchUp()
    expect(beside.opened().next.get(IN)).toBe(600)
    await readAll(old, host)
    await old.snapshot()
    await beside.catchUp()
    expect(beside.opened().next.get(IN)).toBe(3 * (400 - 60))
  })
})
