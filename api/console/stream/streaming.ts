import { setTimeout as delay } from 'node:timers/promises'
import { follow, type Following, type FollowOptions } from './follow.ts'
import type { Board } from '../../stream/board.ts'
import { Hub } from '../../stream/hub.ts'

/** Pages that may listen at once; more are refused. */
export const CLIENTS_MAX = 50
/** Between attempts to follow the log, milliseconds. */
const PAUSE_MS = 1_000

/** Follows the log as soon as it can be had; until then there is no hub, and pages come back. */
export class Streaming {
  readonly #stop = new AbortController()
  readonly #following: Promise<Following | undefined>
  #hub: Hub<null> | undefined

  constructor(options: FollowOptions) {
    this.#following = this.#start(options)
  }

  get hub(): Hub<null> | undefined {
    return this.#hub
  }

  /** Pages that listen now. */
  get listening(): number {
    return this.#hub?.clients ?? 0
  }

  async #start(options: FollowOptions): Promise<Following | undefined> {
    while (!this.#stop.signal.aborted) {
      try {
        const following = await follow(options)
        this.#hub = pageHub(following.board, options.now)
        return following
      } catch (error) {
        options.log.warn({ err: error }, 'the log cannot be followed; trying again')
        await delay(PAUSE_MS)
      }
    }
    return undefined
  }

  /** Ends every page's stream; a page comes back by itself. */
  letGo(): void {
    this.#hub?.close()
    this.#hub = undefined
  }

  async close(): Promise<void> {
    this.#stop.abort()
    this.letGo()
    await (await this.#following)?.close()
  }
}

/** The hub of the pages: they all are one caller's. */
export function pageHub(board: Board, now: () => number): Hub<null> {
  return new Hub({ board, now, context: () => null, clientsMax: CLIENTS_MAX, callerMax: CLIENTS_MAX })
}
