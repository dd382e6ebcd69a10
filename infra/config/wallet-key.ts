import { ConfigError, type Config } from './config.ts'
import { readSecretFile } from './secret-file.ts'

export const walletKeySettings = ['PAYMENT_WALLET_KEY', 'PAYMENT_WALLET_KEY_FILE'] as const

/** The key of the wallet that settles; throws `ConfigError` where it is missing or none, never showing it. */
export function walletKey(config: Config<(typeof walletKeySettings)[number]>): `0x${string}` {
  const { PAYMENT_WALLET_KEY: text, PAYMENT_WALLET_KEY_FILE: file } = config
  const name = text === '' ? 'PAYMENT_WALLET_KEY_FILE' : 'PAYMENT_WALLET_KEY'
  if (text === '' && file === '')
    throw new ConfigError(
      'PAYMENT_WALLET_KEY is not set: give it or PAYMENT_WALLET_KEY_FILE, or a PAYMENT_FACILITATOR_URL that settles instead',
    )
  const [, digits] =
    /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text === '' ? readSecretFile('PAYMENT_WALLET_KEY_FILE', file) : text.trim()) ?? []
  if (digits === undefined) throw new ConfigError(`${name}: not a private key; it is 64 hex digits, with or without 0x`)
  return `0x${digits}`
}
