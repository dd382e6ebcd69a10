import { verdictOf } from './codes.ts'
import { apis, Encoder, type Link } from './internals.ts'

const KINDS = { group: 0, transaction: 1 } as const

/** Node id of the broker that coordinates a consumer group or a transactional id; undefined: there is none at the moment. */
export async function findCoordinator(link: Link, kind: keyof typeof KINDS, id: string): Promise<number | undefined> {
  const body = new Encoder().writeString(id).writeInt8(KINDS[kind])
  const answer = await link.call('any', { key: apis.findCoordinator, version: 1, name: 'FindCoordinator', body })
  answer.forward(4) // throttle time
  const code = answer.readInt16()
  answer.readString() // message
  return verdictOf(code) === 'ok' ? answer.readInt32() : undefined
}
