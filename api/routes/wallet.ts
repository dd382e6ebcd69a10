import { jsonOutput, type Call, type BodyRule, route, type Route } from '../request/route.ts'
import { manageToken, webhookSecret, type ServiceSecrets } from '../../processors/alerts/secrets.ts'
import { statusAnswer } from '../alerts/answers.ts'
import { kindOf, alertStates, type CachedAlert } from '../alerts/alert-store.ts'
import { field, wrong } from '../alerts/fields.ts'
import { readWalletCursor, WALLET_MS, walletCursor, type WalletPurpose } from '../alerts/wallet.ts'
import type { Body } from '../request/body.ts'
import { ownerByKey } from '../credit/tokens.ts'
import { ApiError } from '../request/errors.ts'
import { jsonReply, type Reply } from '../request/reply.ts'
import type { CreationKey } from '../alerts/creation-index.ts'
import * as params from './parameters.ts'
import { array, instant, integer, nullableText, object, oneOf, text } from '../request/schema.ts'

/** The text that a wallet signs to be shown its alerts, or its keys. */
async function replyWalletMessage(
  { services }: Pick<Call, 'services'>,
  purpose: WalletPurpose,
  address: string,
): Promise<Reply> {
  const now = services.now()
  return jsonReply(200, {
    message: await services.alerts.wallets.message(purpose, address as `0x${string}`, now),
    expires_at: new Date(now + WALLET_MS).toISOString(),
  })
}

const LIMIT_MAX = 1_000
const LIMIT_DEFAULT = 100
const ADVICE = 'ask GET /wallet/message for this purpose, have the wallet sign its message, and send both.'

/** The alerts that the wallet paid for, newest first, with what controls them. */
async function replyWalletAlerts(call: Call): Promise<Reply> {
  const { services, body = {} } = call
  const { alerts } = services
  const limit = field(body, 'limit') ?? LIMIT_DEFAULT
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > LIMIT_MAX)
    throw wrong('invalid_limit', 'limit', `limit must be a whole number from 1 to ${LIMIT_MAX}.`)
  const filters = { state: stateIn(body), group: textIn(body, 'group'), tag: textIn(body, 'tag') }
  const { owner, until, before } = await askerOf(call, body)
  const book = await alerts.log.book()
  const { alerts: page, next } = book.owned({ owner, ...filters, before, limit: Number(limit) })
  const beside = await services.beside.of(page)
  const { secrets } = alerts
  return jsonReply(200, {
    count: page.length,
    alerts: page.map((alert) => ({
      kind: kindOf(alert),
      ...statusAnswer(alert, beside(alert)),
      ...secretsOf(alert, secrets),
    })),
    next_cursor: next === undefined ? null : walletCursor(secrets, { owner, until, at: next }),
  })
}

/** Null: the service no longer has what they were made from. */
function secretsOf({ key_version: version, alert_id: id }: CachedAlert, secrets: ServiceSecrets): object {
  if (!secrets.byVersion.has(version)) return { manage_token: null, webhook_secret: null }
  return { manage_token: manageToken(secrets, version, id), webhook_secret: webhookSecret(secrets, version, id) }
}

interface Asker {
  readonly owner: string
  readonly until: number
  readonly before: CreationKey | undefined
}

async function askerOf(call: Pick<Call, 'services' | 'header'>, body: Body): Promise<Asker> {
  const { services } = call
  const cursor = textIn(body, 'cursor')
  if (cursor !== undefined) {
    const read = readWalletCursor(services.alerts.secrets, cursor, services.now())
    if (read === undefined)
      throw wrong('invalid_cursor', 'cursor', 'cursor must be a next_cursor of the last 5 minutes.')
    return { owner: read.owner, until: read.until, before: read.at }
  }
  const byKey = await ownerByKey(call)
  if (byKey !== undefined) return { owner: byKey, until: services.now() + WALLET_MS, before: undefined }
  const owner = await walletOf(call, 'alerts', body)
  return { owner, until: services.now() + WALLET_MS, before: undefined }
}

/** The wallet that has signed the message of a body, for that purpose. */
export async function walletOf(
  { services }: Pick<Call, 'services'>,
  purpose: WalletPurpose,
  body: Body,
): Promise<string> {
  const [message, signature] = [textIn(body, 'message'), textIn(body, 'signature')]
  if (message === undefined || message.length > 2_000)
    throw wrong('invalid_wallet_proof', 'message', `message is missing: ${ADVICE}`)
  if (signature === undefined || !/^0x(?:[0-9a-fA-F]{2}){1,1000}$/.test(signature))
    throw wrong('invalid_wallet_proof', 'signature', `signature must be hexadecimal, 0x...: ${ADVICE}`)
  const proof = { message, signature: signature as `0x${string}` }
  return services.alerts.wallets.signerOf(purpose, proof, services.now())
}

function textIn(body: Body, name: string): string | undefined {
  const value = field(body, name)
  if (value === undefined || typeof value === 'string') return value
  throw new ApiError('invalid_body', `${name} must be a text.`, { field: name })
}

function stateIn(body: Body): string | undefined {
  const state = textIn(body, 'state')
  if (state === undefined || alertStates.some((known) => known === state)) return state
  throw new ApiError('invalid_body', `state must be one of ${alertStates.join(', ')}.`, { field: 'state' })
}

const walletMessageOutput = jsonOutput(
  'What the wallet signs, as it is (EIP-4361)',
  object('A message', {
    message: text('The text'),
    expires_at: instant('Until when it is taken, once'),
  }),
)

const walletAlertsBody: BodyRule = {
  schema: object(
    'A signed message, or where the page before ended, and which alerts',
    {
      message: text('Of GET /wallet/message?purpose=alerts, as it is', { maxLength: 2_000 }),
      signature: text('Of the wallet, hexadecimal (personal_sign; of a contract wallet ERC-1271)'),
      cursor: text('In place of both: next_cursor of the page before, within 5 minutes of the signature'),
      state: oneOf(alertStates, 'Only these'),
      group: text('Only rules of this group'),
      tag: text('Only rules with this tag'),
      limit: integer('Most alerts', { minimum: 1, maximum: LIMIT_MAX, default: 100 }),
    },
    ['message', 'signature', 'cursor', 'state', 'group', 'tag', 'limit'],
  ),
  example: { message: '$WALLET_MESSAGE', signature: '$WALLET_SIGNATURE' },
  optional: true,
}

const walletAlertsOutput = jsonOutput(
  'The alerts that the wallet paid for, newest first, ended ones of the last 7 days included',
  object('A page of alerts', {
    count: integer('Alerts of this page'),
    alerts: array(
      {
        type: 'object',
        description:
          'As its status, with its kind, manage_token and webhook_secret; both null where the SERVICE_SECRET that they were made from is left out',
        additionalProperties: true,
      },
      'Newest first',
    ),
    next_cursor: nullableText('What `cursor` the next page has; null: this is the last'),
  }),
)

const free = { priceUsdc: 0, limit: 'caller', ttlMs: 0 } as const

/** Whose alerts are theirs by a wallet’s signature. */
export const walletRoutes: readonly Route[] = [
  route({
    ...free,
    method: 'GET',
    path: '/wallet/message',
    name: 'wallet_message',
    description: 'What a wallet signs to see its alerts, or its API keys',
    input: { address: params.payingWallet, purpose: params.walletPurpose },
    outputs: { 200: walletMessageOutput },
    errors: [],
    prepare: (call) => replyWalletMessage(call, call.input.purpose, call.input.address),
  }),
  route({
    ...free,
    method: 'POST',
    path: '/wallet/alerts',
    name: 'wallet_alerts',
    description: 'The alerts that a wallet paid for, with their tokens',
    input: {},
    body: walletAlertsBody,
    headers: { 'X-API-Key': 'An API key of the wallet with the scope alerts, in place of a signature' },
    outputs: { 200: walletAlertsOutput },
    errors: [
      'invalid_wallet_proof',
      'invalid_limit',
      'invalid_cursor',
      'unauthorized',
      'forbidden',
      'overloaded',
      'data_unavailable',
    ],
    prepare: replyWalletAlerts,
  }),
]
