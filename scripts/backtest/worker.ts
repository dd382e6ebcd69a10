import { parentPort, workerData } from 'node:worker_threads'
import { errorText } from '../command/command.ts'
import { backtestErrors } from './expected.ts'
import { arrange } from './modes.ts'
import { openTape } from '../command/open-tape.ts'
import type { BacktestOptions } from './options.ts'
import { replayPart, rulesOf, planOf } from './part.ts'
import type { WorkerTask, WorkerMessage } from './workers.ts'

/** A thread of a backtest: replays the partitions that it is told, one after the other, off a tape of its own. */
async function main(options: BacktestOptions): Promise<void> {
  const tape = await openTape(options.source, options.data)
  const arranged = arrange(tape, options.mode)
  const plan = planOf(arranged, options)
  const rules = rulesOf(options)
  const never = new AbortController().signal
  parentPort?.on('message', ({ partition, readings }: WorkerTask) => {
    const onProgress = (_: number, records: number, time: number): undefined => {
      say({ kind: 'progress', partition, records, time })
    }
    replayPart({ tape, arranged, plan, options, rules }, partition, readings, { onProgress, stop: never }).then(
      (part) => say({ kind: 'part', partition, part }),
      fail,
    )
  })
}

function say(word: WorkerMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin - threads have no origin
  parentPort?.postMessage(word)
}

/** An error's class does not pass from thread to thread: whether a person can mend it is said beside its text. */
function fail(error: unknown): void {
  const said = errorText(error, backtestErrors)
  const isExpected = typeof said === 'string'
  const says = said instanceof Error ? (said.stack ?? said.message) : String(said)
  say({ kind: 'failed', says, isExpected })
}

// What enters is what the thread that started this one has read off its own command line.
await main(workerData as BacktestOptions).catch(fail)
