import { beforeEach, expect, it } from 'vitest'
import { type ArchiveDay, ArchivePlan, TRIES } from './archive-plan.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const dayMs = Date.UTC(2026, 2, 10)
/** The file of yesterday is published. */
const NOW = dayMs + 7 * HOUR_MS
/** Both clocks. */
const at = (ms: number) => [ms, ms] as const
const day = (date: number): number => Date.UTC(2026, 2, date) * 1_000

let done: Set<string>
let plan: ArchivePlan
beforeEach(() => {
  done = new Set()
  plan = new ArchivePlan(2, (symbol, date) => done.has(`${symbol} ${date}`))
})

function take({ symbol, date, ...rest }: ArchiveDay): void {
  done.add(`${symbol} ${date}`)
  plan.done({ symbol, date, ...rest })
}

/** All that is read, in order. */
function read(now = NOW): string[] {
  const all: string[] = []
  for (let next = plan.next(...at(now)); next !== undefined; next = plan.next(...at(now))) {
    all.push(`${next.symbol} ${next.date}`)
    take(next)
  }
  return all
}

const streamed = { isStreamed: true, spans: [] }

it('reads the newest days first, of all symbols in turn, and each day that passes', () => {
  plan.want(
    new Map([
      ['BTC', streamed],
      ['ETH', streamed],
    ]),
    NOW,
  )
  expect(plan.progress(...at(NOW))).toEqual({ wanted: 4 * 1_464, missing: 4 * 1_464 })
  expect(read()).toEqual(['BTC 2026-03-09', 'ETH 2026-03-09', 'BTC 2026-03-08', 'ETH 2026-03-08'])
  expect(plan.progress(...at(NOW))).toEqual({ wanted: 4 * 1_464, missing: 0 })
  expect(read(NOW + DAY_MS - 2 * HOUR_MS)).toEqual([])
  expect(read(NOW + DAY_MS)).toEqual(['BTC 2026-03-10', 'ETH 2026-03-10'])
})

it('reads what was ordered, each day once, and not again what the log has', () => {
  const spans = [
    { from: day(1), to: day(4) },
    { from: day(3), to: day(5) },
  ]
  done.add('BTC 2026-03-02')
  plan.want(new Map([['BTC', { isStreamed: false, spans }]]), NOW)
  expect(read()).toEqual(['BTC 2026-03-04', 'BTC 2026-03-03', 'BTC 2026-03-01'])
  plan.want(new Map(), NOW)
  plan.want(new Map([['BTC', { isStreamed: false, spans }]]), NOW)
  expect(read()).toEqual([])
})

it('waits for a file that is not there yet, and takes it that an old one never will be', () => {
  plan.want(new Map([['BTC', { isStreamed: false, spans: [{ from: day(1), to: day(10) }] }]]), NOW)
  const newest = plan.next(...at(NOW))
  if (newest === undefined) throw new Error('nothing is read')
  expect(plan.absent(newest, ...at(NOW))).toBe(false)
  expect(plan.next(...at(NOW))?.date).toBe('2026-03-08')
  expect(plan.progress(...at(NOW))).toEqual({ wanted: 8 * 1_464, missing: 8 * 1_464 })
  expect(plan.next(...at(NOW + HOUR_MS))?.date).toBe('2026-03-09')
  expect(plan.absent({ symbol: 'BTC', date: '2026-03-01', from: day(1) }, ...at(NOW))).toBe(true)
})

it('tries a damaged file a few times, goes on with others, and gives it up', () => {
  plan.want(new Map([['BTC', streamed]]), NOW)
  let now = NOW
  for (let tries = 1; tries <= TRIES; tries++) {
    const next = plan.next(...at(now)) ?? { symbol: '', date: '', from: 0 }
    expect(next.date).toBe('2026-03-09')
    expect(plan.damaged(next, now)).toBe(tries === TRIES)
    expect(plan.next(...at(now))?.date).toBe('2026-03-08')
    now += 10_000
  }
  expect(read(now + DAY_MS / 2)).toEqual(['BTC 2026-03-08'])
  expect(plan.progress(...at(now))).toEqual({ wanted: 1_464, missing: 0 })
})

it('goes on with other days while one cannot be fetched, which waits longer each time and is still to come', () => {
  plan.want(new Map([['BTC', streamed]]), NOW)
  const newest = { symbol: 'BTC', date: '2026-03-09', from: day(9) }
  let now = NOW
  for (const wait of [15_000, 30_000, 60_000]) {
    plan.failed(newest, now)
    expect(plan.next(...at(now + wait - 1))?.date).toBe('2026-03-08')
    expect(plan.progress(...at(now))).toEqual({ wanted: 2 * 1_464, missing: 2 * 1_464 })
    expect(plan.next(...at((now += wait)))).toEqual(newest)
  }
  for (let more = 0; more < 20; more++) plan.failed(newest, now)
  expect(plan.next(...at(now + HOUR_MS))).toEqual(newest)
})

it('reads one file more where a file begins before its date, since the end of the span is in it', () => {
  plan = new ArchivePlan(0, (symbol, date) => done.has(`${symbol} ${date}`), true)
  plan.want(new Map([['BTC', { isStreamed: false, spans: [{ from: day(1), to: day(2) }] }]]), NOW)
  expect(read()).toEqual(['BTC 2026-03-02', 'BTC 2026-03-01'])
})

it('waits as long where the clock is put back or ahead meanwhile', () => {
  for (const moved of [-HOUR_MS, HOUR_MS]) {
    plan = new ArchivePlan(3, () => false)
    plan.want(new Map([['BTC', streamed]]), NOW + HOUR_MS)
    const file = (date: number): ArchiveDay => ({ symbol: 'BTC', date: `2026-03-0${date}`, from: day(date) })
    expect(plan.absent(file(9), NOW + HOUR_MS, 0)).toBe(false)
    plan.failed(file(8), 0)
    plan.damaged(file(7), 0)
    const next = (ticks: number): string | undefined => plan.next(NOW + HOUR_MS + moved, ticks)?.date
    expect(next(9_999)).toBeUndefined()
    expect(next(10_000)).toBe('2026-03-07')
    expect(next(15_000)).toBe('2026-03-08')
    expect(next(HOUR_MS)).toBe('2026-03-09')
  }
})
