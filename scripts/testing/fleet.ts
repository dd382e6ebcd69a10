import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Child } from '../../infra/local/child.ts'
import type { DataFolder } from '../../infra/local/data-folder.ts'
import { freePorts } from '../../infra/local/ports.ts'
import { writeRunFile, type RunFile } from '../../infra/local/run-file.ts'
import { ensureSecret } from '../../infra/local/secrets.ts'
import type { Part } from '../../infra/local/supervisor.ts'
import { programFile, type Ports, type System, type SystemOptions } from '../../infra/local/system.ts'

const PORTS = 20
/** Each part is cut at our exit by a listener of its own. */
const LISTENERS_MAX = 64

/** What `describeSystem` is asked for: one broker, and so many hosts of each service on free ports. */
export async function fleetOptions(
  folder: DataFolder,
  { hosts, payments, rate }: { readonly hosts: 1 | 2; readonly payments: 'off' | 'local'; readonly rate: number },
): Promise<SystemOptions> {
  const free = await freePorts(PORTS)
  const take = (): number => free.pop() ?? 0
  const several = (): number[] => Array.from({ length: hosts }, take)
  const stores = { clickhouse: take(), kafka: take(), registry: take(), simulator: take(), chain: take() }
  const services = { api: take(), console: take(), payments: take(), apis: hosts === 1 ? [] : several() }
  const ports: Ports = {
    ...stores,
    ...services,
    feeds: several(),
    processors: several(),
    webhooks: several(),
    brokers: [],
  }
  return {
    mode: 'demo',
    rehearse: false,
    folder,
    ports,
    simulator: { SIMULATOR_SEED: '7', SIMULATOR_RATE: String(rate) },
    feedClock: 'host',
    payments,
    facilitator: '',
    blockSeconds: 0,
    forgetsAfterMs: 0,
    secret: ensureSecret(folder, 'SERVICE_SECRET', {}),
    password: ensureSecret(folder, 'CLICKHOUSE_PASSWORD', {}),
    external: {},
    onProgress: () => undefined,
  }
}

/** The parts of a system, which nobody starts again when they end; run.json says what runs. */
export class Fleet {
  readonly #folder: DataFolder
  readonly #running = new Map<string, Child>()

  constructor(folder: DataFolder) {
    this.#folder = folder
    process.setMaxListeners(LISTENERS_MAX)
  }

  run(): RunFile {
    const parts = [...this.#running].map(([name, { pid, url }]) => ({ name, pid, url }))
    const { mode: data, partitions } = this.#folder
    return { mode: 'demo', data, partitions, parts }
  }

  async start(parts: readonly Part[]): Promise<void> {
    for (const part of parts) {
      this.#running.set(part.name, await part.start())
      writeRunFile(this.#folder.root, this.run())
    }
  }

  /** As `npm start` does, with the program of this release or of another one. */
  async prepare({ env }: System, program = programFile('infra/prepare.ts')): Promise<void> {
    await promisify(execFile)(process.execPath, [program], { env: { ...process.env, ...env } })
  }

  /** Stops each of them cleanly and starts it as this system has it, one after the other. */
  async restart({ services }: System, names: readonly string[]): Promise<void> {
    for (const name of names) {
      const part = services.find((each) => each.name === name)
      if (part === undefined) throw new Error(`there is no ${name}`)
      await this.#running.get(name)?.stop()
      await this.start([part])
    }
  }

  async stop(): Promise<void> {
    for (const child of [...this.#running.values()].toReversed()) await child.stop()
    this.#running.clear()
  }
}
