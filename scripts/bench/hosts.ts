import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ownTopics } from '../../infra/kafka/testing/topics.ts'
import { nodeProgram, startChild, type Child } from '../../infra/local/child.ts'
import { programFile } from '../../infra/local/system.ts'
import type { Bench, BenchParts, Figure } from '../figure.ts'
import { logOf, writeNext } from './trades/log-of.ts'

const PARTITIONS = 6
const HOSTS = [1, 2, 3]
/** Of each host, whose code is compiled by then. */
const WARM_UP_TRADES = 240_000
/** So many that what a host does however little comes is small beside them. */
const TRADES = 3_000_000
const LOOK_EVERY_MS = 500
const WITHIN_MS = 240_000

/**
 * What a trade costs 1, 2 and 3 hosts that a consumer group deals partitions out to: CPU of all of them by records applied,
 * which a busy machine disturbs less than the clock. `ratio`: how much of linear the hosts together do.
 */
const bench: Bench = async (parts) => {
  const shared = await parts()
  const costs: { hosts: number; us: number; n: number }[] = []
  for (const hosts of HOSTS) costs.push({ hosts, ...(await costOf(shared, hosts)) })
  const alone = costs[0]?.us ?? 0
  return costs.map(({ hosts, us, n }): Figure => {
    const metric = `CPU of a trade, ${hosts} host${hosts > 1 ? 's' : ''}`
    return { metric, value: us, unit: 'us', baseline: alone, ratio: alone / us, n }
  })
}

export default bench

async function costOf(parts: BenchParts, count: number): Promise<{ us: number; n: number }> {
  const { log, codec, namespace } = await ownTopics(parts, 'bench-hosts', PARTITIONS)
  const hosts: Child[] = []
  try {
    for (let host = 1; host <= count; host++) hosts.push(await startHost(parts, namespace, host))
    const writer = log.writer()
    const warmUp = count * WARM_UP_TRADES
    const trades = Array.from({ length: PARTITIONS }, (_, partition) =>
      logOf(partition, { partitions: PARTITIONS, trades: warmUp + TRADES }),
    )
    const write = async (most?: number): Promise<number> => {
      const written = trades.map((messages, partition) => writeNext(writer, codec, partition, messages, most))
      return (await Promise.all(written)).reduce((sum, each) => sum + each, 0)
    }
    const warm = await write(warmUp / PARTITIONS)
    const before = await appliedBy(hosts, warm)
    const n = await write()
    const after = await appliedBy(hosts, warm + n)
    await writer.close()
    return { us: ((after.cpuSeconds - before.cpuSeconds) * 1e6) / n, n }
  } finally {
    await Promise.all(hosts.map((host) => host.stop()))
    await log.close()
  }
}

function startHost({ brokers, registryUrl, clickhouse }: BenchParts, namespace: string, host: number): Promise<Child> {
  return startChild({
    name: `processors-${host}`,
    command: nodeProgram(programFile('processors/main.ts')),
    env: {
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      NAMESPACE: namespace,
      PARTITIONS: String(PARTITIONS),
      PROCESSORS: 'cvd',
      MEMBERSHIP: 'group',
      CLICKHOUSE_URL: clickhouse.url,
      CLICKHOUSE_USER: clickhouse.user,
      CLICKHOUSE_PASSWORD: clickhouse.password,
      CLICKHOUSE_DATABASE: 'none', // nothing is read into it
      LOG_LEVEL: 'warn',
    },
    logFile: path.join(tmpdir(), `bench-hosts-${process.pid}-${host}.log`),
    ready: 'message',
    readyWithinMs: 60_000,
    stopWithinMs: 15_000,
  })
}

/** When the hosts together have applied so many records, each of them some: what they have done, and their CPU time. */
async function appliedBy(hosts: readonly Child[], records: number): Promise<{ cpuSeconds: number }> {
  const deadline = Date.now() + WITHIN_MS
  for (;;) {
    const all = await Promise.all(hosts.map(({ url }) => metricsOf(url)))
    const applied = all.reduce((sum, host) => sum + host.applied, 0)
    if (applied >= records && all.every((host) => host.applied > 0))
      return { cpuSeconds: all.reduce((sum, host) => sum + host.cpuSeconds, 0) }
    if (Date.now() > deadline) throw new Error(`${applied} of ${records} records were applied in ${WITHIN_MS} ms`)
    await delay(LOOK_EVERY_MS)
  }
}

async function metricsOf(url: string): Promise<{ applied: number; cpuSeconds: number }> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const sum = (name: string): number =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0)
  return { applied: sum('mda_processor_applied_records_total'), cpuSeconds: sum('process_cpu_seconds_total') }
}
