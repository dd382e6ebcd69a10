import { alertKinds } from '../../processors/alerts/kinds/kinds.ts'
import { isEverywhere, ownersId } from '../../processors/alerts/parts.ts'
import { nobody } from '../../processors/alerts/record.ts'
import { AHEAD_MAX, FOREVER_HOURS, IDEMPOTENT, NEVER } from '../../processors/alerts/state.ts'
import { cancelledAnswer, createdAnswer, extendedAnswer, statusAnswer, existing, owned } from '../alerts/answers.ts'
import { actionOn, ask, askAnew } from '../alerts/ask.ts'
import { commandedParts, cursorOf, creationKeyOf, type AlertStore, type CachedAlert } from '../alerts/alert-store.ts'
import {
  bodyHash,
  type CreationContext,
  creationCommands,
  idempotencyOf,
  readCreation,
  type Creation,
} from '../alerts/creation.ts'
import { readDelivery } from '../alerts/destination.ts'
import { assetLookedAt } from '../alerts/looked-at.ts'
import { field, readAddHours, wrong } from '../alerts/fields.ts'
import type { ApiKind } from '../alerts/kinds/kind.ts'
import type { AlertState, Command } from '../../schemas/records.ts'
import { findAsset } from '../present/catalogue.ts'
import { ApiError } from '../request/errors.ts'
import { parseTime } from '../request/time.ts'
import { idempotencyKeyOf, KEY } from '../payments/purchase.ts'
import { jsonReply, type Reply } from '../request/reply.ts'
import { ownRequest, type Call, type Run } from '../request/route.ts'
import type { Services } from '../services.ts'

const HOUR = 3_600_000_000

/** POST: validated here; the alerts processor makes it, or finds the one that the same Idempotency-Key made. */
export async function createAlert(call: Call, kind: ApiKind): Promise<Reply | Run> {
  const { services, body } = call
  const { alerts, now } = services
  if (body === undefined) throw new ApiError('invalid_body', 'Send the alert as a JSON object.')
  const creation = readCreation(kind, body, alerts)
  if (creation.expires_in_hours === FOREVER_HOURS && services.payments !== null)
    throw wrong(
      'invalid_expires_in_hours',
      'expires_in_hours',
      'What has no end cannot be paid for at once: pay for up to 720 hours, and extend them before they end.',
    )
  const assets = assetsOf(creation, services)
  const key = readKey(call, creation.symbols !== undefined)
  const payer = call.payer?.address ?? null
  const known = key === null ? undefined : knownCreation(await alerts.log.book(), services, { creation, key, payer })
  const { secrets } = alerts
  const context = { assets, partitions: services.partitions, now: now(), secrets }
  if (known !== undefined) {
    await complete(call, creation, { ...context, known })
    return jsonReply(201, createdAnswer(creation, known, secrets))
  }
  return async (paid) => {
    const idempotency = key === null ? null : idempotencyOf(kind.kind, paid?.payer ?? null, key)
    const asked = { ...context, request: ownRequest(call), idempotency, paid }
    const { alert, isRepeated } = await createParts(services, creation, asked)
    if (alertKinds.of(creation.terms).needsSubscription(creation.terms))
      for (const asset of assets) keepWanted(services, asset)
    return jsonReply(201, createdAnswer(creation, alert, secrets), { isFree: isRepeated })
  }
}

/**
 * The first part tells under which id the alert is, made now or by the same request before; the others follow under it. So
 * the same request completes what was cut short.
 */
async function createParts(services: Services, creation: Creation, context: CreationContext): Promise<Created> {
  const [first, ...others] = creationCommands(creation, context)
  const { alert, event } = await askAnew(services, first === undefined ? [] : [first])
  if (alert === null) throw new Error('a creation has an alert')
  const id = ownersId(alert.alert_id)
  if (others.length > 0) await createOthers(services, creation, { ...context, id, begun: alert })
  return { alert, isRepeated: event === 'repeated' }
}

interface Created {
  readonly alert: AlertState
  /** The same request had made it before. */
  readonly isRepeated: boolean
}

async function createOthers(
  services: Services,
  creation: Creation,
  { begun, ...context }: CreationContext & { readonly begun: AlertState },
): Promise<void> {
  try {
    const [, ...others] = creationCommands(creation, context)
    await askAnew(
      services,
      others.map((command) => asChanged(command, begun)),
    )
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const half =
      'Only some of its symbols have the rule: send the same request again with its Idempotency-Key, which completes it; it is paid for once.'
    throw new ApiError(error.code, `${error.message} ${half}`, { ...error.detail, cause: error })
  }
}

/** What was begun may have been changed since: what is missing of it is as the rest. */
function asChanged(command: Command, begun: Omit<AlertState, 'webhook'>): Command {
  const { condition, target_price, threshold_pct, min_value_usd, delivery } = begun
  const changed = { condition, target_price, threshold_pct, min_value_usd, delivery }
  return { ...command, alert: command.alert && { ...command.alert, ...changed } }
}

/** Makes what is missing of an alert of several parts that was begun and paid for. */
async function complete(
  call: Call,
  creation: Creation,
  { known, ...context }: Omit<CreationContext, 'request' | 'idempotency' | 'paid'> & { readonly known: CachedAlert },
): Promise<void> {
  const { parts, alert_id: id, idempotency, owner, wallets } = known
  const made = new Set(parts?.map(({ alert_id }) => alert_id))
  const all = creationCommands(creation, { ...context, request: ownRequest(call), idempotency, paid: null, id })
  const missing = parts === undefined ? [] : all.filter(({ alert_id }) => !made.has(alert_id))
  if (missing.length === 0) return
  await askAnew(
    call.services,
    missing
      .map((command) => asChanged(command, known))
      .map((command) => ({ ...command, alert: command.alert && { ...command.alert, owner, wallets } })),
  )
}

/** Of all symbols none is named. Two names of one asset are one. */
function assetsOf({ terms, symbol, symbols = [symbol] }: Creation, services: Services): readonly string[] {
  if (symbols === 'all') return []
  const assets = symbols.map((name) => assetLookedAt(services, { symbol: name, terms }))
  if (new Set(assets).size === assets.length) return assets
  throw wrong('invalid_symbol', 'symbols', 'symbols names one asset twice, under two of its names; leave one out.')
}

/** Null: none was sent. A rule for several symbols may be cut short, and is completed by its key. */
function readKey(call: Call, isNeeded: boolean): string | null {
  const key = idempotencyKeyOf(call)
  if (key === null && isNeeded)
    throw wrong('invalid_idempotency_key', KEY, `A rule for several symbols needs an ${KEY}, best a random UUID.`)
  return key
}

/**
 * What the same key made within a day: nothing is paid for it again. Who is not found here may still be found by the
 * processor, which decides.
 */
function knownCreation(
  book: AlertStore,
  { now }: Services,
  { creation, key, payer }: { creation: Creation; key: string; payer: string | null },
): CachedAlert | undefined {
  const alert = book.creation(idempotencyOf(creation.terms.kind, payer, key))
  if (alert === undefined || now() * 1000 - alert.created_at >= IDEMPOTENT) return undefined
  if (alert.body_hash === bodyHash(creation)) return alert
  throw wrong('idempotency_conflict', KEY, 'This Idempotency-Key was used for another alert; choose a new one.')
}

/** Open interest is gathered for wanted assets only; what is missed here is made up for within a minute. */
function keepWanted({ preSubscribed, wants, log, now }: Services, asset: string): void {
  if (preSubscribed.has(asset)) return
  wants.renew(asset, now()).catch((error: unknown) => {
    log.warn({ err: error, asset }, 'a want of an alert could not be written; it is tried again')
  })
}

export async function alertStatus(call: Pick<Call, 'services'>, kind: string, id: string): Promise<Reply> {
  const alert = await existing(call, kind, id)
  const beside = await call.services.beside.of([alert])
  return jsonReply(200, statusAnswer(alert, beside(alert)))
}

export async function cancelAlert(call: Call, kind: string, id: string): Promise<Reply> {
  const { services } = call
  const { alert } = await ask(services, actionOn(call, await owned(call, kind, id), 'cancel'))
  if (alert === null) throw new Error('a cancel has an alert')
  return jsonReply(200, cancelledAnswer(alert))
}

/** Other terms, whole, which could ring for its symbols; where it goes, its lifetime and its deliveries stay. */
export async function editAlert(call: Call, kind: ApiKind, id: string): Promise<Run> {
  const { services, body } = call
  const alert = await owned(call, kind.kind, id)
  if (body === undefined) throw new ApiError('invalid_body', 'Send the terms as a JSON object.')
  const terms = kind.read(body)
  const ofSymbols = commandedParts(alert).filter(({ asset }) => !isEverywhere(asset))
  for (const { symbol } of ofSymbols) assetLookedAt(services, { symbol, terms })
  const { symbol, expires_in_hours } = alert
  const delivery = readDelivery(body, alert.receiver)
  const asked = { ...nobody, ...alertKinds.of(terms).write(terms), symbol, expires_in_hours, delivery }
  return async () => {
    await askAnew(services, actionOn(call, alert, 'edit', { alert: asked }))
    if (alertKinds.of(terms).needsSubscription(terms)) for (const { asset } of ofSymbols) keepWanted(services, asset)
    return alertStatus(call, kind.kind, id)
  }
}

/** `until`: ISO 8601 or unix milliseconds; left out, or after the middle of 2255: until it is resumed. */
export async function pauseAlert(call: Call, kind: string, id: string): Promise<Reply> {
  const { services } = call
  const alert = await owned(call, kind, id)
  const given = field(call.body ?? {}, 'until')
  const isTime = typeof given === 'string' || typeof given === 'number'
  const ms = given === undefined ? null : isTime ? parseTime(String(given)) : undefined
  if (ms === undefined)
    throw wrong('invalid_until', 'until', 'until must be a time as ISO 8601 or unix milliseconds, later than now.')
  // Beyond what the log's numbers can say it has no end; before them it is past, which the processor refuses.
  const until = ms === null ? null : Math.min(Math.max(ms * 1000, 0), NEVER)
  await ask(services, actionOn(call, alert, 'pause', { until }))
  return alertStatus(call, kind, id)
}

export async function resumeAlert(call: Call, kind: string, id: string): Promise<Reply> {
  const { services } = call
  await ask(services, actionOn(call, await owned(call, kind, id), 'resume'))
  return alertStatus(call, kind, id)
}

/** Checked here, so that nothing is paid for what cannot be; what was paid for is then applied by the processor. */
export async function extendAlert(call: Call, kind: string, id: string): Promise<Run> {
  const { services } = call
  const alert = await owned(call, kind, id)
  const hours = readAddHours(call.body ?? {})
  const key = idempotencyKeyOf(call)
  const free = key === null ? null : `free-${idempotencyOf(`extend ${id} ${hours}`, null, key)}`
  if (call.payer?.hasPaid !== true) assertExtendable(alert, hours, services)
  return async (paid) => {
    const more = { add_hours: hours, payment: paid?.id ?? free }
    const asking = alert.status === 'expired' ? askAnew : ask // what had ended looks at nothing any more
    const { alert: extended, event } = await asking(services, actionOn(call, alert, 'extend', more))
    if (extended === null) throw new Error('an extension has an alert')
    return jsonReply(200, extendedAnswer(extended, hours), { isFree: event === 'repeated' })
  }
}

function assertExtendable({ status, expires_at: expires }: CachedAlert, hours: number, { mode, now }: Services): void {
  if (status !== 'active')
    throw new ApiError('alert_not_active', `The alert is ${status}; only an active one can be extended.`)
  // A tape's alerts end by the tape's clock: there only the processor knows.
  if (mode !== 'tape' && expires + hours * HOUR > now() * 1000 + AHEAD_MAX)
    throw wrong('invalid_add_hours', 'add_hours', 'An alert may end at most 30 days from now; choose fewer hours.')
}

export interface ListInput {
  readonly wallet: string | undefined
  readonly symbol: string | undefined
  readonly cursor: string | undefined
  readonly limit: number
}

/** Active alerts, newest first. */
export async function listAlerts({ services }: Pick<Call, 'services'>, kind: string, input: ListInput): Promise<Reply> {
  const { wallet, symbol, cursor, limit } = input
  const before = cursor === undefined ? undefined : creationKeyOf(cursor)
  if (cursor !== undefined && before === undefined)
    throw wrong('invalid_cursor', 'cursor', 'cursor must be the next_cursor of the page before.')
  const asset =
    symbol === undefined ? undefined : findAsset(symbol, services.present().catalogue(services.counted)).asset
  const { alerts, next } = (await services.alerts.log.book()).page({ kind, asset, wallet, before, limit })
  const beside = await services.beside.of(alerts)
  return jsonReply(200, {
    count: alerts.length,
    alerts: alerts.map((alert) => statusAnswer(alert, beside(alert))),
    next_cursor: next === undefined ? null : cursorOf(next),
  })
}
