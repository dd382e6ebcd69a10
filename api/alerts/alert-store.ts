import { alertKinds } from '../../processors/alerts/kinds/kinds.ts'
import type { Alert } from '../../schemas/records.ts'
import { CreationIndex, type CreationKey } from './creation-index.ts'

/** An alert as an API instance holds it: all but its sealed webhook, which nothing here needs. */
export type CachedAlert = Omit<Alert, 'webhook'>

export interface PageQuery {
  readonly kind: string
  readonly asset: string | undefined
  readonly wallet: string | undefined
  /** Where the page before ended. */
  readonly before: CreationKey | undefined
  readonly limit: number
}

/** What `state` of such a query may be. */
export const alertStates = ['active', 'triggered', 'expired', 'cancelled', 'paused'] as const

export interface OwnedQuery extends Pick<PageQuery, 'before' | 'limit'> {
  /** Lower case. */
  readonly owner: string
  /** A status, or `paused`; undefined: any. */
  readonly state: string | undefined
  readonly group: string | undefined
  readonly tag: string | undefined
}

export interface Page {
  /** Newest first. */
  readonly alerts: readonly CachedAlert[]
  /** Where the next page goes on; undefined: there is none. */
  readonly next: CreationKey | undefined
}

/** Alerts that one page looks at; a list of mostly ended ones gives a short page and where to go on. */
export const SCANNED_MAX = 100_000

/** Every alert there is, as `alerts.state` has it: looked up by id, by creation, and in lists. */
export class AlertStore {
  readonly #alerts = new Map<string, CachedAlert>()
  readonly #creations = new Map<string, string>()
  readonly #indexes = new Map<string, CreationIndex>()
  readonly #watched = new Map<string, number>()
  readonly #isThere = (id: string): boolean => this.#alerts.has(id)

  get size(): number {
    return this.#alerts.size
  }

  find(id: string): CachedAlert | undefined {
    return this.#alerts.get(id)
  }

  /** The alert that was created under a hash of scope and Idempotency-Key. */
  creation(idempotency: string): CachedAlert | undefined {
    const id = this.#creations.get(idempotency)
    return id === undefined ? undefined : this.#alerts.get(id)
  }

  /** Assets of living alerts whose records are gathered for wanted assets only. */
  watched(): string[] {
    return [...this.#watched.keys()]
  }

  /** Takes an alert's new state; one with a lower version than the known is a repetition. */
  put({ webhook: _sealed, ...alert }: Alert): void {
    const { alert_id: id } = alert
    const before = this.#alerts.get(id)
    if (before !== undefined && before.v > alert.v) return
    this.#alerts.set(id, alert)
    this.#watch(before, -1)
    this.#watch(alert, 1)
    if (before !== undefined) return
    const entry = { created: createdOf(alert), id }
    for (const index of this.#indexesOf(alert)) index.add(entry)
    if (alert.idempotency !== null) this.#creations.set(alert.idempotency, id)
  }

  /** The alert is told of no longer. */
  remove(id: string): void {
    const alert = this.#alerts.get(id)
    if (alert === undefined) return
    this.#alerts.delete(id)
    this.#watch(alert, -1)
    for (const index of this.#indexesOf(alert)) index.gone()
    const { idempotency } = alert
    if (idempotency !== null && this.#creations.get(idempotency) === id) this.#creations.delete(idempotency)
  }

  /** Forgets all of it: it is told anew. */
  clear(): void {
    for (const held of [this.#alerts, this.#creations, this.#indexes, this.#watched]) held.clear()
  }

  /** Active ones of a kind. */
  page({ kind, asset, wallet, before, limit }: PageQuery): Page {
    const name =
      wallet === undefined ? indexName(kind, 'asset', asset ?? '') : indexName(kind, 'wallet', walletKey(wallet))
    const isWanted = (alert: CachedAlert): boolean =>
      alert.status === 'active' && (asset === undefined || alert.asset === asset)
    return this.#scan(name, isWanted, { before, limit })
  }

  /** Those that an address has paid for. */
  owned({ owner, state, group, tag, before, limit }: OwnedQuery): Page {
    const isWanted = (alert: CachedAlert): boolean => {
      const { status, paused_until: paused } = alert
      if (state !== undefined && state !== (paused > 0 ? 'paused' : status)) return false
      if (group === undefined && tag === undefined) return true
      const labels = labelsOf(alert)
      return (group ?? labels.group) === labels.group && (tag === undefined || labels.tags.includes(tag))
    }
    return this.#scan(indexName('', 'owner', owner), isWanted, { before, limit })
  }

  #scan(
    name: string,
    isWanted: (alert: CachedAlert) => boolean,
    { before, limit }: Pick<PageQuery, 'before' | 'limit'>,
  ): Page {
    const alerts: CachedAlert[] = []
    let scanned = 0
    let last: CreationKey | undefined
    for (const entry of this.#indexes.get(name)?.before(before) ?? []) {
      if (scanned === SCANNED_MAX) return { alerts, next: last }
      const alert = this.#alerts.get(entry.id)
      const isShown = alert !== undefined && isWanted(alert)
      if (isShown && alerts.length === limit) return { alerts, next: last }
      if (isShown) alerts.push(alert)
      scanned += 1
      last = entry
    }
    return { alerts, next: undefined }
  }

  #indexesOf(alert: CachedAlert): CreationIndex[] {
    const { asset, wallets, owner } = alert
    const kind = kindOf(alert)
    const names = [
      indexName(kind, 'asset', ''),
      indexName(kind, 'asset', asset),
      ...new Set(wallets.map((wallet) => indexName(kind, 'wallet', walletKey(wallet)))),
      ...(owner === null ? [] : [indexName('', 'owner', owner)]),
    ]
    return names.map((name) => this.#index(name))
  }

  #index(name: string): CreationIndex {
    const known = this.#indexes.get(name)
    if (known !== undefined) return known
    const index = new CreationIndex(this.#isThere)
    this.#indexes.set(name, index)
    return index
  }

  #watch(alert: CachedAlert | undefined, change: 1 | -1): void {
    if (alert === undefined || alert.ended_at > 0 || !needsSubscription(alert)) return
    const count = (this.#watched.get(alert.asset) ?? 0) + change
    if (count > 0) this.#watched.set(alert.asset, count)
    else this.#watched.delete(alert.asset)
  }
}

function needsSubscription(alert: CachedAlert): boolean {
  const terms = alertKinds.read(alert)
  return terms !== undefined && alertKinds.of(terms).needsSubscription(terms)
}

/** When the log took its creation; alerts of before that was said have the second of it. */
export function createdOf({ taken, created_at }: Pick<CachedAlert, 'taken' | 'created_at'>): number {
  return taken === 0 ? created_at : taken
}

/** What its owner has sorted it by; kinds without such terms have none. */
function labelsOf(alert: CachedAlert): { readonly group: unknown; readonly tags: readonly unknown[] } {
  const { group, tags } = { group: null, tags: [], ...alertKinds.read(alert) }
  return { group, tags: Array.isArray(tags) ? tags : [] }
}

/** Its name in the table of kinds; `unknown` where this version has none. */
export function kindOf(alert: Pick<Alert, 'kind' | 'condition'>): string {
  return alertKinds.ofWire(alert)?.kind ?? 'unknown'
}

function indexName(kind: string, by: 'asset' | 'wallet' | 'owner', value: string): string {
  return `${kind}|${by}|${value}`
}

/** The case of an EVM address is a checksum and does not matter; that of a Solana address does. */
function walletKey(wallet: string): string {
  return /^0x/i.test(wallet) ? wallet.toLowerCase() : wallet
}

/** The key of an entry as the text that callers hand back. */
export function cursorOf({ created, id }: CreationKey): string {
  return Buffer.from(`${created}|${id}`).toString('base64url')
}

/** The key of such a text; undefined where it is none. */
export function creationKeyOf(cursor: string): CreationKey | undefined {
  const [, created, id] = /^(\d{1,17})\|(alert_\w{1,80})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  return created === undefined || id === undefined ? undefined : { created: Number(created), id }
}
