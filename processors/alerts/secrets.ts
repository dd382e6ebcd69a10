import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto'

/** What everything secret is derived from, by version; the newest makes, all of them read. */
export interface ServiceSecrets {
  readonly newest: number
  readonly byVersion: ReadonlyMap<number, string>
}

/** A version of SERVICE_SECRET that is not configured any more: what it made cannot be read or checked. */
export class UnknownKeyError extends Error {
  readonly code = 'unknown-key-version'
  constructor(version: number) {
    super(`SERVICE_SECRET version ${version} is not configured: add it as SERVICE_SECRETS_READ=${version}:...`)
  }
}

/** The owner's token of an alert; whoever has it controls the alert. Derived, so that no log holds it. */
export function manageToken(secrets: ServiceSecrets, version: number, alertId: string): string {
  return `mt_${derive(secrets, version, 'manage-token', alertId).toString('base64url')}`
}

/** Whether `token` is the alert's. */
export function isManageToken(secrets: ServiceSecrets, version: number, alertId: string, token: string): boolean {
  return isSame(manageToken(secrets, version, alertId), token)
}

/** In a time that does not tell how much is right. */
export function isSame(known: string, told: string): boolean {
  const mac = (text: string): Buffer => createHmac('sha256', 'compare').update(text).digest()
  return timingSafeEqual(mac(known), mac(told))
}

/** The secret part of an API key, by the key's id and the number of its secret: 43 characters. */
export function apiSecret(secrets: ServiceSecrets, version: number, numbered: string): string {
  return derive(secrets, version, 'api-key', numbered).toString('base64url')
}

/** The token that a wallet changes its API key with. */
export function keyManageToken(secrets: ServiceSecrets, version: number, keyId: string): string {
  return `kt_${derive(secrets, version, 'key-manage-token', keyId).toString('base64url')}`
}

/** The alert's `webhook_secret`: `whsec_` and 32 bytes as base64. */
export function webhookSecret(secrets: ServiceSecrets, version: number, alertId: string): string {
  return `whsec_${derive(secrets, version, 'webhook-secret', alertId).toString('base64')}`
}

/** A digest of a destination that only the service can make: tells destinations apart where the log has them in clear. */
export function destinationDigest(secrets: ServiceSecrets, version: number, destination: string): string {
  const key = derive(secrets, version, 'destination', '')
  return createHmac('sha256', key).update(destination).digest('hex').slice(0, DIGEST_DIGITS)
}

/** The code that is mailed to an address, in lower case: who has it has read that mail. 16 digits in groups. */
export function emailCode(secrets: ServiceSecrets, version: number, address: string): string {
  const digits = derive(secrets, version, 'email-code', address).toString('hex').slice(0, CODE_DIGITS)
  return digits.replaceAll(/(.{4})(?=.)/g, '$1-')
}

/** What only the service can have put into a message for a wallet: hexadecimal. */
export function walletNonce(secrets: ServiceSecrets, version: number, purpose: string): string {
  return derive(secrets, version, 'wallet-nonce', purpose).toString('hex').slice(0, NONCE_DIGITS)
}

/** Seals a text that callers hand back: 43 characters. */
export function walletSeal(secrets: ServiceSecrets, version: number, text: string): string {
  return derive(secrets, version, 'wallet-cursor', text).toString('base64url')
}

const NONCE_DIGITS = 32
const CODE_DIGITS = 16
const DIGEST_DIGITS = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Seals a destination for the log, a webhook's URL or a channel's as JSON: AES-256-GCM under a key of its own for each alert;
 * base64 of nonce, text and tag. Key and nonce follow from the alert and the destination, so that the same creation sent again is the same record.
 */
export function sealUrl(secrets: ServiceSecrets, version: number, alertId: string, url: string): string {
  const key = urlKey(secrets, version, alertId)
  const nonce = createHmac('sha256', key).update(url).digest().subarray(0, NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(alertId))
  return Buffer.concat([nonce, cipher.update(url, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64')
}

/** Opens what `sealUrl` made; throws where it was made for another alert, under another secret, or was changed. */
export function openUrl(secrets: ServiceSecrets, version: number, alertId: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64')
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const end = bytes.length - TAG_BYTES
  const decipher = createDecipheriv('aes-256-gcm', urlKey(secrets, version, alertId), nonce)
  decipher.setAAD(Buffer.from(alertId)).setAuthTag(bytes.subarray(end))
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()]).toString('utf8')
}

/** A key object: bytes given as a key cost ten times as much. */
function urlKey(secrets: ServiceSecrets, version: number, alertId: string): KeyObject {
  return createSecretKey(derive(secrets, version, 'webhook-url', alertId))
}

function derive(secrets: ServiceSecrets, version: number, purpose: string, alertId: string): Buffer {
  const secret = secrets.byVersion.get(version)
  if (secret === undefined) throw new UnknownKeyError(version)
  return Buffer.from(hkdfSync('sha256', secret, alertId, purpose, 32))
}
