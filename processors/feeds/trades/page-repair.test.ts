import { describe, expect, it } from 'vitest'
import { doubtAfterMs, PageRepair } from './page-repair.ts'
import type { VenueTrade } from '../venues/events.ts'
import type { Backfill } from '../venues/venue.ts'
import { repairDepth } from './id-repair.ts'
import { newStream, type PageStream } from './stream.ts'
import {
  instrument,
  MemoryFeedLog,
  memoryRest,
  pagingVenue,
  repairOptions,
  second,
  settled,
  start,
  tradeAt,
  type Answer,
} from './testing/market.ts'

const base = 1_000

/** A repairer over a stream that brought `brought`; its page has the 20 newest up to `newest`. */
function world(
  brought: readonly number[],
  newest: number,
  answer?: (call: number) => Answer,
  more: Partial<Backfill> = {},
  has: (id: number) => boolean = () => true,
) {
  const usual = pagingVenue('backward', 20, 'none')
  const venue = { ...usual, backfill: { ...usual.backfill, ...more } }
  const now = { ms: (start + newest * second) / 1_000 }
  const log = new MemoryFeedLog()
  let last = newest
  const paging = memoryRest(venue, has, () => last, answer)
  // Such a venue gives its newest page whatever is asked for.
  const rest: typeof paging = {
    get calls() {
      return paging.calls
    },
    get: (call, parse) => paging.get({ ...call, path: '0:1e9' }, parse),
  }
  const stream = newStream('none', instrument, 12)
  if (stream.ids !== 'none') throw new Error('not a stream without ids')
  stream.carriedSince = -Infinity
  for (const id of brought) stream.tracker.observe(id, tradeAt(id).time)
  const usualOptions = repairOptions(venue, rest, log, now)
  /** `late`: what the stream brings while a page is not compared yet; `room`: what the log does before it takes records. */
  const state = { late: (): void => undefined, room: Promise.resolve() }
  const wait = async (ms: number): Promise<void> => {
    await usualOptions.wait(ms)
    state.late()
  }
  const repairer = new PageRepair({ ...usualOptions, wait, room: () => state.room })
  const goOn = (id: number): void => {
    last = id
    now.ms = Math.max(now.ms, (start + id * second) / 1_000)
  }
  return { repairer, stream, log, now, newest: goOn, state, calls: () => rest.calls }
}

async function pass(repairer: PageRepair, now: { ms: number }, ms: number): Promise<void> {
  for (const until = now.ms + ms; now.ms < until; now.ms += 100) {
    repairer.tick(now.ms)
    await settled(() => 0)
  }
}

function backfilled(log: MemoryFeedLog): number[] {
  return log.trades.map(({ first_id }) => first_id)
}

it('a trade that the page has and the stream has not is written under a gap of its own', async () => {
  const { repairer, stream, log, now } = world([base, base + 2], base + 2)
  repairer.watch(stream)
  await pass(repairer, now, 3_000)
  expect(backfilled(log)).toEqual([base + 1])
  expect(log.trades[0]).toMatchObject({ origin: 'backfill', gap_id: tradeAt(base).time })
  expect(log.gaps).toMatchObject([{ state: 'filled', from_time: tradeAt(base).time, to_time: tradeAt(base + 2).time }])
  const told = log.messages.map(({ message: { value } }) => ('state' in value ? value.state : 'trade'))
  expect(told).toEqual(['opened', 'trade', 'filled'])
})

it('what a page has is written when the log takes records, and the next page is asked for then', async () => {
  const { repairer, stream, log, now, state, calls } = world([base, base + 2], base + 2)
  const { promise, resolve } = Promise.withResolvers<void>()
  state.room = promise
  repairer.watch(stream)
  await pass(repairer, now, 10_000)
  expect([calls(), backfilled(log)]).toEqual([1, []])
  resolve()
  await pass(repairer, now, 3_000)
  expect(backfilled(log)).toEqual([base + 1])
})

it.each([
  ['dropped', (repairer: PageRepair, stream: PageStream) => repairer.drop(stream)],
  ['not repaired any more', (repairer: PageRepair) => repairer.stop()],
] as const)('nothing is written of a stream that is %s, though its page was on the way', async (_what, end) => {
  const { repairer, stream, log, now, state, calls } = world([base, base + 50], base + 50)
  const { promise, resolve } = Promise.withResolvers<void>()
  state.room = promise
  repairer.watch(stream)
  await pass(repairer, now, 500)
  end(repairer, stream)
  resolve()
  await pass(repairer, now, 2 * doubtAfterMs)
  expect([calls(), log.messages]).toEqual([1, []])
})

it('a page that was asked for beforehand is compared once, and the newer ones behind it', async () => {
  const made = world([base], base + 10)
  const { repairer, stream, log, now } = made
  repairer.prefetch(stream)
  await settled(() => 0)
  made.newest(base + 26)
  stream.tracker.observe(base + 26, tradeAt(base + 26).time)
  repairer.watch(stream)
  await pass(repairer, now, 12_000)
  expect(backfilled(log).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, n) => base + 1 + n))
  expect(log.gaps.every(({ state }) => state === 'filled')).toBe(true)
})

it('a page that was asked for beforehand is forgotten with its stream', async () => {
  const { repairer, stream, now, calls } = world([base], base)
  repairer.prefetch(stream)
  repairer.watch(stream)
  repairer.drop(stream)
  repairer.watch(stream)
  await pass(repairer, now, 100)
  expect(calls()).toBe(2)
})

it('a row that cannot be read leaves a page as full as it was, and the others count', async () => {
  const parse = (_symbol: string, body: unknown) =>
    ({ kind: 'rows', rows: [...(body as VenueTrade[]).slice(0, 19), { refused: 'bad-field' }] }) as const
  const { repairer, stream, log, now } = world([base, base + 50], base + 50, undefined, { parse })
  repairer.watch(stream)
  await pass(repairer, now, 3_000)
  expect(backfilled(log)).toContain(base + 49)
  expect(log.gaps).toMatchObject([
    { state: 'unfillable', reason: 'lost_page', from_time: tradeAt(base).time, to_time: tradeAt(base + 32).time },
    { state: 'filled' },
  ])
})

it('a row whose time is far ahead hides nothing that comes after it', async () => {
  const parse = (_symbol: string, body: unknown) => {
    const ahead = ({ id, time }: VenueTrade): number => (id === base + 2 ? time + 3_600 * second : time)
    return { kind: 'rows', rows: (body as VenueTrade[]).map((row) => ({ ...row, time: ahead(row) })) } as const
  }
  const made = world([base, base + 2], base + 2, undefined, { parse })
  const { repairer, stream, log, now } = made
  repairer.watch(stream)
  await pass(repairer, now, 6_000)
  made.newest(base + 20)
  stream.tracker.observe(base + 20, tradeAt(base + 20).time)
  await pass(repairer, now, 12_000)
  expect(backfilled(log)).toContain(base + 19)
})

it('what a page does not reach is unfillable, with its bounds', async () => {
  const { repairer, stream, log, now } = world([base, base + 50], base + 50)
  repairer.watch(stream)
  await pass(repairer, now, 3_000)
  expect(log.gaps).toMatchObject([
    { state: 'unfillable', reason: 'lost_page', from_time: tradeAt(base).time, to_time: tradeAt(base + 31).time },
    { state: 'filled', from_time: tradeAt(base + 31).time },
  ])
})

it('while REST does not answer the log says so, and the first page settles it', async () => {
  const failed: Answer = { kind: 'limited', waitMs: 1_000 }
  const { repairer, stream, log, now } = world([base, base + 2], base + 2, (call) => (call < 12 ? failed : 'rows'))
  repairer.watch(stream)
  await pass(repairer, now, doubtAfterMs + 1_000)
  expect(log.gaps).toMatchObject([{ state: 'opened', from_time: tradeAt(base).time }])
  await pass(repairer, now, 10_000)
  expect(backfilled(log)).toEqual([base + 1])
  expect(log.gaps.map(({ state }) => state)).toEqual(['filled'])
})

it('while REST goes on not answering, the gap grows with what the stream brings', async () => {
  const refused: Answer = { kind: 'limited', waitMs: 600_000 }
  const { repairer, stream, log, now } = world([base, base + 2], base + 2, () => refused)
  repairer.watch(stream)
  await pass(repairer, now, doubtAfterMs + 1_000)
  stream.tracker.observe(base + 40, tradeAt(base + 40).time)
  await pass(repairer, now, 2 * doubtAfterMs + 1_000)
  expect(log.gapRecords.map(({ gap_id, to_time }) => [gap_id, to_time])).toEqual([
    [tradeAt(base).time, tradeAt(base + 2).time],
    [tradeAt(base).time, tradeAt(base + 40).time],
  ])
  for (let id = base + 41; id < base + 60; id++) {
    stream.tracker.observe(id, tradeAt(id).time)
    await pass(repairer, now, 1_000)
  }
  expect(log.gapRecords.slice(2).length).toBeLessThanOrEqual(3) // not one a trade
})

it('while REST does not answer about a market without a trade, the gap begins where its stream does', async () => {
  const { repairer, stream, log, now } = world([], 0, () => ({ kind: 'limited', waitMs: 600_000 }))
  stream.tracker.begin(start)
  repairer.watch(stream)
  await pass(repairer, now, doubtAfterMs + 1_000)
  expect(log.gapRecords).toMatchObject([{ state: 'opened', from_time: start, to_time: start }])
})

it('pages that are empty from the first on, of a market that has traded, are told as a gap', async () => {
  const { repairer, stream, log, now } = world([base, base + 2], base + 2, undefined, {}, () => false)
  repairer.watch(stream)
  await pass(repairer, now, doubtAfterMs + 1_000)
  expect(log.gaps).toMatchObject([{ state: 'opened', from_time: tradeAt(base).time }])
})

it('an empty page does not settle the gap that the process before left open', async () => {
  const { repairer, stream, log, now } = world([], 0, undefined, {}, () => false)
  stream.tracker.begin(start)
  repairer.watch(stream, [{ fromTime: start - second, toTime: start }])
  await pass(repairer, now, 3_000)
  expect(log.gapRecords).toEqual([])
})

it('a clean stop writes what was known to be missing', async () => {
  const { repairer, stream, log, now } = world([base, base + 2], base + 2)
  repairer.watch(stream)
  await pass(repairer, now, 500)
  expect(backfilled(log)).toEqual([])
  repairer.stop()
  expect(backfilled(log)).toEqual([base + 1])
})

it('a gap that the process before left open is settled by the first page', async () => {
  const { repairer, stream, log, now } = world([base, base + 1], base + 1)
  const open: PageStream['tracker'] = stream.tracker
  repairer.watch(stream, [{ fromTime: open.newest - second, toTime: open.newest }])
  await pass(repairer, now, 1_000)
  expect(log.gaps).toMatchObject([{ state: 'filled', gap_id: tradeAt(base).time }])
})

it('gaps that the process before left open are settled beside one that opened since', async () => {
  const failed: Answer = { kind: 'limited', waitMs: 1_000 }
  const { repairer, stream, log, now } = world([base, base + 1], base + 1, (call) => (call < 12 ? failed : 'rows'))
  repairer.watch(stream, [{ fromTime: tradeAt(base - 9).time, toTime: tradeAt(base - 5).time }])
  await pass(repairer, now, doubtAfterMs + 12_000)
  expect(log.gaps.map(({ gap_id, state }) => [gap_id, state])).toEqual([
    [tradeAt(base).time, 'filled'],
    [tradeAt(base - 9).time, 'filled'],
  ])
})

it('a gap that the process before left open is unfillable where the page does not reach back', async () => {
  const { repairer, stream, log, now } = world([base, base + 50], base + 50)
  repairer.watch(stream, [{ fromTime: tradeAt(base + 5).time, toTime: tradeAt(base + 6).time }])
  await pass(repairer, now, 1_000)
  expect(log.gaps.map(({ gap_id, state }) => [gap_id, state])).toEqual([
    [tradeAt(base + 5).time, 'unfillable'],
    [tradeAt(base).time, 'unfillable'],
  ])
})

it.each([
  ['of which nothing can be read', [{ refused: 'bad-field' }, { refused: 'off-book' }]],
  ['that is empty where there were trades', []],
] as const)('a page %s compares nothing: what is open stays open, and is asked for again', async (_what, rows) => {
  const failed: Answer = { kind: 'limited', waitMs: doubtAfterMs + 500 }
  let isReadable = false
  const parse = (_symbol: string, body: unknown) =>
    ({ kind: 'rows', rows: isReadable ? (body as VenueTrade[]) : rows }) as const
  const made = world([base, base + 2], base + 2, (call) => (call === 0 ? failed : 'rows'), { parse })
  const { repairer, stream, log, now } = made
  repairer.watch(stream)
  await pass(repairer, now, doubtAfterMs + 5_000)
  expect(log.gaps).toMatchObject([{ state: 'opened', to_time: tradeAt(base + 2).time }])
  made.newest(base + 40)
  stream.tracker.observe(base + 40, tradeAt(base + 40).time)
  await pass(repairer, now, 2 * doubtAfterMs)
  expect(log.gaps).toMatchObject([{ state: 'opened', to_time: tradeAt(base + 40).time }])
  isReadable = true
  await pass(repairer, now, 60_000)
  expect(log.gaps[0]).toMatchObject({ state: 'unfillable', reason: 'lost_page', to_time: tradeAt(base + 21).time })
  expect(backfilled(log)).toContain(base + 39)
})

it('an empty page of a market without a trade is a page like any other', async () => {
  const { repairer, stream, log, now } = world([], 0, undefined, {}, () => false)
  stream.tracker.begin(start)
  repairer.watch(stream)
  await pass(repairer, now, 3 * doubtAfterMs)
  expect(log.gapRecords).toEqual([])
})

describe('a page that is short by nature', () => {
  function shortWorld(newest: number, brought: readonly number[] = [base]) {
    const paged = world(brought, newest, undefined, { isShort: true })
    const { repairer, stream, log, now } = paged
    const bring = (from: number, to: number): void => {
      for (let id = from; id <= to; id++) stream.tracker.observe(id, tradeAt(id).time)
      stream.lastTradeAt = now.ms
    }
    /** The trades between which nothing is known, by a page up to `newest`. */
    const ask = async (newest: number, ms = 6_000): Promise<readonly (readonly number[])[]> => {
      paged.newest(newest)
      const before = log.gapRecords.length
      await pass(repairer, now, ms)
      const stated = new Map(log.gapRecords.slice(before).map((gap) => [gap.gap_id, gap]))
      const unknown = [...stated.values()].filter(({ state }) => state === 'unfillable')
      return unknown.map(({ from_time, to_time }) => [from_time, to_time].map((time) => (time - start) / second))
    }
    repairer.watch(stream)
    return { ...paged, bring, ask }
  }

  it('leaves a gap only where nobody watched or a connection was lost', async () => {
    const { stream, now, bring, ask } = shortWorld(0)
    // What the process before brought last is out of the page's reach.
    bring(base + 70, base + 100)
    expect(await ask(base + 100)).toEqual([[base, base + 81]])
    bring(base + 101, base + 400)
    expect(await ask(base + 400)).toEqual([])
    stream.lostAt = now.ms
    bring(base + 600, base + 700)
    expect(await ask(base + 700)).toEqual([[base + 398, base + 681]])
  })

  it('is not believed while no connection carries the stream, nor the first one after', async () => {
    const { stream, now, bring, ask } = shortWorld(base)
    expect(await ask(base)).toEqual([])
    Object.assign(stream, { lostAt: now.ms, carriedSince: Infinity })
    expect(await ask(base + 100)).toEqual([[base, base + 81]])
    expect(await ask(base + 200)).toEqual([[base + 98, base + 181]])
    stream.carriedSince = now.ms + 1
    bring(base + 270, base + 300)
    expect(await ask(base + 300)).toEqual([[base + 198, base + 281]])
    bring(base + 301, base + 400)
    expect(await ask(base + 400)).toEqual([])
  })

  it('is not believed where the stream came back on a connection that was not there at the page before', async () => {
    const { stream, now, bring, ask } = shortWorld(base)
    bring(base + 1, base + 100)
    expect(await ask(base + 100)).toEqual([[base, base + 81]])
    Object.assign(stream, { lostAt: now.ms, carriedSince: Infinity })
    now.ms += 1
    expect(await ask(base + 100)).toEqual([])
    stream.carriedSince = now.ms
    bring(base + 181, base + 200)
    expect(await ask(base + 200)).toEqual([[base + 98, base + 181]])
  })

  it('is not believed while the stream is silent on connections that stay open, nor the first one after', async () => {
    const { bring, ask, log } = shortWorld(base)
    expect(await ask(base)).toEqual([])
    bring(base + 1, base + 100)
    expect(await ask(base + 100)).toEqual([])
    expect(await ask(base + 200)).toEqual([[base + 98, base + 181]])
    expect(await ask(base + 300)).toEqual([[base + 198, base + 281]])
    bring(base + 350, base + 400)
    expect(await ask(base + 400)).toEqual([[base + 298, base + 381]])
    bring(base + 401, base + 500)
    expect(await ask(base + 500)).toEqual([])
    const told = Array.from({ length: 20 }, (_, index) => base + 181 + index)
    expect(backfilled(log)).toEqual([...told, ...told.map((id) => id + 100)])
  })

  it('is believed where the stream is a little behind it', async () => {
    const { bring, ask, log, state } = shortWorld(base)
    expect(await ask(base)).toEqual([])
    state.late = () => bring(base + 1, base + 100)
    expect(await ask(base + 100)).toEqual([])
    expect(backfilled(log)).toEqual([])
  })

  it('is believed again where the stream that was silent comes, a little behind it', async () => {
    const { bring, ask, state } = shortWorld(base)
    expect(await ask(base)).toEqual([])
    expect(await ask(base + 100)).toEqual([[base, base + 81]])
    expect(await ask(base + 200)).toEqual([[base + 98, base + 181]])
    bring(base + 210, base + 250)
    state.late = () => bring(base + 251, base + 300)
    expect(await ask(base + 300, 1_000)).toEqual([[base + 198, base + 281]])
    bring(base + 301, base + 350)
    state.late = () => bring(base + 351, base + 400)
    expect(await ask(base + 400, 1_000)).toEqual([])
  })

  it('is believed from the first trade of a market on', async () => {
    const { bring, ask } = shortWorld(0, [])
    expect(await ask(0)).toEqual([])
    bring(1, 100)
    expect(await ask(100)).toEqual([])
    expect(await ask(200)).toEqual([[98, 181]])
  })

  it('is not believed, nor the next one, where a connection was lost while it was on its way', async () => {
    const { stream, now, bring, ask, state } = shortWorld(base)
    expect(await ask(base)).toEqual([])
    state.late = () => {
      bring(base + 1, base + 100)
      stream.lostAt = now.ms - 1
    }
    expect(await ask(base + 100, 1_000)).toEqual([[base, base + 81]])
    bring(base + 150, base + 200)
    expect(await ask(base + 200)).toEqual([[base + 98, base + 181]])
  })
})

/** A market that trades once in ten minutes, until `end`; the process before brought the first of `brought` and ended. */
function quietWorld(brought: readonly number[], end: number) {
  const made = world(brought, end, undefined, {}, (id) => id % 600 === 0)
  made.stream.tracker.resume()
  return made
}

const hour = repairDepth / second
const quietStart = 60_000

it('what is older than is repaired is unfillable, though a page has it', async () => {
  const end = quietStart + 3 * hour
  const { repairer, stream, log, now } = quietWorld([quietStart], end)
  repairer.watch(stream)
  await pass(repairer, now, 3_000)
  expect(backfilled(log)).toEqual([0, 1, 2, 3, 4, 5, 6].map((n) => end - hour + n * 600))
  const since = tradeAt(end - hour).time
  expect(log.gaps).toMatchObject([
    { state: 'unfillable', reason: 'too_old', to_time: since },
    { state: 'filled', from_time: since, to_time: tradeAt(end).time },
  ])
  expect(log.gaps[0]?.from_time).toBeLessThanOrEqual(tradeAt(quietStart).time)
})

it('a page that is too old as a whole leaves open gaps unfillable', async () => {
  const end = quietStart + hour
  const { repairer, stream, log, now } = quietWorld([quietStart], end)
  now.ms += 2 * 3_600_000
  const open = { fromTime: tradeAt(quietStart).time, toTime: tradeAt(quietStart + 60).time }
  repairer.watch(stream, [open])
  await pass(repairer, now, 20_000)
  expect(backfilled(log)).toEqual([])
  expect(log.gaps).toMatchObject([{ state: 'unfillable', reason: 'too_old', from_time: open.fromTime }])
  expect(log.gaps[0]?.to_time).toBeGreaterThan(tradeAt(end).time)
})

it('a market that has not traded for hours has no gap, while its process runs and behind its restart', async () => {
  const { repairer, stream, log, now } = world([quietStart], quietStart, undefined, {}, (id) => id % 600 === 0)
  repairer.watch(stream)
  await pass(repairer, now, 10_000)
  now.ms += 5 * 3_600_000
  await pass(repairer, now, 10_000)
  const said = stream.tracker.position?.time ?? 0
  const next = world([], quietStart, undefined, {}, (id) => id % 600 === 0)
  next.now.ms = now.ms
  next.stream.tracker.stand(said)
  next.stream.tracker.resume()
  next.repairer.watch(next.stream)
  await pass(next.repairer, next.now, 20_000)
  const stated = [...log.gapRecords, ...next.log.gapRecords].filter(({ state }) => state === 'unfillable')
  expect([stated, backfilled(next.log)]).toEqual([[], []])
})
