import { afterEach, expect, it, vi } from 'vitest'
import { localCodec } from '../../../schemas/codec.ts'
import type { Backfill, Message, VenueCandle } from '../../../schemas/records.ts'
import { listed } from '../../../schemas/testing/instrument.ts'
import type { Writer } from '../../../infra/kafka/seam.ts'
import { MemoryBroker, stillClock } from '../../kernel/testing/memory-log.ts'
import { quietMeter, quietReport } from '../../kernel/quiet.ts'
import { FactBook } from '../facts/fact-book.ts'
import type { FactRow } from '../venues/events.ts'
import type { PastPages, RestAnswer, RestCall, RestOutcome } from '../venues/venue.ts'
import { PastReader, type PastSeries } from './backfill.ts'
import { readKnownPast } from './past-job.ts'
import { MarketLog } from './market-log.ts'

const HOUR = 3_600_000_000
const PARTITIONS = 2
const codec = localCodec()
const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

/** Contracts of a hundredth. */
const instrument = listed('okx:perp:BTC-USDT-SWAP', { size_factor: 0.01 })

/** A candle of each hour of the call, and one that is not over. */
const past: PastPages = {
  host: 'rest',
  pageSize: 10,
  call: (symbol, seconds, from, to) => ({ path: `${symbol} ${seconds} ${from} ${to}`, cost: 1 }),
  parse: (symbol, _seconds, body) => {
    const [from = 0, to = 0] = body as number[]
    const rows: FactRow[] = [{ refused: 'bad-field' }]
    for (let minute = from; minute <= to; minute += HOUR) {
      const prices = { open: '2', high: '3', low: '1', close: '2.5' }
      rows.push({ kind: 'candle', symbol, minute, ...prices, volume: '100', takerBuy: null, trades: null })
    }
    return { kind: 'rows', rows }
  },
}

function brokerInMemory(): MemoryBroker {
  return new MemoryBroker(stillClock)
}

interface Own {
  readonly past: PastPages
  readonly series: PastSeries
  readonly writer: (real: Writer) => Writer
}

/** A process that reads the past of one market back; `outcomes`: what it gets first, in place of answers. */
function start(broker: MemoryBroker, outcomes: RestOutcome<FactRow>[] = [], own: Partial<Own> = {}) {
  const kafka = broker.connect()
  const writer = own.writer?.(kafka.writer()) ?? kafka.writer()
  const trouble = vi.fn<(what: unknown, about?: unknown) => void>()
  const log = new MarketLog(codec, writer, PARTITIONS, { error: trouble, lost: () => reader.lost() })
  const book = new FactBook({ record: () => undefined, clamped: () => undefined })
  book.list('okx', 'perp', [instrument])
  const calls: string[] = []
  const ports = {
    codec,
    lookUp: () => Promise.resolve(false),
    writer: kafka.writer(),
    meter: quietMeter,
    report: quietReport,
  }
  const reader = new PastReader({
    source: 'okx',
    market: 'perp',
    past: own.past ?? past,
    series: own.series ?? { name: 'candles_1h', seconds: 3_600, days: 2, least: 1 },
    host: {
      unavailable: false,
      get: <Row>(call: RestCall, parse: (body: unknown) => RestAnswer<Row>): Promise<RestOutcome<Row>> => {
        calls.push(call.path)
        const other = outcomes.shift()
        if (other !== undefined) return Promise.resolve(other as RestOutcome<Row>)
        return Promise.resolve(parse(call.path.split(' ').slice(2).map(Number)) as RestOutcome<Row>)
      },
    },
    book,
    log,
    known: () => readKnownPast(kafka.reader(), ports),
    report: { written: () => undefined, refused: () => undefined, trouble },
  })
  reader.want(new Set(['BTC-USDT-SWAP']))
  const timer = setInterval(() => reader.tick(Date.now()), 1)
  const kill = (): void => {
    clearInterval(timer)
    reader.stop()
    log.close()
  }
  cleanups.push(kill)
  return { reader, calls, trouble, kill }
}

async function read<Value>(broker: MemoryBroker, topic: string, partitions: number): Promise<Value[]> {
  const found: Message[] = []
  for (let partition = 0; partition < partitions; partition++) {
    for await (const records of broker.connect().reader().toEnd(topic, partition))
      for (const { value } of records) if (value !== null) found.push(codec.decode(value))
  }
  return found.map(({ value }) => value as Value)
}

const candlesOf = (broker: MemoryBroker): Promise<VenueCandle[]> => read(broker, 'market.history', PARTITIONS)

it('brings each hour once, scaled, newest page first, and says how far it is', async () => {
  const broker = brokerInMemory()
  const { reader, calls } = start(broker)
  await vi.waitFor(() => expect(reader.progress(Date.now())).toEqual({ wanted: 48, missing: 0 }))
  const candles = await candlesOf(broker)
  const times = candles.map(({ start: at }) => at)
  expect(new Set(times).size).toBe(48)
  expect(times).toHaveLength(48)
  expect(candles[0]).toMatchObject({ open: 2, volume: 1, taker_buy: null, seconds: 3_600, source: 'venue_candles' })
  expect(calls).toHaveLength(5)
  await vi.waitFor(async () => {
    const told = await read<Backfill>(broker, 'control.backfill', 1)
    expect(told.at(-1)).toMatchObject({
      instrument: instrument.instrument,
      series: 'candles_1h',
      covered_from: Math.min(...times),
      covered_to: Math.max(...times) + HOUR,
      rows: 48,
    })
  })
})

it('goes on after a kill where the log is, and asks for nothing that it has', async () => {
  const broker = brokerInMemory()
  const first = start(broker)
  await vi.waitFor(async () =>
    expect((await read<Backfill>(broker, 'control.backfill', 1)).length).toBeGreaterThanOrEqual(2),
  )
  first.kill()
  const [told] = (await read<Backfill>(broker, 'control.backfill', 1)).slice(-1)
  const before = (await candlesOf(broker)).length
  const second = start(broker)
  await vi.waitFor(() => expect(second.reader.progress(Date.now())?.missing).toBe(0))
  for (const call of second.calls) {
    const to = Number(call.split(' ')[3])
    expect(to).toBeLessThanOrEqual(told?.covered_from ?? 0)
  }
  const starts = (await candlesOf(broker)).map(({ start: at }) => at)
  expect(new Set(starts).size).toBe(48)
  // What was not told of comes again, and a page that the killed one had under way.
  expect(starts.length - before).toBeLessThanOrEqual(48 - (told?.rows ?? 0) + past.pageSize)
})

it('waits as long as it is told, and tries again what failed', async () => {
  const broker = brokerInMemory()
  const { reader, calls, trouble } = start(broker, [{ kind: 'limited', waitMs: 30 }])
  await vi.waitFor(() => expect(reader.progress(Date.now())?.missing).toBe(0))
  expect(trouble).toHaveBeenCalledTimes(1)
  expect(calls[1]).toBe(calls[0])
  expect((await candlesOf(broker)).length).toBe(48)
})

it('asks for nothing that it wrote of a symbol that is wanted again', async () => {
  const { reader, calls } = start(brokerInMemory())
  await vi.waitFor(() => expect(reader.progress(Date.now())).toEqual({ wanted: 48, missing: 0 }))
  const before = calls.length
  reader.want(new Set())
  reader.want(new Set(['BTC-USDT-SWAP']))
  expect(reader.progress(Date.now())).toEqual({ wanted: 48, missing: 0 })
  expect(calls).toHaveLength(before)
})

it('asks for all of it again where the log lost what it had', async () => {
  const broker = brokerInMemory()
  const { reader } = start(broker)
  await vi.waitFor(() => expect(reader.progress(Date.now())?.missing).toBe(0))
  reader.lost()
  await vi.waitFor(async () => expect((await candlesOf(broker)).length).toBe(96))
})

/** All kinds of facts at each hour of the call, as venues tell them: settlements some milliseconds late. */
const facts: PastPages = {
  ...past,
  depth: 24,
  parse: (symbol, _seconds, body) => {
    const [from = 0, to = 0] = body as number[]
    const rows: FactRow[] = []
    for (let time = from; time < to; time += HOUR) {
      rows.push(
        { kind: 'settlement', symbol, rate: '0.0001', mark: null, time: time + 3_000 },
        { kind: 'derivative', symbol, openInterest: { size: '500', time } },
        { kind: 'derivative', symbol, mark: { mark: '7', index: null, time } },
        { kind: 'ratio', symbol, cohort: 'top_traders', basis: 'positions', long: 0.6, short: 0.4, ratio: 1.5, time },
        { kind: 'settlement', symbol: 'ETH-USDT-SWAP', rate: '0.0002', mark: null, time },
      )
    }
    return { kind: 'rows', rows }
  },
}

it('brings all other facts into the same topic, no further back than the venue has them, and none of another market', async () => {
  const broker = brokerInMemory()
  const series = { name: 'settlements', seconds: 3_600, days: 90, least: 1 }
  const { reader } = start(broker, [], { past: facts, series })
  await vi.waitFor(() => expect(reader.progress(Date.now())).toEqual({ wanted: 24, missing: 0 }))
  const records = await read<Record<string, unknown>>(broker, 'market.history', PARTITIONS)
  expect(records).toHaveLength(4 * 24)
  const of = (name: string): Record<string, unknown>[] => records.filter((record) => (record[name] ?? null) !== null)
  expect(of('settled_rate')).toHaveLength(24)
  expect(of('settled_rate').map(({ time }) => Number(time) % HOUR)).toEqual(Array.from({ length: 24 }, () => 0))
  expect(of('open_interest')[0]).toMatchObject({ open_interest: 5, channel: 'settlements', mark: null })
  expect(of('mark')[0]).toMatchObject({ mark: 7, open_interest: null })
  expect(of('ls_ratio')[0]).toMatchObject({ cohort: 'top_traders', ls_ratio: 1.5 })
  expect(await read(broker, 'market.funding', PARTITIONS)).toEqual([])
})

/** Ten hours a page, newest first, as of now, whatever was asked for; the page's number ends the question. */
const paged: PastPages = {
  host: 'rest',
  pageSize: 48,
  call: (symbol, seconds) => ({ path: `${symbol} ${seconds} 1`, cost: 1 }),
  parse: (symbol, _seconds, body) => {
    const [page = 0] = body as number[]
    const newest = Math.floor((Date.now() * 1_000) / HOUR) - (page - 1) * 10
    const hours = Array.from({ length: 10 }, (_, index) => newest - index)
    return {
      kind: 'rows',
      rows: hours.map((hour) => ({ kind: 'settlement', symbol, rate: '0.0001', mark: null, time: hour * HOUR })),
    }
  },
  next: ({ path, cost }, rows, from) =>
    rows.some((row) => 'kind' in row && row.kind === 'settlement' && row.time < from)
      ? undefined
      : { path: path.replace(/\d+$/, (page) => String(Number(page) + 1)), cost },
}

it('asks a venue that counts its pages from now for one after the other, until they reach back far enough', async () => {
  const broker = brokerInMemory()
  const series = { name: 'settlements', seconds: 3_600, days: 2, least: 1 }
  const { reader, calls } = start(broker, [], { past: paged, series })
  await vi.waitFor(() => expect(reader.progress(Date.now())).toEqual({ wanted: 48, missing: 0 }))
  const times = (await read<{ time: number }>(broker, 'market.history', PARTITIONS)).map(({ time }) => time)
  expect([new Set(times).size, times.length]).toEqual([48, 48])
  // One more in the first seconds of an hour, which is not settled then.
  expect([5, 6]).toContain(calls.length)
  expect(calls.map((call) => call.split(' ')[2])).toEqual(calls.map((_, index) => String(index + 1)))
})

it('does not ask such a venue for ever where it never reaches back', { timeout: 10_000 }, async () => {
  const broker = brokerInMemory()
  const series = { name: 'settlements', seconds: 3_600, days: 2, least: 1 }
  const { calls, kill } = start(broker, [], { past: { ...paged, next: ({ path, cost }) => ({ path, cost }) }, series })
  await vi.waitFor(async () => expect(await read(broker, 'control.backfill', 1)).not.toEqual([]))
  kill()
  expect(calls).toHaveLength(30)
})

it('stops while the log takes nothing, says how to mend it, and goes on when there is room', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] })
  const broker = brokerInMemory()
  const room = Promise.withResolvers<undefined>()
  const writer = (real: Writer): Writer => ({
    async send(...batch) {
      await room.promise
      return real.send(...batch)
    },
    close: () => real.close(),
  })
  const { reader, calls, trouble } = start(broker, [], { writer })
  await vi.advanceTimersByTimeAsync(11_000)
  expect(calls).toHaveLength(1)
  expect(trouble).toHaveBeenCalledWith(
    'the log does not take the past',
    expect.objectContaining({ mend: expect.stringContaining('disk is full') as string }),
  )
  room.resolve(undefined)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(reader.progress(Date.now())?.missing).toBe(0)
  expect(new Set((await candlesOf(broker)).map(({ start: at }) => at)).size).toBe(48)
  vi.useRealTimers()
})
