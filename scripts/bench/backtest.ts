import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileTape } from '../../infra/tapes/file-tape.ts'
import type { Tape } from '../../infra/tapes/tape.ts'
import { T0 } from '../../processors/cvd/testing/records.ts'
import { backtest } from '../backtest/backtest.ts'
import type { BacktestOptions } from '../backtest/options.ts'
import type { Bench, Figure } from '../figure.ts'
import { assets, PARTITIONS, secondsOf, writeHistory } from './backtest/history.ts'
import { startCost, type Cost } from './system/cost.ts'

/** `BENCH_TRADES=8000000` is a day. */
const TRADES = Number(process.env['BENCH_TRADES'] ?? 500_000)

/** A whole backtest from files against reading the same files and decoding every record; memory; growth; two threads. */
const bench: Bench = async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-backtest-'))
  try {
    const bytes = writeHistory(folder, TRADES)
    const all = optionsOf(folder, {})
    await cost(folder, replayOf(all)) // unmeasured: the code of both sides is compiled then
    await cost(folder, read)
    const reading = await best(folder, read)
    const whole = await best(folder, replayOf(all))
    const figures = [
      figure('events replayed from files, CPU', whole, reading),
      ...(await growth(folder, all, whole)),
      await threads(folder, all),
    ]
    const largest = process.resourceUsage().maxRSS / 1024
    return [
      ...figures,
      { metric: 'a whole replay, CPU', value: whole.seconds, unit: 's', n: whole.events },
      { metric: 'largest memory, writing the tape included', value: largest, unit: 'MB', n: TRADES },
      { metric: 'a trade in an Avro export', value: bytes / TRADES, unit: 'bytes', n: TRADES },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export default bench

interface Replay {
  readonly events: number
  readonly seconds: number
}

type Work = (tape: Tape) => Promise<number>

function figure(metric: string, own: Replay, other: Replay): Figure {
  const [value, baseline] = [own.events / own.seconds, other.events / other.seconds]
  return { metric, value, unit: 'events/s', baseline, n: own.events }
}

/** Half of the time, and half of the symbols, against all: what is linear has a ratio of 1. */
async function growth(folder: string, all: BacktestOptions, whole: Replay): Promise<Figure[]> {
  const half = { to: T0 / 1000 + secondsOf(TRADES) * 500 }
  const symbols = { symbols: assets.filter((_, index) => index % 2 === 0).map((asset) => asset.toUpperCase()) }
  return [
    figure('half of the range, CPU', await best(folder, replayOf({ ...all, ...half })), whole),
    figure('half of the symbols, CPU', await best(folder, replayOf({ ...all, ...symbols })), whole),
  ]
}

/** By the clock, for threads share a machine. */
async function threads(folder: string, all: BacktestOptions): Promise<Figure> {
  const timed = (workers: number): Promise<Replay> => cost(folder, replayOf({ ...all, workers }), 'seconds')
  const [one, two] = [await timed(1), await timed(2)]
  return figure('two threads against one, by the clock', two, one)
}

/** By CPU time of this process, where both sides are one thread's work. */
async function cost(folder: string, work: Work, by: keyof Cost = 'cpu'): Promise<Replay> {
  const tape = fileTape(folder)
  const ended = startCost()
  const events = await work(tape)
  const seconds = ended()[by]
  await tape.close()
  return { events, seconds }
}

async function best(folder: string, work: Work): Promise<Replay> {
  const costs = [await cost(folder, work), await cost(folder, work), await cost(folder, work)]
  return costs.reduce((least, other) => (other.seconds < least.seconds ? other : least))
}

function replayOf(options: BacktestOptions): Work {
  return async (tape) => {
    const around = { onProgress: () => undefined, warn: () => undefined, stop: new AbortController().signal }
    return (await backtest(tape, options, around)).manifest.events
  }
}

function optionsOf(source: string, given: Partial<BacktestOptions>): BacktestOptions {
  return {
    symbols: undefined,
    from: 0,
    to: Infinity,
    mode: 'lived',
    leadInMs: 0,
    latencyMs: 500,
    horizonsMs: [60_000, 300_000, 900_000],
    alerts: undefined,
    rules: undefined,
    out: undefined,
    source,
    data: '',
    checkLive: false,
    workers: undefined,
    load: false,
    json: false,
    ...given,
  }
}

async function read(tape: Tape): Promise<number> {
  let events = 0
  for (const topic of tape.topics) {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const span = await tape.span(topic, partition, { from: 0, to: Infinity })
      for await (const records of tape.read(span)) {
        for (const { value } of records) {
          if (value !== null) tape.codec.decode(value)
          events += 1
        }
      }
    }
  }
  return events
}
