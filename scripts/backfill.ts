import { mkdirSync, statfsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '../infra/config/config.ts'
import { loadCodec, type RegistryCodec } from '../infra/kafka/codec.ts'
import type { Log } from '../infra/kafka/seam.ts'
import { startChild, type Child } from '../infra/local/child.ts'
import { killedFolder, readRunFile, urlOf, type RunFile } from '../infra/local/run-file.ts'
import { programFile } from '../infra/local/system.ts'
import { venueEnv } from '../infra/simulator/start.ts'
import { readOrders, type KnownOrders } from '../api/console/backfill.ts'
import {
  estimateOf,
  missingDays,
  secondsOf,
  subjectsOf,
  type Estimate,
  type Subject,
} from '../processors/feeds/facts/past-estimate.ts'
import { beyondLimit, orderKey, ordersOf } from '../processors/feeds/facts/past-orders.ts'
import { FREE_BYTES_MIN } from '../processors/feeds/runtime/past-watch.ts'
import { InstrumentTable } from '../processors/feeds/runtime/instrument-table.ts'
import { addressOf } from '../processors/feeds/runtime/host-settings.ts'
import { streamedAssets } from '../processors/feeds/runtime/control.ts'
import { venues } from '../processors/feeds/venues/venues.ts'
import { quietMeter, quietReport } from '../processors/kernel/quiet.ts'
import type { BackfillOrder } from '../schemas/records.ts'
import { addresses } from '../schemas/venues.ts'
import { flag, readTime, runCommand, text, UsageError, type Values, stopSignal } from './command/command.ts'
import { tapeErrors } from './command/open-tape.ts'
import { ProgressBar } from './command/progress-bar.ts'
import { openLog } from './command/system.ts'
import { pastOf } from './start/past.ts'

const usage = `npm run backfill -- --symbols BTC,ETH [flags]: reads the venues' past back into the log.

  --symbols A,B    of which assets
  --days N         the last N days (default 90), or
  --from T, --to T the days from T on, UTC; --to bounds archives alone, candles are read up to now
  --archives       the venues' public archives of trades too (Binance, Bybit, OKX): each a file a day, checked, folded
                   by the core that counts live trades; before that, what they take on the line is asked for and shown
  --cancel         take back all orders of these assets; what is in the log stays
  --dry-run        say what it comes to, and order nothing
  --data DIR       the running system's data folder (default .data). Where nothing runs there, a system is started for
                   it, and stopped at the end; no demo where KAFKA_BROKERS is given
  --live           of what is started: the real venues in place of the simulated market
  --help           this text

The feeds do the work, by the job of the first start. The order stands in the log: stop this command and it goes on, stop the
system and it goes on at the next start; run the same command again to look on. Exit 0: all is there; 1: stopped looking on;
2: it could not be done.`

const flags = {
  symbols: text,
  days: text,
  from: text,
  to: text,
  archives: flag,
  'dry-run': flag,
  cancel: flag,
  live: flag,
  data: { ...text, default: '.data' },
} as const

/** The feeds' own limit for a part; a HEAD has no body. */
const HEAD_MS = 10_000
const LOOK_MS = 1_000
/** After this long the feeds have heard an order, milliseconds. */
const HEARD_MS = 5_000
const READY_MS = 20 * 60_000

type Given = Values<typeof flags>

async function main(values: Given, stop: AbortSignal): Promise<boolean> {
  const orders = ordersOfFlags(values)
  const root = path.resolve(values.data)
  const isThere = readRunFile(root) !== undefined && killedFolder(root) === undefined
  const own = isThere ? undefined : await startSystem(root, values.live === true)
  try {
    const run = readRunFile(root)
    if (run === undefined) throw new UsageError(`nothing runs on ${root}; see ${root}/backfill.log`)
    if (values.cancel === true) return await takeBack(run, new Set(orders.map(({ asset }) => asset)))
    return await onSystem(run, orders, values['dry-run'] === true, stop)
  } finally {
    await own?.stop()
  }
}

function ordersOfFlags(values: Given): BackfillOrder[] {
  if (values.symbols === undefined) throw new UsageError('name assets with --symbols, as --symbols BTC,ETH')
  const assets = streamedAssets(values.symbols.split(',').map((symbol) => symbol.trim()))
  const time = (name: 'from' | 'to'): number | undefined => {
    const value = values[name]
    return value === undefined ? undefined : readTime(`--${name}`, value) * 1_000
  }
  const days = values.days === undefined ? undefined : Number(values.days)
  const orders = ordersOf(
    { assets, days, from: time('from'), to: time('to'), archives: values.archives === true },
    Date.now() * 1_000,
  )
  if (typeof orders === 'string') throw new UsageError(`--${orders}`)
  return orders
}

function startSystem(data: string, isLive: boolean): Promise<Child> {
  if (!isLive && (process.env['KAFKA_BROKERS'] ?? '') !== '')
    throw new UsageError(
      `nothing runs on ${data}, and no demo is started on the log of KAFKA_BROKERS: order the past at the console ` +
        'of the system there (POST /api/backfill)',
    )
  console.error(`nothing runs on ${data}: starting a system there`)
  mkdirSync(data, { recursive: true })
  const flagsOf = ['--ports', 'auto', '--data', data, ...(isLive ? ['--live'] : [])]
  return startChild({
    name: 'system',
    command: [process.execPath, programFile('scripts/start.ts'), ...flagsOf],
    logFile: path.join(data, 'backfill.log'),
    ready: 'message',
    readyWithinMs: READY_MS,
    stopWithinMs: 180_000,
  })
}

/** Takes back what was ordered of assets. */
async function takeBack(run: RunFile, assets: ReadonlySet<string>): Promise<boolean> {
  const log = await openLog(run, 'backfill')
  try {
    const { keys } = await readOrders(log.reader(), await loadCodec(urlOf(run, 'registry')))
    const own = [...keys].filter((key) => assets.has(key.split('|')[1] ?? ''))
    const records = own.map((key) => ({ key, value: null, time: Date.now() }))
    if (records.length > 0) await log.writer().send('control.backfill', 0, records)
    console.log(`${records.length} orders were taken back`)
    return true
  } finally {
    await log.close()
  }
}

async function onSystem(
  run: RunFile,
  orders: readonly BackfillOrder[],
  isDry: boolean,
  stop: AbortSignal,
): Promise<boolean> {
  const past = pastOf(urlOf(run, 'api'))
  const log = await openLog(run, 'backfill')
  try {
    const codec = await loadCodec(urlOf(run, 'registry'))
    const known = await readOrders(log.reader(), codec)
    const subjects = await subjectsIn(log, codec, orders)
    const estimate = estimateOf(subjects, known.covered, Date.now() * 1_000)
    console.log(await wordsOf(run, { subjects, covered: known.covered, estimate }))
    assertRoom(run, estimate)
    const beyond = beyondLimit(known.orders, orders)
    if (beyond !== undefined) throw new UsageError(beyond)
    if (isDry) return true
    const records = orders.map((order) => {
      const value = codec.encode('control.backfill', 'backfill_order', order)
      return { key: orderKey(order), value, time: Date.now() }
    })
    await log.writer().send('control.backfill', 0, records)
    return await lookOn(past, stop)
  } finally {
    await log.close()
  }
}

/** The markets that the orders are about. */
async function subjectsIn(log: Log, codec: RegistryCodec, orders: readonly BackfillOrder[]): Promise<Subject[]> {
  const ports = {
    codec,
    lookUp: codec.lookUp.bind(codec),
    writer: log.writer(),
    meter: quietMeter,
    report: quietReport,
  }
  const table = await InstrumentTable.read(log.reader(), ports)
  const { CVD_VENUES: counted } = readConfig(process.env, ['CVD_VENUES'])
  const subjects = subjectsOf(orders, counted, (venue, market, asset) => table.of(venue, market).get(asset))
  if (subjects.length === 0)
    throw new UsageError('no venue whose trades count lists any of these symbols; try BTC, ETH or SOL')
  return subjects
}

interface Plan {
  readonly subjects: readonly Subject[]
  readonly covered: KnownOrders['covered']
  readonly estimate: Estimate
}

async function wordsOf(run: RunFile, { subjects, covered, estimate }: Plan): Promise<string> {
  const { candles, facts, archives, bytes } = estimate
  const packed = await packedBytes(run, { subjects, covered })
  const lines = [
    `${subjects.length} markets: ${candles.toLocaleString('en')} hourly candles, ${facts.toLocaleString('en')} other rows, ${archives} files of archives`,
  ]
  const untold = packed.unknown === 0 ? '' : ` and ${packed.unknown} files that were not told of`
  const onLine = archives === 0 ? '' : `, ${Math.ceil(packed.bytes / 1e6)} MB on the line${untold}`
  lines.push(
    `about ${Math.ceil(bytes / 1e6)} MB on the disk${onLine}; about ${secondsOf(estimate, packed.bytes)} s beside what the line takes`,
  )
  return lines.join('\n')
}

/** What the files take on the line, by the newest of each market. */
async function packedBytes(
  run: RunFile,
  { subjects, covered }: Pick<Plan, 'subjects' | 'covered'>,
): Promise<{ bytes: number; unknown: number }> {
  const config = { ...noAddresses, ...(run.mode === 'live' ? {} : venueEnv(urlOf(run, 'simulator'))) }
  let [bytes, unknown] = [0, 0]
  for (const subject of subjects) {
    const { archive, instrument } = subject
    const dates = missingDays(subject, covered, Date.now() * 1_000)
    const newest = dates.at(-1)
    if (archive === undefined || newest === undefined) continue
    const venue = venues.find(({ name }) => name === instrument.venue)?.name ?? 'binance'
    const url = addressOf(config, venue, 'archive').base + archive.path(instrument.symbol, newest)
    const size = await sizeOf(url)
    if (size === undefined) unknown += dates.length
    else bytes += size * dates.length
  }
  return { bytes, unknown }
}

async function sizeOf(url: string): Promise<number | undefined> {
  const answer = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(HEAD_MS) }).catch(() => undefined)
  const size = Number(answer?.headers.get('content-length') ?? NaN)
  return answer?.ok === true && Number.isFinite(size) ? size : undefined
}

/** As the environment has them. */
const noAddresses = readConfig(
  process.env,
  addresses.map(({ setting }) => setting),
)

function assertRoom({ data }: RunFile, { bytes }: Estimate): void {
  const { bavail, bsize } = statfsSync(data)
  if (bavail * bsize > bytes + FREE_BYTES_MIN) return
  const megabytes = (value: number): string => `${Math.ceil(value / 1e6)} MB`
  throw new UsageError(
    `it takes about ${megabytes(bytes)}, and ${data} has room for ${megabytes(bavail * bsize)}, of which ${megabytes(FREE_BYTES_MIN)} are kept free: free some, or order fewer --days`,
  )
}

/** As the feeds judge it, which read nothing more back then. */
const NO_ROOM =
  'paused: the disk has too little room for the past; free some, or take orders back with --cancel; it goes on by itself'

/** Shows how far the feeds are; false: stopped before the end. */
async function lookOn(pastNow: ReturnType<typeof pastOf>, stop: AbortSignal): Promise<boolean> {
  const bar = new ProgressBar({ isTerminal: process.stderr.isTTY, write: (text) => void process.stderr.write(text) })
  const begun = Date.now()
  let [most, isPaused, isAway] = [0, false, false]
  while (!stop.aborted) {
    await delay(LOOK_MS)
    const past = await pastNow()
    if (past === null) {
      if (!isAway) console.error('the API, or one of the feeds, does not answer; waiting for it')
      isAway = true
      continue
    }
    isAway = false
    if (past.state === 'paused' && !isPaused) console.error(NO_ROOM)
    isPaused = past.state === 'paused'
    most = Math.max(most, past.missing)
    const step = { records: most - past.missing, total: most, time: Date.now() }
    if (past.missing > 0 || Date.now() - begun < HEARD_MS) {
      void bar.step(step)
      continue
    }
    bar.end(step)
    console.log('the past is there; what was damaged or never there is in the log of the feeds')
    return true
  }
  console.log('stopped looking on; the order stands')
  return false
}

const stop = stopSignal()
await runCommand({ usage, flags, expected: tapeErrors }, (values) => main(values, stop))
