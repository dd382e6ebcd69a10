import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js'

/** The release whose internals `internals.ts` and this patch know. */
const KAFKAJS = '2.2.4'
const OVERLOAD_RECHECK_MS = 10

/**
 * Stops kafkajs' busy timer: its request queue re-arms a timer with a negative delay, that is 1 ms, for ever and on
 * each connection (about 45 ms of CPU a second for an idle producer). Here it is armed only while requests wait.
 * Throws on any other release: its internals have to be read again first.
 */
export function patchKafkajs(): void {
  const { version } = JSON.parse(
    readFileSync(createRequire(import.meta.url).resolve('kafkajs/package.json'), 'utf8'),
  ) as { version: string }
  if (version !== KAFKAJS) throw new Error(`kafkajs ${version} is installed, infra/kafka is made for ${KAFKAJS}`)
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

patchKafkajs()
