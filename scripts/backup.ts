import path from 'node:path'
import { BackupError } from '../infra/backup/sealed-file.ts'
import { BackupFolder, type Piece } from '../infra/backup/folder.ts'
import { amountText } from '../infra/backup/restore-log.ts'
import { takeBackup } from '../infra/backup/take-backup.ts'
import { backupKey, backupKeySettings } from '../infra/config/secrets.ts'
import { ConfigError, readConfig } from '../infra/config/config.ts'
import { SchemaError } from '../infra/kafka/codec.ts'
import { RawReader } from '../infra/kafka/raw-batches.ts'
import { readSchemas } from '../infra/kafka/saved-schemas.ts'
import { LogError } from '../infra/kafka/seam.ts'
import { LockError, withLock } from '../infra/local/lock.ts'
import { urlOf } from '../infra/local/run-file.ts'
import { readMadeSecrets } from '../infra/local/secrets.ts'
import { packageVersion } from '../infra/version.ts'
import { backupOrder } from './backup-flows.ts'
import { runCommand, runOf, text, UsageError, type Values } from './command/command.ts'
import { layoutOf, systemOf } from './command/system.ts'

/** Another backup into the same folder is waited for. */
const LOCK_MS = 60_000

const usage = `npm run backup -- --to FOLDER [flags]: writes what the log has beyond the last backup, encrypted; nothing is stopped.

  --to FOLDER  an empty folder, or one of backups of this log; its files never change, so it can be synced anywhere
  --data DIR   the running system's data folder (default .data); where nothing runs there, the log is that of
               KAFKA_BROKERS, SCHEMA_REGISTRY_URL and NAMESPACE, and MODE must be given, with which it starts when restored
  --help       this text

BACKUP_KEY or BACKUP_KEY_FILE is the key, 32 characters or more: without it nothing can be restored.
In it: every topic, the schemas, and SERVICE_SECRET where the system made it itself. Not in it: ClickHouse (made again from the
log), raw frames, the local chain.
Exit 0: all is there; 2: it could not be done.`

const hint = { otherwise: 'name its folder with --data, or say its MODE (live, as a rule)', byMode: true }

const flags = { to: text, data: { ...text, default: '.data' } } as const

async function main({ to, data }: Values<typeof flags>): Promise<void> {
  if (to === undefined) throw new UsageError('name the folder with --to')
  const config = readConfig(process.env, [...backupKeySettings, 'NAMESPACE'])
  const key = backupKey(config)
  const began = performance.now()
  const isOurs = runOf(data) !== undefined
  const run = await systemOf(data, hint)
  const brokers = urlOf(run, 'broker').split(',')
  const { NAMESPACE: namespace } = config
  const layout = await layoutOf(run)
  const folder = await BackupFolder.begin(path.resolve(to), key)
  const raw = new RawReader({ brokers, namespace, clientId: 'backup' })
  try {
    await withLock(path.join(folder.path, 'lock'), LOCK_MS, async () => {
      const index = await takeBackup(folder, {
        raw,
        topics: backupOrder(),
        log: layout.log,
        partitions: layout.partitions,
        about: async () => ({
          version: packageVersion(),
          mode: run.mode,
          schemas: await readSchemas(urlOf(run, 'registry')),
          secrets: isOurs ? readMadeSecrets(run.data) : {},
        }),
      })
      const sum = (of: (piece: Piece) => number): number => index.pieces.reduce((all, piece) => all + of(piece), 0)
      const amount = { bytes: sum((piece) => piece.bytes), records: sum(({ records = 0 }) => records) }
      console.log(`backup ${index.number}: ${amountText(amount, performance.now() - began)}`)
    })
  } finally {
    await raw.close()
  }
}

await runCommand({ usage, flags, expected: [BackupError, ConfigError, LockError, LogError, SchemaError] }, main)
