import './wire/patch.ts'
import { AssignerProtocol, Kafka, type Assigner, type Consumer, type PartitionAssigner } from 'kafkajs'
import type { Logger } from '../log.ts'
import { quietLog } from './wire/internals.ts'
import type { Membership, Position } from './seam.ts'

const { MemberAssignment, MemberMetadata } = AssignerProtocol

/**
 * Silence after which the group deals a member's partitions out anew, milliseconds: the shortest that a broker grants by its
 * own defaults (`group.min.session.timeout.ms`).
 */
export const SESSION_MS = 6_000

const ASSIGNER = 'sticky-copartition'
const HEARTBEAT_MS = 300
/** All partitions are paused: this is only how soon the consumer's loop comes round to its heartbeat. */
const IDLE_MS = 300
const JOIN_MS = 60_000
const JOIN_ONCE_MS = 20_000
const RETRY = { initialRetryTime: 50, maxRetryTime: 1_000, retries: 20 }
const HINT_MS = 5_000

/** All partitions are ours for good: one instance, or instances with fixed parts. */
export function fixedMembership(partitions: readonly number[]): Membership {
  return {
    isFixed: true,
    onChange: (listener) => listener(partitions),
    get lastSeen() {
      return performance.now()
    },
    hint: async () => undefined,
    leave: async () => undefined,
  }
}

/**
 * None of the partitions are ours before `begun` gives the membership that it stands for. `onFailed`: it could not be had,
 * and the process has to start anew.
 */
export function laterMembership(
  isFixed: boolean,
  begun: Promise<Membership>,
  onFailed: (error: Error) => void,
): Membership {
  let membership: Membership | undefined
  let hasLeft = false
  const known = begun.then((value) => {
    membership = value
    return hasLeft ? value.leave() : undefined
  })
  known.catch((error: unknown) => onFailed(error instanceof Error ? error : new Error(String(error))))
  return {
    isFixed,
    onChange(listener) {
      listener([])
      void known.then(
        () => membership?.onChange(listener),
        () => undefined, // told by `onFailed`
      )
    },
    get lastSeen() {
      return membership?.lastSeen ?? performance.now()
    },
    hint: async (positions) => membership?.hint(positions),
    async leave() {
      hasLeft = true
      await membership?.leave()
    },
  }
}

/** By the setting MEMBERSHIP: these partitions for good, or what a consumer group deals out. */
export function membershipOf(how: string, partitions: readonly number[], group: GroupOptions): Promise<Membership> {
  return how === 'fixed' ? Promise.resolve(fixedMembership(partitions)) : groupMembership(group)
}

export interface GroupOptions {
  readonly brokers: readonly string[]
  readonly namespace: string
  readonly clientId: string
  /** Bare name of the consumer group. */
  readonly group: string
  /** Bare names of co-partitioned topics: a member gets the same partition numbers of each. */
  readonly topics: readonly string[]
  /** The partition numbers that this member can take; undefined: all. */
  readonly takes?: readonly number[] | undefined
  readonly log?: Logger | undefined
  /** Called when the consumer broke down for good: the process has to start anew. */
  readonly onCrash?: (error: Error) => void
}

/**
 * Membership of a Kafka consumer group, and nothing else of it: the consumer has every partition paused, so its
 * heartbeats never wait for work. Who keeps a partition goes on without a stop when others join or leave.
 * Resolves after the first join.
 */
export async function groupMembership(options: GroupOptions): Promise<Membership> {
  const group = new Group(options)
  await group.join()
  return group
}

class Group implements Membership {
  readonly isFixed = false
  readonly #options: GroupOptions
  readonly #kafka: Kafka
  readonly #names: readonly string[]
  readonly #listeners: ((partitions: readonly number[]) => void)[] = []
  #consumer: Consumer
  #held: readonly number[] = []
  #lastSeen = performance.now()

  constructor(options: GroupOptions) {
    this.#options = options
    this.#names = options.topics.map((topic) => options.namespace + topic)
    this.#kafka = new Kafka({
      brokers: [...options.brokers],
      clientId: options.clientId,
      connectionTimeout: 3_000,
      requestTimeout: 10_000,
      retry: RETRY,
      logCreator: quietLog(options.log),
    })
    this.#consumer = this.#createConsumer()
  }

  get lastSeen(): number {
    return this.#lastSeen
  }

  onChange(listener: (partitions: readonly number[]) => void): void {
    this.#listeners.push(listener)
    listener(this.#held)
  }

  /** Joins, with a new consumer where one broke down before it had a place. */
  async join(): Promise<void> {
    const deadline = performance.now() + JOIN_MS
    for (;;) {
      try {
        return await within(this.#joinOnce(), JOIN_ONCE_MS, `no place in group ${this.#options.group}`)
      } catch (error) {
        await this.#consumer.disconnect().catch(() => undefined) // it is given up
        if (performance.now() > deadline) throw error
        this.#options.log?.warn({ err: error }, 'joining the group again')
      }
      this.#consumer = this.#createConsumer()
    }
  }

  #createConsumer(): Consumer {
    const { namespace, group } = this.#options
    return this.#kafka.consumer({
      groupId: namespace + group,
      partitionAssigners: [this.#assigner()],
      sessionTimeout: SESSION_MS,
      rebalanceTimeout: SESSION_MS,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: IDLE_MS,
      allowAutoTopicCreation: false,
      // a restart within the process keeps half-dead state
      retry: { ...RETRY, restartOnFailure: async () => false },
    })
  }

  async #joinOnce(): Promise<void> {
    const consumer = this.#consumer
    const { GROUP_JOIN, HEARTBEAT, CRASH } = consumer.events
    let hasPlace = false
    const joined = new Promise<void>((resolve, reject) => {
      consumer.on(GROUP_JOIN, ({ payload }) => {
        hasPlace = true
        this.#onJoin(payload.memberAssignment)
        resolve()
      })
      consumer.on(CRASH, ({ payload }) => {
        if (hasPlace) this.#options.onCrash?.(payload.error)
        else reject(payload.error)
      })
    })
    joined.catch(() => undefined) // awaited below, unless what comes before fails as well
    consumer.on(HEARTBEAT, () => {
      this.#lastSeen = performance.now()
    })
    await consumer.connect()
    await consumer.subscribe({ topics: [...this.#names] })
    await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: async () => undefined })
    await joined
  }

  async hint(positions: readonly Position[]): Promise<void> {
    const offsets = positions.map(({ topic, partition, offset }) => ({
      topic: this.#options.namespace + topic,
      partition,
      offset: String(offset),
    }))
    await within(this.#consumer.commitOffsets(offsets), HINT_MS, 'no answer to a hint').catch((error: unknown) => {
      this.#options.log?.debug({ err: error }, 'the group did not take a hint')
    })
  }

  async leave(): Promise<void> {
    await this.#consumer.disconnect()
  }

  /** Runs before the first fetch of the new generation: nothing is ever read through this consumer. */
  #onJoin(assignment: Readonly<Record<string, number[]>>): void {
    this.#consumer.pause(this.#names.map((topic) => ({ topic })))
    this.#held = (assignment[this.#names[0] ?? ''] ?? []).toSorted((a, b) => a - b)
    this.#lastSeen = performance.now()
    for (const listener of this.#listeners) listener(this.#held)
  }

  /** Deals out partition numbers, not partitions, and leaves each member what it says that it holds. */
  #assigner(): PartitionAssigner {
    const { takes } = this.#options
    // A list behind the numbers that are held says what can be taken: hosts of before read the numbers alone.
    const told = (): unknown[] => (takes === undefined ? [...this.#held] : [...this.#held, takes])
    const metadata = (topics: string[]): Buffer =>
      MemberMetadata.encode({ version: 1, topics, userData: Buffer.from(JSON.stringify(told())) })
    return ({ cluster }): Assigner => ({
      name: ASSIGNER,
      version: 1,
      protocol: ({ topics }) => ({ name: ASSIGNER, metadata: metadata(topics) }),
      assign: async ({ members, topics }) => {
        const count = Math.max(...topics.map((topic) => cluster.findTopicPartitionMetadata(topic).length))
        const asked = members.map(({ memberId, memberMetadata }) => ({ id: memberId, ...toldIn(memberMetadata) }))
        return [...assignPartitions(count, asked)].map(([memberId, partitions]) => ({
          memberId,
          memberAssignment: MemberAssignment.encode({
            version: 1,
            assignment: Object.fromEntries(topics.map((topic) => [topic, [...partitions]])),
            userData: Buffer.alloc(0),
          }),
        }))
      },
    })
  }
}

/** What a member said in its metadata; a foreign member says nothing. */
function toldIn(metadata: Buffer): Omit<Member, 'id'> {
  try {
    const told: unknown = JSON.parse(MemberMetadata.decode(metadata)?.userData.toString() ?? '[]')
    const items: readonly unknown[] = Array.isArray(told) ? told : []
    const takes: unknown = items.find((item) => Array.isArray(item))
    return { held: numbersIn(items), takes: Array.isArray(takes) ? numbersIn(takes) : undefined }
  } catch {
    return { held: [] }
  }
}

function numbersIn(items: readonly unknown[]): number[] {
  return items.filter((item): item is number => Number.isSafeInteger(item))
}

async function within<Result>(work: Promise<Result>, ms: number, problem: string): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${problem} within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** A member of a group, as it tells of itself. */
export interface Member {
  readonly id: string
  readonly held: readonly number[]
  /** Those that it can take; undefined: all. */
  readonly takes?: readonly number[] | undefined
}

interface Share extends Member {
  readonly own: number[]
}

/**
 * Assigns partitions 0 to `count` - 1 to members that can take them, each keeping what it holds as far as that goes. Nobody
 * has two more than another who could take one of them: where all can take all, their numbers differ by one at the most. One
 * that nobody can take is nobody's. The same members give the same result, in whatever order they come.
 */
export function assignPartitions(count: number, members: readonly Member[]): Map<string, number[]> {
  const shares = members.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((member): Share => ({ ...member, own: [] }))
  const all = [...Array(count).keys()]
  const give = (partition: number, to: readonly Share[]): number | undefined => poorest(to)?.own.push(partition)
  const able = (partition: number): Share[] => shares.filter((share) => canTake(share, partition))
  const holders = (partition: number): Share[] => able(partition).filter(({ held }) => held.includes(partition))
  const left = all.filter((partition) => give(partition, holders(partition)) === undefined)
  for (const partition of left) give(partition, able(partition))
  while (moveOne(shares));
  return new Map(shares.map(({ id, own }) => [id, own]))
}

function canTake({ takes }: Member, partition: number): boolean {
  return takes?.includes(partition) ?? true
}

function poorest(shares: readonly Share[]): Share | undefined {
  return shares.toSorted((a, b) => a.own.length - b.own.length)[0]
}

/** From the one with the most to the one with the least that can take it and has two fewer; false: there are no such two. */
function moveOne(shares: readonly Share[]): boolean {
  const rising = shares.toSorted((a, b) => a.own.length - b.own.length)
  for (const from of rising.toReversed()) {
    for (const to of rising) {
      if (from.own.length - to.own.length < 2) break
      const place = from.own.findLastIndex((partition) => canTake(to, partition))
      if (place === -1) continue
      to.own.push(...from.own.splice(place, 1))
      return true
    }
  }
  return false
}
