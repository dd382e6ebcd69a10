import { urlOf, type RunFile } from '../infra/local/run-file.ts'
import { readConfig } from '../infra/config/config.ts'
import { venueEnv } from '../infra/simulator/start.ts'
import { openBooks, type Books, type Source } from './accounts/books.ts'
import { compareMinutes, minutesText, type MinutesReport } from './accounts/minutes.ts'
import { isSound, reconcile, settledWindow, stillWindow, wholeMinutes, type Report } from './accounts/reconcile.ts'
import { Candles } from './accounts/source-candles.ts'
import { areRight, checkDerived, derivedText } from './accounts/derived.ts'
import { reportJson, reportText } from './accounts/show.ts'
import { Ledger } from './accounts/source-ledger.ts'
import { addresses } from '../schemas/venues.ts'
import {
  flag,
  readNumber,
  runCommand,
  stopSignal,
  text,
  unlessStopped,
  UsageError,
  type Values,
} from './command/command.ts'
import { systemOf } from './command/system.ts'

const usage = `npm run verify [-- flags]: compares the accounts of a running system with their source: trades and
volumes of the last five hours by the ledger, of the last 24 by candles; and log, ClickHouse, flow and ledger in each 10 s of
the last five hours, by quote volume, lowest and highest price and the sum of the times too. The last lines say from when to
when it looked.

  --data DIR    its data folder (default .data); where nothing runs there, the system is that of MODE, KAFKA_BROKERS,
                SCHEMA_REGISTRY_URL, NAMESPACE and CLICKHOUSE_URL
  --pause       pause the simulator meanwhile, so that everything is compared to the last trade; it goes on at the end, also
                where this is stopped
  --wait N      seconds to wait for what is on its way (default 90)
  --derived     instead of the accounts, every number that the API derives: prices, funding, basis, long/short,
                heatmap, liquidations. Pauses the simulator and leaves it paused; values as the simulator's ledger has them
  --source S    ledger (demo and tape) or candles (live; of whole minutes): the other than the mode's own.
                By candles it also says, by venue, how far CVD by candles is from CVD by trades
  --json        for programs

Without --pause a running market is compared up to the last 10 s bucket that is surely complete. Of what is older than five
hours the ledger answers no range of time.
Exit 0: equal, or explained by recorded gaps; 1: anything else differs, or nothing was recorded; 2: it could not be compared. By
candles a market of which
no trade was recorded is not asked for, and of venues that count only by CVD_VENUES none are read: log, ClickHouse and flow
are held against each other, and counted apart.`

const hint = {
  otherwise: 'or name MODE, KAFKA_BROKERS and CLICKHOUSE_URL of one elsewhere, or its folder with --data',
  byMode: true,
}

const off = { ...flag, default: false } as const
const flags = {
  data: { ...text, default: '.data' },
  pause: off,
  wait: { ...text, default: '90' },
  derived: off,
  source: text,
  json: off,
} as const

async function main(values: Values<typeof flags>): Promise<boolean> {
  const withinMs = readNumber('--wait', values.wait) * 1000
  const { source: given } = values
  if (given !== undefined && given !== 'ledger' && given !== 'candles')
    throw new UsageError(`--source must be ledger or candles, got ${given}`)
  const run = await systemOf(values.data, hint)
  if (values.derived) return derived(run, { withinMs, json: values.json })
  const options = { pause: values.pause, withinMs }
  const byCandles = (given ?? (run.mode === 'live' ? 'candles' : 'ledger')) === 'candles'
  if (byCandles && values.pause) throw new UsageError('--pause goes with the ledger: by candles nothing can be paused')
  const { report, source, minutes } = byCandles ? await byVenues(run, options) : await byLedger(run, options)
  if (values.json) console.log(JSON.stringify({ ...reportJson(report, source), ...(minutes && { minutes }) }))
  else console.log([reportText(report, source), ...(minutes === undefined ? [] : [minutesText(minutes)])].join('\n'))
  return isSound(report) && (minutes?.unexplained.length ?? 0) === 0
}

async function derived(run: RunFile, { withinMs, json }: { withinMs: number; json: boolean }): Promise<boolean> {
  const report = await checkDerived(run, withinMs)
  console.log(json ? JSON.stringify(report) : derivedText(report))
  return areRight(report.rows)
}

interface Options {
  readonly pause: boolean
  readonly withinMs: number
}

interface Verified {
  readonly report: Report
  readonly source: string
  /** Where the source is candles: minute by minute, as the audit compares. */
  readonly minutes?: MinutesReport
}

async function byLedger(run: RunFile, { pause, withinMs }: Options): Promise<Verified> {
  const ledger = new Ledger(urlOf(run, 'simulator'))
  const verified = async (isStill: boolean): Promise<Verified> => {
    const window = (isStill ? stillWindow : settledWindow)(await ledger.now())
    const source = ledger.name
    return opened(run, ledger, async (books) => ({ report: await reconcile(books, window, withinMs), source }))
  }
  if (!pause) return verified(await ledger.isStill())
  const stop = stopSignal()
  return ledger.whilePaused(() => unlessStopped(stop, verified(true)))
}

/** From the first whole minute of every instrument to the last that the venues have surely closed. */
async function byVenues(run: RunFile, { withinMs }: Options): Promise<Verified> {
  const candles = new Candles(restUrls(run))
  return opened(run, candles, async (books) => {
    const window = wholeMinutes(await firstTrades(books), Date.now() * 1000)
    const report = await reconcile(books, window, withinMs)
    return { report, source: candles.name, minutes: await compareMinutes(books.clickhouse, candles, report) }
  })
}

async function opened(run: RunFile, source: Source, use: (books: Books) => Promise<Verified>): Promise<Verified> {
  const books = await openBooks(run, source)
  try {
    return await use(books)
  } finally {
    await books.close()
  }
}

/** When the instrument that came last was first traded, microseconds. */
async function firstTrades({ clickhouse }: Books): Promise<number> {
  const [row] = await clickhouse.rows<{ first: string }>(
    'SELECT toString(max(first)) AS first FROM (SELECT toUnixTimestamp64Micro(min(time)) AS first FROM trades GROUP BY instrument)',
  )
  return Number(row?.first ?? 0)
}

/** REST base of each venue: as the feeds have it, the simulator's, or the venue's own. */
function restUrls(run: RunFile): Record<string, string> {
  const simulator = run.mode === 'live' ? {} : venueEnv(urlOf(run, 'simulator'))
  const rests = addresses.filter(({ host }) => host === 'rest')
  const settings = rests.map(({ setting }) => setting)
  const config = readConfig({ ...process.env, ...simulator }, settings)
  return Object.fromEntries(rests.map(({ venue, own, setting }) => [venue, config[setting] || own]))
}

await runCommand({ usage, flags }, main)
