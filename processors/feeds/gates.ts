import { Gate, type Turns } from './gate.ts'

/** Where the channels of a host find their turns. */
export interface GateKeeper {
  of(base: string, spacingMs: number): Turns
}

/** One gate per WebSocket host: a venue counts connection attempts per address, whichever channel they are for. */
export class Gates implements GateKeeper {
  readonly #gates = new Map<string, Gate>()
  /** For channels that can wait: the others go first, so trades are heard again soonest. */
  readonly behind: GateKeeper = { of: (base, spacingMs) => this.of(base, spacingMs).behind }

  of(base: string, spacingMs: number): Gate {
    const gate = this.#gates.get(base) ?? new Gate(spacingMs)
    this.#gates.set(base, gate)
    return gate
  }
}
