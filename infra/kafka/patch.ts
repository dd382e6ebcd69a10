import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import Connection from 'kafkajs/src/network/connection.js'
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js'

/** The release whose internals `internals.ts` and this patch know. */
const KAFKAJS = '2.2.4'
const OVERLOAD_RECHECK_MS = 10

/**
 * Mends three faults of kafkajs, once per process; imported for its effect.
 *
 * - Its request queue re-arms a timer with a negative delay, that is 1 ms, for ever and on each connection (about
 *   45 ms of CPU a second for an idle producer). Here it is armed only while requests wait.
 * - Two requests on a lost connection connect it twice and mix the sockets. Here they share one attempt.
 * - Half an answer of a killed broker stays buffered, and what the next socket brings is read behind it: an exception in
 *   the socket's listener that ends the process. Here a connection starts empty, and one that cannot be read is cut.
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

assertRelease(installedRelease())
cutUnreadable()
stopBusyTimer()
shareConnects()
