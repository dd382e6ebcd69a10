/** How many machines, partitions, bytes and dollars a load takes, from measured points; all numbers a second or at once. */

/** What one run of `npm run bench -- capacity` measured at a rate. */
export interface MeasuredPoint {
  readonly tradesPerSecond: number
  /** Of each part, of a core. */
  readonly cores: Readonly<Record<string, number>>
  readonly residentBytes: Readonly<Record<string, number>>
  readonly logBytesPerSecond: number
}

/** `base + slope * x`, and the farthest that a point lies from it, as a fraction of the point. */
export interface Line {
  readonly base: number
  readonly slope: number
  readonly error: number
}

/** The line of least squares, which falls nowhere below 0. Throws for fewer than two different x. */
export function fitLine(points: readonly (readonly [x: number, y: number])[]): Line {
  const mean = (of: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length
  const [x, y] = [mean(([at]) => at), mean(([, value]) => value)]
  const spread = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0)
  if (spread === 0) throw new Error('a line needs points at two rates or more: npm run bench -- capacity')
  const slope = Math.max(0, points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) / spread)
  const base = Math.max(0, y - slope * x)
  const errors = points.map(([at, value]) => Math.abs(base + slope * at - value) / Math.max(value, 0.01))
  return { base, slope, error: Math.max(...errors) }
}

export interface Load {
  readonly symbols: number
  readonly venues: number
  readonly alerts: number
  /** Requests a second. */
  readonly requests: number
  /** Trades a second of all symbols and venues. */
  readonly trades: number
  /** How long the log and the tables keep what they are given, days. */
  readonly days: number
}

/** What is not fitted here but stands measured elsewhere, each with where it is from. */
export interface Prices {
  /** Of a core, by a request: `npm run bench -- api`. */
  readonly coresPerRequest: number
  /** Bytes of memory by an alert: `npm run bench -- alerts`. */
  readonly bytesPerAlert: number
  /** Bytes of a trade in ClickHouse: `infra/clickhouse/README.md`. */
  readonly bytesPerTrade: number
  readonly coresPerMachine: number
  readonly bytesPerMachine: number
  readonly usdPerMachineMonth: number
  readonly usdPerGigabyteMonth: number
  /** Of a machine's cores that are used in the mean, so that a burst and a dead machine have room. */
  readonly used: number
}

/** The largest measured point, which is fitted here for once without it. */
interface HeldOut {
  readonly tradesPerSecond: number
  /** Cores of all parts, by the lines through the other points. */
  readonly said: number
  readonly measured: number
}

interface PartPlan {
  readonly part: string
  readonly cores: number
  /** As far as the line may be off: at its worst point, or where it was held out. */
  readonly coresMost: number
}

export interface Plan {
  readonly parts: readonly PartPlan[]
  readonly cores: number
  readonly coresMost: number
  readonly machines: number
  readonly machinesMost: number
  readonly partitions: number
  readonly memoryBytes: number
  readonly diskBytes: number
  readonly usdPerMonth: number
  readonly usdPerMonthMost: number
  /** How many times beyond the largest measured rate it asks. */
  readonly beyond: number
  readonly heldOut: HeldOut
}

/** Three of each byte of the log, as replicated; ClickHouse twice. */
const LOG_COPIES = 3
const TABLE_COPIES = 2
const DAY_SECONDS = 86_400
/** Below it a machine that dies is more than a third of all. */
const MACHINES_MIN = 3
/** A partition is one thread's: it shall take no more of a core than this. */
const PARTITION_CORES = 0.25
/** What is no part of a product that runs: the venues of a demo. */
const NOT_OURS = new Set(['simulator', 'anvil'])

/** The plan of a load; rates beyond the measured ones follow the lines, and `beyond` says by how much. */
export function planOf(load: Load, points: readonly MeasuredPoint[], prices: Prices): Plan {
  const parts = partsOf(load, points, prices)
  const sum = (of: (part: PartPlan) => number): number => parts.reduce((all, part) => all + of(part), 0)
  const [cores, coresMost] = [sum((part) => part.cores), sum((part) => part.coresMost)]
  const memoryBytes = memoryOf(points) + load.alerts * prices.bytesPerAlert
  const machinesFor = (needed: number): number =>
    Math.max(
      MACHINES_MIN,
      Math.ceil(needed / (prices.coresPerMachine * prices.used)),
      Math.ceil(memoryBytes / (prices.bytesPerMachine * prices.used)),
    )
  const log = fitLine(points.map((point) => [point.tradesPerSecond, point.logBytesPerSecond]))
  const seconds = load.days * DAY_SECONDS
  const diskBytes =
    seconds * ((log.base + log.slope * load.trades) * LOG_COPIES + load.trades * prices.bytesPerTrade * TABLE_COPIES)
  const [machines, machinesMost] = [machinesFor(cores), machinesFor(coresMost)]
  const usd = (count: number): number =>
    count * prices.usdPerMachineMonth + (diskBytes / 1e9) * prices.usdPerGigabyteMonth
  const processors = parts.find(({ part }) => part === 'processors')?.coresMost ?? 0
  return {
    parts,
    cores,
    coresMost,
    machines,
    machinesMost,
    partitions: Math.max(12, 4 * Math.ceil(processors / PARTITION_CORES / 4)),
    memoryBytes,
    diskBytes,
    usdPerMonth: usd(machines),
    usdPerMonthMost: usd(machinesMost),
    beyond: load.trades / largestOf(points).tradesPerSecond,
    heldOut: heldOutOf(points),
  }
}

function largestOf(points: readonly MeasuredPoint[]): MeasuredPoint {
  return points.reduce((a, b) => (a.tradesPerSecond > b.tradesPerSecond ? a : b))
}

/** How near the lines through all other points come to the largest. Throws for fewer than three points. */
function heldOutOf(points: readonly MeasuredPoint[]): HeldOut {
  const largest = largestOf(points)
  const { tradesPerSecond } = largest
  const others = points.filter((point) => point !== largest)
  const sum = (of: (part: string) => number): number => partNames(points).reduce((all, part) => all + of(part), 0)
  return {
    tradesPerSecond,
    said: sum((part) => at(lineOf(others, part), tradesPerSecond)),
    measured: sum((part) => largest.cores[part] ?? 0),
  }
}

function partNames(points: readonly MeasuredPoint[]): string[] {
  return Object.keys(points[0]?.cores ?? {}).filter((part) => !NOT_OURS.has(part))
}

function lineOf(points: readonly MeasuredPoint[], part: string): Line {
  return fitLine(points.map((point) => [point.tradesPerSecond, point.cores[part] ?? 0]))
}

function at({ base, slope }: Line, trades: number): number {
  return base + slope * trades
}

function partsOf({ trades, requests }: Load, points: readonly MeasuredPoint[], prices: Prices): PartPlan[] {
  const { said, measured } = heldOutOf(points)
  const off = Math.abs(measured - said) / Math.max(said, 0.01)
  return partNames(points).map((part) => {
    const line = lineOf(points, part)
    const asked = part === 'api' ? requests * prices.coresPerRequest : 0
    const cores = at(line, trades) + asked
    return { part, cores, coresMost: cores * (1 + Math.max(line.error, off)) }
  })
}

/** What the parts held at the largest rate. */
function memoryOf(points: readonly MeasuredPoint[]): number {
  const held = points.map(({ residentBytes }) =>
    Object.entries(residentBytes).reduce((sum, [part, bytes]) => sum + (NOT_OURS.has(part) ? 0 : bytes), 0),
  )
  return Math.max(...held)
}
