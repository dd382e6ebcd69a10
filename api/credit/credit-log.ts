import type { ApiKey, CreditCommand } from '../../schemas/records.ts'
import type { KeyStore } from './key-store.ts'

/** What the API knows of API keys and how it asks for something: it decides nothing about their credit. */
export interface CreditLog {
  /** All keys as far as they are known now. */
  readonly newest: KeyStore
  /** All keys, with everything that was in the log when this was called; rejects with `data_unavailable`. */
  book(): Promise<KeyStore>
  /** Writes a command and gives the key as it is after it; rejects with `data_unavailable` after 5 s. */
  command(command: CreditCommand): Promise<ApiKey>
  /** Writes a command that nobody waits for the outcome of. */
  tell(command: CreditCommand): Promise<void>
}
