import { mergeExpositions, type Exposition } from '../exposition.ts'
import { askPeer } from '../peers.ts'
import type { Answer, Call } from '../route.ts'
import type { Peer, Services } from '../services.ts'

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The metrics of this service and of its peers, told apart by the label `service`. */
export async function metricsAnswer({ services }: Call, ttlMs: number): Promise<Answer> {
  const hit = await services.texts.get('metrics', ttlMs, () => collect(services))
  return { kind: 'text', type: PROMETHEUS_TYPE, body: hit.value, freshForMs: hit.freshForMs }
}

async function collect(services: Services): Promise<string> {
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
