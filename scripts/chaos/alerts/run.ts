import { urlOf, type RunFile } from '../../../infra/local/run-file.ts'
import { Random } from '../../../infra/simulator/market/random.ts'
import type { ChaosPayer } from '../payer.ts'
import { accountAlerts, type AlertBooks, type AlertReport, type Disturbance } from './account.ts'
import { AlertCreator } from './creator.ts'
import { startReceiver } from './receiver.ts'
import { timeFaults } from './times.ts'

/** So many alerts a second leave the free calls of the API room for what else chaos asks. */
export const ALERTS_PER_SECOND_MAX = 5
/** What waits for quiet hours to end; what was refused at first is sent again after 5 s and after 30 s. */
const DRAIN_MS = 240_000
/** Told of each kind of fault. */
const TOLD_MAX = 20

export interface AlertRun {
  /** Stops creating; what is under way is answered. */
  stop(): Promise<void>
  /** Waits until every trigger has come to its end, and judges. */
  account(upsets: readonly Disturbance[]): Promise<AlertReport>
  /** The longest time without a first delivery, up to `until` (host's milliseconds): milliseconds. */
  silentMsMax(until: number): number
  close(): Promise<void>
}

/** Begins to create alerts around the market price, with a receiver of our own that keeps its own account. */
export async function startAlerts(
  run: () => RunFile,
  books: AlertBooks,
  {
    seed,
    perSecond,
    payer,
  }: { readonly seed: number; readonly perSecond: number; readonly payer?: ChaosPayer | undefined },
): Promise<AlertRun> {
  const since = Date.now()
  const receiver = await startReceiver(run().data, 'flaky')
  const creator = new AlertCreator({
    api: () => urlOf(run(), 'api'),
    webhookUrl: receiver.url,
    random: new Random(seed, 1),
    perSecond: Math.min(perSecond, ALERTS_PER_SECOND_MAX),
    onCreated: ({ alertId, secret }) => receiver.know(alertId, secret),
    payer,
  })
  return {
    stop: () => creator.stop(),
    account: async (upsets) => {
      const report = await accountAlerts(books, receiver, creator.created, { withinMs: DRAIN_MS, upsets })
      const times = await timeFaults({ ...books, since, now: () => Date.now() })
      return { ...report, wrong: [...report.wrong, ...creator.failed, ...times] }
    },
    silentMsMax: (until) => {
      const times = [...receiver.deliveries.values()].map(({ first }) => first).filter((first) => first < until)
      const sorted = [...times, until].toSorted((a, b) => a - b)
      return Math.round(sorted.reduce((most, time, index) => Math.max(most, time - (sorted[index - 1] ?? time)), 0))
    },
    close: async () => {
      await creator.stop()
      await receiver.close()
    },
  }
}

/** The report for people: figures, and the first of each kind that is wrong. */
export function alertText(report: AlertReport): string {
  const { created, demanded, delivered, digested, doubled, repeated, ended } = report
  const figures = `alerts: ${created} created, ${demanded} triggers demanded, ${delivered} delivered, ${digested} of them in digests, ${doubled} of them more than once, ${ended} ended by their owner, ${repeated} told again by the log`
  return [figures, ...alertFaults(report).map((fault) => `  ${fault}`)].join('\n')
}

/** The first of each kind that is wrong. */
export function alertFaults(report: AlertReport): string[] {
  const kinds = ['lost', 'unexpected', 'undelivered', 'resent', 'wrong'] as const
  return kinds.flatMap((kind) => report[kind].slice(0, TOLD_MAX).map((text) => `${kind}: ${text}`))
}

/** The report for programs. */
export function alertSummary({
  created,
  demanded,
  delivered,
  digested,
  doubled,
  ended,
  ...lists
}: AlertReport): object {
  const { lost, unexpected, undelivered, resent, wrong } = lists
  return {
    alerts: created,
    triggers: demanded,
    triggers_lost: lost.length,
    triggers_unexpected: unexpected.length,
    triggers_undelivered: undelivered.length,
    triggers_cancelled: ended,
    deliveries: delivered,
    deliveries_digested: digested,
    deliveries_doubled: doubled,
    deliveries_resent: resent.length,
    deliveries_wrong: wrong.length,
  }
}
