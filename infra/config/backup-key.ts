import { ConfigError, type Config } from './config.ts'
import { readSecretFile } from './secret-file.ts'

export const backupKeySettings = ['BACKUP_KEY', 'BACKUP_KEY_FILE'] as const

const LENGTH_MIN = 32

/** The key of backups; throws `ConfigError` where it is missing or too short, never showing it. */
export function backupKey({
  BACKUP_KEY: text,
  BACKUP_KEY_FILE: file,
}: Config<(typeof backupKeySettings)[number]>): string {
  if (text === '' && file === '')
    throw new ConfigError('BACKUP_KEY is not set: give it or BACKUP_KEY_FILE; openssl rand -base64 32 makes one')
  const key = text === '' ? readSecretFile('BACKUP_KEY_FILE', file) : text
  if (key.length < LENGTH_MIN) throw new ConfigError(`BACKUP_KEY has fewer than ${LENGTH_MIN} characters`)
  return key
}
