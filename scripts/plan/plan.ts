/** How many machines, partitions, bytes and dollars a load takes, from measured points; all numbers a second or at once. */
import { fit, type Fit, type Told } from './fit.ts'

/** What a system is asked for. */
export interface Load {
  /** Trades a second of all symbols and venues. */
  readonly trades: number
  /** Markets that are listed and followed: symbols times the venues of each. */
  readonly markets: number
  /** Alerts that are watched. */
  readonly alerts: number
  /** Requests a second. */
  readonly requests: number
}

/** What a whole system took under a load. */
export interface MeasuredPoint {
  readonly load: Load
  /** Of each part, of a core. */
  readonly cores: Readonly<Record<string, number>>
  readonly residentBytes: Readonly<Record<string, number>>
  readonly logBytesPerSecond: number
  /** ClickHouse's, packed as merges leave them. */
  readonly tableBytesPerSecond: number
}

/** `scripts/plan/points.json`, which `npm run bench -- capacity` writes. */
export interface Measured {
  readonly points: readonly MeasuredPoint[]
  /** Measured by another rate and mix than any of the points, and not fitted. */
  readonly heldOut: MeasuredPoint
}

/** What is not measured but chosen or paid. */
export interface Prices {
  readonly coresPerMachine: number
  readonly bytesPerMachine: number
  readonly usdPerMachineMonth: number
  readonly usdPerGigabyteMonth: number
  /** Of a machine's cores that are used in the mean, so that a burst and a dead machine have room. */
  readonly used: number
  /** How long the log and the tables keep what they are given, days. */
  readonly days: number
}

/** As it is, as little and as much as it may be: 95 of 100 runs lie within. */
export interface Range {
  readonly value: number
  readonly least: number
  readonly most: number
}

export interface Plan {
  readonly parts: readonly ({ readonly part: string } & Range)[]
  readonly cores: Range
  /** Each slope of all parts together, of a core: of a batch of trades and of a trade a second, of a market, ... */
  readonly slopes: Readonly<Record<keyof Load | 'base' | 'batches', number>>
  readonly machines: Range
  readonly partitions: number
  readonly memoryBytes: Range
  readonly diskBytes: Range
  readonly usdPerMonth: Range
  /** How many times beyond the largest measured one each of the load asks; up to 1: within. */
  readonly beyond: Readonly<Record<keyof Load, number>>
  /** What the fit says of the run that was held out. */
  readonly heldOut: { readonly load: Load; readonly said: Range; readonly measured: number }
}

/** Three of each byte of the log, as replicated; ClickHouse twice. */
const LOG_COPIES = 3
const TABLE_COPIES = 2
const DAY_SECONDS = 86_400
/** Below it a machine that dies is more than a third of all. */
const MACHINES_MIN = 3
const PARTITIONS_MIN = 12
/** A partition is one thread's: it shall take no more of a core than this. */
const PARTITION_CORES = 0.25
/** What is no part of a product that runs: the venues of a demo, and who starts all on one machine. */
const NOT_OURS = new Set(['simulator', 'chain', 'supervisor'])

/** The plan of a load; what is beyond the measured points follows the slopes, and its range grows with the distance. */
export function planOf(load: Load, { points, heldOut }: Measured, prices: Prices): Plan {
  const parts = partNames(points).map((part) => ({
    part,
    ...told(points, load, ({ cores }) => cores[part] ?? 0),
  }))
  const cores = coresFor(points, load)
  const memoryBytes = told(points, load, ({ residentBytes }) => sumOfOurs(residentBytes))
  const diskBytes = diskFor(load, points, prices)
  const machines = each([cores, memoryBytes], ([needed = 0, bytes = 0]) =>
    Math.max(
      MACHINES_MIN,
      Math.ceil(needed / (prices.coresPerMachine * prices.used)),
      Math.ceil(bytes / (prices.bytesPerMachine * prices.used)),
    ),
  )
  const processors = parts.find(({ part }) => part === 'processors')?.most ?? 0
  return {
    parts,
    cores,
    slopes: slopesOf(points),
    machines,
    partitions: Math.max(PARTITIONS_MIN, 4 * Math.ceil(processors / PARTITION_CORES / 4)),
    memoryBytes,
    diskBytes,
    usdPerMonth: each(
      [machines, diskBytes],
      ([count = 0, bytes = 0]) => count * prices.usdPerMachineMonth + (bytes / 1e9) * prices.usdPerGigabyteMonth,
    ),
    beyond: beyondOf(load, points),
    heldOut: { load: heldOut.load, said: coresFor(points, heldOut.load), measured: coresOf(heldOut) },
  }
}

/** The parts that are ours, by the first point. */
function partNames(points: readonly MeasuredPoint[]): string[] {
  return Object.keys(points[0]?.cores ?? {}).filter((part) => !NOT_OURS.has(part))
}

function sumOfOurs(byPart: Readonly<Record<string, number>>): number {
  return Object.entries(byPart).reduce((sum, [part, value]) => sum + (NOT_OURS.has(part) ? 0 : value), 0)
}

function coresOf({ cores }: MeasuredPoint): number {
  return sumOfOurs(cores)
}

/**
 * Feeds send what came for a partition at most every 10 ms, and the measured systems' eight symbols lie on eight of them:
 * so many batches of trades a second there are at most. Below, nearly each trade is a batch of its own, which costs every
 * part more than what is in it.
 */
const BATCHES_MOST = 800

const columns = ({ trades, markets, alerts, requests }: Load): number[] => [
  1,
  (trades * BATCHES_MOST) / (trades + BATCHES_MOST),
  trades,
  markets,
  alerts,
  requests,
]

/** A larger value is off by more; below this share of the largest all are off alike. */
const SCALE_LEAST = 0.05

function told(points: readonly MeasuredPoint[], load: Load, valueOf: (point: MeasuredPoint) => number): Range {
  const { fitted, scaleOf } = fitOf(points, valueOf)
  const x = columns(load)
  return rangeOf(fitted.tell(x, scaleOf(fitted.tell(x, 0).value)))
}

function fitOf(
  points: readonly MeasuredPoint[],
  valueOf: (point: MeasuredPoint) => number,
): { fitted: Fit; scaleOf: (value: number) => number } {
  const least = Math.max(...points.map((point) => Math.abs(valueOf(point)))) * SCALE_LEAST || 1
  const scaleOf = (value: number): number => Math.max(Math.abs(value), least)
  const samples = points.map((point) => ({
    x: columns(point.load),
    value: valueOf(point),
    scale: scaleOf(valueOf(point)),
  }))
  return { fitted: fit(samples), scaleOf }
}

function rangeOf({ value, offBy }: Told): Range {
  return { value, least: Math.max(0, value - offBy), most: value + offBy }
}

/** The same of the values, of the least and of the most. */
function each(ranges: readonly Range[], make: (values: readonly number[]) => number): Range {
  return {
    value: make(ranges.map(({ value }) => value)),
    least: make(ranges.map(({ least }) => least)),
    most: make(ranges.map(({ most }) => most)),
  }
}

function diskFor(load: Load, points: readonly MeasuredPoint[], { days }: Prices): Range {
  const log = told(points, load, ({ logBytesPerSecond }) => logBytesPerSecond)
  const tables = told(points, load, ({ tableBytesPerSecond }) => tableBytesPerSecond)
  return each(
    [log, tables],
    ([ofLog = 0, ofTables = 0]) => days * DAY_SECONDS * (ofLog * LOG_COPIES + ofTables * TABLE_COPIES),
  )
}

/** All parts together: their sum, so that it is what is told of them, off by what their sum was off by. */
function coresFor(points: readonly MeasuredPoint[], load: Load): Range {
  const { value: together, most } = told(points, load, coresOf)
  const value = partNames(points).reduce(
    (sum, part) => sum + told(points, load, ({ cores }) => cores[part] ?? 0).value,
    0,
  )
  return rangeOf({ value, offBy: most - together })
}

function slopesOf(points: readonly MeasuredPoint[]): Plan['slopes'] {
  const byPart = partNames(points).map((part) => fitOf(points, ({ cores }) => cores[part] ?? 0).fitted.slopes)
  const sumOf = (column: number): number => byPart.reduce((sum, slopes) => sum + (slopes[column] ?? 0), 0)
  return {
    base: sumOf(0),
    batches: sumOf(1),
    trades: sumOf(2),
    markets: sumOf(3),
    alerts: sumOf(4),
    requests: sumOf(5),
  }
}

function beyondOf(load: Load, points: readonly MeasuredPoint[]): Plan['beyond'] {
  const beyond = (of: keyof Load): number => load[of] / Math.max(...points.map((point) => point.load[of]))
  return {
    trades: beyond('trades'),
    markets: beyond('markets'),
    alerts: beyond('alerts'),
    requests: beyond('requests'),
  }
}
