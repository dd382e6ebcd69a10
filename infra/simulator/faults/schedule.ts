import { tradeVenueNames } from '../market/markets.ts'
import { Random } from '../market/random.ts'
import type { FaultKind, FaultOrder } from './faults.ts'

const MEAN_PAUSE_MS = 12_000

/** What happens by itself, how often in relation, and for how long or to how many frames. Bans are only on request. */
const plan: readonly {
  kind: FaultKind
  weight: number
  durationMs?: readonly [number, number]
  count?: readonly [number, number]
}[] = [
  { kind: 'disconnect', weight: 3 },
  { kind: 'silence', weight: 2, durationMs: [3_000, 20_000] },
  { kind: 'lost', weight: 4, count: [1, 40] },
  { kind: 'doubled', weight: 3, count: [1, 60] },
  { kind: 'reordered', weight: 3, count: [1, 60] },
  { kind: 'malformed', weight: 3, count: [1, 15] },
  { kind: 'closing', weight: 1, durationMs: [3_000, 10_000] },
  { kind: 'slow_rest', weight: 1, durationMs: [3_000, 10_000] },
  { kind: 'rest_429', weight: 2, durationMs: [2_000, 8_000] },
]

/** A seeded series of faults: the same seed and start give the same faults at the same times. */
export class FaultSchedule {
  private readonly random: Random
  private nextMs: number

  constructor(seed: number, startMs: number) {
    this.random = new Random(seed, 17)
    this.nextMs = startMs + this.pause()
  }

  /** Faults that are to begin by `nowMs`. */
  due(nowMs: number): FaultOrder[] {
    const orders: FaultOrder[] = []
    while (this.nextMs <= nowMs) {
      orders.push(this.draw())
      this.nextMs += this.pause()
    }
    return orders
  }

  private pause(): number {
    return 1 + Math.round(-MEAN_PAUSE_MS * Math.log(1 - this.random.unit()))
  }

  private draw(): FaultOrder {
    const { random } = this
    let point = random.unit() * plan.reduce((sum, { weight }) => sum + weight, 0)
    const item = plan.find(({ weight }) => (point -= weight) < 0)
    const within = (range: readonly [number, number] | undefined): number | undefined =>
      range === undefined ? undefined : range[0] + random.below(range[1] - range[0] + 1)
    return {
      kind: item?.kind ?? 'disconnect',
      venue: tradeVenueNames[random.below(tradeVenueNames.length)],
      symbol: undefined,
      durationMs: within(item?.durationMs),
      count: within(item?.count),
      seed: random.bits(),
    }
  }
}
