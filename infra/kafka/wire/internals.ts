import './patch.ts'
import Cluster from 'kafkajs/src/cluster/index.js'
import { createLogger } from 'kafkajs/src/loggers/index.js'
import type { Request, Response } from 'kafkajs/src/network/connection.js'
import socketFactory from 'kafkajs/src/network/socketFactory.js'
import Decoder from 'kafkajs/src/protocol/decoder.js'
import Encoder from 'kafkajs/src/protocol/encoder.js'
import { logLevel, type ISocketFactory, type LogEntry, type logCreator } from 'kafkajs'
import type { Logger } from '../../log.ts'
import { LogError } from '../seam.ts'
import { verdictOf } from './codes.ts'

const KINDS = { group: 0, transaction: 1 } as const

export { Decoder, Encoder }

export interface LinkOptions {
  /** host:port of some of the cluster's brokers. */
  readonly brokers: readonly string[]
  readonly clientId: string
  readonly log?: Logger | undefined
}

/** One request as it goes over the wire. */
export interface Call {
  readonly key: number
  readonly version: number
  readonly name: string
  /** Made when the connection is open where it is a function; what that throws is the call's error, and nothing is sent. */
  readonly body: Encoder | (() => Encoder)
  /** From sending to the answer, milliseconds; never shorter than `REQUEST_MS`. */
  readonly withinMs?: number
}

export const apis = {
  produce: 0,
  fetch: 1,
  listOffsets: 2,
  offsetCommit: 8,
  offsetFetch: 9,
  findCoordinator: 10,
  initProducerId: 22,
  offsetForLeaderEpoch: 23,
  addPartitionsToTxn: 24,
  endTxn: 26,
  electLeaders: 43,
} as const

const CONNECT_MS = 3_000
const REQUEST_MS = 10_000
const METADATA_MAX_AGE_MS = 60_000
/** kafkajs' own retries are few: ours are around them, with deadlines. */
const RETRY = { initialRetryTime: 50, maxRetryTime: 500, retries: 2 }

/**
 * Requests to a Kafka cluster over kafkajs' connections, with its metadata; each request has a deadline. kafkajs has
 * no public API for fetches without a group nor for claims, so this is the one file that knows its inner parts.
 */
export class Link {
  readonly #cluster: Cluster
  readonly #known = new Set<string>()
  readonly #underWay = new Set<Promise<unknown>>()
  #isClosed = false

  constructor({ brokers, clientId, log }: LinkOptions) {
    this.#cluster = new Cluster({
      logger: createLogger({ level: logLevel.INFO, logCreator: quietLog(log) }),
      socketFactory: openSocket,
      brokers,
      clientId,
      connectionTimeout: CONNECT_MS,
      authenticationTimeout: REQUEST_MS,
      requestTimeout: REQUEST_MS,
      enforceRequestTimeout: true,
      metadataMaxAge: METADATA_MAX_AGE_MS,
      retry: RETRY,
      allowAutoTopicCreation: false,
      isolationLevel: 0,
    })
  }

  connect(): Promise<void> {
    return this.#open(() => this.#cluster.connect())
  }

  /** What is asked for afterwards is refused; what is under way may fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#cluster.disconnect()
    // A request that had not reached its connection yet has opened one behind this one's back.
    while (this.#underWay.size > 0) {
      await Promise.allSettled(this.#underWay)
      await this.#cluster.disconnect()
    }
  }

  /** Loads the metadata anew. A topic that was deleted is not known any more, and hides none of the others. */
  async refresh(): Promise<void> {
    try {
      await this.#open(() => this.#cluster.refreshMetadata())
    } catch (error) {
      if (!isMissingTopic(error)) throw error
      const topics = [...this.#known]
      this.#known.clear()
      this.#cluster.targetTopics.clear()
      for (const topic of topics) await this.know([topic]).catch(passMissing)
    }
  }

  /** Whether the topic's metadata are here: then `leaderOf` needs no `know` before it. */
  knows(topic: string): boolean {
    return this.#known.has(topic)
  }

  /** Loads the metadata of topics. Throws what `isMissingTopic` tells for one that does not exist. */
  async know(topics: readonly string[]): Promise<void> {
    const unknown = [...new Set(topics)].filter((topic) => !this.#known.has(topic))
    if (unknown.length === 0) return
    await this.#open(async () => {
      await this.#cluster.connect()
      await this.#cluster.addMultipleTargetTopics(unknown)
    })
    for (const topic of unknown) this.#known.add(topic)
  }

  /** Node id of a partition's leader; undefined where there is none at the moment. */
  leaderOf(topic: string, partition: number): number | undefined {
    const metadata = this.#cluster.findTopicPartitionMetadata(topic).find((each) => each.partitionId === partition)
    return metadata === undefined || metadata.leader < 0 ? undefined : metadata.leader
  }

  /** Sends to one node and gives the body of its answer. */
  call(node: number | 'any', call: Call): Promise<Decoder> {
    return this.#open(() => this.#send(node, call))
  }

  /** Nothing opens a connection on a link that was closed, and `close` waits for what was begun before. */
  async #open<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (this.#isClosed) throw new LogError('closed', 'the connection to the broker is closed')
    const running = work()
    this.#underWay.add(running)
    try {
      return await running
    } finally {
      this.#underWay.delete(running)
    }
  }

  async #send(node: number | 'any', { key, version, name, body, withinMs = REQUEST_MS }: Call): Promise<Decoder> {
    await this.#cluster.connect()
    const broker = node === 'any' ? await this.#anyBroker() : await this.#cluster.findBroker({ nodeId: String(node) })
    const encode = async (): Promise<Encoder> => (typeof body === 'function' ? body() : body)
    const request: Request = { apiKey: key, apiVersion: version, apiName: name, encode }
    const send = { request, response: raw, requestTimeout: withinMs, logResponseError: false }
    const connection = await broker.connectionPool.getConnectionByRequest(send)
    try {
      return new Decoder(await connection.send(send))
    } catch (error) {
      // an answer that does not come may mean that the other side is gone without a word: connect anew
      if (nameOf(error) === 'KafkaJSRequestTimeoutError')
        connection.socket?.destroy(error instanceof Error ? error : undefined)
      throw error
    }
  }

  async #anyBroker(): ReturnType<Cluster['findControllerBroker']> {
    try {
      return await this.#cluster.findControllerBroker()
    } catch {
      await this.#cluster.refreshMetadata() // no metadata yet, or a controller that is gone
      return this.#cluster.findControllerBroker()
    }
  }
}

const connect = socketFactory()

/**
 * `setNoDelay`: else a small request waits for the acknowledgement of the one before, up to 40 ms. kafkajs calls
 * `unref` on sockets that are gone, again and again; each call would leave a listener behind.
 */
const openSocket: ISocketFactory = (options) => {
  const socket = connect(options).setNoDelay(true)
  const unref = socket.unref.bind(socket)
  socket.unref = () => (socket.destroyed ? socket : unref())
  return socket
}

const raw: Response = { decode: async (payload) => payload, parse: async (payload) => payload }

/** An int64 that is an offset or a time: below 2^53. */
export function readNumber(decoder: Decoder): number {
  return Number(decoder.readInt64().toString())
}

/** `items` as the protocol's array, each written by `write`. */
export function writeItems<Item>(body: Encoder, items: readonly Item[], write: (item: Item) => void): void {
  body.writeInt32(items.length)
  for (const item of items) write(item)
}

/** Calls `read` once for each element of the protocol's array. */
export function readItems(decoder: Decoder, read: () => void): void {
  for (let left = decoder.readInt32(); left > 0; left -= 1) read()
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : ''
}

/** Whether kafkajs says by this error that a topic does not exist. */
export function isMissingTopic(error: unknown): boolean {
  return (error as { type?: unknown }).type === 'UNKNOWN_TOPIC_OR_PARTITION'
}

function passMissing(error: unknown): void {
  if (!isMissingTopic(error)) throw error
}

/** Our own errors and programmers' errors are final; whatever kafkajs throws while a broker is away is not. */
export function isTransient(error: unknown): boolean {
  return !(error instanceof LogError) && nameOf(error).startsWith('KafkaJS')
}

/**
 * kafkajs' log turned down. It calls every rebalance, expulsion, refused connection and existing topic an error; each
 * of these also reaches its caller as an exception, so here they are for debugging only. A consumer's crash is not.
 */
export function quietLog(log: Logger | undefined): logCreator {
  return () =>
    ({ namespace, level, log: { message, timestamp: _timestamp, logger: _logger, ...details } }: LogEntry) => {
      if (namespace === 'Consumer' && level === logLevel.ERROR) log?.warn({ kafka: details }, message)
      else log?.debug({ kafka: details, namespace }, message)
    }
}

/** Node id of the broker that coordinates a consumer group or a transactional id; undefined: there is none at the moment. */
export async function findCoordinator(link: Link, kind: keyof typeof KINDS, id: string): Promise<number | undefined> {
  const body = new Encoder().writeString(id).writeInt8(KINDS[kind])
  const answer = await link.call('any', { key: apis.findCoordinator, version: 1, name: 'FindCoordinator', body })
  answer.forward(4) // throttle time
  const code = answer.readInt16()
  answer.readString() // message
  return verdictOf(code) === 'ok' ? answer.readInt32() : undefined
}
