import { emptyFields } from '../../schemas/codec.ts'
import type {
  ApiKey,
  CreditCommand,
  CreditEntry,
  CreditUse,
  Micros,
  PaymentIntent,
  TopicClock,
} from '../../schemas/records.ts'
import { followed } from '../kernel/partition-clock.ts'
import type { Entry, Output, Processor, ProcessorRow } from '../kernel/processor.ts'

/** Name in the topology. */
export const CREDIT = 'credit'

const SECOND: Micros = 1_000_000
const DAY: Micros = 86_400 * SECOND
/** What is set aside comes back after this much of the log's time, whoever had it. */
export const LEASE: Micros = 60 * SECOND
/** Clocks of API instances may differ by as much. */
const CLOCKS_APART: Micros = LEASE / 2
/** A payment cannot settle twice; its purchase may be written so much later once more. */
const PAYMENT_KNOWN: Micros = 2 * DAY
/** Leases that a key may have at once: one or two of each API instance. */
const LEASES_MAX = 64
/** Secrets that a key has at once; beyond, the oldest ends. */
const SECRETS_MAX = 32
/** Of what is free, a lease takes this part: others find the rest, and all of it is back when the lease is over. */
const SHARE = 4

interface Lease {
  readonly amount: number
  charged: number
  until: Micros
  /** Everything that its holder has told, by route. */
  readonly uses: Map<string, CreditUse>
}

interface Key extends Omit<ApiKey, 'leases' | 'request_id' | 'outcome' | 'time'> {
  readonly leases: Map<string, Lease>
  /** Payments that were counted, with their times; the older ones are forgotten. */
  readonly payments: Map<string, Micros>
}

/** All keys. About 1 KB a key; every one was paid for. */
export interface CreditState {
  /** The time of the log: the latest clock of who wrote that another was as far as. */
  clock: TopicClock
  /** What the last command was decided by: that time, or its own clock where that is far ahead and waits for the next. */
  time: Micros
  readonly keys: Map<string, Key>
  /** All leases by key and id, as they end. */
  readonly leases: Map<string, Pick<CreditCommand, 'key_id'> & { readonly lease: string }>
  /** Charges that came behind the end of their lease: nobody pays them. */
  late: number
  readonly changed: Set<string>
}

type KeyOutcome = ApiKey['outcome']
type Emit = (output: Output<'payments.entries' | 'payments.keys'>) => void

/**
 * API keys and their credit. A key's balance is what was bought less what was charged. An API instance charges to a lease:
 * credit that is set aside for it, so that two cannot spend the same, and nothing is below zero. It tells the sum of its
 * charges, again and again, so that a telling that is lost or comes twice changes nothing. What is not told when the lease
 * is over was not charged.
 */
export const credit: Processor<CreditState, Output<'payments.entries' | 'payments.keys'>> = {
  empty: () => ({
    clock: { time: 0, waiting: 0 },
    time: 0,
    keys: new Map(),
    leases: new Map(),
    late: 0,
    changed: new Set(),
  }),

  apply(state, { message }: Entry, { v }, emit) {
    if (message.type !== 'credit_command') return
    const command = message.value
    const touched = pass(state, command)
    const outcome = decide(state, command, v, emit)
    if (outcome !== undefined) touched.add(command.key_id)
    for (const id of touched) {
      const isAsked = id === command.key_id && outcome !== undefined
      const cause = isAsked ? { request_id: command.request_id, outcome, time: state.time } : timePassed(state)
      tell(state, id, { v, ...cause }, emit)
    }
  },

  restate(state, output, _, emit) {
    if (output !== 'payments.keys') return
    for (const [id, { v }] of state.keys) tell(state, id, { v, ...timePassed(state) }, emit)
  },

  *save(state) {
    yield ['clock', Buffer.from(JSON.stringify({ ...state.clock, late: state.late } satisfies SavedClock))]
    for (const id of state.changed) {
      const key = state.keys.get(id)
      if (key !== undefined) yield [`key|${id}`, Buffer.from(JSON.stringify(savedOf(key)))]
    }
    state.changed.clear()
  },

  load(parts) {
    const state = credit.empty()
    const clock = JSON.parse(parts.get('clock')?.toString() ?? '{}') as Partial<SavedClock>
    const { time = 0, waiting = 0, late = 0 } = clock
    state.clock = { time, waiting }
    state.time = Math.max(time, waiting)
    state.late = late
    for (const [name, part] of parts) if (name.startsWith('key|')) load(state, JSON.parse(part.toString()) as SavedKey)
    const open = [...state.keys.values()].flatMap(({ key_id, leases }) =>
      [...leases].map(([lease, { until }]) => ({ key_id, lease, until })),
    )
    open.sort((a, b) => a.until - b.until)
    for (const { lease, key_id } of open) state.leases.set(`${key_id}|${lease}`, { key_id, lease })
    return state
  },

  counts: ({ keys, leases, late }) => ({ keys: keys.size, leases: leases.size, late }),
}

/** Hosted by the payments process, on the one partition of the payments' log. */
export const creditRow: ProcessorRow = {
  name: CREDIT,
  inputs: ['payments.credit'],
  outputs: ['payments.entries', 'payments.keys'],
  state: 'state.credit',
  // not to be raised: `payments.entries` would tell every movement once more, under other versions
  generation: 1,
  reason: 'first version',
  core: credit,
}

function timePassed({ clock: { time } }: CreditState): Pick<ApiKey, 'request_id' | 'outcome' | 'time'> {
  return { request_id: null, outcome: 'done', time }
}

/**
 * Time goes on to a command; gives the keys whose leases that ended or shortened. A command that is far ahead is decided at
 * its own time, as the first after a silence has to be; for other keys time stands until the next command is about as far.
 */
function pass(state: CreditState, { key_id, time }: CreditCommand): Set<string> {
  const { waiting } = state.clock
  // one that is about as far as what waited, or further, confirms that, and no more
  const isConfirmed = waiting > 0 && time >= waiting - CLOCKS_APART
  const known = isConfirmed ? { time: waiting, waiting: 0 } : state.clock
  state.clock = followed(known, time)
  state.time = Math.max(state.clock.time, state.clock.waiting)
  const touched = state.clock.time < waiting ? shorten(state) : new Set<string>()
  return giveBack(state, key_id, touched)
}

/** Nobody was as far as the last command: what it may have set aside, the latest lease, runs from the time of the log. */
function shorten({ clock, keys, leases }: CreditState): Set<string> {
  const { key_id: id = '', lease = '' } = [...leases.values()].at(-1) ?? {}
  const held = keys.get(id)?.leases.get(lease)
  if (held === undefined || held.until <= clock.time + LEASE) return new Set()
  held.until = clock.time + LEASE
  return new Set([id])
}

/** Ends the leases whose time is over. */
function giveBack(state: CreditState, asked: string, touched: Set<string>): Set<string> {
  for (const [name, { key_id: id, lease }] of state.leases) {
    const key = state.keys.get(id)
    const until = key?.leases.get(lease)?.until ?? 0
    if (until > state.time) break
    if (until > state.clock.time && id !== asked) continue
    key?.leases.delete(lease)
    state.leases.delete(name)
    touched.add(id)
  }
  return touched
}

/** Undefined: it says nothing that could be done. */
function decide(state: CreditState, command: CreditCommand, v: number, emit: Emit): KeyOutcome | undefined {
  if (command.op === 'bought') return buy(state, command, v, emit)
  const key = state.keys.get(command.key_id)
  if (key === undefined) return undefined
  switch (command.op) {
    case 'spend':
      return spend(state, key, command, v, emit)
    case 'lease':
      return lease(state, key, command)
    case 'terms':
      return setTerms(state, key, command)
    case 'rotate':
      return rotate(state, key, command)
    case 'revoke':
      state.keys.set(key.key_id, { ...key, revoked: key.revoked ?? state.time })
      return 'done'
    case 'unknown':
      return undefined
  }
}

function buy(state: CreditState, command: CreditCommand, v: number, emit: Emit): KeyOutcome | undefined {
  const { key_id, amount, payer, payment_id: payment } = command
  if (payer === null || payment === null || amount <= 0) return undefined
  const key = state.keys.get(key_id) ?? newKey(key_id, payer, state.time)
  for (const [known, time] of key.payments) if (time < state.time - PAYMENT_KNOWN) key.payments.delete(known)
  if (key.payments.has(payment)) return 'done'
  key.payments.set(payment, state.time)
  state.keys.set(key_id, { ...key, bought: key.bought + amount })
  note(
    { ...entryOf(key, state.time, v), kind: 'bought', route: BUYING, requests: 1, amount, payment_id: payment },
    emit,
  )
  return 'done'
}

/** What credit is bought by, as entries name it. */
const BUYING = 'POST /credit'

function newKey(key_id: string, owner: string, created: Micros): Key {
  const nothing = { bought: 0, charged: 0, charged_day: 0, charged_today: 0, v: 0 }
  const terms = { label: '', scopes: [], expires: null, daily_max: null }
  return {
    key_id,
    owner,
    created,
    ...terms,
    revoked: null,
    secrets: [],
    ...nothing,
    leases: new Map(),
    payments: new Map(),
  }
}

/** As much as is asked for, or a part of what is free where that is more. */
function lease(state: CreditState, known: Key, { lease: id, amount }: CreditCommand): KeyOutcome | undefined {
  if (id === null || amount <= 0) return undefined
  if (known.leases.has(id)) return 'done'
  if (hasEnded(known, state.time)) return 'ended'
  const key = asOfToday(known, state.time)
  const held = heldOf(key)
  const free = key.bought - key.charged - held
  const today = key.daily_max === null ? free : key.daily_max - key.charged_today - held
  if (free < amount || key.leases.size >= LEASES_MAX) return 'no_credit'
  if (today < amount) return 'daily_max'
  const granted = Math.max(amount, Math.floor(Math.min(free, today) / SHARE))
  key.leases.set(id, { amount: granted, charged: 0, until: state.time + LEASE, uses: new Map() })
  state.leases.set(`${key.key_id}|${id}`, { key_id: key.key_id, lease: id })
  state.keys.set(key.key_id, key)
  return 'done'
}

function spend(state: CreditState, known: Key, command: CreditCommand, v: number, emit: Emit): KeyOutcome | undefined {
  const { lease: id, uses, ends } = command
  const held = id === null ? undefined : known.leases.get(id)
  if (id === null || held === undefined) {
    state.late += 1
    return undefined
  }
  const key = { ...asOfToday(known, state.time) }
  for (const use of new Map(uses.map((each) => [each.route, each])).values()) {
    const amount = chargedFor(held, use)
    const requests = use.requests - (held.uses.get(use.route)?.requests ?? 0)
    if (amount === 0) continue
    held.uses.set(use.route, use)
    held.charged += amount
    key.charged += amount
    key.charged_today += amount
    note({ ...entryOf(key, state.time, v), kind: 'charged', route: use.route, requests, amount }, emit)
  }
  if (ends) {
    key.leases.delete(id)
    state.leases.delete(`${key.key_id}|${id}`)
  }
  state.keys.set(key.key_id, key)
  return 'done'
}

/** What is new of a use, never more than the lease has left. */
function chargedFor({ amount, charged, uses }: Lease, { route, amount: told }: CreditUse): number {
  return Math.max(0, Math.min(told - (uses.get(route)?.amount ?? 0), amount - charged))
}

function setTerms(state: CreditState, key: Key, { terms, version }: CreditCommand): KeyOutcome | undefined {
  if (terms === null) return undefined
  if (key.revoked !== null) return 'ended'
  const first = version === null ? [] : [{ n: 1, version, until: null }]
  const secrets = key.secrets.length === 0 ? first : key.secrets
  state.keys.set(key.key_id, { ...key, ...terms, secrets })
  return 'done'
}

/**
 * The secrets before are taken until a time, so that their users can change over, none of them longer than it was. One that
 * was answered late is sent again: the secret that is in use is then not the one before, and must not end by that.
 */
function rotate(state: CreditState, key: Key, { version, until }: CreditCommand): KeyOutcome | undefined {
  const [newest] = key.secrets
  if (version === null || newest === undefined) return undefined
  if (key.revoked !== null) return 'ended'
  const end = until ?? state.time
  const former = key.secrets
    .map((secret) => ({ ...secret, until: Math.min(secret.until ?? end, end) }))
    .filter((secret) => secret.until > state.time)
  const secrets = [{ n: newest.n + 1, version, until: null }, ...former].slice(0, SECRETS_MAX)
  state.keys.set(key.key_id, { ...key, secrets })
  return 'done'
}

/** Whether it can be used no more. */
export function hasEnded({ expires, revoked }: Pick<ApiKey, 'expires' | 'revoked'>, time: Micros): boolean {
  return revoked !== null || (expires !== null && expires <= time)
}

function asOfToday(key: Key, time: Micros): Key {
  const day = Math.floor(time / DAY)
  return day > key.charged_day ? { ...key, charged_day: day, charged_today: 0 } : key
}

/** What was charged on the day (UTC) of that time, which is not before the key's own. */
export function chargedToday(key: Pick<ApiKey, 'charged_day' | 'charged_today'>, time: Micros): number {
  return Math.floor(time / DAY) > key.charged_day ? 0 : key.charged_today
}

function heldOf({ leases }: Key): number {
  let held = 0
  for (const { amount, charged } of leases.values()) held += amount - charged
  return held
}

function entryOf(
  { key_id, owner }: Key,
  time: Micros,
  v: number,
): Omit<CreditEntry, 'kind' | 'route' | 'requests' | 'amount'> {
  return { key_id, payer: owner, payment_id: null, time, v }
}

function note(value: CreditEntry, emit: Emit): void {
  emit({ topic: 'payments.entries', key: value.key_id, message: { type: 'credit_entry', value } })
}

type Change = Pick<ApiKey, 'request_id' | 'outcome' | 'v' | 'time'>

function tell(state: CreditState, id: string, change: Change, emit: Emit): void {
  const known = state.keys.get(id)
  if (known === undefined) return
  state.changed.add(id)
  state.keys.set(id, { ...known, v: change.v })
  const { payments: _, leases, ...key } = known
  const open = [...leases].map(([lease, { amount, charged, until }]) => ({ lease, amount, charged, until }))
  const value: ApiKey = { ...key, leases: open, ...change }
  emit({ topic: 'payments.keys', key: id, message: { type: 'api_key', value } })
}

interface SavedClock {
  readonly time: Micros
  /** Not in states of before. */
  readonly waiting?: Micros
  readonly late: number
}

interface SavedKey extends Omit<Key, 'leases' | 'payments' | 'charged_day'> {
  readonly charged_day?: number
  /** What `charged_day` was called before 0.1.0. */
  readonly day?: number
  readonly leases: readonly (Omit<Lease, 'uses'> & { readonly lease: string; readonly uses: readonly CreditUse[] })[]
  readonly payments: readonly (readonly [string, Micros])[]
}

function savedOf({ leases, payments, ...key }: Key): SavedKey {
  const open = [...leases].map(([lease, { uses, ...held }]) => ({ ...held, lease, uses: [...uses.values()] }))
  return { ...key, leases: open, payments: [...payments] }
}

function load(state: CreditState, { leases, payments, day = 0, charged_day = day, ...key }: SavedKey): void {
  const open = leases.map(({ lease, uses, ...held }): [string, Lease] => {
    return [lease, { ...held, uses: new Map(uses.map((use) => [use.route, use])) }]
  })
  state.keys.set(key.key_id, { ...key, charged_day, leases: new Map(open), payments: new Map(payments) })
}

/** A command about a key; what it does not say is left as it is. */
export function creditCommand(
  command: Pick<CreditCommand, 'key_id' | 'op' | 'request_id' | 'time'> & Partial<CreditCommand>,
): CreditCommand {
  return { ...emptyFields('credit_command'), amount: 0, ends: false, ...command }
}

/** The purchase that a settled payment was for; undefined: it bought no credit. */
export function boughtBy(intent: PaymentIntent, request_id: string, time: Micros): CreditCommand | undefined {
  const { credit: key_id, payment_id, from: payer, value } = intent
  if (key_id === null) return undefined
  return creditCommand({ key_id, op: 'bought', request_id, time, amount: Number(value), payment_id, payer })
}
