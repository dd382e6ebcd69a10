import type { ApiKey, CreditCommand } from '../../schemas/records.ts'

/** All API keys by id, as the log has them; about 0.5 KB each. */
export class KeyStore {
  readonly #keys = new Map<string, ApiKey>()
  readonly #byOwner = new Map<string, Set<string>>()

  get size(): number {
    return this.#keys.size
  }

  find(id: string): ApiKey | undefined {
    return this.#keys.get(id)
  }

  /** Those that an address bought, the newest first. */
  of(owner: string): readonly ApiKey[] {
    const keys = [...(this.#byOwner.get(owner) ?? [])].flatMap((id) => this.#keys.get(id) ?? [])
    return keys.sort((a, b) => b.created - a.created)
  }

  put(key: ApiKey): void {
    const { key_id: id, owner, v } = key
    if ((this.#keys.get(id)?.v ?? -1) > v) return // a former owner's, written once more
    this.#keys.set(id, key)
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? new Set()).add(id))
  }

  clear(): void {
    this.#keys.clear()
    this.#byOwner.clear()
  }
}

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
