import type { Economy } from '../economy.ts'
import type { RestReply, RestRequest, VenueServer } from '../venue-server.ts'
import type { World } from '../world.ts'
import { GateRest } from './rest.ts'

/** Gate's futures: only its REST is simulated. */
export class GateServer implements VenueServer {
  readonly name = 'gate'
  private readonly calls: GateRest

  constructor(world: World, economy: Economy) {
    this.calls = new GateRest(world, economy)
  }

  connect(): number {
    return 404
  }

  rest(request: RestRequest): RestReply {
    return this.calls.answer(request)
  }

  publish(): void {
    // No trades are simulated here.
  }
}
