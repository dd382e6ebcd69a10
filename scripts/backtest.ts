import { backtest, endOf, type Outcome } from './backtest/backtest.ts'
import { checkJson, checkText, isEqual } from './backtest/check.ts'
import { load } from './backtest/load.ts'
import { writeParquet, clearResults, tablesOf, writeJson } from './backtest/results.ts'
import { backtestErrors } from './backtest/expected.ts'
import { readOptions, usage, type BacktestOptions } from './backtest/options.ts'
import { reportHtml } from './backtest/report.ts'
import type { Progress } from './backtest/run.ts'
import { conclude, stopSignal } from './command/command.ts'
import { openClickhouse, openTape } from './command/open-tape.ts'
import { systemOf } from './command/system.ts'
import { ProgressBar } from './command/progress-bar.ts'
import { writeFile } from '../infra/tapes/segment-file.ts'

async function main(given: BacktestOptions, stop: AbortSignal): Promise<boolean> {
  const tape = await openTape(given.source, given.data)
  const options = { ...given, to: endOf(given, tape, Date.now()) }
  const bar = new ProgressBar({
    isTerminal: process.stderr.isTTY,
    write: (text) => void process.stderr.write(text),
  })
  let last: Progress = { records: 0, total: 0, time: 0 }
  const onProgress = (progress: Progress): Promise<void> | undefined => {
    last = progress
    return bar.step(progress)
  }
  try {
    const around = { onProgress, warn: (line: string) => console.error(line), stop }
    const outcome = await backtest(tape, options, around)
    bar.end({ ...last, records: last.total })
    await keep(options, outcome)
    say(options, outcome)
    return outcome.check === undefined || isEqual(outcome.check)
  } finally {
    await tape.close()
  }
}

/** Writes the results where they were asked for. */
async function keep(options: BacktestOptions, { manifest, study, prices }: Outcome): Promise<void> {
  const tables = tablesOf(study, options.horizonsMs)
  const { out } = options
  if (out !== undefined) {
    clearResults(out)
    for (const { name, rows } of tables) writeJson(out, `${name}.json`, rows)
    writeParquet(out, tables)
    writeFile(out, 'report.html', Buffer.from(reportHtml({ manifest, study, prices })))
    writeJson(out, 'manifest.json', manifest) // last: where it stands, all the others do
  }
  if (!options.load) return
  const clickhouse = openClickhouse(
    await systemOf(options.data, { otherwise: 'or name its folder with --data', byMode: false }),
  )
  try {
    console.error(`loaded into the database backtests as run ${await load(clickhouse, manifest, tables)}`)
  } finally {
    await clickhouse.close()
  }
}

function say(options: BacktestOptions, { manifest, check }: Outcome): void {
  const { events, signals, triggers, outputHash, inputHash } = manifest
  if (options.json) {
    const checked = check === undefined ? { check: null } : { check: isEqual(check), checked: checkJson(check) }
    console.log(JSON.stringify({ ...manifest, ...checked }))
  } else {
    console.log(`${events} events, ${signals} signals, ${triggers} triggers`)
    console.log(`input ${inputHash}\noutput ${outputHash}`)
    if (options.out !== undefined) console.log(`results in ${options.out}`)
  }
  if (check !== undefined) (options.json ? console.error : console.log)(checkText(check))
}

async function help(): Promise<void> {
  console.log(usage)
}

const stop = stopSignal()
await conclude(() => {
  const options = readOptions(process.argv.slice(2))
  return options === undefined ? help() : main(options, stop)
}, backtestErrors)
