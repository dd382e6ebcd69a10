import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { clickhouseAccess, clickhouseSettings, type ClickhouseAccess } from '../config/clickhouse.ts'
import { readConfig } from '../config/config.ts'
import type { DataFolder } from './data-folder.ts'
import { urlOf, type RunFile } from './run-file.ts'

/** 256 bits. */
const SECRET_BYTES = 32

/** What is kept in `<data>/secrets`, by the end of its file's name. */
const endings = { SERVICE_SECRET: '', CLICKHOUSE_PASSWORD: '.clickhouse' } as const

type Env = Readonly<Record<string, string | undefined>>
type SecretsFolder = Pick<DataFolder, 'root' | 'mode'>

/**
 * `<name>_FILE` of the system on this machine, made at its first start and readable by its owner only; nothing where the
 * environment has the secret. It stands beside the mode's folder, so that `--fresh` leaves it: alerts in a log that is
 * elsewhere can be read with it alone.
 */
export function ensureSecret(
  folder: SecretsFolder,
  name: keyof typeof endings,
  env: Env,
): Readonly<Record<string, string>> {
  if (isGiven(name, env)) return {}
  const file = fileOf(folder, name)
  if (!existsSync(file)) make(file)
  return { [`${name}_FILE`]: file }
}

/** Of the system on a mode's folder, what it made itself and cannot be made again: by the name of its file. */
export function readMadeSecrets(mode: string): Record<string, string> {
  const file = fileOf({ root: path.dirname(mode), mode }, 'SERVICE_SECRET')
  return existsSync(file) ? { [path.basename(file)]: readFileSync(file, 'utf8').trim() } : {}
}

function isGiven(name: keyof typeof endings, env: Env): boolean {
  return (env[name] ?? '') !== '' || (env[`${name}_FILE`] ?? '') !== ''
}

function fileOf({ root, mode }: SecretsFolder, name: keyof typeof endings): string {
  return path.join(root, 'secrets', `${path.basename(mode)}${endings[name]}`)
}

/** Whole or not at all: half a secret would be refused at every later start. */
function make(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const part = `${file}.part`
  writeFileSync(part, `${randomBytes(SECRET_BYTES).toString('base64url')}\n`, { mode: 0o600, flush: true })
  renameSync(part, file)
}

/** How the ClickHouse of a running system is asked by programs that may write; the password is its own start's. */
export function clickhouseOf(run: RunFile, env: Env): ClickhouseAccess {
  const { pid } = run.parts.find(({ name }) => name === 'clickhouse') ?? {}
  const file = fileOf({ root: path.dirname(run.data), mode: run.data }, 'CLICKHOUSE_PASSWORD')
  const isOurs = pid !== undefined && !isGiven('CLICKHOUSE_PASSWORD', env) && existsSync(file)
  const config = readConfig({ ...env, ...(isOurs && { CLICKHOUSE_PASSWORD_FILE: file }) }, clickhouseSettings)
  return { ...clickhouseAccess(config), url: urlOf(run, 'clickhouse') }
}
