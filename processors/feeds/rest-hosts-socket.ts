import type { SourceName } from '../../schemas/venues.ts'
import { hostTime } from './clock-socket.ts'
import { baseOf, type Bases } from './host-settings.ts'
import { RestClient } from './rest-socket.ts'
import type { RestHost, Source } from './source.ts'
import type { Venue } from './venue.ts'

/** One client per REST host: its polls, its lists and the repair of its trades share one budget. */
export class RestHosts {
  readonly #clients = new Map<string, RestClient>()

  /** `venues` and `sources`: those that are switched on. */
  constructor(bases: Bases, venues: readonly Venue[], sources: readonly Source[]) {
    for (const source of sources) {
      for (const host of ['rest', 'spotRest'] as const) {
        const [own, budget] = [source.hosts[host], source.budgets[host]]
        if (own === undefined || budget === undefined) continue
        const { base, replaced } = baseOf(bases, source.name, host, own)
        this.#clients.set(
          `${source.name} ${host}`,
          new RestClient(base, budget, replaced, host === 'rest' ? source.repair : undefined, dateOf(source.name)),
        )
      }
    }
    for (const { name, urls, rest } of venues) {
      if (this.#clients.has(`${name} rest`)) continue
      const { base, replaced } = baseOf(bases, name, 'rest', urls.rest)
      this.#clients.set(`${name} rest`, new RestClient(base, rest, replaced, undefined, dateOf(name)))
    }
  }

  of(name: SourceName, host: RestHost): RestClient {
    const client = this.#clients.get(`${name} ${host}`)
    if (client === undefined) throw new Error(`${name} has no ${host} with an address and a budget`)
    return client
  }

  /** All clients with `venue host` as their name. */
  get all(): ReadonlyMap<string, RestClient> {
    return this.#clients
  }

  close(): void {
    for (const client of this.#clients.values()) client.close()
  }
}

function dateOf(venue: string): (second: number, mono: number) => void {
  return (second, mono) => hostTime.venues.told(venue, second, mono)
}
