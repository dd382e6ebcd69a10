import path from 'node:path'
import { flag, readFlags, readTime, text, UsageError } from '../command/command.ts'

/** `lived`: log order; `corrected`: backfills in their place; `archive`: imported history. */
const modes = ['lived', 'corrected', 'archive'] as const
export type Mode = (typeof modes)[number]

/** What `npm run backtest` was asked for. Times in milliseconds. */
export interface BacktestOptions {
  /** Upper case; undefined: all. */
  readonly symbols: readonly string[] | undefined
  readonly from: number
  readonly to: number
  readonly mode: Mode
  readonly leadInMs: number
  readonly latencyMs: number
  readonly horizonsMs: readonly number[]
  readonly alerts: string | undefined
  readonly rules: string | undefined
  readonly out: string | undefined
  /** `kafka`, `clickhouse`, or a folder. */
  readonly source: string
  readonly data: string
  readonly checkLive: boolean
  /** Threads that partitions are replayed in; undefined: none beside this one. */
  readonly workers: number | undefined
  readonly load: boolean
  readonly json: boolean
}

const HOUR = 3_600_000
const WORKERS_MAX = 64
const LEAD_IN_MAX = 168 * HOUR
const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: HOUR, d: 24 * HOUR }

const flags = {
  symbols: text,
  from: text,
  to: text,
  mode: text,
  'lead-in': text,
  latency: text,
  horizons: text,
  alerts: text,
  rules: text,
  out: text,
  source: text,
  data: text,
  workers: text,
  'check-live': flag,
  load: flag,
  json: flag,
  help: flag,
} as const

export const usage = `npm run backtest -- [flags]: replays history through the processors' own cores, as fast as it can be read.

  --symbols BTC,ETH    which assets (default: all)
  --from T, --to T     what is reported: ISO 8601 or unix milliseconds, from inclusive, to exclusive
                       (default: the log's start; 15 s ago where a running system is read, else the end)
  --lead-in D          read before it, so that windows are full: at most 7d (default 7d, or what there is)
  --source S           kafka: the broker of a running system (default); clickhouse: its tables; or a folder that
                       npm run export or npm run import wrote
  --data DIR           the running system's data folder (default .data); where nothing runs there, what
                       KAFKA_BROKERS, SCHEMA_REGISTRY_URL, NAMESPACE and CLICKHOUSE_URL name
  --mode M             lived: in the order of the log (default); corrected: trades that were filled in later stand
                       where they belong; archive: imported trades alone
  --alerts FILE        a list of alerts, each as the body of POST /price-alert (webhook_url and channel may be left out; "kind":
                       "liquidation" for a liquidation alert). Without it: the alerts that the log tells of
  --rules FILE         which signals count as decisions, and which way they bet (api/docs/guides/backtesting.md).
                       Without it every class that says a direction is a group of its own
  --latency D          from the decision to the price that it is filled at: the first at or after it (default 500ms)
  --horizons D,D       forward returns after the fill (default 1m,5m,15m,1h,4h,1d)
  --out DIR            results: manifest.json, signals, triggers, returns (JSON and Parquet), report.html
  --workers N          threads that replay partitions at the same time (default 1); the result is the same for any
  --check-live         also hold every output beside what the live system wrote, and print each difference
  --load               also put the results into the database backtests of the running system's ClickHouse
  --json               the manifest on standard output; with --check-live how much was compared, by topic
  --help               this text

Nothing of the live system is written to. Exit 0: done; 1: --check-live found a difference, or nothing to
compare; 2: it could not be done.`

/** Reads the arguments after the program; undefined: help is wanted. Throws `UsageError`. */
export function readOptions(argv: readonly string[]): BacktestOptions | undefined {
  const { values } = readFlags(flags, { args: argv, hint: '; see npm run backtest -- --help' })
  if (values.help === true) return undefined
  const mode = modes.find((name) => name === (values.mode ?? 'lived'))
  if (mode === undefined) throw new UsageError(`--mode must be ${modes.join(', ')}, got ${values.mode ?? ''}`)
  const from = values.from === undefined ? 0 : readTime('--from', values.from)
  const to = values.to === undefined ? Infinity : readTime('--to', values.to)
  if (from >= to) throw new UsageError('--from must lie before --to')
  if (values['check-live'] === true && (mode !== 'lived' || values.alerts !== undefined))
    throw new UsageError('--check-live compares what was lived: leave out --mode and --alerts')
  const leadInMs = readDuration('--lead-in', values['lead-in'] ?? '7d')
  if (leadInMs > LEAD_IN_MAX) throw new UsageError('--lead-in may be at most 7d')
  const horizons = (values.horizons ?? '1m,5m,15m,1h,4h,1d').split(',')
  return {
    symbols: values.symbols === undefined ? undefined : readSymbols(values.symbols),
    from,
    to,
    mode,
    leadInMs,
    latencyMs: readDuration('--latency', values.latency ?? '500ms'),
    horizonsMs: horizons.map((horizon) => readDuration('--horizons', horizon)),
    alerts: values.alerts,
    rules: values.rules,
    out: values.out === undefined ? undefined : path.resolve(values.out),
    source: values.source ?? 'kafka',
    data: path.resolve(values.data ?? '.data'),
    checkLive: values['check-live'] ?? false,
    workers: values.workers === undefined ? undefined : readWorkers(values.workers),
    load: values.load ?? false,
    json: values.json ?? false,
  }
}

/** A duration as `500ms`, `10s`, `5m`, `1h` or `7d`; a bare number is milliseconds. */
export function readDuration(name: string, value: string): number {
  const [, number, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(value) ?? []
  const scale = units[unit]
  if (number === undefined || scale === undefined)
    throw new UsageError(`${name} must be a duration as 500ms, 10s, 5m, 1h or 7d, got ${value}`)
  return Number(number) * scale
}

function readWorkers(value: string): number {
  const workers = Number(value)
  if (Number.isInteger(workers) && workers >= 1 && workers <= WORKERS_MAX) return workers
  throw new UsageError(`--workers must be a whole number from 1 to ${WORKERS_MAX}, got ${value}`)
}

function readSymbols(value: string): readonly string[] {
  const symbols = value.split(',').map((symbol) => symbol.trim().toUpperCase())
  const bad = symbols.find((symbol) => !/^[A-Z0-9]{1,20}$/.test(symbol))
  if (bad !== undefined) throw new UsageError(`--symbols: ${bad === '' ? 'an empty symbol' : bad} is no symbol`)
  return [...new Set(symbols)]
}
