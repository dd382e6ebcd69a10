import { Gate } from './gate.ts'

/** One gate per WebSocket host: a venue counts connection attempts per address, whichever channel they are for. */
export class Gates {
  readonly #gates = new Map<string, Gate>()

  of(base: string, spacingMs: number): Gate {
    const gate = this.#gates.get(base) ?? new Gate(spacingMs)
    this.#gates.set(base, gate)
    return gate
  }
}
