import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { LocalFacilitator } from '../infra/local/chain/facilitator.ts'
import { readRunFile, urlOf, type RunFile } from '../infra/local/run-file.ts'
import { Random } from '../infra/local/venues/random.ts'
import { openBooks } from './accounts/books.ts'
import { lostAndDoubled } from './accounts/compare.ts'
import { isSound, reconcile, type Report } from './accounts/reconcile.ts'
import { reportText } from './accounts/show.ts'
import { Ledger } from './accounts/source-ledger.ts'
import { always } from './accounts/totals.ts'
import { isSoundAlerts, type AlertReport } from './chaos/alerts/account.ts'
import { ALERTS_PER_SECOND_MAX, alertSummary, alertText, startAlerts } from './chaos/alerts/run.ts'
import { disturb, recovery, type Target } from './chaos/disturb.ts'
import { ChaosPayer, isSoundPayments, type PaymentReport } from './chaos/payer.ts'
import { actionText, round, type Action } from './chaos/schedule.ts'
import { startOwnSystem } from './own-system.ts'

const usage = `npm run chaos -- --minutes N --seed N [flags]: kills, freezes and cuts parts of a running demo, then verifies.

  --minutes N   how long (default 5); a round of everything takes about 3 minutes
  --seed N      decides the order, the venues and the pauses (default 1)
  --data DIR    data folder of the running system (default .data)
  --own         start a system of its own in a temporary folder
  --alerts N    alerts created a second around the market price (default 2, at most ${ALERTS_PER_SECOND_MAX})
  --payments    that own system takes payments of play money, and every alert is paid for
  --facilitator with --payments: a stand-in facilitator settles, which times out, lies and answers late
  --rate N      trades a second of that own system (default 500)
  --only TEXT   only disturbances whose description holds TEXT, for example "kill" or "broker"
  --json        for programs: one line a disturbance

Last line: {lost, doubled, kills, recovered_ms_max, ..., triggers_lost, ...}. Exit 1 when anything was lost or doubled that no
gap explains, a trigger was lost, came unasked for, was not delivered or was delivered under two ids, or money was taken without an
answer.`

const PAUSE_MS_MAX = 3_000
/** Repairs of the last disturbance are still under way when the market is paused. */
const DRAIN_MS = 180_000

interface Options {
  readonly minutes: number
  readonly seed: number
  readonly only: string
  readonly alerts: number
  readonly json: boolean
}

interface Tally {
  kills: number
  disturbances: number
  recoveredMsMax: number
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '5' },
      seed: { type: 'string', default: '1' },
      data: { type: 'string', default: '.data' },
      own: { type: 'boolean', default: false },
      payments: { type: 'boolean', default: false },
      facilitator: { type: 'boolean', default: false },
      rate: { type: 'string', default: '500' },
      alerts: { type: 'string', default: '2' },
      only: { type: 'string', default: '' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(usage)
    return true
  }
  const { only, json } = values
  const { minutes, seed, alerts } = values
  const options = { minutes: Number(minutes), seed: Number(seed), alerts: Number(alerts), only, json }
  if (!values.own) return chaos(options, () => runningOn(values.data))
  const flags = ['--seed', values.seed, '--rate', values.rate, ...(values.payments ? ['--payments', 'local'] : [])]
  return values.facilitator ? misled(options, flags) : own(options, flags)
}

async function own(options: Options, flags: readonly string[], facilitator?: LocalFacilitator): Promise<boolean> {
  const system = await startOwnSystem(flags, facilitator && { PAYMENT_FACILITATOR_URL: facilitator.url })
  facilitator?.settleOn(urlOf(system.run(), 'chain'))
  try {
    return await chaos(options, () => system.run(), facilitator)
  } finally {
    await system.dispose()
  }
}

/** Its payments are settled by a facilitator that is not to be trusted. */
async function misled(options: Options, flags: readonly string[]): Promise<boolean> {
  const facilitator = await LocalFacilitator.start()
  try {
    return await own(options, flags, facilitator)
  } finally {
    await facilitator.close()
  }
}

function runningOn(data: string): RunFile {
  const run = readRunFile(data)
  if (run === undefined) throw new Error(`nothing runs on ${data}: start it first, or use --own`)
  return run
}

async function chaos(options: Options, run: () => RunFile, facilitator?: LocalFacilitator): Promise<boolean> {
  const ledger = new Ledger(urlOf(run(), 'simulator'))
  const books = await openBooks(run(), ledger)
  const chain = run().parts.find(({ name }) => name === 'chain')
  const payer = chain === undefined ? undefined : await ChaosPayer.start(chain.url)
  const alerts = await startAlerts(run, books, { seed: options.seed, perSecond: options.alerts, payer })
  try {
    const tally = await disturbAll(options, { run, clickhouse: books.clickhouse, facilitator })
    await alerts.stop()
    await ledger.pause()
    const report = await reconcile(books, always, DRAIN_MS)
    const rung = await alerts.account()
    const paid = await payer?.report()
    if (!options.json) console.log(`${reportText(report, ledger.name)}\n${alertText(rung)}`)
    console.log(JSON.stringify({ ...summary(report, tally, rung), ...(paid && paymentSummary(paid)) }))
    return isSound(report) && isSoundAlerts(rung) && (paid === undefined || isSoundPayments(paid))
  } finally {
    await alerts.close()
    await ledger.resume()
    await books.close()
  }
}

async function disturbAll(options: Options, target: Target): Promise<Tally> {
  const random = new Random(options.seed)
  const tally: Tally = { kills: 0, disturbances: 0, recoveredMsMax: 0 }
  const end = performance.now() + options.minutes * 60_000
  while (performance.now() < end) {
    const paid = target.run().parts.some(({ name }) => name === 'payments')
    const actions = round(random, paid, target.facilitator !== undefined).filter((action) =>
      actionText(action).includes(options.only),
    )
    if (actions.length === 0) throw new Error(`no disturbance holds ${JSON.stringify(options.only)}`)
    for (const action of actions) {
      if (performance.now() >= end) break
      const ms = await recovery(target, await disturb(target, action))
      count(tally, action, ms)
      const text = actionText(action)
      console.log(options.json ? JSON.stringify({ action: text, recovered_ms: ms }) : `${text.padEnd(36)} ${ms} ms`)
      await delay(random.below(PAUSE_MS_MAX))
    }
  }
  return tally
}

function count(tally: Tally, action: Action, ms: number): void {
  tally.disturbances += 1
  if (action.kind === 'kill' || action.kind === 'hold') tally.kills += 1
  tally.recoveredMsMax = Math.max(tally.recoveredMsMax, ms)
}

function summary(report: Report, tally: Tally, rung: AlertReport): object {
  const { lost, doubled } = lostAndDoubled(report.rows)
  return {
    lost,
    doubled,
    kills: tally.kills,
    recovered_ms_max: tally.recoveredMsMax,
    disturbances: tally.disturbances,
    stale: report.stale,
    hours_off: report.hoursOff,
    gaps: report.rows.reduce((count, row) => count + row.gaps.length, 0),
    ...alertSummary(rung),
    ok: isSound(report) && isSoundAlerts(rung),
  }
}

/** Millionths of a dollar, as numbers. */
function paymentSummary(paid: PaymentReport): object {
  const { receipts, told, spent, unanswered, unreceipted, twice } = paid
  const money = { paid_told: Number(told), paid_spent: Number(spent), paid_unanswered: Number(unanswered) }
  return {
    payments: receipts,
    ...money,
    paid_without_receipt: unreceipted,
    paid_twice: twice,
    payments_ok: isSoundPayments(paid),
  }
}

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
