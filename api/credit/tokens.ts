import { hash } from 'node:crypto'
import { hasEnded } from '../../processors/credit/credit.ts'
import { apiSecret, isSame, keyManageToken, type ServiceSecrets } from '../../processors/alerts/secrets.ts'
import type { ApiKey, Micros } from '../../schemas/records.ts'
import type { Body } from '../request/body.ts'
import { ApiError } from '../request/errors.ts'
import type { Call } from '../request/route.ts'
import type { Services } from '../services.ts'
import type { Scope } from './credit.ts'
import type { KeyStore } from './key-store.ts'

const PREFIX = 'mda_'
const TOKEN = /^mda_([0-9a-f]{20})_([\w-]{43})$/
const ID_DIGITS = 20

type Header = (name: string) => string

/**
 * The key that a payment pays for: the one that the request names, or a new one. Its id is the same whenever and wherever
 * the request is made again; the payment stands on the chain, so that the Idempotency-Key, which does not, is in the id.
 */
export function creditedKey(body: Body | undefined, paymentId: string, idempotencyKey: string): string {
  const named = body?.['key_id']
  if (typeof named === 'string') return named
  return hash('sha256', `api-key ${paymentId} ${idempotencyKey}`).slice(0, ID_DIGITS)
}

/** The key as its user sends it; undefined: it has no secret, or one of a SERVICE_SECRET that is not there any more. */
export function tokenOf(secrets: ServiceSecrets, { key_id: id, secrets: [newest] }: ApiKey): string | undefined {
  if (newest === undefined || !secrets.byVersion.has(newest.version)) return undefined
  return `${PREFIX}${id}_${apiSecret(secrets, newest.version, `${id}.${newest.n}`)}`
}

/** What a request sends as its API key; undefined: none. */
export function sentToken(header: Header): string | undefined {
  const bearer = bearerOf(header)
  const own = header('x-api-key')
  if (own !== '') return own
  return bearer?.startsWith(PREFIX) === true ? bearer : undefined
}

export function bearerOf(header: Header): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(header('authorization'))?.[1]
}

/**
 * The key that a token is of, ended or not; undefined: of none. What is not known here is looked for in the log: a key, or
 * a secret that another instance has just given it.
 */
export async function holderOf(services: Services, token: string): Promise<ApiKey | undefined> {
  const { payments } = services
  if (payments === null || !TOKEN.test(token)) return undefined
  return knownHolderOf(services, token) ?? holderIn(services, await payments.credit.log.book(), token)
}

/** The same of what is known here: the log is not asked. */
export function knownHolderOf(services: Services, token: string): ApiKey | undefined {
  const { payments } = services
  return payments === null ? undefined : holderIn(services, payments.credit.log.newest, token)
}

function holderIn(services: Services, keys: KeyStore, token: string): ApiKey | undefined {
  const [, id, secret] = TOKEN.exec(token) ?? []
  if (id === undefined || secret === undefined) return undefined
  const key = keys.find(id)
  return isTakenBy(services, key, secret) ? key : undefined
}

function isTakenBy({ alerts, now }: Services, key: ApiKey | undefined, secret: string): boolean {
  const at = now() * 1_000
  const isRight = ({ n, version, until }: ApiKey['secrets'][number]): boolean =>
    (until === null || until > at) &&
    alerts.secrets.byVersion.has(version) &&
    isSame(apiSecret(alerts.secrets, version, `${key?.key_id}.${n}`), secret)
  return key?.secrets.some(isRight) === true
}

/** The key, where it can be used; throws `unauthorized`. */
export function usedKey(key: ApiKey | undefined, now: Micros): ApiKey {
  if (key !== undefined && !hasEnded(key, now)) return key
  const why = key === undefined ? 'This is no API key of ours, or its secret was changed.' : 'This API key has ended.'
  throw new ApiError('unauthorized', `${why} POST /wallet/keys shows a wallet its keys; POST /credit buys one.`)
}

/** Throws `forbidden` where the key may not do that. */
export function assertScope({ scopes }: ApiKey, scope: Scope): void {
  if (scopes.includes(scope)) return
  throw new ApiError('forbidden', `This API key has not the scope ${scope}; it has: ${scopes.join(', ')}.`)
}

/** The wallet whose alerts the request's API key controls; undefined: it sends none. */
export async function ownerByKey({ services, header }: Pick<Call, 'services' | 'header'>): Promise<string | undefined> {
  const token = sentToken(header)
  if (token === undefined) return undefined
  const key = usedKey(await holderOf(services, token), services.now() * 1_000)
  assertScope(key, 'alerts')
  return key.owner
}

/**
 * What a wallet's signature gives of a key: it changes it, and asks nothing in its name. A key without a secret, or with one
 * of a SERVICE_SECRET that is not there any more, has it too: by it the wallet gives it another.
 */
export function manageTokenOf(secrets: ServiceSecrets, key: ApiKey): string {
  return keyManageToken(secrets, knownVersion(secrets, key) ?? secrets.newest, key.key_id)
}

/** An instance with another newest SERVICE_SECRET shows another for a key that has no secret of a known one. */
function isManageToken(secrets: ServiceSecrets, key: ApiKey, token: string): boolean {
  const known = knownVersion(secrets, key)
  const versions = known === undefined ? [...secrets.byVersion.keys()] : [known]
  return versions.some((version) => isSame(keyManageToken(secrets, version, key.key_id), token))
}

/** The SERVICE_SECRET of its newest secret; undefined: it has none, or one of a version that is not there any more. */
function knownVersion(secrets: ServiceSecrets, { secrets: [newest] }: ApiKey): number | undefined {
  return newest !== undefined && secrets.byVersion.has(newest.version) ? newest.version : undefined
}

/** Whether a request has the key or its manage_token. */
export async function hasKey({ services, header }: Pick<Call, 'services' | 'header'>, key: ApiKey): Promise<boolean> {
  const token = sentToken(header) ?? bearerOf(header)
  if (token === undefined) return false
  if (isManageToken(services.alerts.secrets, key, token)) return true
  return (await holderOf(services, token))?.key_id === key.key_id
}

/** The key of a path, for who may see it (`manage` left out) or change it; throws `unauthorized`, `key_not_found`, `forbidden`. */
export async function keyOf(call: Pick<Call, 'services' | 'header'>, id: string, manages: boolean): Promise<ApiKey> {
  const { services, header } = call
  const token = sentToken(header) ?? bearerOf(header)
  if (token === undefined)
    throw new ApiError(
      'unauthorized',
      'Send Authorization: Bearer and the API key, or the manage_token of POST /wallet/keys.',
    )
  const key = (await bookOf(services)).find(id)
  if (key === undefined)
    throw new ApiError('key_not_found', 'There is no API key of this id; POST /credit buys one.', { field: 'key_id' })
  if (isManageToken(services.alerts.secrets, key, token)) return key
  const holder = await holderOf(services, token)
  if (holder?.key_id !== id) throw new ApiError('forbidden', 'This is neither the API key nor its manage_token.')
  if (manages) assertScope(usedKey(holder, services.now() * 1_000), 'manage')
  return key
}

/** All keys; throws `not_found` where nothing is paid for. */
export async function bookOf({ payments }: Services): Promise<KeyStore> {
  if (payments !== null) return payments.credit.log.book()
  throw new ApiError('not_found', 'Payments are off here: all is free, and there are no API keys.')
}
