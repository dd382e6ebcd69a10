import { readFileSync } from 'node:fs'
import { isLoopbackName } from '../http/guard.ts'
import { ConfigError, type Config } from './config.ts'
import { settings, type Setting, type SettingName } from './settings.ts'

export const serviceSecretSettings = [
  'SERVICE_SECRET',
  'SERVICE_SECRET_FILE',
  'SERVICE_SECRET_VERSION',
  'SERVICE_SECRETS_READ',
] as const

/** `SERVICE_SECRET` by version; the newest makes, all of them read. */
export interface ServiceSecrets {
  readonly newest: number
  readonly byVersion: ReadonlyMap<number, string>
}

/** Reads the secret and its predecessors; throws `ConfigError` where it is missing, never showing it. */
export function serviceSecrets(config: Config<(typeof serviceSecretSettings)[number]>): ServiceSecrets {
  const { SERVICE_SECRET_VERSION: newest } = config
  const own = [newest, newestSecret(config)] as const
  const byVersion = new Map<number, string>()
  for (const [version, secret] of [...config.SERVICE_SECRETS_READ.map(oldSecret), own]) {
    if ((byVersion.get(version) ?? secret) !== secret)
      throw new ConfigError(
        `SERVICE_SECRETS_READ has another secret of version ${version}: each has its own, the newest the highest, as SERVICE_SECRET_VERSION`,
      )
    byVersion.set(version, secret)
  }
  return { newest, byVersion }
}

function newestSecret(config: Config<'SERVICE_SECRET' | 'SERVICE_SECRET_FILE'>): string {
  const { SERVICE_SECRET: text, SERVICE_SECRET_FILE: file } = config
  if (text !== '') return text
  if (file === '')
    throw new ConfigError('SERVICE_SECRET is not set: give it or SERVICE_SECRET_FILE, 32 characters or more')
  return readSecretFile('SERVICE_SECRET', file)
}

/** `entry`: version:secret, as its setting has it. */
function oldSecret(entry: string): [number, string] {
  const at = entry.indexOf(':')
  return [Number(entry.slice(0, at)), entry.slice(at + 1)]
}

export const consoleTokenSettings = ['CONSOLE_HOST', 'CONSOLE_TOKEN'] as const

/** What operators log in with; undefined: nothing, on loopback. Throws `ConfigError` where everybody would be shown all. */
export function consoleToken({
  CONSOLE_HOST: host,
  CONSOLE_TOKEN: token,
}: Config<(typeof consoleTokenSettings)[number]>): string | undefined {
  if (token !== '') return token
  if (isLoopbackName(host)) return undefined
  throw new ConfigError(`CONSOLE_HOST=${host} is reached from elsewhere: set CONSOLE_TOKEN, 24 characters or more`)
}

export const walletKeySettings = ['PAYMENT_WALLET_KEY', 'PAYMENT_WALLET_KEY_FILE'] as const

/** The key of the wallet that settles; throws `ConfigError` where it is missing or none, never showing it. */
export function walletKey(config: Config<(typeof walletKeySettings)[number]>): `0x${string}` {
  const { PAYMENT_WALLET_KEY: text, PAYMENT_WALLET_KEY_FILE: file } = config
  if (text === '' && file === '')
    throw new ConfigError(
      'PAYMENT_WALLET_KEY is not set: give it or PAYMENT_WALLET_KEY_FILE, or a PAYMENT_FACILITATOR_URL that settles instead',
    )
  return privateKey('PAYMENT_WALLET_KEY', text, file)
}

/** What `name` says, or where that is empty the file of its _FILE; throws `ConfigError` where it is no key, never showing it. */
export function privateKey(name: 'PAYMENT_WALLET_KEY' | 'PAYER_KEY', text: string, file: string): `0x${string}` {
  const said = text === '' ? `${name}_FILE` : name
  const [, digits] = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text === '' ? readSecretFile(name, file) : text.trim()) ?? []
  if (digits === undefined) throw new ConfigError(`${said}: not a private key; it is 64 hex digits, with or without 0x`)
  return `0x${digits}`
}

export const backupKeySettings = ['BACKUP_KEY', 'BACKUP_KEY_FILE'] as const

/** The key of backups; throws `ConfigError` where it is missing, never showing it. */
export function backupKey({
  BACKUP_KEY: text,
  BACKUP_KEY_FILE: file,
}: Config<(typeof backupKeySettings)[number]>): string {
  if (text === '' && file === '')
    throw new ConfigError('BACKUP_KEY is not set: give it or BACKUP_KEY_FILE; openssl rand -base64 32 makes one')
  return text === '' ? readSecretFile('BACKUP_KEY', file) : text
}

/** What stands in the file of a secret; throws `ConfigError` that names its setting, never what was read. */
export function readSecretFile(secret: SettingName, file: string): string {
  const { form }: Setting = settings[secret]
  const text = textOf(`${secret}_FILE`, file)
  if (form?.pattern.test(text) === false)
    throw new ConfigError(`${secret}_FILE: ${file} does not hold a text ${form.says}`)
  return text
}

function textOf(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new ConfigError(`${setting}: ${file} cannot be read`, { cause: error })
  }
}
