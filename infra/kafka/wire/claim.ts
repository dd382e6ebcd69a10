import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../log.ts'
import { codeText, verdictOf } from './codes.ts'
import {
  findCoordinator,
  apis,
  Encoder,
  readItems,
  writeItems,
  type Call,
  type Decoder,
  type Link,
} from './internals.ts'
import type { Identity } from './partition-writer.ts'
import { PartitionWriters } from './writer.ts'
import { readHostClocks, Lease, type LeaseSettings } from './lease.ts'
import type { Appender } from './produce.ts'
import { again, retrying } from './retry.ts'
import { FencedError, LogError, type Claim, type TopicPartition } from '../seam.ts'

const CLAIM_MS = 30_000
/** A task whose writes wait longer is opened anew: its state is in the log. */
const GIVE_UP_MS = 60_000
/** Kafka wants one; it bounds an open transaction, and ours are empty and closed at once. */
const TRANSACTION_MS = 10_000

export interface ClaimOptions {
  readonly link: Link
  readonly appender: Appender
  readonly namespace: string
  readonly owner: string
  /** Bare topic names. */
  readonly targets: readonly TopicPartition[]
  readonly terms: LeaseSettings
  readonly log?: Logger | undefined
  readonly giveUpMs?: number
}

/**
 * Claims partitions by producer epoch, with nothing to pay per record.
 *
 * A producer id of the owner's transactional id with the next epoch; an empty transaction over the targets, aborted,
 * whose markers carry that epoch into each partition; then the id once more, which the broker only gives when all
 * markers are written. From there on it refuses older epochs, and plain idempotent batches of this one go in. The
 * transaction holds nothing, so readers need no isolation and never wait for it.
 *
 * The coordinator forgets an owner without a sign, and the next claim, under a new producer id, would keep nothing out.
 * So the claim is renewed for as long as it is held, and whoever could not renew it in time does not write: see `Lease`.
 */
export async function openClaim(options: ClaimOptions): Promise<Claim> {
  const { link, appender, namespace, owner } = options
  const targets = options.targets.map(({ topic, partition }) => ({ topic: namespace + topic, partition }))
  await retrying(`claim of ${owner}`, CLAIM_MS, () => link.know(targets.map(({ topic }) => topic)))
  const transaction = new Transaction(link, namespace + owner)
  const first = await transaction.init()
  await transaction.touch(first, targets)
  const asked = readHostClocks()
  const identity = await transaction.init()
  const holding = new Holding(options, transaction, identity, new Lease(options.terms.leaseMs, asked))
  const identify = async (spent: Identity | undefined): Promise<Identity> => {
    if (spent === undefined) return identity
    // a write was given up, or the log has lost what this owner wrote last
    throw new LogError('closed', `${owner}: the broker does not follow its writes; the claim has to be made anew`)
  }
  const writers = new PartitionWriters({
    link,
    appender,
    namespace,
    identify,
    check: () => holding.check(),
    giveUpMs: options.giveUpMs ?? GIVE_UP_MS,
  })
  return {
    epoch: identity.epoch,
    lost: holding.lost,
    send: (topic, partition, records) => writers.send(topic, partition, records),
    close: () => {
      holding.end()
      return writers.close()
    },
  }
}

/** A claim while it is held: renewed by an empty transaction of the same epoch, so that nothing that is written waits. */
class Holding {
  readonly #owner: string
  readonly #lease: Lease
  readonly #abort = new AbortController()
  /** Ends the pause before the next renewal. */
  #hurry = new AbortController()
  #lost: FencedError | undefined
  #tellLost: (error: FencedError) => void = () => undefined
  readonly lost = new Promise<FencedError>((resolve) => {
    this.#tellLost = resolve
  })

  constructor({ owner, terms, log, ...options }: ClaimOptions, transaction: Transaction, self: Identity, lease: Lease) {
    this.#owner = owner
    this.#lease = lease
    // One partition is enough for the sign. What keeps others out of all of them outlasts the lease without renewal.
    const targets = options.targets
      .slice(-1)
      .map(({ topic, partition }) => ({ topic: options.namespace + topic, partition }))
    void this.#keep(terms.renewEveryMs, () => transaction.touch(self, targets), log)
  }

  /** Throws where nothing may be written: for good, or until the renewal succeeds that is made at once. */
  check(): void {
    if (this.#lost !== undefined) throw this.#lost
    if (this.#lease.holds) return
    this.#hurry.abort()
    throw new LogError('unavailable', `${this.#owner}: its claim was not renewed in time`)
  }

  end(): void {
    this.#abort.abort()
  }

  async #keep(everyMs: number, renew: () => Promise<void>, log: Logger | undefined): Promise<void> {
    const { signal } = this.#abort
    let isFailing = false
    while (await this.#passed(everyMs)) {
      const asked = readHostClocks()
      try {
        await renew()
        this.#lease.renewed(asked)
        isFailing = false
      } catch (error) {
        if (signal.aborted) return
        if (!isFailing) log?.warn({ owner: this.#owner, err: error }, 'the claim could not be renewed')
        isFailing = true
        if (!(error instanceof FencedError)) continue
        this.#lost = error
        this.#tellLost(error)
        return
      }
    }
  }

  /** False: the claim was ended meanwhile. */
  async #passed(ms: number): Promise<boolean> {
    this.#hurry = new AbortController()
    const signal = AbortSignal.any([this.#abort.signal, this.#hurry.signal])
    await delay(ms, undefined, { ref: false, signal }).catch(() => undefined) // it is over early
    return !this.#abort.signal.aborted
  }
}

/** The steps of a claim, each retried while the coordinator starts, moves or still works on the step before. */
class Transaction {
  readonly #link: Link
  readonly #id: string
  #coordinator: number | undefined

  constructor(link: Link, id: string) {
    this.#link = link
    this.#id = id
  }

  init(): Promise<Identity> {
    const body = (): Encoder => new Encoder().writeString(this.#id).writeInt32(TRANSACTION_MS)
    return this.#step({ key: apis.initProducerId, version: 1, name: 'InitProducerId' }, body, (answer) => {
      const code = answer.readInt16()
      return { codes: [code], result: { id: BigInt(answer.readInt64().toString()), epoch: answer.readInt16() } }
    })
  }

  /** An empty transaction over the targets, aborted: a sign to the coordinator, and the epoch in each of them. */
  async touch(producer: Identity, targets: readonly TopicPartition[]): Promise<void> {
    await this.#add(producer, targets)
    await this.#end(producer)
  }

  #add(producer: Identity, targets: readonly TopicPartition[]): Promise<void> {
    const body = (): Encoder => {
      const encoder = this.#head(producer)
      writeItems(encoder, [...Map.groupBy(targets, ({ topic }) => topic)], ([topic, partitions]) => {
        encoder.writeString(topic)
        writeItems(encoder, partitions, ({ partition }) => encoder.writeInt32(partition))
      })
      return encoder
    }
    return this.#step({ key: apis.addPartitionsToTxn, version: 1, name: 'AddPartitionsToTxn' }, body, (answer) => {
      const codes: number[] = []
      readItems(answer, () => {
        answer.readString()
        readItems(answer, () => {
          answer.forward(4) // partition
          codes.push(answer.readInt16())
        })
      })
      return { codes, result: undefined }
    })
  }

  #end(producer: Identity): Promise<void> {
    return this.#step(
      { key: apis.endTxn, version: 1, name: 'EndTxn' },
      () => this.#head(producer).writeBoolean(false),
      (answer) => ({ codes: [answer.readInt16()], result: undefined }),
    )
  }

  #head({ id, epoch }: Identity): Encoder {
    return new Encoder().writeString(this.#id).writeInt64(String(id)).writeInt16(epoch)
  }

  async #step<Result>(
    call: Omit<Call, 'body'>,
    body: () => Encoder,
    read: (answer: Decoder) => { codes: readonly number[]; result: Result },
  ): Promise<Result> {
    const what = `claim of ${this.#id}, ${call.name}`
    return retrying(what, CLAIM_MS, async () => {
      this.#coordinator ??= await findCoordinator(this.#link, 'transaction', this.#id)
      if (this.#coordinator === undefined) return again
      const node = this.#coordinator
      this.#coordinator = undefined // asked for anew where this fails
      const answer = await this.#link.call(node, { ...call, body: body() })
      answer.forward(4) // throttle time
      const { codes, result } = read(answer)
      const bad = codes.find((code) => verdictOf(code) !== 'ok')
      if (bad === undefined) {
        this.#coordinator = node
        return result
      }
      const verdict = verdictOf(bad)
      if (verdict === 'fenced') throw new FencedError(`${this.#id} is claimed by another, or forgotten`)
      if (verdict === 'refused' || verdict === 'out-of-range')
        throw new LogError('refused', `${what}: ${codeText(bad)}`)
      return again
    })
  }
}
