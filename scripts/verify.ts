import { parseArgs } from 'node:util'
import { readRunFile, urlOf, type RunFile } from '../infra/local/run-file.ts'
import { openBooks } from './accounts/books.ts'
import { isSound, reconcile, settledWindow, type Report } from './accounts/reconcile.ts'
import { reportJson, reportText } from './accounts/show.ts'
import { Ledger } from './accounts/source-ledger.ts'
import { always, type Window } from './accounts/totals.ts'

const usage = `npm run verify [-- flags]: compares the accounts of a running system with their source, trade by trade.

  --data DIR    its data folder (default .data)
  --pause       pause the simulator first, so that everything is compared to the last trade
  --wait N      seconds to wait for what is on its way (default 90)
  --json        for programs

Without --pause a running market is compared up to the last 10 s bucket that is surely complete.
Exit 0: equal, or explained by recorded gaps; 1: anything else differs.`

/** The simulator answers ranges of time this far back. */
const REACH_MICROS = 5 * 3_600_000_000

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      data: { type: 'string', default: '.data' },
      pause: { type: 'boolean', default: false },
      wait: { type: 'string', default: '90' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(usage)
    return true
  }
  const run = readRunFile(values.data)
  if (run === undefined)
    throw new Error(`nothing runs on ${values.data}: start it first, or name its folder with --data`)
  const { report, source } = await verify(run, values.pause, Number(values.wait) * 1000)
  console.log(values.json ? JSON.stringify(reportJson(report, source)) : reportText(report, source))
  return isSound(report)
}

async function verify(run: RunFile, pause: boolean, withinMs: number): Promise<{ report: Report; source: string }> {
  const ledger = new Ledger(urlOf(run, 'simulator'))
  if (pause) await ledger.pause()
  const window: Window = pause || (await ledger.isStill()) ? always : settledWindow(Date.now() * 1000, REACH_MICROS)
  const books = await openBooks(run, ledger)
  try {
    return { report: await reconcile(books, window, withinMs), source: ledger.name }
  } finally {
    await books.close()
  }
}

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
