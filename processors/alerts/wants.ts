import type { AlertState } from '../../schemas/alerts.ts'
import type { Micros } from '../../schemas/records.ts'

/** Who wants in `control.subscriptions`: all alerts as one, so that a million of them are one want an asset. */
export const WANTER = 'alerts'

/**
 * Which assets the alerts need subscribed, and until when. Composite prices are made of the whole catalogue all the time;
 * what a liquidation alert rests on (open interest, marks) is streamed for wanted assets only. Fed with `alerts.state`,
 * so every reader of it comes to the same wants.
 */
export class AlertWants {
  /** Asset to its living liquidation alerts and their ends. */
  readonly #assets = new Map<string, Map<string, Micros>>()

  /** Takes an alert's new state; null: it is forgotten. `id` as the record's key. */
  apply(id: string, alert: AlertState | null): void {
    if (alert?.kind === 'liquidation' && alert.ended_at === 0) {
      const ends = this.#assets.get(alert.asset) ?? new Map<string, Micros>()
      this.#assets.set(alert.asset, ends.set(id, alert.expires_at))
    } else this.#leave(id, alert)
  }

  /** When the last living alert on an asset ends; undefined: none needs it. */
  until(asset: string): Micros | undefined {
    const ends = this.#assets.get(asset)
    if (ends === undefined) return undefined
    let until = 0
    for (const end of ends.values()) until = Math.max(until, end)
    return until
  }

  /** The assets that are needed. */
  assets(): string[] {
    return [...this.#assets.keys()].sort()
  }

  #leave(id: string, alert: AlertState | null): void {
    for (const [asset, ends] of this.#assets) {
      if (alert !== null && alert.asset !== asset) continue
      ends.delete(id)
      if (ends.size === 0) this.#assets.delete(asset)
    }
  }
}
