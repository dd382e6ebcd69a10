/** The parts of kafkajs 2.2.4 that its own types leave out, as far as we use them. `patch.ts` asserts the version. */
declare module 'kafkajs/src/network/requestQueue/index.js' {
  /** Requests of one connection that wait or are in flight. */
  interface RequestQueue {
    throttleCheckTimeoutId: NodeJS.Timeout | null
    throttledUntil: number
    readonly pending: readonly unknown[]
    checkPendingRequests(): void
    scheduleCheckPendingRequests(): void
  }
  const RequestQueue: { prototype: RequestQueue }
  export default RequestQueue
}
