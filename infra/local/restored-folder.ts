import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { BackupError } from '../backup/sealed-file.ts'
import type { BackupFolder, BackupIndex } from '../backup/folder.ts'
import { restoreLog, type Amount } from '../backup/restore-log.ts'
import { writeSchemas } from '../kafka/saved-schemas.ts'
import { createEmptyTopics } from '../kafka/setup.ts'
import { startBroker } from './broker.ts'
import { openDataFolder, type DataFolder, type Mode } from './data-folder.ts'
import { startRegistry } from './registry.ts'

export interface RestoreOptions {
  readonly folder: BackupFolder
  /** From the first to the one that is restored. */
  readonly indexes: readonly BackupIndex[]
  /** The data folder, as `--data` has it. */
  readonly root: string
  readonly namespace: string
  readonly retentionBytes: number
  readonly onProgress: (line: string) => void
}

const parts = ['registry', 'broker'] as const

/**
 * Makes a data folder from a backup: a broker and a registry of their own take topics and schemas, stop, and the log is
 * put under the broker. Its parts get their places, below `mode`, when all of it is done. Throws `BackupError` `not-empty`
 * where the folder has a log or its tables already.
 */
export async function restoreFolder(options: RestoreOptions): Promise<Amount & { readonly mode: string }> {
  const index = options.indexes.at(-1)
  if (index === undefined) throw new BackupError('damaged', `${options.folder.path} holds no backup yet`)
  const mode = path.join(options.root, index.mode)
  // tables that were filled from another log do not go on with this one
  for (const part of [...parts, 'clickhouse'])
    if (existsSync(path.join(mode, part)))
      throw new BackupError(
        'not-empty',
        `${mode} has a system already (${part}): name an empty folder with --data, or take it away`,
      )
  const secrets = missingSecrets(path.join(options.root, 'secrets'), index.secrets)
  const data = await openDataFolder(options.root, index.mode as Mode, false, { partitions: index.partitions })
  try {
    const restoring = path.join(data.mode, 'restoring')
    rmSync(restoring, { recursive: true, force: true })
    const amount = await fill(restoring, data, options, index)
    writeSecrets(path.join(options.root, 'secrets'), secrets)
    for (const part of parts) renameSync(path.join(restoring, part), path.join(data.mode, part))
    rmSync(restoring, { recursive: true })
    return { ...amount, mode }
  } finally {
    data.release()
  }
}

async function fill(
  restoring: string,
  data: DataFolder,
  { folder, indexes, namespace, retentionBytes, onProgress }: RestoreOptions,
  { partitions, schemas }: BackupIndex,
): Promise<Amount> {
  const around = (name: string) => ({
    dataDir: path.join(restoring, name),
    port: 0,
    logFile: path.join(data.logs, `${name}.log`),
    onProgress,
  })
  const registry = await startRegistry(around('registry'))
  try {
    await writeSchemas(registry.url, schemas)
  } finally {
    await registry.stop()
  }
  const broker = await startBroker(around('broker'))
  try {
    await createEmptyTopics({ brokers: [broker.url], namespace, partitions, replicationFactor: 1, retentionBytes })
  } finally {
    await broker.stop()
  }
  return restoreLog(folder, indexes, { logDir: path.join(restoring, 'broker', 'log'), namespace })
}

/** Those that are not there. Throws where another one is. */
function missingSecrets(folder: string, secrets: Readonly<Record<string, string>>): Record<string, string> {
  const missing: Record<string, string> = {}
  for (const [name, secret] of Object.entries(secrets)) {
    const file = path.join(folder, name)
    if (!existsSync(file)) missing[name] = secret
    else if (readFileSync(file, 'utf8').trim() !== secret)
      throw new BackupError(
        'not-empty',
        `${file} is another secret than the backup’s: name an empty folder with --data`,
      )
  }
  return missing
}

function writeSecrets(folder: string, secrets: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const [name, secret] of Object.entries(secrets))
    writeFileSync(path.join(folder, name), `${secret}\n`, { mode: 0o600, flush: true })
}
