import { callerRoute, jsonOutput, type BodyRule, type Route } from '../request/route.ts'
import { scopes } from '../credit/credit.ts'
import * as params from './parameters.ts'
import {
  array,
  integer,
  instant,
  nullableInstant,
  nullableNumber,
  nullableText,
  number,
  object,
  oneOf,
  text,
  type Schema,
} from '../request/schema.ts'
import {
  AMOUNT_DEFAULT,
  AMOUNT_MAX,
  AMOUNT_MIN,
  buyCredit,
  changeKey,
  creditPrice,
  GRACE_HOURS_MAX,
  keyInvoice,
  keyUsage,
  LABEL_MAX,
  revokeKey,
  rotateKey,
  showKey,
  walletKeys,
} from './keys.ts'

const termsSchemas: Readonly<Record<string, Schema>> = {
  label: text('A name of your own', { maxLength: LABEL_MAX }),
  scopes: array(
    oneOf(scopes, 'read: data; alerts: make alerts, control those of its buyer; manage: change the key'),
    'What it may do; all of it unless said',
  ),
  expires_in_days: { type: ['integer', 'null'], description: 'When it ends; null: never', minimum: 1, maximum: 3_650 },
  daily_max_usdc: {
    type: ['number', 'null'],
    description: 'Most that it may spend on a day (UTC); null: no limit',
    exclusiveMinimum: 0,
  },
}

const keySchemas: Readonly<Record<string, Schema>> = {
  key_id: text('Names the key; no secret'),
  label: text('A name of your own'),
  scopes: array(oneOf(scopes, 'A scope'), 'What it may do'),
  status: oneOf(['active', 'expired', 'revoked'], 'Whether it can be used'),
  created_at: instant('When it was bought'),
  expires_at: nullableInstant('When it ends; null: never'),
  balance_usdc: number('What was bought less what was charged'),
  held_usdc: number('Of the balance, what is set aside for API instances: a minute at most'),
  bought_usdc: number('All that was paid in'),
  charged_usdc: number('All that was charged; up to a second behind'),
  charged_today_usdc: number('What was charged today (UTC)'),
  daily_max_usdc: nullableNumber('Most that it may spend on a day; null: no limit'),
  former_secret_until: nullableInstant('How long the secret before the last rotation is taken; null: there is none'),
}

const apiKey = nullableText('The key itself, mda_...: only here, and again for the same payment')

const keyOutput = jsonOutput('The key as it is now', object('An API key', keySchemas))

const creditBody: BodyRule = {
  schema: object(
    'How much, and for which key',
    {
      amount_usdc: number('What is paid and becomes credit; the price of this request', {
        minimum: AMOUNT_MIN,
        maximum: AMOUNT_MAX,
        default: AMOUNT_DEFAULT,
      }),
      key_id: text(
        'A key that gets the credit, anybody’s; left out: a new one. The answer tells of it to the wallet that bought it, or who sends it as X-API-Key, or its manage_token as a bearer',
      ),
      ...termsSchemas,
    },
    ['amount_usdc', 'key_id', ...Object.keys(termsSchemas)],
  ),
  example: { amount_usdc: 1, label: 'my bot' },
  optional: true,
}

const changeBody: BodyRule = {
  schema: object('What is to be other; what is left out stays', termsSchemas, Object.keys(termsSchemas)),
  example: { daily_max_usdc: 5 },
  optional: true,
}

const rotateBody: BodyRule = {
  schema: object(
    'How long the secret before is taken',
    {
      grace_hours: number('Hours; 0: no more, where it has leaked', {
        minimum: 0,
        maximum: GRACE_HOURS_MAX,
        default: 24,
      }),
    },
    ['grace_hours'],
  ),
  example: { grace_hours: 24 },
  optional: true,
}

const walletBody: BodyRule = {
  schema: object('A signed message', {
    message: text('Of GET /wallet/message?purpose=keys, as it is', { maxLength: 2_000 }),
    signature: text('Of the wallet, hexadecimal (personal_sign; of a contract wallet ERC-1271)'),
  }),
  example: { message: '$WALLET_MESSAGE', signature: '$WALLET_SIGNATURE' },
  optional: false,
}

const usageOutput = jsonOutput(
  'What the key was charged, by day and route',
  object('Usage of a month', {
    key_id: text('The key'),
    month: text('UTC'),
    usage: array(
      object('A route on a day', {
        day: text('UTC, 2026-11-24'),
        route: text('Method and path'),
        requests: integer('Answers given'),
        usdc: number('What they cost together'),
      }),
      'Oldest first; some seconds behind',
    ),
  }),
)

const bearer = {
  Authorization: 'Bearer and the API key, or the manage_token of POST /wallet/keys',
  'X-API-Key': 'The API key, in its place',
}
const key_id = params.keyId
const month = params.month
/** Of routes about one key, for who has it or may manage it. */
const ofKey = {
  input: { key_id },
  headers: bearer,
  errors: ['unauthorized', 'forbidden', 'key_not_found', 'data_unavailable', 'overloaded'],
} as const

/** The routes of API keys; where payments are off there are none. */
export const keyRoutes: readonly Route[] = [
  callerRoute({
    method: 'POST',
    path: '/credit',
    name: 'credit_buy',
    description: 'Buy credit: a new API key, or more for one',
    priceUsdc: AMOUNT_DEFAULT,
    priceOf: creditPrice,
    buysCredit: true,
    needsKey: true,
    isIdempotent: true,
    input: {},
    body: creditBody,
    headers: {
      'Idempotency-Key': '16 to 128 characters, a random UUID: who has it and the payment gets the answer again',
    },
    outputs: {
      201: jsonOutput(
        'The credit is there; the same payment and Idempotency-Key give this answer again',
        object(
          'An API key with its credit; of another’s key its id and the amount alone, and api_key null',
          { ...keySchemas, api_key: apiKey, amount_usdc: number('What was bought') },
          Object.keys(keySchemas).filter((name) => name !== 'key_id'),
        ),
      ),
    },
    errors: ['invalid_amount', 'key_not_found', 'invalid_idempotency_key', 'idempotency_conflict', 'data_unavailable'],
    prepare: buyCredit,
  }),
  callerRoute({
    method: 'GET',
    path: '/keys/:key_id',
    name: 'key',
    description: 'An API key with its balance',
    ...ofKey,
    outputs: { 200: keyOutput },
    prepare: (call) => showKey(call, call.input.key_id),
  }),
  callerRoute({
    method: 'PATCH',
    path: '/keys/:key_id',
    name: 'key_change',
    description: 'Change what an API key may do',
    ...ofKey,
    body: changeBody,
    outputs: { 200: keyOutput },
    prepare: (call) => changeKey(call, call.input.key_id),
  }),
  callerRoute({
    method: 'POST',
    path: '/keys/:key_id/rotate',
    name: 'key_rotate',
    description: 'Give an API key another secret',
    replaces: true,
    ...ofKey,
    body: rotateBody,
    outputs: {
      200: jsonOutput(
        'The key with its new secret',
        object('An API key', { ...keySchemas, api_key: nullableText('The key itself, mda_...: only here') }),
      ),
    },
    prepare: (call) => rotateKey(call, call.input.key_id),
  }),
  callerRoute({
    method: 'DELETE',
    path: '/keys/:key_id',
    name: 'key_revoke',
    description: 'End an API key for good',
    ...ofKey,
    outputs: { 200: keyOutput },
    prepare: (call) => revokeKey(call, call.input.key_id),
  }),
  callerRoute({
    method: 'GET',
    path: '/keys/:key_id/usage',
    name: 'key_usage',
    description: 'What an API key was charged, by day and route',
    ...ofKey,
    input: { key_id, month },
    outputs: { 200: usageOutput },
    prepare: (call) => keyUsage(call, call.input.key_id, call.input.month),
  }),
  callerRoute({
    method: 'GET',
    path: '/keys/:key_id/invoice',
    name: 'key_invoice',
    description: 'Purchases and charges of an API key in a month, as CSV',
    ...ofKey,
    input: { key_id, month },
    outputs: {
      200: {
        description: 'A line for each purchase, and for each day and route; charges below zero',
        type: 'text/csv',
        schema: { type: 'string' },
      },
    },
    prepare: (call) => keyInvoice(call, call.input.key_id, call.input.month),
  }),
  callerRoute({
    method: 'POST',
    path: '/wallet/keys',
    name: 'wallet_keys',
    description: 'The API keys that a wallet bought',
    input: {},
    body: walletBody,
    outputs: {
      200: jsonOutput(
        'Its keys, newest first, at most 1,000',
        object('Keys of a wallet', {
          count: integer('How many'),
          keys: array(
            object('An API key', {
              ...keySchemas,
              manage_token: nullableText('Bearer token that changes, rotates and revokes the key'),
            }),
            'Newest first',
          ),
        }),
      ),
    },
    errors: ['invalid_wallet_proof', 'forbidden', 'overloaded', 'data_unavailable'],
    prepare: walletKeys,
  }),
]
