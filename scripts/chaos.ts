import { LocalFacilitator } from '../infra/local/chain/facilitator.ts'
import { roleOf, urlOf, type RunFile } from '../infra/local/run-file.ts'
import { Random } from '../infra/simulator/market/random.ts'
import type { LogGap } from '../schemas/records.ts'
import { openBooks, type OpenBooks } from './accounts/books.ts'
import { lostAndDoubled } from './accounts/compare.ts'
import { isSound, reconcile, stillWindow, type Report } from './accounts/reconcile.ts'
import { faultsOf, reportText } from './accounts/show.ts'
import { Ledger } from './accounts/source-ledger.ts'
import { isSoundAlerts, type AlertReport, type Disturbance } from './chaos/alerts/account.ts'
import { ALERTS_PER_SECOND_MAX, alertFaults, alertSummary, alertText, startAlerts } from './chaos/alerts/run.ts'
import { causeOf, unexplainedGaps } from './chaos/accidents.ts'
import { AnswerJudge } from './chaos/answers.ts'
import { Asker } from './chaos/asker.ts'
import { disturb, recovery, type Losing, type Target } from './chaos/disturb.ts'
import { RetainedLog } from './chaos/retained-log.ts'
import { ChaosPayer, isSoundPayments, type PaymentReport } from './chaos/payer.ts'
import { pause } from './chaos/parts.ts'
import { actionText, FORGETS_SECONDS, round, takeNext, type Action } from './chaos/schedule.ts'
import {
  flag,
  readNumber,
  readWhole,
  runCommand,
  running,
  StopError,
  stopSignal,
  text,
  unlessStopped,
  type Values,
} from './command/command.ts'
import { startOwnSystem } from './own-system.ts'

const usage = `npm run chaos -- --minutes N --seed N [flags]: kills, freezes and cuts parts of a running demo, then verifies.

  --minutes N   how long (default 5); a round of everything takes about 5 minutes, on a system of its own 9
  --seed N      decides the order, the venues and the pauses (default 1)
  --data DIR    data folder of the running system (default .data)
  --own         start a system of its own in a temporary folder, with a broker that forgets owners after ${FORGETS_SECONDS} s.
                Only there the log loses its tail and retention overtakes a reader. Where something was wrong it is kept
  --alerts N    alerts created a second around the market price (default 2, at most ${ALERTS_PER_SECOND_MAX}; 0: none)
  --payments    that own system takes payments of play money, and every alert is paid for
  --facilitator with --payments: a stand-in facilitator settles, which times out, lies and answers late
  --rate N      trades a second of that own system (default 500)
  --cluster     of npm run cluster (data folder .data/cluster), or with --own of one of its own: machines, brokers, leaders,
                the network between them, in place of what one machine may meet; nothing may be lost
  --only TEXT   only disturbances whose description holds TEXT, for example "kill"; several with a bar: "kill|cut"
  --patience S  seconds after which a system that has not recovered counts as broken (default 180); more for a busy machine
  --json        for programs: one line a disturbance, and one a fault that was found

Last line: {lost, doubled, kills, recovered_ms_max, unanswered_ms_max, silent_ms_max, answers_checked, answers_wrong, ...,
triggers_lost, ...}. Exit 1 when anything was lost or doubled that no gap explains, a gap of the log is told that no accident
explains, an answer about now was not what the log gives up to its moment, a trigger was lost, came unasked for, was not delivered
or was delivered under two ids, or money was taken without an answer; 130 when it was stopped: what was frozen or paused then goes on. npm run chaos:nightly is an hour of everything.`

const PAUSE_MS_MAX = 3_000
/** Repairs of the last disturbance are still under way when the market is paused. */
const DRAIN_MS = 180_000

interface Options {
  readonly minutes: number
  readonly seed: number
  readonly only: string
  readonly alerts: number
  readonly patienceMs: number
  readonly json: boolean
  readonly cluster: boolean
  /** Aborted: what is disturbed is put right, and nothing is judged. */
  readonly stop: AbortSignal
}

interface Tally {
  /** When the dispatcher, or its log, was upset. */
  readonly upsets: Disturbance[]
  kills: number
  disturbances: number
  recoveredMsMax: number
  /** When the last disturbance was over, host's milliseconds. */
  over: number
  /** Why it went no further: the system did not recover, or no disturbance began. What was counted until then is told all the same. */
  broken: string | undefined
}

const off = { ...flag, default: false } as const
const flags = {
  minutes: { ...text, default: '5' },
  seed: { ...text, default: '1' },
  data: text,
  own: off,
  cluster: off,
  payments: off,
  facilitator: off,
  rate: { ...text, default: '500' },
  alerts: { ...text, default: '2' },
  only: { ...text, default: '' },
  patience: { ...text, default: '180' },
  json: off,
} as const

async function main(values: Values<typeof flags>, stop: AbortSignal): Promise<boolean> {
  const { only, json } = values
  const { cluster, data = cluster ? '.data/cluster' : '.data' } = values
  const options = { ...sizesOf(values), only, json, cluster, stop }
  if (!values.own) return chaos(options, { run: () => running(data, 'or use --own'), isOurs: false })
  const ours = [
    ...(cluster ? ['--cluster'] : []),
    '--seed',
    values.seed,
    '--rate',
    values.rate,
    ...(values.payments ? ['--payments', 'local'] : []),
  ]
  return values.facilitator ? misled(options, ours) : own(options, ours)
}

function sizesOf(values: Values<typeof flags>): Pick<Options, 'minutes' | 'seed' | 'alerts' | 'patienceMs'> {
  readNumber('--rate', values.rate) // goes to a start of our own as it is
  return {
    minutes: readNumber('--minutes', values.minutes),
    seed: readWhole('--seed', values.seed),
    alerts: readNumber('--alerts', values.alerts),
    patienceMs: readNumber('--patience', values.patience) * 1_000,
  }
}

/** Where routes are paid for, the judge of answers asks all the same. */
const QUESTIONS_FREE = '1000000'

async function own(options: Options, flags: readonly string[], facilitator?: LocalFacilitator): Promise<boolean> {
  const system = await startOwnSystem(flags, {
    BROKER_FORGETS_SECONDS: String(FORGETS_SECONDS),
    FREE_REQUESTS_PER_DAY: QUESTIONS_FREE,
    ...(facilitator && { PAYMENT_FACILITATOR_URL: facilitator.url }),
  })
  facilitator?.settleOn(urlOf(system.run(), 'chain'))
  let isRight = false
  try {
    isRight = await chaos(options, { run: () => system.run(), isOurs: true, facilitator })
    return isRight
  } finally {
    await (isRight ? system.dispose() : system.stop())
    if (!isRight) console.error(`its data and logs are kept in ${system.data}`)
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

interface Victim {
  readonly run: () => RunFile
  /** Its log may lose something for good. */
  readonly isOurs: boolean
  readonly facilitator?: LocalFacilitator | undefined
}

/** Of these topics the judges read also what accidents have taken away. */
const kept = ['market.trades', 'alerts.inputs', 'webhooks.attempts'] as const

async function chaos(options: Options, { run, isOurs, facilitator }: Victim): Promise<boolean> {
  const { patienceMs, stop } = options
  const ledger = new Ledger(urlOf(run(), 'simulator'))
  const opened = await openBooks(run(), ledger)
  const losing = isOurs && !options.cluster ? losingOf(opened) : undefined
  const books = losing === undefined ? opened : { ...opened, reader: losing.kept, realOf: realOf(losing.kept) }
  const chain = run().parts.find(({ name }) => name === 'chain')
  const payer = chain === undefined ? undefined : await ChaosPayer.start(chain.url)
  const asker = new Asker(() => `${urlOf(run(), 'api')}/price/BTC`)
  const judge = new AnswerJudge({ run, books: opened, isWhole: () => (losing?.accidents.length ?? 0) === 0 })
  const alerts = await startAlerts(run, books, { seed: options.seed, perSecond: options.alerts, payer })
  try {
    const tally = await disturbAll(options, {
      run,
      patienceMs,
      stop,
      clickhouse: books.clickhouse,
      losing,
      facilitator,
    })
    const unanswered = await asker.stop()
    const answers = await judge.stop()
    await alerts.stop()
    await ledger.pause()
    const report = await unlessStopped(stop, reconcile(books, stillWindow(await ledger.now()), DRAIN_MS))
    if (losing !== undefined) forgetUnread(losing, report.logGaps)
    const rung = await unlessStopped(stop, alerts.account(tally.upsets))
    const paid = await payer?.report()
    const strange = unexplainedGaps(report.logGaps, losing?.accidents ?? [])
    const broken = tally.broken === undefined ? [] : [tally.broken]
    const further = [...strange, ...answers.faults, ...broken]
    if (options.json) for (const fault of [...faultsOf(report), ...alertFaults(rung), ...further]) sayFault(fault)
    else
      console.log([reportText(report, ledger.name), alertText(rung), ...further.map((text) => `  ${text}`)].join('\n'))
    const isOk = isSound(report) && isSoundAlerts(rung) && further.length === 0
    const { checked, wrong, unjudged } = answers
    const told = { answers_checked: checked, answers_wrong: wrong, answers_unjudged: unjudged }
    const logGaps = { log_gaps: report.logGaps.length, log_gaps_unexplained: strange.length }
    const waits = { unanswered_ms_max: unanswered, silent_ms_max: alerts.silentMsMax(tally.over) }
    const said = {
      ...summary(report, tally, rung),
      ...waits,
      ...told,
      ...logGaps,
      ok: isOk,
      ...(paid && paymentSummary(paid)),
    }
    console.log(JSON.stringify(said))
    return isOk && (paid === undefined || isSoundPayments(paid))
  } finally {
    await asker.stop()
    await judge.stop()
    await alerts.close()
    await ledger.resume()
    await opened.close()
  }
}

function sayFault(fault: string): void {
  console.log(JSON.stringify({ fault }))
}

function losingOf({ reader, log, namespace, partitions }: OpenBooks): Losing {
  return { kept: new RetainedLog(reader, kept, partitions), log, namespace, partitions, accidents: [] }
}

function realOf(log: RetainedLog): RetainedLog['realOf'] {
  return (topic, partition, offset) => log.realOf(topic, partition, offset)
}

/** What was cut from the commands and prices counts only as far as the alerts' processor had read it. */
function forgetUnread({ kept: log, accidents }: Losing, gaps: readonly LogGap[]): void {
  const topic = 'alerts.inputs'
  const told = gaps.filter((gap) => gap.reader === 'alerts' && gap.topic === topic && gap.reason === 'cut')
  log.forget(topic, (partition, cutFrom, offset) =>
    told.some((gap) => {
      return gap.partition === partition && causeOf(gap, accidents)?.from === cutFrom && offset < gap.position
    }),
  )
}

async function disturbAll(options: Options, target: Target): Promise<Tally> {
  const random = new Random(options.seed)
  const tally: Tally = { upsets: [], kills: 0, disturbances: 0, recoveredMsMax: 0, over: 0, broken: undefined }
  const end = performance.now() + options.minutes * 60_000
  // Answers are judged by the log as long as it is whole: for half of the time.
  const mayLose = (): boolean => performance.now() >= end - options.minutes * 30_000
  while (performance.now() < end) {
    const paid = target.run().parts.some(({ name }) => name === 'payments')
    const tried = {
      paid,
      facilitator: target.facilitator !== undefined,
      own: target.losing !== undefined,
      cluster: options.cluster,
    }
    const actions = round(random, tried).filter((action) =>
      options.only.split('|').some((part) => actionText(action).includes(part)),
    )
    if (actions.length === 0) throw new Error(`no disturbance holds ${JSON.stringify(options.only)}`)
    while (performance.now() < end) {
      const action = takeNext(actions, mayLose())
      if (action === undefined) break
      const from = Date.now()
      const ms = await tryOut(target, action, tally)
      if (ms === undefined) return tally
      if (isUpset(action)) tally.upsets.push({ from, to: Date.now() })
      count(tally, action, ms)
      tally.over = Date.now()
      const text = actionText(action)
      console.log(options.json ? JSON.stringify({ action: text, recovered_ms: ms }) : `${text.padEnd(36)} ${ms} ms`)
      await pause(target, random.below(PAUSE_MS_MAX))
    }
  }
  if (tally.disturbances === 0) tally.broken = 'nothing was disturbed: give it more --minutes'
  return tally
}

/** Milliseconds until it had recovered; undefined: it had not, and the tally says why. */
async function tryOut(target: Target, action: Action, tally: Tally): Promise<number | undefined> {
  try {
    return await recovery(target, await disturb(target, action))
  } catch (error) {
    if (error instanceof StopError) throw error
    tally.broken = `${actionText(action)}: ${error instanceof Error ? error.message : String(error)}`
    tally.over = Date.now()
    return undefined
  }
}

/** Whether the dispatcher, or the broker that has its log, was away. */
function isUpset(action: Action): boolean {
  if (['cut', 'machine', 'rolling', 'leaders'].includes(action.kind)) return true
  return 'part' in action && ['webhooks', 'broker', 'link'].includes(roleOf(action.part))
}

function count(tally: Tally, action: Action, ms: number): void {
  tally.disturbances += 1
  if (['kill', 'hold', 'cut', 'machine', 'rolling', 'empty'].includes(action.kind)) tally.kills += 1
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
    sums_off: report.sumsOff,
    gaps: report.rows.reduce((count, row) => count + row.gaps.length, 0),
    trades: tradesOf(report.rows),
    trades_in_gaps: report.rows.reduce((count, { inGaps }) => count + inGaps.source.count, 0),
    ...alertSummary(rung),
  }
}

function tradesOf(rows: Report['rows']): number {
  return rows.reduce(
    (count, { source }) => count + (typeof source === 'object' && 'count' in source ? source.count : 0),
    0,
  )
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

const stop = stopSignal()
await runCommand({ usage, flags }, (values) => main(values, stop))
