import type { InputRecord } from '../../processors/alerts/what-if.ts'
import type { CompositePrice, Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import type { Page, PageRange, Stretch } from './what-if.ts'
import { ORDER, POSITION } from './what-if.ts'
import { microsSql, timeParam } from './time.ts'

const SECOND: Micros = 1_000_000
const MINUTE: Micros = 60 * SECOND
/** Minutes that are read at once, some 70,000 prices. */
const MINUTES_MAX = 240
/** Minutes before and behind late prices that are read whole. */
const NEAR = 8
/** Prices beside those that decide, for a chart. */
const SAMPLES = 300

/** What of an alert on prices tells which of them matter to it. */
interface PriceAlert {
  readonly target: number
  /** Without a price for longer it is blind. */
  readonly silence: Micros
}

/** Each minute of the range in which there are prices. */
const minutesSql = `SELECT groupArray(minute_s) AS minutes, groupArray(first_us) AS firsts, groupArray(newest_us) AS newests,
  groupArray(newest.2) AS last_usd, groupArray(is_late) AS lates, groupArray(side) AS sides,
  (SELECT count() FROM prices_log
    WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')}) AS records
  FROM (
    SELECT toUnixTimestamp(minute) AS minute_s, ${microsSql('min(first)')} AS first_us, max(newest) AS newest,
      ${microsSql('newest.1')} AS newest_us, max(late) AS is_late,
      multiIf(is_late = 1, 0, max(high) < {target:Float64}, -1, min(low) > {target:Float64}, 1, 0) AS side
    FROM price_minutes WHERE asset = {asset:String} AND minute >= toStartOfMinute(${timeParam('from')}) AND minute < ${timeParam('to')}
    GROUP BY minute ORDER BY minute)`

interface Minute {
  readonly start: Micros
  /** Of its prices that are not late; `newest` 0: it has none. */
  readonly first: Micros
  readonly newest: Micros
  readonly price: number
  readonly isLate: boolean
  /** -1: all of it is below the target, 1: above; 0: it touches it, or has late prices. */
  readonly side: number
}

/** After a price that changed something an alert may be ready again within this time, and not later. */
const READY: Micros = 64_000_000

/**
 * Of these minutes the prices on the target and those on another side than the one before, and while time alone may make
 * the alert ready one of each second.
 */
const pricesSql = `SELECT groupArray(at_us) AS at, groupArray(price) AS last_usd,
  groupArray(low) AS low_usd, groupArray(high) AS high_usd, groupArray(is_late) AS late_flags, groupArray(bounds_us) AS bounds_froms, groupArray(is_good) AS good_flags,
  groupArray(partition) AS partitions, groupArray(offset) AS offsets, groupArray(position) AS positions,
  groupArray(is_same) AS same_flags
  FROM (
    SELECT *, maxIf(at_us, NOT is_same) OVER (ORDER BY ${ORDER} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS changed
    FROM (
      SELECT ${microsSql('time')} AS at_us, price, low, high, toUInt8(late) AS is_late, ${microsSql('bounds_from')} AS bounds_us,
        toUInt8(quality = 'good') AS is_good, partition, offset, ${POSITION},
        multiIf(late, 0, high < {target:Float64}, -1, low > {target:Float64}, 1, 0) AS side,
        side != 0 AND side = lagInFrame(side, 1, 9) OVER so_far AS is_same, lagInFrame(at_us, 1, 0) OVER so_far AS before
      FROM prices_log FINAL
      WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')}
        AND toStartOfMinute(time) IN {minutes:Array(DateTime)}
      WINDOW so_far AS (ORDER BY ${ORDER} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW))
    ORDER BY ${ORDER})
  WHERE NOT is_same OR (
    intDiv(at_us, 1000000) != intDiv(before, 1000000) AND (at_us - changed < ${READY} OR has({near:Array(Int64)}, intDiv(at_us, ${MINUTE}) * ${MINUTE})))`

interface Sample {
  readonly time: Micros
  readonly price: number
}

/** The composite prices of an asset that matter to an alert on them. Whose they are is left out: it does not decide. */
export async function* readPrices(database: Database, range: PageRange, alert: PriceAlert): AsyncGenerator<Page> {
  const { asset, from, to } = range
  const [raw] = await database.query(minutesSql, { asset, from, to, target: alert.target })
  const row = new Row(raw)
  const all = minutesOf(row)
  const near = nearLate(all)
  const minutes = all.filter((minute, at) => near.has(minute.start) || isDecisive(all, at)).map(({ start }) => start)
  const samples = samplesOf(all, new Set(minutes), Math.max(1, Math.ceil((to - from) / MINUTE / SAMPLES)))
  let about = { records: row.number('records'), heard: heardOf(all, alert.silence, range) }
  let done = 0
  let held: readonly InputRecord[] = []
  for (const lot of lotsOf(minutes)) {
    const end = Math.min((lot.at(-1) ?? 0) + MINUTE, to)
    const read = inLogOrder(held, await readLot(database, { ...range, ...alert, near }, lot))
    // Late prices are told minutes behind their time, where the next lot may have others before them.
    const whole = 1 + read.findLastIndex((one) => !isLate(one))
    const seen = read.slice(0, whole)
    held = read.slice(whole)
    const mine = samples.slice(done).filter(({ time }) => time < end)
    done += mine.length
    yield {
      seen: merged(
        seen,
        mine.map((sample) => sampleOf(asset, sample)),
      ),
      ...about,
      cut: false,
    }
    about = { records: 0, heard: [] }
  }
  const rest = samples.slice(done).map((sample) => sampleOf(asset, sample))
  yield { seen: merged(held, rest), ...about, cut: false }
}

/** Both are in the order of their log, `held` of earlier times. */
function inLogOrder(held: readonly InputRecord[], seen: readonly InputRecord[]): readonly InputRecord[] {
  return held.length === 0 ? seen : [...held, ...seen].toSorted((a, b) => a.message.value.v - b.message.value.v)
}

function isLate({ message: { type, value } }: InputRecord): boolean {
  return type === 'composite_price' && value.late
}

function minutesOf(row: Row): Minute[] {
  const [firsts, newests, prices] = [row.numbers('firsts'), row.numbers('newests'), row.numbers('last_usd')]
  const [lates, sides] = [row.numbers('lates'), row.numbers('sides')]
  return row.numbers('minutes').map((seconds, at) => ({
    start: seconds * SECOND,
    first: firsts[at] ?? 0,
    newest: newests[at] ?? 0,
    price: prices[at] ?? NaN,
    isLate: lates[at] === 1,
    side: sides[at] ?? 0,
  }))
}

/** Minutes around prices that are late: one rings at the time that the log had then. */
function nearLate(minutes: readonly Minute[]): ReadonlySet<Micros> {
  const late = [...minutes.keys()].filter((at) => minutes[at]?.isLate)
  return new Set(late.flatMap((at) => minutes.slice(Math.max(0, at - NEAR), at + NEAR + 1)).map(({ start }) => start))
}

/**
 * Whether prices of a minute may ring or return: those that touch the target, and the three behind each that does or that
 * lies on another side than the one before it: by then a level has rung or returned, and its minute is over.
 */
function isDecisive(minutes: readonly Minute[], at: number): boolean {
  const side = minutes[at]?.side
  return side === 0 || [1, 2, 3].some((before) => minutes[at - before]?.side !== side)
}

/** The newest price of some of the minutes that do not matter, for a chart. */
function samplesOf(minutes: readonly Minute[], known: ReadonlySet<Micros>, every: number): Sample[] {
  return minutes
    .filter(({ start, newest }) => newest > 0 && (start / MINUTE) % every === 0 && !known.has(start))
    .map(({ newest, price }) => ({ time: newest, price }))
}

function heardOf(minutes: readonly Minute[], silence: Micros, { from }: PageRange): Stretch[] {
  const heard: { from: Micros; to: Micros }[] = []
  for (const { first, newest } of minutes) {
    if (newest === 0) continue
    const last = heard.at(-1)
    if (last !== undefined && first - last.to <= silence) last.to = Math.max(last.to, newest)
    else heard.push({ from: last === undefined ? Math.max(first, from) : first, to: newest })
  }
  return heard
}

/** What is read at once. */
function lotsOf(minutes: readonly Micros[]): (readonly Micros[])[] {
  const count = Math.ceil(minutes.length / MINUTES_MAX)
  return Array.from({ length: count }, (_, at) => minutes.slice(at * MINUTES_MAX, (at + 1) * MINUTES_MAX))
}

type Wanted = PageRange & PriceAlert & { readonly near: ReadonlySet<Micros> }

async function readLot(database: Database, wanted: Wanted, minutes: readonly Micros[]): Promise<InputRecord[]> {
  const { asset, from, to, target, near } = wanted
  const [raw] = await database.query(pricesSql, {
    asset,
    target,
    near: minutes.filter((minute) => near.has(minute)),
    from: Math.max(minutes[0] ?? to, from),
    to: Math.min((minutes.at(-1) ?? from) + MINUTE, to),
    minutes: minutes.map((minute) => minute / SECOND),
  })
  const row = new Row(raw)
  const column = (name: string) => row.numbers(name)
  const [last, low, high, offsets] = [column('last_usd'), column('low_usd'), column('high_usd'), column('offsets')]
  const [lates, goods, same] = [column('late_flags'), column('good_flags'), column('same_flags')]
  const [partitions, boundsFrom, positions] = [column('partitions'), column('bounds_froms'), column('positions')]
  return column('at').map((time, at) => ({
    partition: partitions[at] ?? 0,
    offset: offsets[at] ?? 0,
    changesNothing: same[at] === 1 && !near.has(time - (time % MINUTE)),
    message: messageOf(asset, {
      time,
      price: last[at] ?? NaN,
      low: low[at] ?? NaN,
      high: high[at] ?? NaN,
      late: lates[at] === 1,
      bounds_from: boundsFrom[at] ?? 0,
      quality: goods[at] === 1 ? 'good' : 'degraded',
      v: positions[at] ?? 0,
    }),
  }))
}

type Told = Omit<CompositePrice, 'asset' | 'change_24h' | 'sources'>

function messageOf(asset: string, told: Told): InputRecord['message'] {
  return { type: 'composite_price', value: { asset, ...told, change_24h: null, sources: [] } }
}

function sampleOf(asset: string, { time, price }: Sample): InputRecord {
  const told = { time, price, low: price, high: price, late: false, bounds_from: 0, quality: 'good', v: 0 } as const
  return { partition: 0, offset: 0, message: messageOf(asset, told) }
}

/** Late prices stay where they are in the log. */
function merged(seen: readonly InputRecord[], samples: readonly InputRecord[]): InputRecord[] {
  const all: InputRecord[] = []
  let next = 0
  for (const one of seen) {
    const before = isLate(one) ? -Infinity : one.message.value.time
    for (let sample = samples[next]; sample !== undefined; sample = samples[next]) {
      if (sample.message.value.time >= before) break
      all.push(sample)
      next += 1
    }
    all.push(one)
  }
  return [...all, ...samples.slice(next)]
}
