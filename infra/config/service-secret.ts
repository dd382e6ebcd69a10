import { ConfigError, type Config } from './config.ts'
import { readSecretFile } from './secret-file.ts'

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

const LENGTH_MIN = 32

/** Reads the secret and its predecessors; throws `ConfigError` where it is missing or too short, never showing it. */
export function serviceSecrets(config: Config<(typeof serviceSecretSettings)[number]>): ServiceSecrets {
  const { SERVICE_SECRET_VERSION: newest } = config
  const byVersion = new Map(config.SERVICE_SECRETS_READ.map(oldSecret))
  byVersion.set(newest, checked('SERVICE_SECRET', newestSecret(config)))
  return { newest, byVersion }
}

function newestSecret(config: Config<'SERVICE_SECRET' | 'SERVICE_SECRET_FILE'>): string {
  const { SERVICE_SECRET: text, SERVICE_SECRET_FILE: file } = config
  if (text !== '') return text
  if (file === '')
    throw new ConfigError('SERVICE_SECRET is not set: give it or SERVICE_SECRET_FILE, 32 characters or more')
  return readSecretFile('SERVICE_SECRET_FILE', file)
}

function oldSecret(entry: string): [number, string] {
  const [, version, secret = ''] = /^(\d{1,6}):(.+)$/.exec(entry) ?? []
  if (version === undefined) throw new ConfigError('SERVICE_SECRETS_READ: an entry is not version:secret')
  return [Number(version), checked('SERVICE_SECRETS_READ', secret)]
}

function checked(name: string, secret: string): string {
  if (secret.length < LENGTH_MIN) throw new ConfigError(`${name} has fewer than ${LENGTH_MIN} characters`)
  return secret
}
