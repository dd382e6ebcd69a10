import type { Codec } from '../schemas/codec.ts'
import type { Writer } from '../infra/kafka/seam.ts'
import { within } from './log/deadline.ts'
import type { WriteWant } from './wants.ts'

/** The wanter's name: all API instances want as one. */
const WANTER = 'api'
/** The caller waits for the broker no longer, milliseconds. */
const DEADLINE_MS = 3_000

/** What it takes to write to the log; made at the first want and again after a failure. */
export interface LogAccess {
  readonly writer: Writer
  readonly codec: Codec
}

/** One connection for all who write; `connect` is tried anew as long as it fails. */
export function sharedAccess(connect: () => Promise<LogAccess>): () => Promise<LogAccess> {
  let access: Promise<LogAccess> | undefined
  return () => {
    access ??= connect().catch((error: unknown) => {
      access = undefined
      throw error
    })
    return access
  }
}

/** Writes wants to `control.subscriptions`. */
export function wantWriter(connected: () => Promise<LogAccess>): WriteWant {
  return (asset, times) =>
    within(
      DEADLINE_MS,
      connected().then((there) => send(there, asset, times)),
      () => new Error(`the log did not take the want within ${DEADLINE_MS} ms`),
    )
}

type Times = Parameters<WriteWant>[1]

async function send({ writer, codec }: LogAccess, asset: string, { asked, now, until }: Times): Promise<void> {
  const want = { asset, wanter: WANTER, asked: asked * 1000, until: until * 1000 }
  const value = codec.encode('control.subscriptions', 'subscription', want)
  await writer.send('control.subscriptions', 0, [{ key: `${asset}|${WANTER}`, value, time: now }])
}
