import { randomUUID } from 'node:crypto'
import { creditCommand, hasEnded } from '../../processors/credit/credit.ts'
import { atomicUnits } from '../../processors/payments/wire/offer.ts'
import type { ApiKey, CreditCommand, KeyTerms } from '../../schemas/records.ts'
import { field, isFigure, wrong } from '../alerts/fields.ts'
import type { Body } from '../request/body.ts'
import { scopes, type Scope } from '../credit/credit.ts'
import { bookOf, creditedKey, hasKey, keyOf, manageTokenOf, tokenOf } from '../credit/tokens.ts'
import { KEY } from '../payments/purchase.ts'
import { ApiError } from '../request/errors.ts'
import { jsonReply, type Reply } from '../request/reply.ts'
import type { Call, Run } from '../request/route.ts'
import type { Services } from '../services.ts'
import { readInvoice, readUsage } from '../views/credit.ts'
import { iso } from '../views/time.ts'
import { walletOf } from './wallet.ts'

const UNITS = 1_000_000
/** What can be bought at once, USDC. */
export const AMOUNT_MIN = 0.5
export const AMOUNT_MAX = 1_000
export const AMOUNT_DEFAULT = 1
export const LABEL_MAX = 64
const DAYS_MAX = 3_650
const DAY_MICROS = 86_400_000_000
export const GRACE_HOURS_MAX = 168
const GRACE_HOURS = 24
const HOUR_MICROS = 3_600_000_000

/** `POST /credit`: a payment becomes the credit of a key, of a new one where none is named. */
export async function buyCredit(call: Call): Promise<Reply | Run> {
  const { services, body = {} } = call
  const amount = amountOf(body)
  const terms = termsOf(body, services.now() * 1_000)
  const keys = await bookOf(services)
  const named = field(body, 'key_id')
  if (named === undefined) return (paid) => bought(call, amount, terms, paid)
  const key = typeof named === 'string' ? keys.find(named) : undefined
  if (key === undefined || (call.payer?.hasPaid !== true && hasEnded(key, services.now() * 1_000)))
    throw wrong('key_not_found', 'key_id', 'No API key of this id takes credit; leave key_id out to buy another.')
  if (terms !== undefined)
    throw wrong('invalid_body', 'key_id', 'Terms of a key that is there are changed with PATCH /keys/:key_id.')
  return (paid) => bought(call, amount, undefined, paid)
}

/** The price of that body; of one that will be refused the usual one. */
export function creditPrice(body: Body): number {
  const amount = field(body, 'amount_usdc')
  return isAmount(amount) ? amount : AMOUNT_DEFAULT
}

function amountOf(body: Body): number {
  const amount = field(body, 'amount_usdc') ?? AMOUNT_DEFAULT
  if (isAmount(amount)) return Number(atomicUnits(amount))
  throw wrong(
    'invalid_amount',
    'amount_usdc',
    `amount_usdc must be from ${AMOUNT_MIN} to ${AMOUNT_MAX}, with six decimals at most.`,
  )
}

function isAmount(amount: unknown): amount is number {
  return isFigure(amount) && amount >= AMOUNT_MIN && amount <= AMOUNT_MAX && isExact(amount)
}

/** Whole millionths. */
function isExact(amount: number): boolean {
  return /^\d+(?:\.\d{1,6})?$/.test(String(amount))
}

type Bought = Parameters<Run>[0]

async function bought(call: Call, amount: number, terms: KeyTerms | undefined, paid: Bought): Promise<Reply> {
  const { services, body, header } = call
  if (paid === null) throw new Error('credit is paid for')
  const { id: payment_id, payer } = paid
  const key_id = creditedKey(body, payment_id, header(KEY))
  // The settling has written the same; it counts once, and what follows from this one tells that it was counted.
  const counted = await ask(services, { key_id, op: 'bought', amount, payment_id, payer })
  const amount_usdc = amount / UNITS
  const isNew = field(body ?? {}, 'key_id') === undefined
  if (!isNew && payer !== counted.owner && !(await hasKey(call, counted)))
    return jsonReply(201, { key_id, amount_usdc, api_key: null })
  const isFresh = isNew && counted.secrets.length === 0
  const { newest } = services.alerts.secrets
  const key = isFresh ? await ask(services, { key_id, op: 'terms', terms: terms ?? USUAL, version: newest }) : counted
  const api_key = isNew ? (tokenOf(services.alerts.secrets, key) ?? null) : null
  return jsonReply(201, { ...keyAnswer(key, services), api_key, amount_usdc })
}

const USUAL: KeyTerms = { label: '', scopes: [...scopes], expires: null, daily_max: null }

/** What was said of a key since, else what is usual. */
function usualOf({ label, scopes: said, expires, daily_max }: KeyTerms): KeyTerms {
  return { label, scopes: said.length === 0 ? USUAL.scopes : said, expires, daily_max }
}

/** What a body says of a key; undefined: nothing. */
function termsOf(body: Body, now: number, before: KeyTerms = USUAL): KeyTerms | undefined {
  const names = ['label', 'scopes', 'expires_in_days', 'daily_max_usdc']
  if (!names.some((name) => Object.hasOwn(body, name))) return undefined
  const has = (name: string): boolean => Object.hasOwn(body, name)
  return {
    label: has('label') ? labelOf(field(body, 'label') ?? '') : before.label,
    scopes: has('scopes') ? scopesOf(field(body, 'scopes')) : before.scopes,
    expires: has('expires_in_days') ? endOf(field(body, 'expires_in_days'), now) : before.expires,
    daily_max: has('daily_max_usdc') ? dailyOf(field(body, 'daily_max_usdc')) : before.daily_max,
  }
}

function labelOf(label: unknown): string {
  if (typeof label === 'string' && label.length <= LABEL_MAX) return label
  throw wrong('invalid_body', 'label', `label must be a text of at most ${LABEL_MAX} characters.`)
}

function scopesOf(named: unknown): Scope[] {
  const known = scopes.filter((scope) => Array.isArray(named) && named.includes(scope))
  if (Array.isArray(named) && named.length > 0 && known.length === named.length) return known
  throw wrong('invalid_body', 'scopes', `scopes must be a list of some of ${scopes.join(', ')}, each once.`)
}

function endOf(days: unknown, now: number): number | null {
  if (days === undefined) return null
  if (Number.isInteger(days) && Number(days) >= 1 && Number(days) <= DAYS_MAX) return now + Number(days) * DAY_MICROS
  throw wrong(
    'invalid_body',
    'expires_in_days',
    `expires_in_days must be a whole number from 1 to ${DAYS_MAX}, or null.`,
  )
}

function dailyOf(amount: unknown): number | null {
  if (amount === undefined) return null
  if (isFigure(amount) && amount > 0 && amount <= UNITS && isExact(amount)) return Number(atomicUnits(amount))
  throw wrong('invalid_body', 'daily_max_usdc', 'daily_max_usdc must be above 0, with six decimals at most, or null.')
}

/** `GET /keys/:key_id` */
export async function showKey(call: Call, id: string): Promise<Reply> {
  return jsonReply(200, keyAnswer(await keyOf(call, id, false), call.services))
}

/** `PATCH /keys/:key_id`: what is left out stays. */
export async function changeKey(call: Call, id: string): Promise<Reply> {
  const { services, body = {} } = call
  const key = await living(call, id)
  const terms = termsOf(body, services.now() * 1_000, key)
  if (terms === undefined) return jsonReply(200, keyAnswer(key, services))
  return jsonReply(200, keyAnswer(await ask(services, { key_id: id, op: 'terms', terms }), services))
}

/** `DELETE /keys/:key_id`: its credit stays where it is. */
export async function revokeKey(call: Call, id: string): Promise<Reply> {
  const { services } = call
  await keyOf(call, id, true)
  return jsonReply(200, keyAnswer(await ask(services, { key_id: id, op: 'revoke' }), services))
}

/** `POST /keys/:key_id/rotate`: another secret, under the newest SERVICE_SECRET. */
export async function rotateKey(call: Call, id: string): Promise<Reply> {
  const { services, body = {} } = call
  const { secrets } = services.alerts
  const hours = field(body, 'grace_hours') ?? GRACE_HOURS
  if (!isFigure(hours) || hours < 0 || hours > GRACE_HOURS_MAX)
    throw wrong('invalid_body', 'grace_hours', `grace_hours must be from 0 to ${GRACE_HOURS_MAX}.`)
  const known = await living(call, id)
  const until = Math.round(services.now() * 1_000 + hours * HOUR_MICROS)
  const version = secrets.newest
  // Bought, and what was to follow got lost: its first secret is still to be made.
  const isFresh = known.secrets.length === 0
  const key = isFresh
    ? await ask(services, { key_id: id, op: 'terms', terms: usualOf(known), version })
    : await ask(services, { key_id: id, op: 'rotate', version, until })
  return jsonReply(200, { ...keyAnswer(key, services), api_key: tokenOf(secrets, key) ?? null })
}

async function living(call: Call, id: string): Promise<ApiKey> {
  const key = await keyOf(call, id, true)
  if (key.revoked === null) return key
  throw new ApiError('key_not_found', 'This API key was revoked.', { field: 'key_id' })
}

/** `POST /wallet/keys`: the keys that a wallet bought, with what changes them. */
export async function walletKeys(call: Call): Promise<Reply> {
  const { services, body = {} } = call
  await bookOf(services) // first of all: whether there are any
  const owner = await walletOf(call, 'keys', body)
  const keys = (await bookOf(services)).of(owner).slice(0, WALLET_KEYS_MAX)
  const { secrets } = services.alerts
  const shown = keys.map((key) => ({ ...keyAnswer(key, services), manage_token: manageTokenOf(secrets, key) }))
  return jsonReply(200, { count: shown.length, keys: shown })
}

const WALLET_KEYS_MAX = 1_000

/** `GET /keys/:key_id/usage` */
export async function keyUsage(call: Call, id: string, month: string | undefined): Promise<Reply> {
  const { services } = call
  await keyOf(call, id, false)
  const asked = month ?? monthOf(services)
  return jsonReply(200, { key_id: id, month: asked, usage: await readUsage(services.database, id, asked) })
}

/** `GET /keys/:key_id/invoice`: purchases and charges of a month, as CSV. */
export async function keyInvoice(call: Call, id: string, month: string | undefined): Promise<Reply> {
  const { services } = call
  await keyOf(call, id, false)
  const asked = month ?? monthOf(services)
  const body = await readInvoice(services.database, id, asked)
  const headers = { 'Content-Disposition': `attachment; filename="invoice-${id}-${asked}.csv"` }
  return { status: 200, type: 'text/csv; charset=utf-8', body, headers }
}

function monthOf({ now }: Services): string {
  return iso(now() * 1_000).slice(0, 7)
}

/** Writes a command and gives the key after it; throws what it was refused with. */
async function ask(
  { payments, now }: Services,
  command: Pick<CreditCommand, 'key_id' | 'op'> & Partial<CreditCommand>,
): Promise<ApiKey> {
  if (payments === null) throw new Error('without payments there are no keys')
  const request_id = randomUUID()
  const key = await payments.credit.log.command(creditCommand({ request_id, time: now() * 1_000, ...command }))
  if (key.outcome !== 'ended') return key
  throw new ApiError('key_not_found', 'This API key was revoked.', { field: 'key_id' })
}

function keyAnswer(key: ApiKey, { now }: Services): object {
  const { bought: paid, charged, leases, daily_max, charged_day, charged_today, secrets } = key
  const held = leases.reduce((sum, { amount, charged: used }) => sum + amount - used, 0)
  const today = Math.floor((now() * 1_000) / DAY_MICROS)
  const before = secrets.map(({ until }) => until ?? 0).find((until) => until > now() * 1_000)
  return {
    key_id: key.key_id,
    label: key.label,
    scopes: key.scopes,
    status: key.revoked !== null ? 'revoked' : hasEnded(key, now() * 1_000) ? 'expired' : 'active',
    created_at: iso(key.created),
    expires_at: key.expires === null ? null : iso(key.expires),
    balance_usdc: (paid - charged) / UNITS,
    held_usdc: held / UNITS,
    bought_usdc: paid / UNITS,
    charged_usdc: charged / UNITS,
    charged_today_usdc: (charged_day === today ? charged_today : 0) / UNITS,
    daily_max_usdc: daily_max === null ? null : daily_max / UNITS,
    former_secret_until: before === undefined ? null : iso(before),
  }
}
