import { createHash } from 'node:crypto'
import { alertKinds, type AlertTerms } from '../../processors/alerts/kinds/kinds.ts'
import { everywherePart, listPart } from '../../processors/alerts/parts.ts'
import { destinationDigest, sealUrl, type ServiceSecrets } from '../../processors/alerts/secrets.ts'
import type { Operator } from '../../processors/webhooks/channels/channel.ts'
import { receiverFor, targetText } from '../../processors/webhooks/channels/channels.ts'
import { emptyFields } from '../../schemas/codec.ts'
import type { Command, NewAlert } from '../../schemas/records.ts'
import type { Body } from '../request/body.ts'
import type { Paid } from '../payments/payments.ts'
import { readDelivery, readDestination, type Destination } from './destination.ts'
import { readLifetime, readSymbol, readSymbols, readWallet } from './fields.ts'
import type { ApiKind } from './kinds/kind.ts'
import { apiKind } from './kinds/kinds.ts'

/** A creation that was checked; what it asks of the catalogue is left. */
export interface Creation {
  readonly terms: AlertTerms
  /** As submitted, in upper case; of several joined by commas, `all`. */
  readonly symbol: string
  /** Those of a rule for several. */
  readonly symbols: readonly string[] | 'all' | undefined
  readonly destination: Destination
  /** How its messages come, as in the log. */
  readonly delivery: string | null
  readonly agent_wallet: string | undefined
  readonly expires_in_hours: number
}

/** Reads the body of a creation; throws the `ApiError` of the first field at fault. */
export function readCreation(kind: ApiKind, body: Body, operator: Operator): Creation {
  const symbols = kind.mayBeForSeveral === true ? readSymbols(body) : undefined
  return {
    symbol: symbols === undefined ? readSymbol(body) : symbols === 'all' ? symbols : symbols.join(','),
    symbols,
    terms: kind.read(body),
    ...readTelling(body, operator),
    agent_wallet: readWallet(body),
    expires_in_hours: readLifetime(body, kind.mayLastForever),
  }
}

function readTelling(body: Body, operator: Operator): Pick<Creation, 'destination' | 'delivery'> {
  const destination = readDestination(body, operator)
  const receiver = receiverFor(destination.target, () => '0') // which of its channel does not matter
  return { destination, delivery: readDelivery(body, receiver) }
}

/** Identifies what was asked for, whatever its spelling: two bodies that mean the same alert have the same. */
export function bodyHash({ terms, symbol, destination, ...rest }: Creation): string {
  const { kind, condition, target_price, threshold_pct, min_value_usd } = alertKinds.of(terms).write(terms)
  const { agent_wallet: wallet = null, expires_in_hours: hours, delivery } = rest
  const figures = [target_price, threshold_pct, min_value_usd]
  return sha256(
    JSON.stringify([
      kind,
      symbol,
      condition,
      ...figures,
      destination.asked,
      wallet,
      hours,
      ...(delivery === null ? [] : [delivery]),
    ]),
  )
}

/** Where the same Idempotency-Key means the same: a kind of alert, and its payer where there is one. */
export function idempotencyOf(kind: string, payer: string | null, key: string): string {
  return sha256(JSON.stringify([kind, payer, key]))
}

export interface CreationContext {
  /** Where it is decided: the assets of its symbols; of one for all every partition. */
  readonly assets: readonly string[]
  readonly partitions: number
  /** Under which it was begun; left out: it is new. */
  readonly id?: string
  /** Made for this request, and for no other. */
  readonly request: string
  /** As `idempotencyOf`; null: none. */
  readonly idempotency: string | null
  readonly paid: Paid | null
  /** Host's clock, milliseconds. */
  readonly now: number
  readonly secrets: ServiceSecrets
}

/**
 * The command that asks for the alert, or one for each of its parts, each known by itself when it comes again. Its id needs
 * no counter: it follows from the request or its idempotency.
 */
export function creationCommands(creation: Creation, context: CreationContext): readonly Command[] {
  const { request, idempotency, paid, now } = context
  const { id = alertId(creation, idempotency ?? request, now) } = context
  const whole = newAlert(creation, id, context)
  return partsOf(creation, id, context).map(({ id: alertId, asset, symbol }, at) => {
    const own = (text: string | undefined): string | null =>
      text === undefined ? null : at === 0 ? text : `${text}.${at}`
    return {
      ...commandOf({ request: own(request) ?? request, action: 'create', asset, alertId, now }),
      alert: { ...whole, symbol, idempotency: own(idempotency ?? undefined) },
      payment: own(paid?.id),
    }
  })
}

interface Part {
  readonly id: string
  readonly asset: string
  readonly symbol: string
}

/** What decides about it: one alert, or of a rule for several symbols one for each, of one for all one for each partition. */
export function partsOf(
  { symbol, symbols }: Pick<Creation, 'symbol' | 'symbols'>,
  id: string,
  { assets, partitions }: Pick<CreationContext, 'assets' | 'partitions'>,
): Part[] {
  if (symbols === undefined) return assets.map((asset) => ({ id, asset, symbol }))
  if (symbols !== 'all')
    return assets.map((asset, at) => ({ id: listPart(id, at + 1, asset), asset, symbol: symbols[at] ?? symbol }))
  return Array.from({ length: partitions }, (_, partition) => ({ ...everywherePart(id, partition), symbol }))
}

function newAlert(
  creation: Creation,
  id: string,
  { idempotency, paid, secrets }: Pick<CreationContext, 'idempotency' | 'paid' | 'secrets'>,
): NewAlert {
  const { terms, symbol, expires_in_hours } = creation
  const { newest: version } = secrets
  const { target } = creation.destination
  const wallets = [creation.agent_wallet, paid?.payer].filter((wallet) => wallet !== undefined)
  return {
    ...alertKinds.of(terms).write(terms),
    symbol,
    expires_in_hours,
    wallets: [...new Set(wallets)],
    receiver: receiverFor(target, (text) => destinationDigest(secrets, version, text)),
    webhook: sealUrl(secrets, version, id, targetText(target)),
    key_version: version,
    idempotency,
    body_hash: bodyHash(creation),
    owner: paid?.payer.toLowerCase() ?? null,
    delivery: creation.delivery,
  }
}

const SEQUENCE_BYTES = 6

/** `alert_<symbol>_<unix seconds>_<sequence>`, of liquidation alerts `alert_liq_...`. */
function alertId({ terms, symbol, symbols }: Creation, seed: string, now: number): string {
  const name = Array.isArray(symbols) ? 'list' : symbol
  const sequence = createHash('sha256').update(seed).digest().readUIntBE(0, SEQUENCE_BYTES)
  return `alert_${apiKind(terms.kind).idPrefix}${name.toLowerCase()}_${Math.floor(now / 1000)}_${sequence}`
}

/** What every command says. */
export function commandOf(fields: {
  readonly request: string
  readonly action: Command['action']
  readonly asset: string
  readonly alertId: string
  readonly now: number
}): Command {
  return {
    ...emptyFields('command'),
    request_id: fields.request,
    action: fields.action,
    asset: fields.asset,
    alert_id: fields.alertId,
    created: fields.now * 1000,
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
