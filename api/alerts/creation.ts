import { createHash } from 'node:crypto'
import { alertKinds, type AlertTerms } from '../../processors/alerts/kinds/kinds.ts'
import { destinationDigest, sealUrl, type ServiceSecrets } from '../../processors/alerts/secrets.ts'
import type { Operator } from '../../processors/webhooks/channels/channel.ts'
import { receiverFor, targetText } from '../../processors/webhooks/channels/destination.ts'
import type { Command, NewAlert } from '../../schemas/records.ts'
import type { Body } from '../body.ts'
import type { Paid } from '../payments/payments.ts'
import { readDestination, type Destination } from './destination.ts'
import { readLifetime, readSymbol, readWallet } from './fields.ts'
import type { ApiKind } from './kinds/kind.ts'
import { apiKind } from './kinds/kinds.ts'

/** A creation that was checked; what it asks of the catalogue is left. */
export interface Creation {
  readonly terms: AlertTerms
  readonly symbol: string
  readonly destination: Destination
  readonly agent_wallet: string | undefined
  readonly expires_in_hours: number
}

/** Reads the body of a creation; throws the `ApiError` of the first field at fault. */
export function readCreation(kind: ApiKind, body: Body, operator: Operator): Creation {
  return {
    symbol: readSymbol(body),
    terms: kind.read(body),
    destination: readDestination(body, operator),
    agent_wallet: readWallet(body),
    expires_in_hours: readLifetime(body, kind.mayLastForever),
  }
}

/** Identifies what was asked for, whatever its spelling: two bodies that mean the same alert have the same. */
export function bodyHash({ terms, symbol, destination, ...rest }: Creation): string {
  const { kind, condition, target_price, threshold_pct, min_value_usd } = alertKinds.of(terms).write(terms)
  const { agent_wallet: wallet = null, expires_in_hours: hours } = rest
  const figures = [target_price, threshold_pct, min_value_usd]
  return sha256(JSON.stringify([kind, symbol, condition, ...figures, destination.asked, wallet, hours]))
}

/** Where the same Idempotency-Key means the same: a kind of alert, and its payer where there is one. */
export function idempotencyOf(kind: string, payer: string | null, key: string): string {
  return sha256(JSON.stringify([kind, payer, key]))
}

export interface CreationContext {
  readonly asset: string
  /** Made for this request, and for no other. */
  readonly request: string
  /** As `idempotencyOf`; null: none. */
  readonly idempotency: string | null
  readonly paid: Paid | null
  /** Host's clock, milliseconds. */
  readonly now: number
  readonly secrets: ServiceSecrets
}

/** The command that asks for the alert. Its id needs no counter: it follows from the request or its idempotency. */
export function creationCommand(creation: Creation, context: CreationContext): Command {
  const { asset, request, idempotency, paid, now, secrets } = context
  const id = alertId(creation, idempotency ?? request, now)
  return {
    ...commandOf({ request, action: 'create', asset, alertId: id, now }),
    alert: newAlert(creation, id, { idempotency, paid, secrets }),
    payment: paid?.id ?? null,
  }
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
    delivery: null,
    unconfirmed: false,
  }
}

const SEQUENCE_BYTES = 6

/** `alert_<symbol>_<unix seconds>_<sequence>`, of liquidation alerts `alert_liq_...`. */
function alertId({ terms, symbol }: Creation, seed: string, now: number): string {
  const sequence = createHash('sha256').update(seed).digest().readUIntBE(0, SEQUENCE_BYTES)
  return `alert_${apiKind(terms.kind).idPrefix}${symbol.toLowerCase()}_${Math.floor(now / 1000)}_${sequence}`
}

/** What every command says. */
export function commandOf(said: {
  readonly request: string
  readonly action: Command['action']
  readonly asset: string
  readonly alertId: string
  readonly now: number
}): Command {
  return {
    request_id: said.request,
    action: said.action,
    asset: said.asset,
    alert_id: said.alertId,
    alert: null,
    add_hours: null,
    trigger_id: null,
    trigger_partition: null,
    trigger_offset: null,
    payment: null,
    until: null,
    created: said.now * 1000,
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
