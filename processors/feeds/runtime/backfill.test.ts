import { afterEach, expect, it, vi } from 'vitest'
import { localCodec } from '../../../schemas/codec.ts'
import type { Backfill, Instrument, Message, VenueCandle } from '../../../schemas/records.ts'
import { MemoryBroker } from '../../kernel/memory-log.ts'
import { quietMeter, quietReport } from '../../kernel/quiet.ts'
import { FactBook } from '../facts/fact-book.ts'
import type { FactRow } from '../venues/events.ts'
import type { PastCandles, RestAnswer, RestCall, RestOutcome } from '../venues/venue.ts'
import { PastReader, readKnownPast } from './backfill.ts'
import { MarketLog } from './market-log.ts'

const HOUR = 3_600_000_000
const PARTITIONS = 2
const codec = localCodec()
const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

/** Contracts of a hundredth. */
const instrument: Instrument = {
  instrument: 'okx:perp:BTC-USDT-SWAP',
  asset: 'btc',
  venue: 'okx',
  market: 'perp',
  symbol: 'BTC-USDT-SWAP',
  base: 'BTC',
  quote: 'USDT',
  settle: 'USDT',
  size_factor: 0.01,
  price_factor: 1,
  tick: null,
  status: 'live',
  source: 'venue',
  valid_from: 0,
}

/** A candle of each hour of the call, and one that is not over. */
const past: PastCandles = {
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
  return new MemoryBroker({ now: () => Date.now(), delay: () => Promise.resolve(), turn: () => Promise.resolve() })
}

/** A process that reads the past of one market back; `outcomes`: what it gets first, in place of answers. */
function start(broker: MemoryBroker, outcomes: RestOutcome<FactRow>[] = []) {
  const kafka = broker.connect()
  const trouble = vi.fn<(what: unknown, about?: unknown) => void>()
  const log = new MarketLog(codec, kafka.writer(), PARTITIONS, { error: trouble, lost: () => reader.lost() })
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
    past,
    series: { name: 'candles_1h', seconds: 3_600, days: 2, least: 1 },
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
  const second = start(broker)
  await vi.waitFor(() => expect(second.reader.progress(Date.now())?.missing).toBe(0))
  for (const call of second.calls) {
    const to = Number(call.split(' ')[3])
    expect(to).toBeLessThanOrEqual(told?.covered_from ?? 0)
  }
  const starts = (await candlesOf(broker)).map(({ start: at }) => at)
  expect(new Set(starts).size).toBe(48)
  // What the killed one had begun may have come twice.
  expect(starts.length).toBeLessThanOrEqual(48 + past.pageSize)
})

it('waits as long as it is told, and tries again what failed', async () => {
  const broker = brokerInMemory()
  const { reader, calls, trouble } = start(broker, [{ kind: 'limited', waitMs: 30 }])
  await vi.waitFor(() => expect(reader.progress(Date.now())?.missing).toBe(0))
  expect(trouble).toHaveBeenCalledTimes(1)
  expect(calls[1]).toBe(calls[0])
  expect((await candlesOf(broker)).length).toBe(48)
})

it('asks for all of it again where the log lost what it had', async () => {
  const broker = brokerInMemory()
  const { reader } = start(broker)
  await vi.waitFor(() => expect(reader.progress(Date.now())?.missing).toBe(0))
  reader.lost()
  await vi.waitFor(async () => expect((await candlesOf(broker)).length).toBe(96))
})
