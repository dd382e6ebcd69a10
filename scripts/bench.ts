import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startBroker } from '../infra/local/broker.ts'
import { stopChildren, type Child } from '../infra/local/child.ts'
import { startClickhouse } from '../infra/local/clickhouse/start.ts'
import { freePorts } from '../infra/local/ports.ts'
import { startRegistry } from '../infra/local/registry.ts'
import { flag, runCommand, UsageError, type Values } from './command/command.ts'
import type { Bench, BenchParts, Figure } from './figure.ts'

/** Of the ClickHouse that benches share. */
const PASSWORD = 'of-the-benches'

const benches = new URL('bench/', import.meta.url)

/** Exit code of a run that was told to end. */
const STOPPED = 130

const known = namesOf(readdirSync(benches))
const usage = `npm run bench [-- NAME...] [--json]: measures, one figure a line. Benches: ${known.join(', ')}.`
const flags = { json: flag } as const

/** All benches, or the named ones, one figure a line. */
async function main(values: Values<typeof flags>, names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new UsageError(`no bench ${unknown.join(', ')}; there are ${known.join(', ')}`)
  const shared = new SharedParts()
  try {
    for (const name of names.length > 0 ? names : known) {
      if (values.json !== true) console.error(`bench ${name} ...`)
      const { default: bench } = (await import(new URL(`${name}.ts`, benches).href)) as { default: Bench }
      for (const figure of await bench(() => shared.get())) {
        const told = { bench: name, ...withRatio(figure) }
        console.log(values.json === true ? JSON.stringify(told) : line(told))
      }
    }
  } finally {
    await shared.stop()
  }
}

function namesOf(files: readonly string[]): string[] {
  return files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => path.basename(file, '.ts'))
    .sort()
}

function withRatio({ metric, value, unit, baseline, ratio = value / (baseline ?? NaN), n }: Figure): Figure {
  return { metric, value, unit, ...(baseline !== undefined && { baseline, ratio }), n }
}

function line({ bench, metric, value, unit, baseline, ratio, n }: Figure & { readonly bench: string }): string {
  const against = baseline === undefined ? '' : `  against ${short(baseline)} ${unit}`
  const share = ratio === undefined ? '' : `  ratio ${ratio.toFixed(2)}`
  return `${bench.padEnd(10)}${metric.padEnd(48)}${short(value).padStart(12)} ${unit.padEnd(12)}n=${n}${against}${share}`
}

function short(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))
}

/** The stores that benches share, started once and only when one asks for them. */
class SharedParts {
  readonly #children: Child[] = []
  #parts: Promise<BenchParts> | undefined

  get(): Promise<BenchParts> {
    this.#parts ??= this.#start()
    return this.#parts
  }

  async stop(): Promise<void> {
    for (const child of this.#children.toReversed()) await child.stop()
  }

  async #start(): Promise<BenchParts> {
    const folder = mkdtempSync(path.join(tmpdir(), 'bench-'))
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    const ports = await freePorts(3)
    const filesOf = (name: string, index: number) => {
      mkdirSync(path.join(folder, name))
      const onProgress = (text: string): void => console.error(`${name}: ${text}`)
      return {
        dataDir: path.join(folder, name),
        logFile: path.join(folder, `${name}.log`),
        port: ports[index] ?? 0,
        onProgress,
      }
    }
    const [broker, registry, clickhouse] = await Promise.all([
      this.#keep(startBroker(filesOf('broker', 0))),
      this.#keep(startRegistry(filesOf('registry', 1))),
      this.#keep(startClickhouse({ ...filesOf('clickhouse', 2), env: { CLICKHOUSE_PASSWORD: PASSWORD } })),
    ])
    const access = { url: clickhouse.url, user: 'default', password: PASSWORD }
    return { brokers: [broker.url], registryUrl: registry.url, clickhouse: access }
  }

  async #keep(starting: Promise<Child>): Promise<Child> {
    const child = await starting
    this.#children.push(child)
    return child
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void stopChildren().finally(() => process.exit(STOPPED)))
await runCommand({ usage, flags, allowPositionals: true }, main)
