import { alertKinds } from '../../processors/alerts/kinds/kinds.ts'
import { everywhereOf, isEverywhere, ownersId } from '../../processors/alerts/parts.ts'
import type { Alert } from '../../schemas/records.ts'
import { CreationIndex, type CreationKey } from './creation-index.ts'

/** An alert as an API instance holds it: all but its sealed webhook, which nothing here needs. */
export interface CachedAlert extends Omit<Alert, 'webhook'> {
  /** Of one for several symbols, which is shown as one: what the log has of it, in the order of its symbols. */
  readonly parts?: readonly CachedAlert[]
}

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

/** What is there of an alert for several symbols. */
interface Parts {
  readonly ids: Set<string>
  /** When the log took the oldest of them. */
  created: number
  /** How many of them are active. */
  active: number
  /** They as one; undefined: one of them has changed since it was asked for. */
  whole: CachedAlert | undefined
}

/** Where lists have an alert; undefined: they have it not. */
interface Place {
  readonly created: number | undefined
  /** Those of active alerts. */
  readonly active: number | undefined
}

/** A list of alerts by creation. */
interface List {
  readonly name: string
  /** Which: all at their places, active ones at theirs, or active ones wherever. */
  readonly has: 'all' | 'active' | 'active anywhere'
}

/** Every alert there is, as `alerts.state` has it: looked up by id, by creation, and in lists. */
export class AlertStore {
  readonly #alerts = new Map<string, CachedAlert>()
  /** By their alert's id. */
  readonly #parts = new Map<string, Parts>()
  readonly #creations = new Map<string, string>()
  readonly #indexes = new Map<string, CreationIndex>()
  readonly #watched = new Map<string, number>()
  readonly #isIn: Readonly<Record<List['has'], (entry: CreationKey) => boolean>> = {
    all: ({ id, created }) => this.#placeOf(id) === created,
    active: ({ id, created }) => this.#whereIs(id).active === created,
    'active anywhere': ({ id }) => this.#isActive(id),
  }

  get size(): number {
    return this.#alerts.size
  }

  /** The alert, or one of its parts. */
  find(id: string): CachedAlert | undefined {
    const parts = this.#parts.get(id)
    if (parts === undefined) return this.#alerts.get(id)
    return (parts.whole ??= wholeOf(
      id,
      [...parts.ids].flatMap((part) => this.#alerts.get(part) ?? []),
    ))
  }

  /** The alert that was created under a hash of scope and Idempotency-Key. */
  creation(idempotency: string): CachedAlert | undefined {
    const id = this.#creations.get(idempotency)
    return id === undefined ? undefined : this.find(id)
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
    const owners = ownersId(id)
    const from = this.#whereIs(owners)
    this.#alerts.set(id, alert)
    this.#watch(before, -1)
    this.#watch(alert, 1)
    if (owners !== id) this.#join(alert, before)
    this.#relist(alert, from, before === undefined ? 'new' : 'known')
    if (before !== undefined || alert.idempotency === null) return
    const created = createdOf(alert)
    const other = this.#creations.get(alert.idempotency) // it may be used again after its day
    if (other === undefined || (this.#placeOf(other) ?? 0) <= created) this.#creations.set(alert.idempotency, owners)
  }

  /** It is, or is still, a part of its owner's. */
  #join(alert: CachedAlert, before: CachedAlert | undefined): void {
    const id = ownersId(alert.alert_id)
    const created = createdOf(alert)
    const none = { ids: new Set<string>(), created, active: 0 }
    const { ids, created: oldest, active } = this.#parts.get(id) ?? none
    this.#parts.set(id, {
      ids: ids.add(alert.alert_id),
      created: Math.min(oldest, created),
      active: active + Number(isActive(alert)) - Number(before !== undefined && isActive(before)),
      whole: undefined,
    })
  }

  #leave(alert: CachedAlert, owners: string): void {
    const parts = this.#parts.get(owners)
    if (parts === undefined) return
    parts.ids.delete(alert.alert_id)
    parts.active -= Number(isActive(alert))
    parts.whole = undefined
    if (parts.ids.size === 0) this.#parts.delete(owners)
    else if (parts.created === createdOf(alert)) parts.created = this.#oldest(parts)
  }

  /** Parts mostly are of one time, so that one as old as before is soon found. */
  #oldest({ ids, created }: Parts): number {
    let oldest = Infinity
    for (const id of ids) {
      oldest = Math.min(oldest, this.#placeOf(id) ?? Infinity)
      if (oldest === created) return created
    }
    return oldest
  }

  /** The alert is told of no longer. */
  remove(id: string): void {
    const alert = this.#alerts.get(id)
    if (alert === undefined) return
    const owners = ownersId(id)
    const from = this.#whereIs(owners)
    this.#alerts.delete(id)
    this.#leave(alert, owners)
    this.#watch(alert, -1)
    this.#relist(alert, from, 'gone')
    const { idempotency } = alert
    if (idempotency !== null && this.#creations.get(idempotency) === owners) this.#creations.delete(idempotency)
  }

  /** Forgets all of it: it is told anew. */
  clear(): void {
    for (const held of [this.#alerts, this.#parts, this.#creations, this.#indexes, this.#watched]) held.clear()
  }

  /** Active ones of a kind. */
  page({ kind, asset, wallet, before, limit }: PageQuery): Page {
    const name =
      wallet === undefined ? indexName(kind, 'asset', asset ?? '') : indexName(kind, 'wallet', walletKey(wallet))
    const isWanted = (alert: CachedAlert): boolean => isActive(alert) && (asset === undefined || isOn(alert, asset))
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
    return this.#scan(ownerList(owner).name, isWanted, { before, limit })
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
      const alert = this.find(entry.id)
      const isShown = alert !== undefined && isWanted(alert)
      if (isShown && alerts.length === limit) return { alerts, next: last }
      if (isShown) alerts.push(alert)
      scanned += 1
      last = entry
    }
    return { alerts, next: undefined }
  }

  /** Where lists have it, whatever came first; undefined: it is not there. */
  #placeOf(id: string): number | undefined {
    const parts = this.#parts.get(id)
    if (parts !== undefined) return parts.created
    const alert = this.#alerts.get(id)
    return alert && createdOf(alert)
  }

  /** Whether it is, or one of its parts. */
  #isActive(id: string): boolean {
    const parts = this.#parts.get(id)
    if (parts !== undefined) return parts.active > 0
    const alert = this.#alerts.get(id)
    return alert !== undefined && isActive(alert)
  }

  #whereIs(id: string): Place {
    const created = this.#placeOf(id)
    return { created, active: this.#isActive(id) ? created : undefined }
  }

  /** Puts an alert, or a part of it, into the lists that have it now, and out of those that have it no longer; `from`: where it was. */
  #relist(alert: CachedAlert, from: Place, change: 'new' | 'known' | 'gone'): void {
    const id = ownersId(alert.alert_id)
    const to = this.#whereIs(id)
    if (alert.owner !== null) this.#move(ownerList(alert.owner), id, from.created, to.created)
    for (const list of wholeLists(alert)) this.#move(list, id, from.active, to.active)
    const [was, is] = [from.active !== undefined, to.active !== undefined]
    const move = (part: CachedAlert, isFrom: boolean, isTo: boolean): void => {
      const created = createdOf(part)
      this.#move(assetList(part), id, isFrom ? created : undefined, isTo ? created : undefined)
    }
    move(alert, was && change !== 'new', is && change !== 'gone')
    if (was !== is) for (const part of this.#othersThan(alert)) move(part, was, is)
  }

  #othersThan({ alert_id: own }: CachedAlert): CachedAlert[] {
    const { ids = [] } = this.#parts.get(ownersId(own)) ?? {}
    return [...ids].flatMap((id) => (id === own ? [] : (this.#alerts.get(id) ?? [])))
  }

  #move({ name, has }: List, id: string, from: number | undefined, to: number | undefined): void {
    if (from === to) return
    if (to !== undefined) {
      const index = this.#indexes.get(name) ?? new CreationIndex(this.#isIn[has])
      this.#indexes.set(name, index)
      index.add({ created: to, id })
    }
    if (from !== undefined) this.#gone(name)
  }

  #gone(name: string): void {
    const index = this.#indexes.get(name)
    index?.gone()
    if (index?.length === 0) this.#indexes.delete(name)
  }

  #watch(alert: CachedAlert | undefined, change: 1 | -1): void {
    if (alert === undefined || alert.ended_at > 0 || isForAll(alert) || !needsSubscription(alert)) return
    const count = (this.#watched.get(alert.asset) ?? 0) + change
    if (count > 0) this.#watched.set(alert.asset, count)
    else this.#watched.delete(alert.asset)
  }
}

function isActive({ status }: CachedAlert): boolean {
  return status === 'active'
}

/** What is for all symbols wants none of them. */
function isForAll({ alert_id: id, asset }: CachedAlert): boolean {
  return isEverywhere(asset) || everywhereOf(id) !== undefined
}

function isOn({ asset: own, parts }: CachedAlert, asset: string): boolean {
  return own === asset || parts?.some((part) => part.asset === asset) === true
}

/** The parts that its owner's commands go to. */
export function commandedParts<A extends Pick<CachedAlert, 'parts'>>(alert: A): readonly (A | CachedAlert)[] {
  return alert.parts?.filter(({ alert_id: id }) => everywhereOf(id) === undefined) ?? [alert]
}

/** A list's parts in the order of their numbers. Made once: `localeCompare` with options costs forty times as much. */
const byNumber = new Intl.Collator('en', { numeric: true })

/** An alert of several parts as one: active while one of them is, with the triggers of all. */
export function wholeOf(id: string, unsorted: readonly CachedAlert[]): CachedAlert {
  const parts = unsorted.toSorted((a, b) => byNumber.compare(a.alert_id, b.alert_id))
  const own = parts.filter(({ alert_id }) => everywhereOf(alert_id) === undefined)
  const [first = parts[0]] = own
  if (first === undefined) throw new Error(`alert ${id} has no parts`)
  const lead =
    own.find(({ status }) => status === 'active') ?? own.find(({ status }) => status === 'triggered') ?? first
  const living = own.some(({ ended_at: ended }) => ended === 0)
  return {
    ...lead,
    alert_id: id,
    symbol: isEverywhere(first.asset) ? 'all' : (own.length > 0 ? own : parts).map(({ symbol }) => symbol).join(','),
    created_at: first.created_at,
    taken: first.taken,
    idempotency: first.idempotency,
    ended_at: living ? 0 : Math.max(...own.map(({ ended_at: ended }) => ended)),
    trigger_count: parts.reduce((sum, { trigger_count: count }) => sum + count, 0),
    parts,
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

interface Labels {
  readonly group: unknown
  readonly tags: readonly unknown[]
}

/** Read once: a list looks at all alerts of an owner. */
const labels = new WeakMap<CachedAlert, Labels>()

/** What its owner has sorted it by; kinds without such terms have none. */
function labelsOf(alert: CachedAlert): Labels {
  const known = labels.get(alert)
  if (known !== undefined) return known
  const { group, tags } = { group: null, tags: [], ...alertKinds.read(alert) }
  const read = { group, tags: Array.isArray(tags) ? tags : [] }
  labels.set(alert, read)
  return read
}

/** Its name in the table of kinds; `unknown` where this version has none. */
export function kindOf(alert: Pick<Alert, 'kind' | 'condition'>): string {
  return alertKinds.ofWire(alert)?.kind ?? 'unknown'
}

/** The list that has it by its own creation, whatever other parts there are. */
function assetList(alert: CachedAlert): List {
  return { name: indexName(kindOf(alert), 'asset', alert.asset), has: 'active anywhere' }
}

/** Those of active ones that have it once for all of its parts. */
function wholeLists(alert: CachedAlert): List[] {
  const kind = kindOf(alert)
  const names = [
    indexName(kind, 'asset', ''),
    ...new Set(alert.wallets.map((wallet) => indexName(kind, 'wallet', walletKey(wallet)))),
  ]
  return names.map((name) => ({ name, has: 'active' }))
}

/** The list of all that an address has paid for, once for all of its parts. */
function ownerList(owner: string): List {
  return { name: indexName('', 'owner', owner), has: 'all' }
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
