import { alertStates } from '../alerts/alert-store.ts'
import * as params from '../parameters.ts'
import { type BodyRule, type Output, route, type Route } from '../route.ts'
import { array, instant, integer, nullableText, object, oneOf, text } from '../schema.ts'
import { LIMIT_MAX, replyWalletAlerts, replyWalletMessage } from './wallet.ts'

const walletMessageOutput: Output = {
  says: 'What the wallet signs, as it is (EIP-4361)',
  type: 'application/json',
  schema: object('A message', {
    message: text('The text'),
    expires_at: instant('Until when it is taken, once'),
  }),
}

const walletAlertsBody: BodyRule = {
  schema: object(
    'A signed message, or where the page before ended, and which alerts',
    {
      message: text('Of GET /wallet/message, as it is', { maxLength: 2_000 }),
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

const walletAlertsOutput: Output = {
  says: 'The alerts that the wallet paid for, newest first, ended ones of the last 7 days included',
  type: 'application/json',
  schema: object('A page of alerts', {
    count: integer('Alerts of this page'),
    alerts: array(
      {
        type: 'object',
        description: 'As its status, with its kind, manage_token and webhook_secret',
        additionalProperties: true,
      },
      'Newest first',
    ),
    next_cursor: nullableText('What `cursor` the next page has; null: this is the last'),
  }),
}

const free = { priceUsdc: 0, limit: 'caller', ttlMs: 0 } as const

/** Whose alerts are theirs by a wallet’s signature. */
export const walletRoutes: readonly Route[] = [
  route({
    ...free,
    method: 'GET',
    path: '/wallet/message',
    name: 'wallet_message',
    says: 'What a wallet signs to see its alerts',
    input: { address: params.payingWallet },
    outputs: { 200: walletMessageOutput },
    errors: [],
    prepare: (call) => replyWalletMessage(call, call.input.address),
  }),
  route({
    ...free,
    method: 'POST',
    path: '/wallet/alerts',
    name: 'wallet_alerts',
    says: 'The alerts that a wallet paid for, with their tokens',
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
