import { readFileSync } from 'node:fs'
import { ConfigError } from './config.ts'
import type { SettingName } from './settings.ts'

/** What stands in the file of a secret; throws `ConfigError` that names the setting, never what was read. */
export function readSecretFile(setting: SettingName, file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new ConfigError(`${setting}: ${file} cannot be read`, { cause: error })
  }
}
