import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { BacktestOptions } from './options.ts'
import { sumOf } from './core/canonical.ts'
import type { Part } from './part.ts'
import type { Study } from './core/study.ts'
import type { ProcessorRow } from '../../processors/kernel/processor.ts'

/** What a backtest was made of and what came out: two with the same inputs and parameters have the same output hash. */
export interface Manifest {
  readonly version: 1
  readonly code: { readonly release: string; readonly commit: string | null; readonly changed: boolean }
  readonly processors: Readonly<Record<string, number>>
  readonly source: string
  readonly parameters: Readonly<Record<string, unknown>>
  /** By `topic/partition`: records read, first and last offset, SHA-256 over offsets, times and bodies. */
  readonly inputs: Readonly<Record<string, { records: number; first: number; last: number; hash: string }>>
  readonly inputHash: string
  readonly outputs: Readonly<Record<string, { records: number; hash: string }>>
  readonly outputHash: string
  readonly events: number
  readonly signals: number
  readonly triggers: number
  readonly undecodable: number
  /** Records that a processor set aside since it failed at them. */
  readonly failed: number
}

export interface ManifestParts {
  readonly options: BacktestOptions
  readonly rows: readonly ProcessorRow[]
  readonly parts: readonly Part[]
  readonly source: string
  readonly study: Study
}

/** Nothing in it depends on when or where the backtest ran, but for the name of the source. */
export function manifestOf(parts: ManifestParts): Manifest {
  const { options, rows, source, study } = parts
  const total = (count: (part: Part) => number): number => parts.parts.reduce((sum, part) => sum + count(part), 0)
  const inputs = Object.fromEntries(parts.parts.flatMap((part) => part.inputs).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const { topics: outputs, hash } = sumOf(parts.parts.flatMap(({ sums }) => sums))
  const { signals, triggers } = study
  return {
    version: 1,
    code: codeVersion(),
    processors: Object.fromEntries(rows.map(({ name, generation }) => [name, generation])),
    source,
    parameters: parametersOf(options),
    inputs,
    inputHash: sha256(JSON.stringify(inputs)),
    outputs,
    outputHash: sha256(JSON.stringify([hash, signals, triggers])),
    events: total(({ events }) => events),
    signals: signals.length,
    triggers: triggers.length,
    undecodable: total(({ undecodable }) => undecodable),
    failed: total(({ failed }) => failed),
  }
}

function parametersOf(options: BacktestOptions): Readonly<Record<string, unknown>> {
  const { symbols, from, to, mode, leadInMs, latencyMs, horizonsMs, alerts, rules } = options
  const iso = (time: number): string | null => (Number.isFinite(time) ? new Date(time).toISOString() : null)
  const given = (file: string | undefined): string | null => (file === undefined ? null : sha256(readFileSync(file)))
  return {
    symbols: symbols ?? null,
    from: from === 0 ? null : iso(from),
    to: iso(to),
    mode,
    leadInMs,
    latencyMs,
    horizonsMs,
    alerts: given(alerts),
    rules: given(rules),
  }
}

function codeVersion(): Manifest['code'] {
  const root = new URL('../../', import.meta.url)
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string }
  const git = (...args: string[]): string | null => {
    try {
      return execFileSync('git', args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'], timeout: 10_000 })
        .toString()
        .trim()
    } catch {
      return null // no checkout: an image, or an archive of the source
    }
  }
  const commit = git('rev-parse', 'HEAD')
  return { release: version, commit, changed: commit !== null && git('status', '--porcelain') !== '' }
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
