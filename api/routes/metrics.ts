import { askPeer } from '../peers.ts'
import { textReply, type Reply } from '../request/reply.ts'
import { type Call, opsRoute, textOutput } from '../request/route.ts'
import { dataClock, type Peer, type Services } from '../services.ts'
import { channelHealth, markAges, processorLags, secondsBehind } from '../views/health.ts'
import { auditsOf, freeBytesOf, partitionTimesOf, presentOf, promisesOf, rangesOf } from './health.ts'

export const metrics = opsRoute({
  path: '/metrics',
  name: 'metrics',
  description: 'Prometheus metrics of every service',
  limit: 'caller',
  ttlMs: 1_000,
  outputs: { 200: textOutput('Prometheus text, one label `service`') },
  prepare: metricsAnswer,
})

const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The metrics of this service and of its peers, told apart by the label `service`. */
async function metricsAnswer({ services, route }: Call): Promise<Reply> {
  const hit = await services.cache.get('metrics', route.ttlMs, () => collect(services))
  return textReply(PROMETHEUS_TYPE, hit.value, hit.freshForMs)
}

async function collect(services: Services): Promise<string> {
  await look(services)
  const own = await services.metrics.registry.metrics()
  const scraped = await Promise.all(services.peers.map((peer) => scrape(services, peer)))
  const up = [
    '# HELP mda_service_up Whether the service answered this scrape',
    '# TYPE mda_service_up gauge',
    ...services.peers.map(
      ({ name }, index) => `mda_service_up{service="${name}"} ${scraped[index] === undefined ? 0 : 1}`,
    ),
  ]
  const there = scraped.filter((exposition) => exposition !== undefined)
  const merged = mergeExpositions([{ service: 'api', text: own }, ...there])
  return services.peers.length === 0 ? merged : `${merged}${up.join('\n')}\n`
}

/** Fills the gauges of what the views say; where these cannot be read, the gauges are absent and not old. */
async function look(services: Services): Promise<void> {
  const { clickhouse, diskFree, ...labelled } = services.metrics.seen
  for (const gauge of Object.values(labelled)) gauge.reset()
  diskFree.remove() // reset would be 0
  lookAtPresent(services)
  const isThere = (await rangesOf(services)) === 'ok'
  clickhouse.set(isThere ? 1 : 0)
  if (isThere) await lookAtRanges(services)
}

function lookAtPresent(services: Services): void {
  const { channel, topicAge, processorBehind, held } = services.metrics.seen
  try {
    const present = services.present()
    const world = present.world()
    for (const [kind, size] of Object.entries(present.sizes())) held.set({ kind }, size)
    const clock = dataClock(services, world)
    for (const [topic, venues] of Object.entries(channelHealth(world, clock)))
      for (const [venue, { state }] of Object.entries(venues))
        if (state !== 'off') channel.set({ topic, venue }, state === 'live' ? 1 : 0)
    for (const [topic, { age_ms }] of Object.entries(markAges(world.times, clock)))
      topicAge.set({ topic }, age_ms / 1000)
    for (const [processor, lag] of processorLags(world)) processorBehind.set({ processor }, lag / 1_000_000)
  } catch (error) {
    services.log.warn({ err: error }, 'the state of the log cannot be read for the metrics')
  }
}

async function lookAtRanges(services: Services): Promise<void> {
  const { auditMinutes, auditWorst, promiseBurn, promiseLeft, diskFree, behind } = services.metrics.seen
  const asked = [auditsOf(services), promisesOf(services), freeBytesOf(services), partitionTimesOf(services)] as const
  const [audits = [], promises = [], free, times] = await Promise.all(asked)
  if (free !== undefined) diskFree.set(free)
  const world = presentOf(services)?.world()
  if (world !== undefined && times !== undefined)
    for (const [topic, seconds] of secondsBehind(world, times)) behind.set({ topic }, seconds)
  for (const row of audits) {
    const { venue, worst_volume_difference, worst_delta_difference } = row
    for (const result of ['compared', 'different', 'unexplained'] as const)
      auditMinutes.set({ venue, result }, row[result])
    if (worst_volume_difference !== null) auditWorst.set({ venue, figure: 'volume' }, worst_volume_difference)
    if (worst_delta_difference !== null) auditWorst.set({ venue, figure: 'delta' }, worst_delta_difference)
  }
  for (const { promise, left, burn } of promises) {
    if (left !== null) promiseLeft.set({ promise }, left)
    for (const [window, times] of Object.entries(burn)) if (times !== null) promiseBurn.set({ promise, window }, times)
  }
}

async function scrape(services: Services, peer: Peer): Promise<Exposition | undefined> {
  try {
    const { status, text } = await askPeer(peer, '/metrics')
    if (status === 200) return { service: peer.name, text }
    services.log.warn({ peer: peer.name, status }, 'a service refuses to give its metrics')
  } catch (error) {
    services.log.warn({ peer: peer.name, err: error }, 'a service does not give its metrics')
  }
  return undefined
}

/** Prometheus text of one service. */
export interface Exposition {
  readonly service: string
  readonly text: string
}

interface Family {
  /** `# HELP` and `# TYPE` lines of the service that named it first. */
  readonly head: string[]
  readonly samples: string[]
}

/**
 * Puts the metrics of several services into one text: each sample gets the label `service`, and what has one name stands
 * together under one HELP and TYPE, as the format demands.
 */
export function mergeExpositions(expositions: readonly Exposition[]): string {
  const families = new Map<string, Family>()
  for (const exposition of expositions) addTo(families, exposition)
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples])
  return `${lines.join('\n')}\n`
}

function addTo(families: Map<string, Family>, { service, text }: Exposition): void {
  let current: Family | undefined
  const ours = new Set<string>()
  for (const line of text.split('\n')) {
    const name = /^# (?:HELP|TYPE) (\S+)/.exec(line)?.[1]
    if (name !== undefined) {
      if (!families.has(name)) ours.add(name)
      current = familyOf(families, name)
      if (ours.has(name)) current.head.push(line)
    } else if (line !== '' && !line.startsWith('#')) {
      // A sample without a head before it is a family of its own.
      current ??= familyOf(families, sampleName(line))
      current.samples.push(labelled(line, service))
    }
  }
}

function familyOf(families: Map<string, Family>, name: string): Family {
  const family = families.get(name) ?? { head: [], samples: [] }
  families.set(name, family)
  return family
}

function sampleName(line: string): string {
  return line.split(/[{\s]/, 1)[0] ?? line
}

function labelled(line: string, service: string): string {
  const name = sampleName(line)
  const rest = line.slice(name.length)
  if (!rest.startsWith('{')) return `${name}{service="${service}"}${rest}`
  const labels = rest.slice(1)
  return `${name}{service="${service}"${labels.startsWith('}') ? '' : ','}${labels}`
}
