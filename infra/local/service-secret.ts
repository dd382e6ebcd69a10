import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { DataFolder } from './data-folder.ts'

/** 256 bits. */
const SECRET_BYTES = 32

/**
 * `SERVICE_SECRET_FILE` of the system on this machine, made at its first start and readable by its owner only; nothing
 * where the environment has a secret. It stands beside the mode's folder, so that `--fresh` leaves it: alerts in a log
 * that is elsewhere can be read with it alone.
 */
export function ensureServiceSecret(
  folder: Pick<DataFolder, 'root' | 'mode'>,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  if ((env['SERVICE_SECRET'] ?? '') !== '' || (env['SERVICE_SECRET_FILE'] ?? '') !== '') return {}
  const file = path.join(folder.root, 'secrets', path.basename(folder.mode))
  if (!existsSync(file)) make(file)
  return { SERVICE_SECRET_FILE: file }
}

/** Whole or not at all: half a secret would be refused at every later start. */
function make(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const part = `${file}.part`
  writeFileSync(part, `${randomBytes(SECRET_BYTES).toString('base64url')}\n`, { mode: 0o600, flush: true })
  renameSync(part, file)
}
