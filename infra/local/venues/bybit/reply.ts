import { ok } from '../query.ts'
import type { RestReply } from '../venue-server.ts'

/** Refusals too come with HTTP 200, and a `retCode`. */
export interface Replies {
  say(result: object): RestReply
  refuse(retMsg: string): RestReply
}

export function replies(nowMs: () => number): Replies {
  const reply = (retCode: number, retMsg: string, result: object): RestReply =>
    ok({ retCode, retMsg, result, retExtInfo: {}, time: nowMs() })
  return {
    say: (result) => reply(0, 'OK', result),
    refuse: (retMsg) => reply(10001, retMsg, {}),
  }
}
