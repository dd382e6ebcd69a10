import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import BrokerPool, { type Ask } from 'kafkajs/src/cluster/brokerPool.js'
import ConsumerGroup, { type Coordinator } from 'kafkajs/src/consumer/consumerGroup.js'
import Connection from 'kafkajs/src/network/connection.js'
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js'

/** The release whose internals `internals.ts` and this patch know. */
const KAFKAJS = '2.2.4'
const OVERLOAD_RECHECK_MS = 10
/** Of a member's session: by then an answer to its heartbeat is overdue, and the rest is left to find another coordinator. */
const ANSWER_OF_SESSION = 1 / 3
/** From then on failures are kafkajs' to count, and to give up after. */
const SESSIONS_SILENT_MAX = 2

/**
 * Mends six faults of kafkajs, once per process; imported for its effect.
 *
 * - Its request queue re-arms a timer with a negative delay, that is 1 ms, for ever and on each connection (about
 *   45 ms of CPU a second for an idle producer). Here it is armed only while requests wait.
 * - Two requests on a lost connection connect it twice and mix the sockets. Here they share one attempt.
 * - Half an answer of a killed broker stays buffered, and what the next socket brings is read behind it: an exception in
 *   the socket's listener that ends the process. Here a connection starts empty, and one that cannot be read is cut.
 * - A member sends its heartbeats to a coordinator that is gone until its retries are used up, here longer than its session.
 *   Here it asks for the group's coordinator at once, also where no answer comes, and keeps its place with the next.
 * - It sends none while the wall clock, put back, has not caught up, and so loses its place. Here a steady clock says when.
 * - What any broker can tell, such as that coordinator, it asks of one after the other, and waits for one that is silent.
 *   Here it asks all, and the first answer counts.
 *
 * Throws on any other release: its internals have to be read again first.
 */
export function assertRelease(version: string): void {
  if (version !== KAFKAJS) throw new Error(`kafkajs ${version} is installed, infra/kafka is made for ${KAFKAJS}`)
}

function installedRelease(): string {
  const manifest = createRequire(import.meta.url).resolve('kafkajs/package.json')
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}

function stopBusyTimer(): void {
  RequestQueue.prototype.scheduleCheckPendingRequests = function scheduleCheckPendingRequests() {
    if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return
    const wait = this.throttledUntil - Date.now()
    this.throttleCheckTimeoutId = setTimeout(
      () => {
        this.throttleCheckTimeoutId = null
        this.checkPendingRequests()
      },
      wait > 0 ? wait : OVERLOAD_RECHECK_MS,
    )
  }
}

function shareConnects(): void {
  const attempts = new WeakMap<Connection, Promise<unknown>>()
  const { connect } = Connection.prototype
  Connection.prototype.connect = function connectOnce() {
    const running = attempts.get(this)
    if (running !== undefined) return running
    if (!this.isConnected()) emptyBuffer(this)
    const attempt = connect.call(this).finally(() => {
      attempts.delete(this)
    })
    attempts.set(this, attempt)
    return attempt
  }
}

const SIZE_BYTES = 4

function emptyBuffer(connection: Connection): void {
  connection.chunks = []
  connection.bytesBuffered = 0
  connection.bytesNeeded = SIZE_BYTES
}

function cutUnreadable(): void {
  const { processData } = Connection.prototype
  Connection.prototype.processData = function processOrCut(data) {
    try {
      processData.call(this, data)
    } catch (error) {
      emptyBuffer(this)
      this.socket?.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

const LOST = new Set(['KafkaJSConnectionError', 'KafkaJSConnectionClosedError', 'KafkaJSRequestTimeoutError'])

function followCoordinator(): void {
  const { heartbeat } = ConsumerGroup.prototype
  /** When a heartbeat was answered last; before the first: when it was asked for. */
  const answered = new WeakMap<ConsumerGroup, number>()
  ConsumerGroup.prototype.heartbeat = async function heartbeatOrFollow({ interval }) {
    const { coordinator, sessionTimeout } = this
    const last = answered.get(this) ?? performance.now()
    answered.set(this, last)
    if (performance.now() < last + interval) return
    const late = setTimeout(() => cut(coordinator), sessionTimeout * ANSWER_OF_SESSION)
    try {
      await heartbeat.call(this, { interval: -Infinity }) // its own clock is the wall clock
      answered.set(this, performance.now())
    } catch (error) {
      if (!(error instanceof Error && LOST.has(error.name))) throw error
      // the consumer's loop sends the next heartbeat: it tells whether that is the right one already
      const found = await coordinatorOf(this).catch(() => undefined)
      if (found !== undefined && this.coordinator === coordinator) {
        this.coordinator = found
        if (this.offsetManager !== null) this.offsetManager.coordinator = found
      }
      if (performance.now() - last > SESSIONS_SILENT_MAX * sessionTimeout) throw error
    } finally {
      clearTimeout(late)
    }
  }
}

/** Asks once; the metadata are read again where they do not know it or it cannot be reached. */
async function coordinatorOf({ cluster, groupId }: ConsumerGroup): Promise<Coordinator> {
  const { coordinator } = await cluster.findGroupCoordinatorMetadata({ groupId, coordinatorType: 0 })
  return cluster.findBroker(coordinator)
}

function askAll(): void {
  const { withBroker } = BrokerPool.prototype
  BrokerPool.prototype.withBroker = async function withFirst<Answer>(ask: Ask<Answer>): Promise<Answer | null> {
    const nodes = Object.keys(this.brokers)
    if (nodes.length < 2) return withBroker.call(this, ask) as Promise<Answer | null>
    const asked = nodes.map(async (nodeId) => ask({ nodeId, broker: await this.findBroker({ nodeId }) }))
    return Promise.any(asked).catch(() => Promise.race(asked)) // all failed: the first says why
  }
}

function cut(coordinator: Coordinator | null): void {
  for (const { socket } of coordinator?.connectionPool.pool ?? [])
    socket?.destroy(new Error('no answer to a heartbeat'))
}

assertRelease(installedRelease())
askAll()
followCoordinator()
cutUnreadable()
stopBusyTimer()
shareConnects()
