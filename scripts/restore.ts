import path from 'node:path'
import { BackupError } from '../infra/backup/sealed-file.ts'
import { BackupFolder, type BackupIndex } from '../infra/backup/folder.ts'
import { amountText, checkBackup, restoreLog, type Amount } from '../infra/backup/restore-log.ts'
import { backupKey, backupKeySettings } from '../infra/config/secrets.ts'
import { ConfigError, readConfig } from '../infra/config/config.ts'
import { SchemaError } from '../infra/kafka/codec.ts'
import { writeSchemas } from '../infra/kafka/saved-schemas.ts'
import { LogError } from '../infra/kafka/seam.ts'
import { createEmptyTopics } from '../infra/kafka/setup.ts'
import { DataFolderError } from '../infra/local/data-folder.ts'
import { restoreFolder } from '../infra/local/restored-folder.ts'
import { flag, runCommand, text, UsageError, type Values } from './command/command.ts'

const usage = `npm run restore -- --from FOLDER [flags]: makes an empty system what a backup was taken of.

  --from FOLDER  a folder of backups
  --number N     which backup (default: the last one)
  --data DIR     an empty data folder (default .data); npm start -- --data DIR then starts what was
                 restored, with --rehearse without calling or charging anyone
  --check        only reads and opens all of it
  --topics       on a cluster, first: empty topics and schemas, at KAFKA_BROKERS and SCHEMA_REGISTRY_URL; of several
                 brokers, set REPLICATION_FACTOR as for the services
  --log-dir DIR  on a cluster, then, of each broker while none runs: its log folder, which gets the batches
  --help         this text

BACKUP_KEY or BACKUP_KEY_FILE is the key that the folder was begun with.
Exit 0: done; 2: it could not be done.`

const flags = {
  from: text,
  number: text,
  data: { ...text, default: '.data' },
  check: flag,
  topics: flag,
  'log-dir': text,
} as const

async function main({ from, number, data, check, topics, 'log-dir': logDir }: Values<typeof flags>): Promise<void> {
  if (from === undefined) throw new UsageError('name the folder with --from')
  if (number !== undefined && !/^[1-9]\d{0,5}$/.test(number))
    throw new UsageError(`--number must be 1 or more, got ${number}`)
  if ([check, topics, logDir].filter((each) => each !== undefined).length > 1)
    throw new UsageError('give one of --check, --topics and --log-dir')
  const config = readConfig(process.env, [...backupKeySettings, 'NAMESPACE', 'RETENTION_BYTES'])
  const folder = await BackupFolder.open(path.resolve(from), backupKey(config))
  const indexes = await folder.indexes(number === undefined ? undefined : Number(number))
  const last = indexes.at(-1)
  if (last === undefined) throw new BackupError('damaged', `${from} holds no backup yet`)
  const { NAMESPACE: namespace, RETENTION_BYTES: retentionBytes } = config
  const backup = `backup ${last.number} of ${last.created}`
  const began = performance.now()
  const amountSaid = (amount: Amount): string => amountText(amount, performance.now() - began)
  if (check === true) {
    console.log(`${backup} is as it was written: ${amountSaid(await checkBackup(folder, indexes))}`)
  } else if (topics === true) {
    await makeTopics(last, namespace, retentionBytes)
    console.log(`${backup}: topics and schemas are there; stop the brokers, then --log-dir for each`)
  } else if (logDir !== undefined) {
    const { partitions, ...amount } = await restoreLog(folder, indexes, { logDir, namespace })
    console.log(`${backup}: ${partitions} partitions are there, ${amountSaid(amount)}`)
  } else {
    const root = path.resolve(data)
    const onProgress = (line: string): void => console.log(line)
    const { mode, ...amount } = await restoreFolder({ folder, indexes, root, namespace, retentionBytes, onProgress })
    const start = `npm start -- --${last.mode} --data ${data}`
    console.log(
      `${backup} is in ${mode}, ${amountSaid(amount)}: ${start}; to try it, with --rehearse: that calls nobody`,
    )
  }
}

async function makeTopics(
  { partitions, schemas }: BackupIndex,
  namespace: string,
  retentionBytes: number,
): Promise<void> {
  const config = readConfig(process.env, ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'REPLICATION_FACTOR'])
  const { KAFKA_BROKERS: brokers } = config
  const replicationFactor = process.env['REPLICATION_FACTOR'] === undefined ? undefined : config.REPLICATION_FACTOR
  await createEmptyTopics({ brokers, namespace, partitions, replicationFactor, retentionBytes })
  await writeSchemas(config.SCHEMA_REGISTRY_URL, schemas)
}

const expected = [BackupError, ConfigError, DataFolderError, LogError, SchemaError]
await runCommand({ usage, flags, expected }, main)
