import path from 'node:path'
import type { Mode } from '../../infra/local/data-folder.ts'
import { flag, readFlags, text, UsageError, type Values } from '../command/command.ts'

/** Ports of the parts that people talk to, with their defaults; the flag is `--<name>-port`. */
const defaultPorts = { api: 3000, console: 3001, clickhouse: 8123, kafka: 9092, registry: 8081 } as const
const PORT_MAX = 65_535
/** Of a cluster: any of the brokers, and one host of each service, may go. */
const BROKERS = 3
const HOSTS = 2
const PROCESSORS_MAX = 8

export type PortName = keyof typeof defaultPorts

/** What `npm start` was asked for. */
export interface StartOptions {
  readonly mode: Mode
  /** Absolute. */
  readonly data: string
  readonly fresh: boolean
  /** undefined: a free one is picked. */
  readonly ports: Readonly<Record<PortName, number | undefined>>
  readonly seed: string | undefined
  readonly rate: string | undefined
  readonly speed: string | undefined
  readonly tape: string | undefined
  readonly retime: boolean
  readonly faults: boolean
  /** Of a restored backup: whoever it would call or charge has the live system for it. */
  readonly rehearse: boolean
  /** undefined: as PAYMENTS of the environment says. */
  readonly payments: Payments | undefined
  /** How many of each there are: one, or a cluster's. */
  readonly brokers: number
  readonly hosts: number
  readonly processorHosts: number
}

const paymentModes = ['off', 'local', 'x402'] as const

export type Payments = (typeof paymentModes)[number]

const flags = {
  live: flag,
  demo: flag,
  tape: text,
  data: text,
  fresh: flag,
  seed: text,
  rate: text,
  speed: text,
  retime: flag,
  faults: flag,
  payments: text,
  rehearse: flag,
  cluster: flag,
  processors: text,
  ports: text,
  'api-port': text,
  'console-port': text,
  'clickhouse-port': text,
  'kafka-port': text,
  'registry-port': text,
  help: flag,
} as const

export const usage = `npm start -- [flags]

  --demo               the simulated market: no network needed (default)
  --live               the real venues
  --tape PATH          a recorded tape, or a folder of tapes, in place of the simulated market
  --data DIR           folder of all data (default .data, of a cluster .data/cluster); each mode has its own folder below it
  --fresh              empty the mode's folder first
  --seed N             seed of the simulated market and of its faults
  --rate N             trades a second of the simulated market, over all venues and symbols
  --faults             the simulator injects its seeded schedule of faults by itself
  --retime             shift a tape's times to now
  --speed N            speed of a tape; 0: as fast as it can be read
  --payments off       every route is free (default)
  --payments local     play money on a chain of this machine, with a funded example payer: npm run pay
  --payments x402      USDC on Base or Base Sepolia, with --live; see PAYMENT_* below
  --rehearse           to try a restored backup: calls and charges nobody, without webhooks, payments and the simulated
                       market; afterwards its data folder is thrown away
  --cluster            three brokers and two hosts of each service, the APIs behind a balancer: npm run cluster
  --processors N       hosts of processors in that cluster, 1 to ${PROCESSORS_MAX} (default ${HOSTS})
  --api-port N         default ${defaultPorts.api}
  --console-port N     default ${defaultPorts.console}
  --clickhouse-port N  default ${defaultPorts.clickhouse}
  --kafka-port N       default ${defaultPorts.kafka}
  --registry-port N    default ${defaultPorts.registry}
  --ports auto         free ports for all that are not given
  --help               this text and every setting of the environment`

/** Reads the arguments after the program; `undefined`: help is wanted. Throws `UsageError`. */
export function readOptions(argv: readonly string[]): StartOptions | undefined {
  const { values } = readFlags(flags, { args: argv, hint: '; see npm start -- --help' })
  if (values.help === true) return undefined
  return {
    mode: modeOf(values),
    data: path.resolve(values.data ?? (values.cluster === true ? '.data/cluster' : '.data')),
    fresh: values.fresh ?? false,
    ports: portsOf(values),
    seed: whole('seed', values.seed),
    rate: decimal('rate', values.rate),
    speed: decimal('speed', values.speed),
    tape: values.tape === undefined ? undefined : path.resolve(values.tape),
    retime: values.retime ?? false,
    faults: values.faults ?? false,
    rehearse: values.rehearse ?? false,
    payments: paymentsOf(values),
    ...sizeOf(values),
  }
}

type Given = Values<typeof flags>

function modeOf(values: Given): Mode {
  const modes: Mode[] = []
  if (values.demo === true) modes.push('demo')
  if (values.live === true) modes.push('live')
  if (values.tape !== undefined) modes.push('tape')
  if (modes.length > 1) throw new UsageError(`--${modes.join(' and --')} exclude each other`)
  const mode = modes[0] ?? 'demo'
  if (mode !== 'tape' && (values.retime === true || values.speed !== undefined))
    throw new UsageError('--retime and --speed are for a tape: give --tape PATH')
  if (mode === 'live' && (values.rate !== undefined || values.seed !== undefined || values.faults === true))
    throw new UsageError('--rate, --seed and --faults are the simulator’s: leave out --live')
  return mode
}

function sizeOf({ cluster, processors }: Given): Pick<StartOptions, 'brokers' | 'hosts' | 'processorHosts'> {
  if (cluster !== true) {
    if (processors !== undefined) throw new UsageError('--processors is for a cluster: give --cluster')
    return { brokers: 1, hosts: 1, processorHosts: 1 }
  }
  const processorHosts = Number(whole('processors', processors) ?? HOSTS)
  if (processorHosts < 1 || processorHosts > PROCESSORS_MAX)
    throw new UsageError(`--processors must be 1 to ${PROCESSORS_MAX}, got ${processorHosts}`)
  return { brokers: BROKERS, hosts: HOSTS, processorHosts }
}

function paymentsOf({ payments: given, rehearse }: Given): Payments | undefined {
  if (rehearse === true && given !== undefined && given !== 'off')
    throw new UsageError('a rehearsal charges nobody: leave out --payments')
  const known = paymentModes.find((mode) => mode === given)
  if (given !== undefined && known === undefined)
    throw new UsageError(`--payments must be off, local or x402, got ${given}`)
  return rehearse === true ? 'off' : known
}

function portsOf(values: Given): Record<PortName, number | undefined> {
  if (values.ports !== undefined && values.ports !== 'auto')
    throw new UsageError(`--ports must be auto, got ${values.ports}`)
  const port = (name: PortName): number | undefined => {
    const given = whole(`${name}-port`, values[`${name}-port`])
    if (given !== undefined && Number(given) > PORT_MAX) throw new UsageError(`--${name}-port ${given} is no port`)
    const auto = values.ports === 'auto' || Number(given) === 0
    return given !== undefined && Number(given) > 0 ? Number(given) : auto ? undefined : defaultPorts[name]
  }
  return {
    api: port('api'),
    console: port('console'),
    clickhouse: port('clickhouse'),
    kafka: port('kafka'),
    registry: port('registry'),
  }
}

function whole(name: string, value: string | undefined): string | undefined {
  if (value === undefined || /^\d+$/.test(value)) return value
  throw new UsageError(`--${name} must be a whole number, got ${value}`)
}

function decimal(name: string, value: string | undefined): string | undefined {
  if (value === undefined || /^\d+(\.\d+)?$/.test(value)) return value
  throw new UsageError(`--${name} must be a number of 0 or more, got ${value}`)
}
