import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyFields } from '../../../schemas/codec.ts'
import type { Gap, Micros, SubscriptionChange } from '../../../schemas/records.ts'
import { LogCoverage } from './coverage.ts'
import type { VenueTrade } from '../venues/events.ts'
import type { Rest } from '../venues/venue.ts'
import { TradeRepair } from './trade-repair.ts'
import { reorderGraceMs } from './id-tracker.ts'
import { fromStream, type IdStream, newStream, observe } from './stream.ts'
import { IdRepair, repairDepth } from './id-repair.ts'
import { listed } from '../../../schemas/testing/instrument.ts'
import {
  type Answer,
  instrument,
  MemoryFeedLog,
  memoryRest,
  pagingVenue,
  repairOptions,
  second,
  settled,
  start,
  tradeAt,
} from './testing/market.ts'

interface World {
  readonly log: MemoryFeedLog
  readonly now: { ms: number }
  readonly stream: IdStream
  /** Those that are wanted: `stream` alone at first. */
  readonly streams: IdStream[]
  readonly repair: TradeRepair
  readonly calls: () => number
  /** Instruments whose ids are said to begin anew. */
  readonly anew: string[]
}

interface Plan {
  readonly direction?: 'forward' | 'since' | 'backward'
  readonly pageSize?: number
  readonly has?: (id: number) => boolean
  readonly newest?: number | (() => number)
  readonly answer?: (call: number) => Answer
  /** What an answer of REST waits for, and what the log does before it takes records. */
  readonly until?: { readonly rest?: Promise<void>; readonly room?: Promise<void> }
  /** The log of the process before. */
  readonly log?: MemoryFeedLog
}

/** A repair over one stream, a log, and REST as planned. The clock stands at trade 100,000's time. */
function world(plan: Plan = {}): World {
  const {
    direction = 'backward',
    pageSize = 5,
    has = () => true,
    newest = 1e9,
    answer,
    until = {},
    log = new MemoryFeedLog(),
  } = plan
  const venue = pagingVenue(direction, pageSize)
  const now = { ms: (start + 100_000 * second) / 1_000 }
  const stream = newStream('contiguous', instrument, 12)
  if (stream.ids !== 'contiguous') throw new Error('not a stream of ids')
  const rest = memoryRest(venue, has, typeof newest === 'number' ? () => newest : newest, answer)
  const late: Rest = {
    get: async (call, parse) => {
      await until.rest
      return rest.get(call, parse)
    },
  }
  const room = until.room
  const usual = repairOptions(venue, until.rest === undefined ? rest : late, log, now)
  const options = room === undefined ? usual : { ...usual, room: () => room }
  const anew: string[] = []
  const report = { ...options.report, anew: (name: string) => void anew.push(name) }
  const streams = [stream]
  const repair = new TradeRepair(() => streams, { ...options, report })
  return { log, now, stream, streams, repair, calls: () => rest.calls, anew }
}

function live(all: World, ids: readonly number[]): void {
  for (const id of ids) bring(all, tradeAt(id))
}

function bring({ stream, log, now }: World, trade: VenueTrade): void {
  if (observe(stream, trade.id, trade.time, now.ms) === 'duplicate') return
  stream.lastTradeAt = now.ms
  log.trade(stream.normalise(trade, now.ms * 1_000, fromStream))
}

/** What the marks of a feed process tell of the subscription. */
function say({ log, now }: World, state: SubscriptionChange['state'], time: Micros, run = 1): void {
  const changes = [{ instrument: instrument.instrument, asset: 'btc', state, time }]
  log.mark(0, { ...emptyFields('mark'), writer: 'test', run, time: now.ms * 1_000, changes })
}

/** The venue says that there are ids up to `told`; the process is killed as soon as that gap is open, `ids` come before. */
function leaveTold(all: World, told: number, ids: readonly number[] = []): void {
  const { repair, stream, now } = all
  repair.adoptAll(new LogCoverage())
  stream.tracker.tell(told, tradeAt(told).time, now.ms)
  now.ms += reorderGraceMs / 2
  live(all, ids)
  now.ms += reorderGraceMs / 2
  repair.tick(now.ms)
  repair.stop()
}

function coverageOf(log: MemoryFeedLog): LogCoverage {
  const coverage = new LogCoverage()
  for (const { message, time } of log.messages) coverage.apply(message, time)
  return coverage
}

/** Reads the log as a new process does, adopts it, and lets time pass until all is repaired. */
async function repair(all: World, adopt = true): Promise<void> {
  all.repair.adoptAll(adopt ? coverageOf(all.log) : new LogCoverage())
  await pass(all)
}

async function pass({ repair, now }: World): Promise<void> {
  for (let turn = 0; turn < 40; turn++) {
    now.ms += 1_000
    repair.tick(now.ms)
    await settled(() => repair.pending)
  }
}

function idsOf(log: MemoryFeedLog): number[] {
  return log.trades.map(({ first_id }) => first_id)
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}

/** It ends with the last trade that was older than an hour when the first gap was opened. */
function expectTooOld(gap: Gap | undefined, { gapRecords: [opened] }: MemoryFeedLog): void {
  const edge = gap?.to_id ?? 0
  const since = (opened?.time ?? 0) - repairDepth
  expect([tradeAt(edge).time < since, tradeAt(edge + 1).time < since]).toEqual([true, false])
}

const base = 99_900

describe('the repair of trades', () => {
  it('fills a hole in id order and says so', async () => {
    const all = world({ newest: base + 10 })
    live(all, [base, base + 10])
    await repair(all, false)
    expect(idsOf(all.log)).toEqual([base, base + 10, ...range(base + 1, base + 9)])
    expect(all.log.gaps).toMatchObject([
      { gap_id: base + 1, state: 'filled', from_id: base + 1, to_id: base + 9, missing: 0, reason: 'missing_ids' },
    ])
    expect(all.log.trades.filter(({ origin }) => origin === 'backfill').every((t) => t.gap_id === base + 1)).toBe(true)
  })

  it('asks a silent venue whether the last trades were lost', async () => {
    const all = world({ newest: base + 2, direction: 'forward' })
    live(all, [base])
    await repair(all, false)
    expect(idsOf(all.log)).toEqual([base, base + 1, base + 2])
  })

  it.each(['forward', 'since', 'backward'] as const)(
    'asks it on where it told a whole page of them, paging %s',
    async (direction) => {
      const all = world({ newest: base + 30, direction })
      live(all, [base])
      await repair(all, false)
      expect(idsOf(all.log)).toEqual(range(base, base + 30))
    },
  )

  it('asks a silent venue again as soon as it takes questions', async () => {
    const limited: Answer = { kind: 'limited', waitMs: 1_000 }
    const all = world({ newest: base + 2, direction: 'forward', answer: (call) => (call < 4 ? limited : 'rows') })
    live(all, [base])
    const from = all.now.ms
    await repair(all, false)
    expect(idsOf(all.log)).toEqual([base, base + 1, base + 2])
    expect(all.log.gaps[0]).toMatchObject({ state: 'filled' })
    expect((all.log.gaps[0]?.time ?? 0) / 1_000 - from).toBeLessThan(20_000)
  })

  it('fills a hole of a venue that pages by time, over pages that hold what came before it', async () => {
    const all = world({ newest: base + 40, direction: 'since' })
    live(all, [base, base + 30])
    await repair(all, false)
    expect(idsOf(all.log)).toEqual([base, base + 30, ...range(base + 1, base + 29), ...range(base + 31, base + 40)])
    expect(all.log.gaps.every(({ state }) => state === 'filled')).toBe(true)
  })

  it('fills two holes near each other of a venue that pages by time', async () => {
    const all = world({ newest: base + 40, direction: 'since' })
    live(all, [base, base + 30, base + 34])
    await repair(all, false)
    expect(idsOf(all.log).toSorted((a, b) => a - b)).toEqual(range(base, base + 40))
  })

  it('gives up what is too old where pages are by time', async () => {
    const hour = repairDepth / second
    const first = 100_000 - hour - 50
    const all = world({ newest: 100_000, direction: 'since', pageSize: 1_000 })
    live(all, [first, 100_000])
    await repair(all, false)
    const lost = all.log.gaps.find(({ state }) => state === 'unfillable')
    expect(lost).toMatchObject({ reason: 'too_old', from_id: first + 1 })
    expect(idsOf(all.log).toSorted((a, b) => a - b)).toEqual([first, ...range((lost?.to_id ?? 0) + 1, 100_000)])
    expectTooOld(lost, all.log)
  })

  it('keeps a gap open while REST refuses, and fills it afterwards', async () => {
    const limited: Answer = { kind: 'limited', waitMs: 1_000 }
    const all = world({ answer: (call) => (call < 30 ? limited : 'rows'), newest: base + 3 })
    live(all, [base, base + 3])
    await repair(all, false)
    expect(idsOf(all.log).toSorted((a, b) => a - b)).toEqual(range(base, base + 3))
    expect(all.log.gaps).toMatchObject([{ state: 'filled' }])
  })

  it('keeps a gap open over any number of failures of the venue, and fills it afterwards', async () => {
    const failed: Answer = { kind: 'failed', message: 'EService:Unavailable' }
    const all = world({ answer: (call) => (call < 12 ? failed : 'rows'), newest: base + 3 })
    live(all, [base, base + 3])
    await repair(all, false)
    expect(idsOf(all.log).toSorted((a, b) => a - b)).toEqual(range(base, base + 3))
    expect(all.log.gaps).toMatchObject([{ state: 'filled' }])
  })

  it('fills a gap that opens while another waits to be asked about again', async () => {
    const failed: Answer = { kind: 'failed', message: 'EService:Unavailable' }
    const [log, now] = [new MemoryFeedLog(), { ms: start / 1_000 }]
    const venue = pagingVenue('backward', 5)
    const rest = memoryRest(
      venue,
      () => true,
      () => 1e9,
      (call) => (call === 0 ? failed : 'rows'),
    )
    const wait = (): Promise<void> => new Promise(() => undefined)
    const repair = new IdRepair({ ...repairOptions(venue, rest, log, now), wait })
    for (const [at, symbol] of ['BTC', 'ETH'].entries()) {
      const stream = newStream(
        'contiguous',
        listed(`okx:perp:${symbol}-USDT-SWAP`, { asset: symbol.toLowerCase() }),
        12,
      )
      if (stream.ids !== 'contiguous') throw new Error('not a stream of ids')
      for (const id of [base, base + 3]) observe(stream, id, tradeAt(id).time, now.ms)
      for (const hole of stream.tracker.due(now.ms + reorderGraceMs)) repair.open(stream, hole, 'missing_ids')
      await settled(() => repair.pending - 1)
      expect([repair.pending, rest.calls]).toEqual([1, at + 1])
    }
    expect(log.trades.map(({ asset, first_id }) => [asset, first_id])).toEqual([
      ['eth', base + 1],
      ['eth', base + 2],
    ])
  })

  it('waits for a REST that lags, then gives up exactly what is not served', async () => {
    const all = world({ has: (id) => id !== base + 2 && id !== base + 3, newest: base + 5 })
    live(all, [base, base + 5])
    await repair(all, false)
    expect(idsOf(all.log).toSorted((a, b) => a - b)).toEqual([base, base + 1, base + 4, base + 5])
    expect(all.log.gaps).toMatchObject([
      { gap_id: base + 1, state: 'filled', from_id: base + 1, to_id: base + 1 },
      { gap_id: base + 2, state: 'unfillable', reason: 'page_short', from_id: base + 2, to_id: base + 3, missing: 2 },
    ])
    expect(all.log.gaps[1]).toMatchObject({ from_time: tradeAt(base + 1).time, to_time: tradeAt(base + 4).time })
  })

  it('gives up after ten refusals of the question itself', async () => {
    const error: Answer = { kind: 'error', code: '51001', message: 'no such instrument' }
    const all = world({ answer: () => error, newest: base + 3 })
    live(all, [base, base + 3])
    await repair(all, false)
    expect(all.log.gaps).toMatchObject([{ state: 'unfillable', reason: 'refused', missing: 2 }])
    expect(all.log.gapRecords.map(({ state }) => state)).toEqual(['opened', 'unfillable'])
  })

  it.each(['forward', 'backward'] as const)('gives up what is older than an hour, paging %s', async (direction) => {
    const all = world({ direction, pageSize: 100, newest: 100_000 })
    const cutoff = 100_000 - repairDepth / second
    live(all, [cutoff - 500, 100_000])
    await repair(all, false)
    const unfillable = all.log.gaps.filter(({ state }) => state === 'unfillable')
    expect(unfillable).toMatchObject([{ reason: 'too_old', from_id: cutoff - 499, gap_id: cutoff - 499 }])
    const edge = unfillable[0]?.to_id ?? 0
    expectTooOld(unfillable[0], all.log)
    expect(idsOf(all.log).toSorted((a, b) => a - b)).toEqual([cutoff - 500, ...range(edge + 1, 100_000)])
  })

  it.each(['forward', 'backward'] as const)(
    'fills many small gaps of one instrument with one page, paging %s',
    async (direction) => {
      const all = world({ direction, pageSize: 100, newest: base + 40 })
      live(
        all,
        range(base, base + 40).filter((id) => id % 2 === 0),
      )
      await repair(all, false)
      expect(idsOf(all.log).toSorted((a, b) => a - b)).toEqual(range(base, base + 40))
      expect(all.calls()).toBeLessThan(6)
    },
  )

  it('fills one gap while another waits, which it asks for no sooner than REST has said', async () => {
    const limited: Answer = { kind: 'limited', waitMs: 60_000 }
    const all = world({
      direction: 'forward',
      newest: base + 6,
      has: (id) => id < base + 4 || all.now.ms > from + 4_000,
      answer: (call) => (call === 0 ? limited : 'rows'),
    })
    const from = all.now.ms
    live(all, [base, base + 3, base + 6])
    await repair(all, false)
    expect(idsOf(all.log)).toEqual([base, base + 3, base + 6, base + 4, base + 5, base + 1, base + 2])
    const [first = 0, second = 0] = all.log.gaps.map(({ time }) => time / 1_000 - from)
    expect(first).toBeGreaterThanOrEqual(60_000)
    expect(second).toBeLessThan(10_000)
  })

  it('waits for a REST that lags as long at each page', async () => {
    const all = world({
      direction: 'forward',
      newest: base + 21,
      has: (id) => id <= base + 5 * Math.floor(all.calls() / 4),
    })
    live(all, [base, base + 21])
    await repair(all, false)
    expect(idsOf(all.log)).toEqual([base, base + 21, ...range(base + 1, base + 20)])
    expect(all.log.gaps).toMatchObject([{ state: 'filled' }])
  })

  it('waits for a REST that lags behind what it does not serve', async () => {
    const isServed = (id: number): boolean => id <= base + 5 || (id > base + 10 && all.calls() > 11)
    const all = world({ direction: 'forward', newest: base + 21, has: isServed })
    live(all, [base, base + 21])
    await repair(all, false)
    expect(all.log.gaps.filter(({ state }) => state === 'unfillable')).toMatchObject([
      { reason: 'page_short', from_id: base + 6, to_id: base + 10 },
    ])
    expect(idsOf(all.log)).toEqual([base, base + 21, ...range(base + 1, base + 5), ...range(base + 11, base + 20)])
  })

  it('gives up what is older than an hour where REST does not say at first what that is', async () => {
    const failed: Answer = { kind: 'failed', message: 'EService:Unavailable' }
    const answer = (call: number): Answer => (call === 1 ? failed : 'rows')
    const all = world({ direction: 'forward', pageSize: 100, newest: 100_000, answer })
    const first = 100_000 - repairDepth / second - 500
    live(all, [first, 100_000])
    await repair(all, false)
    const [lost, ...others] = all.log.gaps.filter(({ state }) => state === 'unfillable')
    expect([lost?.reason, lost?.from_id, others]).toEqual(['too_old', first + 1, []])
    expect(idsOf(all.log)).toEqual([first, 100_000, ...range((lost?.to_id ?? 0) + 1, 99_999)])
  })

  it('waits no longer after a failure than after the first where pages came between', async () => {
    const failed: Answer = { kind: 'failed', message: 'EService:Unavailable' }
    const all = world({ newest: base + 100, answer: (call) => (call % 2 === 0 ? failed : 'rows') })
    const from = all.now.ms
    live(all, [base, base + 100])
    await repair(all, false)
    expect(all.log.gaps).toMatchObject([{ state: 'filled' }])
    expect((all.log.gaps[0]?.time ?? 0) / 1_000 - from).toBeLessThan(30_000)
  })

  it('begins anew where the log knows nothing', async () => {
    const all = world({ newest: base })
    live(all, [base])
    await repair(all, false)
    expect(idsOf(all.log)).toEqual([base])
    expect(all.log.gaps).toEqual([])
  })

  it.each(['forward', 'since', 'backward'] as const)(
    'begins with the first trade since the subscription, though none was in the log, paging %s',
    async (direction) => {
      for (const [brought, pageSize] of [
        [0, 100],
        [0, 5],
        [base + 40, 100],
        [base + 40, 5],
      ] as const) {
        const first = world({ newest: base })
        say(first, 'asked', tradeAt(base).time - 5)
        say(first, 'acknowledged', tradeAt(base).time + 5)
        const next = world({ log: first.log, newest: base + 40, direction, pageSize })
        say(next, 'asked', tradeAt(base + 30).time, 2)
        if (brought > 0) live(next, [brought])
        await repair(next)
        expect(idsOf(next.log).toSorted((a, b) => a - b)).toEqual(range(base + 1, base + 40))
        expect(next.log.gaps.every(({ state }) => state === 'filled')).toBe(true)
      }
    },
  )

  it('states the time since the subscription of which nobody says what it brought', async () => {
    const error: Answer = { kind: 'error', code: '51001', message: 'no such instrument' }
    const all = world({ answer: () => error, newest: base + 3 })
    say(all, 'acknowledged', tradeAt(base).time)
    live(all, [base + 3])
    for (let minute = 0; minute < 5; minute++) await repair(all)
    expect(all.log.gaps).toMatchObject([
      { state: 'unfillable', reason: 'refused', from_time: tradeAt(base).time, to_time: tradeAt(base + 3).time },
    ])
  })

  it('knows a subscription that was refused for none', async () => {
    const first = world({ newest: base })
    say(first, 'asked', tradeAt(base).time)
    say(first, 'refused', tradeAt(base + 1).time)
    const next = world({ log: first.log, newest: base + 9 })
    live(next, [base + 9])
    await repair(next)
    expect(idsOf(next.log)).toEqual([base + 9])
  })

  it('goes on with a gap that the log has as open under its own id', async () => {
    const first = world({ answer: () => ({ kind: 'failed', message: 'cut' }), newest: base + 9 })
    live(first, [base, base + 9])
    first.repair.adoptAll(new LogCoverage())
    first.now.ms += 3_000
    first.repair.tick(first.now.ms)
    first.repair.stop()
    expect(first.log.gaps).toMatchObject([{ state: 'opened' }])
    first.log.trade(first.stream.normalise(tradeAt(base + 1), 0, { origin: 'backfill', gapId: base + 1 }))
    const next = world({ log: first.log, newest: base + 9 })
    await repair(next)
    expect(idsOf(next.log).toSorted((a, b) => a - b)).toEqual(range(base, base + 9))
    expect(next.log.gaps).toMatchObject([{ gap_id: base + 1, state: 'filled', reason: 'restart' }])
    expect(next.log.gapRecords.filter(({ state }) => state === 'opened')).toHaveLength(1)
  })

  it('says of a gap that the log has as open, under its own id, that nobody serves the rest of it', async () => {
    const first = world({ answer: () => ({ kind: 'failed', message: 'cut' }), newest: base + 9 })
    live(first, [base, base + 9])
    first.repair.adoptAll(new LogCoverage())
    first.now.ms += reorderGraceMs
    first.repair.tick(first.now.ms)
    first.repair.stop()
    first.log.trade(first.stream.normalise(tradeAt(base + 1), 0, { origin: 'backfill', gapId: base + 1 }))
    const next = world({ log: first.log, newest: base + 9, has: (id) => id === base + 9 })
    await repair(next)
    expect(next.log.gaps).toMatchObject([
      { gap_id: base + 1, state: 'unfillable', from_id: base + 2, to_id: base + 8, missing: 7 },
    ])
  })

  it.each([
    ['', [], [base + 31], []],
    [' and a trade behind it, before the gap was opened', [base + 22], [base + 31], []],
    [' and the next process hears nothing until it has taken over', [], [], [base + 31]],
  ] as const)(
    'states an open gap that nobody serves apart from what it fills behind it, where an id was told%s',
    async (_what, before, atOnce, later) => {
      const unserved = range(base + 10, base + 20)
      const first = world()
      live(first, range(base, base + 9))
      leaveTold(first, base + 20, before)
      expect(first.log.gaps).toMatchObject([{ state: 'opened', from_id: base + 10, to_id: base + 20 }])
      const next = world({ log: first.log, newest: base + 31, has: (id) => !unserved.includes(id) })
      live(next, atOnce)
      next.repair.adoptAll(coverageOf(next.log))
      live(next, later)
      next.now.ms += reorderGraceMs
      next.repair.tick(next.now.ms)
      await pass(next)
      expect(idsOf(next.log).toSorted((a, b) => a - b)).toEqual([
        ...range(base, base + 9),
        ...range(base + 21, base + 31),
      ])
      const lost = next.log.gaps.filter(({ state }) => state !== 'filled')
      expect(lost).toMatchObject([
        { gap_id: base + 10, state: 'unfillable', reason: 'page_short', from_id: base + 10, to_id: base + 20 },
      ])
    },
  )

  it('does not ask again for what the log has as unfillable', async () => {
    const first = world({ has: (id) => id !== base + 1, newest: base + 2 })
    live(first, [base, base + 2])
    await repair(first, false)
    const next = world({ log: first.log, newest: base + 2 })
    live(next, [base + 3])
    await repair(next)
    expect(idsOf(next.log).toSorted((a, b) => a - b)).toEqual([base, base + 2, base + 3])
    expect(next.log.gaps).toMatchObject([{ state: 'unfillable', gap_id: base + 1 }])
  })

  it('states the time of trades whose ids begin anew as a gap that grows, and says so once', async () => {
    const all = world({ newest: base + 9 })
    live(all, range(base, base + 9))
    await repair(all, false)
    const bring = async (ids: readonly number[]): Promise<void> => {
      for (const id of ids) observe(all.stream, id, tradeAt(base + 9 + id).time, all.now.ms)
      await pass(all)
    }
    await bring(range(1, 99))
    expect(all.log.gaps).toEqual([])
    await bring([100])
    const gap = { state: 'unfillable', reason: 'ids_anew', from_time: tradeAt(base + 9).time, missing: null }
    expect(all.log.gaps).toMatchObject([{ ...gap, from_id: null, to_id: null, to_time: tradeAt(base + 109).time }])
    await bring(range(101, 150))
    expect(all.log.gaps).toMatchObject([{ ...gap, to_time: tradeAt(base + 159).time }])
    expect(all.log.gapRecords).toHaveLength(2)
    expect(all.anew).toEqual([instrument.instrument])
  })

  it('takes the time without a subscription for no gap', async () => {
    const first = world()
    live(first, [base])
    say(first, 'ended', 0)
    const next = world({ log: first.log, newest: base + 50 })
    live(next, [base + 50])
    await repair(next)
    expect(idsOf(next.log)).toEqual([base, base + 50])
  })
})

describe('what marks say of how far a stream is complete', () => {
  const instrumentsOwn = { instrument: instrument.instrument, last_id: base, time: tradeAt(base).time }

  it('is said to its own partition at once, every 20 minutes, and when the log begins elsewhere', async () => {
    const all = world({ newest: base })
    live(all, [base])
    await repair(all, false)
    const { partition } = all.stream
    const from = all.now.ms
    expect(all.repair.positions(partition + 1, 7, from)).toEqual([])
    expect(all.repair.positions(partition, 7, from)).toEqual([instrumentsOwn])
    expect(all.repair.positions(partition, 7, from + 1_199_999)).toEqual([])
    expect(all.repair.positions(partition, 7, from + 1_200_000)).toEqual([instrumentsOwn])
    expect(all.repair.positions(partition, 8, from + 1_200_001)).toEqual([instrumentsOwn])
    expect(all.repair.positions(partition, 8, from + 1_200_002)).toEqual([])
  })

  it('is kept with what was said before it, from which a log that has lost something is repaired', async () => {
    const all = world({ newest: base })
    live(all, [base])
    await repair(all, false)
    const { partition } = all.stream
    all.repair.positions(partition, 7, all.now.ms)
    expect(all.stream.stated?.before).toMatchObject({ last_id: base - 1 })
    live(all, [base + 1])
    all.repair.positions(partition, 8, all.now.ms)
    live(all, [base + 2])
    all.repair.positions(partition, 9, all.now.ms)
    expect(all.stream.stated).toMatchObject({ position: { last_id: base + 2 }, before: { last_id: base + 1 } })
  })
})

describe('a repair that is not wanted any more', () => {
  /** A gap for which REST was asked, and what lets its answer through. */
  function asked(what: 'rest' | 'room'): { all: World; letThrough: () => Promise<void> } {
    const { promise, resolve } = Promise.withResolvers<void>()
    const all = world({ newest: base + 9, until: { [what]: promise } })
    all.repair.adoptAll(new LogCoverage())
    live(all, [base, base + 3])
    all.now.ms += reorderGraceMs
    all.repair.tick(all.now.ms)
    const letThrough = async (): Promise<void> => {
      resolve()
      await settled(() => 0)
    }
    return { all, letThrough }
  }

  it.each(['rest', 'room'] as const)('writes nothing once it has stopped, though it waits for %s', async (what) => {
    const { all, letThrough } = asked(what)
    await settled(() => 0)
    all.repair.stop()
    await letThrough()
    expect(idsOf(all.log)).toEqual([base, base + 3])
    expect(all.log.gapRecords.map(({ state }) => state)).toEqual(['opened'])
    expect(all.repair.pending).toBe(0)
  })

  it.each(['rest', 'room'] as const)(
    'writes nothing of a market that was dropped, though it waits for %s',
    async (what) => {
      const { all, letThrough } = asked(what)
      await settled(() => 0)
      all.streams.pop()
      all.repair.tick(all.now.ms)
      expect(all.repair.pending).toBe(0)
      await letThrough()
      expect(idsOf(all.log)).toEqual([base, base + 3])
      expect(all.log.gapRecords.map(({ state }) => state)).toEqual(['opened'])
      expect(all.repair.pending).toBe(0)
    },
  )
})

it('leaves to the stream what it may still bring, and to other markets what is theirs, though a page has it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const has = (): boolean => all.calls() === 1 // the other market’s trades are not served
  const all = world({ has, newest: base + 9, pageSize: 100, direction: 'forward', until: { rest: promise } })
  const other = newStream('contiguous', { ...instrument, instrument: 'okx:perp:ETH-USDT-SWAP' }, 12)
  if (other.ids === 'contiguous') all.streams.push(other)
  all.repair.adoptAll(new LogCoverage())
  live(all, [base, base + 3])
  for (const id of [base + 3, base + 6]) observe(other, id, tradeAt(id).time, all.now.ms)
  all.now.ms += reorderGraceMs
  all.repair.tick(all.now.ms)
  live(all, [base + 6])
  resolve()
  await settled(() => all.repair.pending)
  live(all, [base + 4, base + 5])
  const brought = all.log.trades.map((trade) => [trade.instrument, trade.first_id - base, trade.origin])
  const own = [0, 3, 6].map((id) => [id, 'stream']).concat([1, 2].map((id) => [id, 'backfill']))
  expect(brought).toEqual([...own, [4, 'stream'], [5, 'stream']].map((one) => [instrument.instrument, ...one]))
  expect(all.log.gaps).toMatchObject([{ state: 'filled' }, { state: 'unfillable', missing: 2 }])
})

it('has a thousand gaps of an instrument at most: what is missing above them is added to the highest', async () => {
  const all = world({ newest: base + 2_017, pageSize: 1_000, direction: 'forward' })
  all.repair.adoptAll(new LogCoverage())
  live(
    all,
    range(0, 1_000).map((n) => base + 10 + 2 * n),
  )
  all.now.ms += reorderGraceMs
  all.repair.tick(all.now.ms)
  // What is missing below them, which shows as late as that, has a gap of its own.
  live(all, [base + 2_013, base + 2_015, base])
  all.now.ms += reorderGraceMs
  all.repair.tick(all.now.ms)
  live(all, [base + 2_017])
  all.now.ms += reorderGraceMs
  all.repair.tick(all.now.ms)
  expect(all.repair.pending).toBe(1_001)
  expect(all.log.gaps.slice(-2)).toMatchObject([
    { gap_id: base + 2_009, from_id: base + 2_009, to_id: base + 2_016, state: 'opened' },
    { gap_id: base + 1, from_id: base + 1, to_id: base + 9, state: 'opened' },
  ])
  await pass(all)
  expect(idsOf(all.log).toSorted((a, b) => a - b)).toEqual(range(base, base + 2_017))
  expect(all.log.gaps.every(({ state }) => state === 'filled')).toBe(true)
})

it('goes on with more gaps than a call may have arguments', async () => {
  let calls = 0
  const refused = Promise.withResolvers<void>()
  const rest: Rest = {
    async get() {
      calls += 1
      if (calls === 1) await refused.promise
      return calls === 1 ? { kind: 'unavailable', status: 429, waitMs: 1 } : new Promise(() => undefined)
    },
  }
  const now = { ms: (start + 100_000 * second) / 1_000 }
  const ids = new IdRepair(repairOptions(pagingVenue('forward', 5), rest, new MemoryFeedLog(), now))
  const streams = range(1, 1_300).map(() => newStream('contiguous', instrument, 12))
  for (const stream of streams) {
    if (stream.ids !== 'contiguous') continue
    stream.tracker.seen(base, base, tradeAt(base).time)
    for (const n of range(1, 100)) {
      const hole = { from: base + 2 * n, to: base + 2 * n, fromTime: tradeAt(base).time, toTime: tradeAt(base).time }
      ids.open(stream, hole, 'restart', hole.from)
    }
  }
  expect(ids.pending).toBe(130_000)
  refused.resolve()
  await settled(() => (calls < 2 ? 1 : 0))
  expect(calls).toBe(2)
})

/** A venue that has `newest` brings one trade under an id far above, then all that follow but `lost`. */
async function strayed(
  direction: 'forward' | 'since' | 'backward',
  lost: readonly number[],
  answer?: (call: number) => Answer,
): Promise<{ all: World; stray: number; at: { newest: number } }> {
  const at = { newest: base }
  const stray = base + 1e9
  const all = world({ newest: () => at.newest, direction, ...(answer && { answer }) })
  live(all, [base])
  bring(all, { ...tradeAt(base), id: stray })
  all.repair.adoptAll(new LogCoverage())
  for (at.newest = base + 1; at.newest <= base + 40; at.newest++) {
    if (!lost.includes(at.newest)) live(all, [at.newest])
    all.now.ms += 1_000
    all.repair.tick(all.now.ms)
    await settled(() => 0)
  }
  at.newest--
  return { all, stray, at }
}

const directions = ['forward', 'since', 'backward'] as const

describe('an id far above what the venue knows', () => {
  it.each(directions)('is no reference for what is missing, paging %s', async (direction) => {
    const { all, stray, at } = await strayed(direction, [base + 1, base + 30, base + 31])
    at.newest += 2
    await pass(all)
    expect(idsOf(all.log).toSorted((a, b) => a - b)).toEqual([...range(base, base + 42), stray])
    expect(all.log.gaps.every(({ state, missing }) => state === 'filled' && missing === 0)).toBe(true)
    expect(all.repair.pending).toBe(0)
    expect(all.log.gaps.every(({ from_id, to_id }) => (from_id ?? 0) <= (to_id ?? 0))).toBe(true)
    expect(all.calls()).toBeLessThan(30)
  })

  it.each(directions)('is none where REST does not tell at first how far it is, paging %s', async (direction) => {
    const failed: Answer = { kind: 'failed', message: 'EService:Unavailable' }
    const { all, stray } = await strayed(direction, [base + 30], (call) => (call === 0 ? failed : 'rows'))
    await pass(all)
    expect(idsOf(all.log).toSorted((a, b) => a - b)).toEqual([...range(base, base + 40), stray])
    expect(all.log.gaps.every(({ state, missing }) => state === 'filled' && missing === 0)).toBe(true)
  })

  it.each(directions)('is none for the next process either, paging %s', async (direction) => {
    const { all: first, stray } = await strayed(direction, [base + 30])
    first.repair.stop()
    const next = world({ log: first.log, newest: base + 60, direction })
    live(next, [base + 50])
    await repair(next)
    expect(idsOf(next.log).toSorted((a, b) => a - b)).toEqual([...range(base, base + 60), stray])
    expect(next.log.gaps.every(({ state }) => state === 'filled')).toBe(true)
    expect(next.calls()).toBeLessThan(60)
  })
})

describe('a long outage', () => {
  it.each(directions)(
    'is filled to the trade though REST tells of nothing newer for long, paging %s',
    async (direction) => {
      const at = { newest: base }
      const all = world({ direction, pageSize: 1_000, newest: () => at.newest })
      all.repair.adoptAll(new LogCoverage())
      live(all, [base, base + 20_000])
      await pass(all)
      at.newest = base + 20_003
      live(all, [base + 20_001])
      await pass(all)
      expect(idsOf(all.log).toSorted((a, b) => a - b)).toEqual(range(base, base + 20_003))
      expect(all.log.gaps.every(({ state }) => state === 'filled')).toBe(true)
    },
  )
})

describe('ids that the venue leaves out', () => {
  it.each(directions)(
    'are given up in one step, and what it has before and behind them is filled, paging %s',
    async (direction) => {
      const resumed = base + 1_000_000
      const has = (id: number): boolean => id <= base + 300 || id >= resumed
      const all = world({ direction, pageSize: 100, has, newest: resumed + 150 })
      live(all, [base, resumed + 150])
      await repair(all, false)
      expect(idsOf(all.log).toSorted((a, b) => a - b)).toEqual([
        ...range(base, base + 300),
        ...range(resumed, resumed + 150),
      ])
      const lost = all.log.gaps.filter(({ state }) => state !== 'filled')
      expect(lost).toMatchObject([
        {
          state: 'unfillable',
          reason: 'page_short',
          from_id: base + 301,
          to_id: resumed - 1,
          missing: resumed - base - 301,
        },
      ])
      expect(all.calls()).toBeLessThan(60)
    },
  )
})

it('a silent instrument is asked about, and repaired, while the gap of another one waits', async () => {
  const venue = pagingVenue('forward', 5)
  const now = { ms: start / 1_000 }
  const served = memoryRest(
    venue,
    () => true,
    () => 503,
  )
  const rest: Rest = {
    get: async (call, parse) =>
      call.path.startsWith('501:') ? served.get(call, parse) : { kind: 'limited', waitMs: 60_000 },
  }
  const log = new MemoryFeedLog()
  const silent = { ...instrument, instrument: 'okx:perp:ETH-USDT-SWAP' }
  const streams = [instrument, silent].map((own) => newStream('contiguous', own, 12))
  const options = { ...repairOptions(venue, rest, log, now), wait: () => new Promise<void>(() => undefined) }
  const repair = new TradeRepair(() => streams, options)
  repair.adoptAll(new LogCoverage())
  streams.forEach((stream, index) => {
    stream.lastTradeAt = now.ms
    for (const id of index === 0 ? [10, 20] : [500]) observe(stream, id, tradeAt(id).time, now.ms)
  })
  for (let turn = 0; turn < 10; turn++) {
    now.ms += 1_000
    repair.tick(now.ms)
    await settled(() => 0)
  }
  expect(log.gaps).toMatchObject([
    { instrument: instrument.instrument, state: 'opened', from_id: 11, to_id: 19 },
    { instrument: silent.instrument, state: 'filled', from_id: 501, to_id: 503 },
  ])
})

/** A repair over a stream whose ids have no order, with the log of the process before; the page has the newest trades up to `now`. */
function pageWorld(pageSize: number, ids: readonly number[], log = new MemoryFeedLog()) {
  const venue = pagingVenue('backward', pageSize, 'none')
  const now = { ms: 0 }
  const newest = (): number => Math.floor((now.ms * 1_000 - start) / second)
  const rest = memoryRest(venue, (id) => ids.includes(id), newest)
  const stream = newStream('none', unordered, 12)
  if (stream.ids !== 'none') throw new Error('not a stream without ordered ids')
  const at = (id: number): void => void (now.ms = tradeAt(id).time / 1_000)
  const live = (...own: readonly number[]): void => {
    for (const id of own) {
      at(id)
      stream.tracker.observe(id, tradeAt(id).time)
      log.trade(stream.normalise(tradeAt(id), now.ms * 1_000, fromStream))
    }
  }
  const mark = (run: number, position?: number): void => {
    const positions =
      position === undefined ? [] : [{ instrument: unordered.instrument, last_id: null, time: tradeAt(position).time }]
    log.mark(0, { ...emptyFields('mark'), writer: 'test', run, time: now.ms * 1_000, positions })
  }
  const cover = (ms: number): LogCoverage => {
    const coverage = new LogCoverage()
    const last = log.messages.at(-1)?.time ?? 0
    for (const { message, time } of log.messages) if (time >= last - ms) coverage.apply(message, time)
    return coverage
  }
  /** As a new process does at the time of trade `id`. */
  const repair = async (id: number): Promise<void> => {
    at(id)
    const repair = new TradeRepair(() => [stream], repairOptions(venue, rest, log, now))
    repair.adoptTimes(cover(120_000))
    repair.adoptAll(cover(3_600_000))
    for (let turn = 0; turn < 40; turn++) {
      now.ms += 500
      repair.tick(now.ms)
      await settled(() => 0)
    }
  }
  return { log, live, mark, repair, at, stream }
}

const unordered = { ...instrument, instrument: 'bybit:perp:BTCUSDT', venue: 'bybit' }

describe('the repair of trades whose ids have no order', () => {
  it('looks for what came right before the newest trade of a quiet market', async () => {
    const ids = [100, 250, 400, 700, 701]
    const first = pageWorld(1_000, ids)
    first.at(100)
    first.mark(1, 100)
    first.live(100, 250, 400, 701)
    first.mark(1)
    const next = pageWorld(1_000, ids, first.log)
    await next.repair(706)
    expect(idsOf(next.log)).toEqual([100, 250, 400, 701, 700])
    expect(next.log.gaps).toMatchObject([{ state: 'filled', from_time: tradeAt(400).time, to_time: tradeAt(701).time }])
  })

  it('states what it cannot look for, where a process that ended soon had streamed and not looked', async () => {
    const ids = range(1, 400)
    const first = pageWorld(20, ids)
    first.live(...range(1, 100))
    first.mark(1, 98)
    const second = pageWorld(20, ids, first.log)
    second.live(...range(300, 303))
    second.mark(tradeAt(299).time)
    const third = pageWorld(20, ids, first.log)
    await third.repair(306)
    const lost = third.log.gaps.filter(({ state }) => state === 'unfillable')
    expect(lost).toMatchObject([{ reason: 'lost_page', to_time: tradeAt(287).time }])
    expect(lost[0]?.from_time).toBeLessThanOrEqual(tradeAt(100).time)
  })

  it('looks for what the log has lost under a running process, and writes nothing twice', async () => {
    const ids = range(1, 400)
    const running = pageWorld(1_000, ids)
    running.live(...range(1, 249), ...range(256, 400))
    running.mark(1, 398)
    const next = pageWorld(1_000, ids, running.log)
    next.stream.safe = { last_id: null, time: tradeAt(200).time }
    await next.repair(402)
    expect(idsOf(next.log).toSorted((a, b) => a - b)).toEqual(ids)
    expect(next.log.gaps).toMatchObject([{ state: 'filled', from_time: tradeAt(249).time }])
  })

  it('states the time in which the log has lost trades where no page reaches back to it', async () => {
    const running = pageWorld(20, range(1, 140))
    running.live(...range(1, 100), ...range(106, 140))
    running.mark(1, 138)
    const next = pageWorld(20, range(1, 140), running.log)
    next.stream.safe = { last_id: null, time: tradeAt(90).time }
    await next.repair(142)
    const lost = next.log.gaps.filter(({ state }) => state === 'unfillable')
    expect(lost).toMatchObject([{ reason: 'lost_page', to_time: tradeAt(121).time }])
    expect(lost[0]?.from_time).toBeLessThanOrEqual(tradeAt(90).time)
    const { gaps } = next.log
    next.stream.stated = { at: 0, start: 0, position: { last_id: null, time: tradeAt(140).time } }
    next.mark(1, 140)
    await next.repair(144)
    expect(next.log.gaps).toEqual(gaps)
  })
})

/** How a trade arrives: at once, later than its successors, twice, or never. */
const plans = fc.array(fc.constantFrom('sent', 'sent', 'sent', 'lost', 'doubled', 'late' as const), {
  minLength: 2,
  maxLength: 60,
})

const subscribed = tradeAt(base - 1).time - 5

/** Ids in the order of their arrival. */
function arrivals(plan: readonly ('sent' | 'lost' | 'doubled' | 'late')[]): number[] {
  const ids: number[] = []
  const late: number[] = []
  plan.forEach((arrival, index) => {
    const id = base + index
    if (arrival === 'late') late.push(id)
    else if (arrival === 'doubled') ids.push(id, id)
    else if (arrival === 'sent') ids.push(id)
    if (index % 4 === 3) ids.push(...late.splice(0))
  })
  return [base - 1, ...ids, ...late, base + plan.length]
}

describe('whatever a stream loses, doubles or reorders, and wherever the process is killed,', () => {
  it('each trade that REST serves is in the log once, and each that it does not is in an unfillable gap', async () => {
    const property = fc.asyncProperty(
      plans,
      fc.uniqueArray(fc.integer({ min: 0, max: 59 })),
      fc.nat({ max: 62 }),
      fc.constantFrom('forward' as const, 'backward' as const),
      fc.integer({ min: 1, max: 9 }),
      fc.nat({ max: 9 }),
      fc.constantFrom('none' as const, 'before' as const, 'after' as const),
      async (plan, unserved, kill, direction, pageSize, told, strayed) => {
        const missing = new Set(unserved.map((index) => base + index))
        const has = (id: number): boolean => !missing.has(id)
        const ids = arrivals(plan)
        const before = ids.slice(0, kill)
        const newest = Math.max(base - 1, ...before)
        const first = world({ direction, pageSize, has, newest })
        say(first, 'asked', subscribed)
        if (kill % 2 === 0) say(first, 'acknowledged', subscribed)
        first.stream.since = subscribed
        live(first, before)
        const stray = { ...tradeAt(newest), id: base + 1e9 }
        if (strayed === 'before' && kill > 0) bring(first, stray)
        if (kill % 3 === 0) await repair(first, false)
        const known = Math.min(newest + told, base + plan.length)
        if (told > 0) leaveTold(first, known)
        first.repair.stop()
        const last = base + plan.length + 1
        const next = world({ direction, pageSize, has, newest: last, log: first.log })
        // What came while nobody listened is lost; the last one always comes.
        const after = ids.slice(kill + (kill % 5)).filter((id) => id > known)
        if (strayed === 'after') bring(next, stray)
        live(next, [...after, last])
        await repair(next)
        const all = idsOf(next.log)
        const isStrayed = strayed === 'after' || (strayed === 'before' && kill > 0)
        expect(all.filter((id) => id === stray.id)).toHaveLength(isStrayed ? 1 : 0)
        const got = all.filter((id) => id !== stray.id)
        const expected = range(base - 1, last).filter((id) => got.includes(id) || has(id))
        expect(got.toSorted((a, b) => a - b)).toEqual(expected)
        const lost = next.log.gaps.filter(({ state }) => state === 'unfillable')
        const bounds = lost.flatMap(({ from_id, to_id }) => range(from_id ?? 0, to_id ?? 0))
        const absent = range(base - 1, last).filter((id) => !got.includes(id))
        expect(bounds.toSorted((a, b) => a - b)).toEqual(absent)
        expect(next.log.gaps.filter(({ state }) => state === 'opened')).toEqual([])
      },
    )
    await fc.assert(property, { numRuns: 400 })
  })
})
