import type { RateLimiter } from '../request/limits.ts'
import type { CreditLog } from './key-store.ts'
import type { Purses } from './purses.ts'

/** What requests with an API key work with. */
export interface Credit {
  readonly log: CreditLog
  readonly purses: Purses
  /** Requests of a key; each API instance counts its own. */
  readonly rate: RateLimiter
  /** Requests for nothing of an address; null: there are none. */
  readonly free: RateLimiter | null
  /** What was paid for and lasts, by key and request: its id, and since when, microseconds. Oldest first. */
  readonly lasting: Map<string, { readonly id: string; readonly time: number }>
}

/** What keys may do: `read` asks data, `alerts` makes alerts and controls the buyer's, `manage` changes the key itself. */
export const scopes = ['read', 'alerts', 'manage'] as const

export type Scope = (typeof scopes)[number]
