import { emptyFields } from '../../schemas/codec.ts'
import type { Figure, Liquidation, Mark, Metric, Micros } from '../../schemas/records.ts'
import { partsOf } from '../../schemas/venues.ts'
import { keepNewest } from '../kernel/newest.ts'
import { isRareMark } from '../kernel/partition-clock.ts'
import type { Entry, Output, Processor } from '../kernel/processor.ts'

/** Name in the topology, of its metrics and in its marks. */
export const LIQUIDATED = 'liquidated'

/**
 * A liquidation that comes again is known for this long, by its receive time. One that is older when it comes has come
 * before: "the first message after subscribing may replay an old event" (OKX).
 */
const KNOWN: Micros = 600_000_000
/** Ids that are known; beyond, the oldest are forgotten. */
const KNOWN_MAX = 20_000
const sides: ReadonlySet<string> = new Set(['long', 'short'])

/** What a partition knows: ids of the last minutes, and what has not been told. Bounded: 20,000 ids, a second of sums. */
export interface LiquidatedState {
  /** Partition time. */
  time: Micros
  /** Receive times by instrument and id, oldest first. */
  readonly ids: Map<string, Micros>
  /** USD by asset, then by figure and venue. */
  readonly sums: Map<string, Map<string, Figure>>
  repeated: number
  /** Those that came too late to be new. */
  old: number
  isChanged: boolean
}

/** From forced closes: USD that each venue has closed since the last mark, by side. Only marks tell; a rare one follows, of up to when all is told. */
export const liquidated: Processor<LiquidatedState, Output<'alerts.inputs'>> = {
  empty: () => ({ time: 0, ids: new Map(), sums: new Map(), repeated: 0, old: 0, isChanged: false }),

  apply(state, { message }: Entry, { v }, emit) {
    if (message.type === 'liquidation') add(state, message.value)
    if (message.type !== 'mark' || message.value.time <= state.time) return
    const { time } = message.value
    const isRare = isRareMark(state.time, time)
    for (const value of advance(state, time, v))
      emit({ topic: 'alerts.inputs', key: value.asset, message: { type: 'metric', value } })
    if (!isRare) return
    const value: Mark = { ...emptyFields('mark'), writer: LIQUIDATED, run: 0, time }
    emit({ topic: 'alerts.inputs', key: LIQUIDATED, message: { type: 'mark', value } })
  },

  *save(state) {
    const { time, ids, sums, repeated, old } = state
    const open = [...sums].map(([asset, figures]) => [asset, [...figures.values()]] as const)
    yield ['clock', Buffer.from(JSON.stringify({ time, repeated, old, open } satisfies SavedClock))]
    if (state.isChanged) yield ['ids', Buffer.from(JSON.stringify([...ids]))]
    state.isChanged = false
  },

  load(parts) {
    const state = liquidated.empty()
    const ids = JSON.parse(parts.get('ids')?.toString() ?? '[]') as [string, Micros][]
    for (const [id, time] of ids) state.ids.set(id, time)
    const clock = JSON.parse(parts.get('clock')?.toString() ?? '{}') as Partial<SavedClock>
    state.time = clock.time ?? 0
    state.repeated = clock.repeated ?? 0
    state.old = clock.old ?? 0
    for (const [asset, figures] of clock.open ?? [])
      for (const figure of figures) sumsOf(state, asset).set(nameOf(figure), figure)
    return state
  },

  counts: ({ repeated, old, ids }) => ({ repeated, old, ids: ids.size }),
}

interface SavedClock {
  readonly time: Micros
  readonly repeated: number
  readonly old: number
  readonly open: readonly (readonly [asset: string, figures: readonly Figure[]])[]
}

function add(state: LiquidatedState, liquidation: Liquidation): void {
  const { asset, instrument, id, side, value, time, received } = liquidation
  if (!sides.has(side)) return
  if (received - time > KNOWN) {
    state.old += 1
    return
  }
  const name = `${instrument}|${id}`
  if (state.ids.has(name)) {
    state.repeated += 1
    return
  }
  state.isChanged = true
  state.ids.set(name, received)
  keepNewest(state.ids, KNOWN_MAX)
  const sums = sumsOf(state, asset)
  const figure = { figure: `liquidated_${side}`, exchange: partsOf(instrument).venue, value }
  sums.set(nameOf(figure), { ...figure, value: value + (sums.get(nameOf(figure))?.value ?? 0) })
}

function sumsOf({ sums }: LiquidatedState, asset: string): Map<string, Figure> {
  const known = sums.get(asset) ?? new Map<string, Figure>()
  sums.set(asset, known)
  return known
}

function nameOf({ figure, exchange }: Figure): string {
  return `${figure}|${exchange ?? ''}`
}

function advance(state: LiquidatedState, time: Micros, v: number): Metric[] {
  state.time = time
  const metrics = [...state.sums].map(([asset, figures]) => {
    return { asset, core: LIQUIDATED, figures: [...figures.values()], time, v }
  })
  state.sums.clear()
  for (const [id, received] of state.ids) {
    if (received > time - KNOWN) break
    state.ids.delete(id)
    state.isChanged = true
  }
  return metrics
}
