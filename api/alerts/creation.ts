import { createHash } from 'node:crypto'
import { alertKinds, type AlertTerms } from '../../processors/alerts/kinds/kinds.ts'
import { sealUrl, type ServiceSecrets } from '../../processors/alerts/secrets.ts'
import { readWebhookUrl, receiverOf, type BadUrl, type Reach } from '../../processors/webhooks/address.ts'
import type { Command, NewAlert } from '../../schemas/records.ts'
import type { Body } from '../body.ts'
import type { Paid } from '../payments/payments.ts'
import { field, readLifetime, readSymbol, readWallet, wrong } from './fields.ts'
import type { ApiKind } from './kinds/kind.ts'
import { apiKind } from './kinds/kinds.ts'

/** A creation that was checked; what it asks of the catalogue is left. */
export interface Creation {
  readonly terms: AlertTerms
  readonly symbol: string
  /** As submitted. */
  readonly webhook_url: string
  readonly agent_wallet: string | undefined
  readonly expires_in_hours: number
}

/** Reads the body of a creation; throws the `ApiError` of the first field at fault. */
export function readCreation(kind: ApiKind, body: Body, reach: Reach): Creation {
  return {
    symbol: readSymbol(body),
    terms: kind.read(body),
    webhook_url: readUrl(body, reach),
    agent_wallet: readWallet(body),
    expires_in_hours: readLifetime(body),
  }
}

const urlAdvice: Readonly<Record<BadUrl, string>> = {
  'not-a-url': 'webhook_url must be a whole URL, for example https://example.com/hook.',
  'not-https': 'webhook_url must begin with https://.',
  credentials: 'webhook_url must not hold a user or a password; put a secret into its path.',
  'private-address': 'webhook_url must lead to a public address, by its name or by its number.',
  'too-long': 'webhook_url may have at most 2048 characters.',
  'no-port': 'webhook_url must name a port that can be reached, or none.',
  'chat-service':
    'webhook_url leads to a chat service (Slack, Discord, Telegram, Google Chat, Microsoft Teams), which takes messages of its own form only and would refuse the signed event: give an address of yours, or of an automation service, that makes a message of it.',
}

function readUrl(body: Body, reach: Reach): string {
  const text = field(body, 'webhook_url')
  const read = typeof text === 'string' ? readWebhookUrl(text, reach) : { refused: 'not-a-url' as const }
  if ('refused' in read || typeof text !== 'string')
    throw wrong('invalid_webhook_url', 'webhook_url', urlAdvice['refused' in read ? read.refused : 'not-a-url'])
  return text
}

/** Identifies what was asked for, whatever its spelling: two bodies that mean the same alert have the same. */
export function bodyHash({ terms, symbol, webhook_url: url, ...rest }: Creation): string {
  const { kind, condition, target_price, threshold_pct, min_value_usd } = alertKinds.of(terms).write(terms)
  const { agent_wallet: wallet = null, expires_in_hours: hours } = rest
  const figures = [target_price, threshold_pct, min_value_usd]
  return sha256(JSON.stringify([kind, symbol, condition, ...figures, url, wallet, hours]))
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
  const url = new URL(creation.webhook_url)
  const wallets = [creation.agent_wallet, paid?.payer].filter((wallet) => wallet !== undefined)
  return {
    ...alertKinds.of(terms).write(terms),
    symbol,
    expires_in_hours,
    wallets: [...new Set(wallets)],
    receiver: receiverOf(url),
    webhook: sealUrl(secrets, secrets.newest, id, url.href),
    key_version: secrets.newest,
    idempotency,
    body_hash: bodyHash(creation),
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
    created: said.now * 1000,
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
