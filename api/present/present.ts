import { partitionOf } from '../../schemas/catalogue.ts'
import type { Micros } from '../../schemas/records.ts'
import { partsOf, type TradeVenueRow } from '../../schemas/venues.ts'
import {
  heldKinds,
  type Channels,
  type Held,
  type HeldKind,
  type PresentState,
} from '../../processors/present/state.ts'
import { catalogueOf, type Catalogue } from './catalogue.ts'
import type { ChannelRow, SubscriptionRow, World } from '../views/world.ts'

/** By topic and partition the offset behind the last record that was folded in. */
export type LogPosition = ReadonlyMap<string, readonly number[]>

/** `topic=offset,offset; topic=offset`: offsets by partition. */
export function positionText(position: LogPosition): string {
  return [...position].map(([topic, offsets]) => `${topic}=${offsets.join(',')}`).join('; ')
}

/**
 * What is so now, over all partitions. What is read of it without waiting in between is of one moment.
 */
export class Present {
  readonly #states: () => readonly PresentState[]
  readonly #common: PresentState
  readonly #kept = new Map<string, { readonly version: string; readonly value: unknown }>()

  /** How far the log is in it. */
  readonly position: LogPosition

  /** `states`: by partition; `common`: tokens and instruments; `position`: goes on as they do. */
  constructor(states: () => readonly PresentState[], common: PresentState, position: LogPosition = new Map()) {
    this.#states = states
    this.#common = common
    this.position = position
  }

  /** Of the partitions, in their order. */
  get states(): readonly PresentState[] {
    return this.#states()
  }

  get common(): PresentState {
    return this.#common
  }

  /** The partition of an asset. */
  of(asset: string): PresentState {
    const { states } = this
    return states[partitionOf(asset, states.length)] ?? this.#common
  }

  /** What is made of some kinds of all partitions, made anew when one of them changed. */
  made<Value>(name: string, kinds: readonly HeldKind[], make: () => Value): Value {
    const version = kinds.map((kind) => versionOf(this.states, kind) + this.#common.versions[kind]).join()
    const known = this.#kept.get(name)
    if (known?.version === version) return known.value as Value
    const value = make()
    this.#kept.set(name, { version, value })
    return value
  }

  /** What was made of it is made anew: a partition was read again. */
  forget(): void {
    this.#kept.clear()
  }

  world(): World {
    return this.made('world', ['channels', 'subscription', 'time', 'derived'], () => ({
      ...toldBy(this.states),
      subscriptions: this.#subscriptions(),
    }))
  }

  /** Each mark makes the world anew; these change when a feed begins or ends something. */
  #subscriptions(): World['subscriptions'] {
    return this.made('subscriptions', ['subscription'], () => {
      const rows = this.states.flatMap(({ subscription }) => [...subscription.values()].map(subscriptionRow))
      return Map.groupBy(rows, ({ asset }) => asset)
    })
  }

  /** `counted`: whose trades count, the same at every call. */
  catalogue(counted: readonly TradeVenueRow[]): Catalogue {
    return this.made('catalogue', ['instrument'], () => {
      const rows = [...this.#common.instrument.values()]
      return catalogueOf(
        rows.map((row) => ({ ...row, live: row.status === 'live' })),
        counted,
      )
    })
  }

  /** How many values are held of each kind. */
  sizes(): Record<HeldKind, number> {
    const all = [...this.states, this.#common]
    const size = (kind: HeldKind): number => all.reduce((sum, state) => sum + state[kind].size, 0)
    return Object.fromEntries(heldKinds.map((kind) => [kind, size(kind)])) as Record<HeldKind, number>
  }
}

function versionOf(states: readonly PresentState[], kind: HeldKind): number {
  let version = 0
  for (const { versions } of states) version += versions[kind]
  return version
}

/** Each partition says how far it is; of a feed process its newest mark of a topic speaks, of its newest run. */
function toldBy(states: readonly PresentState[]): Omit<World, 'subscriptions'> {
  const newest = new Map<string, Channels>()
  for (const { channels } of states)
    for (const [key, held] of channels) {
      const known = newest.get(key)
      if (known === undefined || held.run > known.run || (held.run === known.run && held.time > known.time))
        newest.set(key, held)
    }
  const rows = [...newest.values()].flatMap(channelRows)
  return {
    channels: rows,
    reports: rows.filter(({ topic }) => topic === 'market.trades'),
    times: byPartition(states, 'time'),
    derived: byPartition(states, 'derived'),
  }
}

function subscriptionRow({ time, ...row }: Held['subscription']): SubscriptionRow {
  return { ...row, venue: partsOf(row.instrument).venue, since: time }
}

function byPartition(states: readonly PresentState[], kind: 'time' | 'derived'): Map<string, Micros> {
  return new Map(
    states.flatMap((state, partition) => [...state[kind]].map(([name, at]) => [`${name}/${partition}`, at] as const)),
  )
}

function channelRows({ topic, writer, time, venues }: Channels): ChannelRow[] {
  return venues.map(({ venue, state, sockets, since }) => ({ topic, writer, venue, state, sockets, since, time }))
}
