import type { Command, Message } from '../../schemas/records.ts'

/** The alerts core keeps an alert this long at most, unless it is extended. */
export const HOURS_MAX = 720
/** How often one that is to live on is extended. */
const EXTEND_MS = (HOURS_MAX / 2) * 3_600_000

/** A command that the backtest gives to its own alerts. */
export interface GivenCommand {
  readonly partition: number
  /** Its alert lives to the end of the range, however long that is. */
  readonly livesOn: boolean
  readonly message: Message<'command'>
}

/** The backtest's own alerts of one partition: created with the range's first record, and extended before they end. */
export class GivenAlerts {
  readonly #commands: readonly GivenCommand[]
  readonly #from: number
  /** When something is to be said next, milliseconds; so often it was. */
  #next = -Infinity
  #times = 0

  /** `from`: begin of the range, milliseconds. */
  constructor(commands: readonly GivenCommand[], from: number) {
    this.#commands = commands
    this.#from = from
  }

  /**
   * Tells the commands that come before a record of the range of that time, each with the time that it is given at,
   * milliseconds: a range may be asked for from the beginning of time.
   */
  before(time: number, tell: (command: Message<'command'>, at: number) => void): void {
    if (time < this.#next) return
    const at = Math.max(this.#from, time)
    this.#next = at + EXTEND_MS
    for (const { message, livesOn } of this.#commands) {
      if (this.#times > 0 && !livesOn) continue
      const value = this.#times === 0 ? message.value : extension(message.value, this.#times)
      tell({ type: 'command', value: { ...value, created: at * 1000 } }, at)
    }
    this.#times += 1
  }
}

/** As a paid one, which also brings back what has ended where the log was silent for long. */
function extension(command: Command, nth: number): Command {
  const request = `${command.request_id}+${nth}`
  return { ...command, action: 'extend', alert: null, add_hours: HOURS_MAX, request_id: request, payment: request }
}
