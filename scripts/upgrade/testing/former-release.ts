import { readdirSync } from 'node:fs'
import path from 'node:path'
import { BackupFolder } from '../../../infra/backup/folder.ts'
import { decodeBatches } from '../../../infra/kafka/wire/record-batch.ts'
import type { SavedSchema } from '../../../infra/kafka/saved-schemas.ts'
import type { LogRecord } from '../../../infra/kafka/seam.ts'
import { Codec, type RegisteredSchema } from '../../../schemas/codec.ts'
import { subjectOf, topics } from '../../../schemas/topics.ts'
import { RELEASE_KEY } from '../release-data.ts'

const folder = path.join(import.meta.dirname, '../releases')
/** Ids of what is written now, beyond those of any release. */
const OURS = 1_000_000

/** Former releases whose data there are, by their folders. */
export const releases: readonly string[] = readdirSync(folder)

export function folderOf(name: string): string {
  return path.join(folder, name)
}

export interface Release {
  readonly schemas: readonly SavedSchema[]
  /** Records by topic, of its one partition. */
  readonly log: ReadonlyMap<string, readonly LogRecord[]>
}

/** What a release left behind, read as it lies in git. */
export async function openRelease(name: string): Promise<Release> {
  const backup = await BackupFolder.open(path.join(folderOf(name), 'backup'), RELEASE_KEY)
  const index = (await backup.indexes()).at(-1)
  if (index === undefined) throw new Error(`${name} has no backup`)
  const parts: Buffer[] = []
  for await (const bytes of backup.pack(index.number)) parts.push(bytes)
  const pack = Buffer.concat(parts)
  const log = new Map<string, LogRecord[]>()
  let at = 0
  for (const { topic, partition, from, bytes } of index.pieces) {
    if (partition !== 0) throw new Error(`${name} has several partitions of ${topic}`)
    const records = log.get(topic) ?? []
    decodeBatches(pack.subarray(at, at + bytes), from, records)
    log.set(topic, records)
    at += bytes
  }
  return { schemas: index.schemas, log }
}

/** Each record type of each topic, with its subject in the registry. */
export const subjects = topics.flatMap(({ name, records }) =>
  records.map((record) => ({ topic: name, record, subject: subjectOf(name, record) })),
)

/** Reads what was written by `schemas`, and writes as this code does. */
export function codecOver(schemas: readonly SavedSchema[]): Codec {
  const bySubject = new Map(subjects.map((subject) => [subject.subject, subject]))
  const theirs = schemas.flatMap(({ id, subject, text }): RegisteredSchema[] => {
    const known = bySubject.get(subject)
    return known === undefined ? [] : [{ id, topic: known.topic, record: known.record, writer: text }]
  })
  const ours = subjects.map(({ topic, record }, place) => ({ topic, record, id: OURS + place }))
  return new Codec([...theirs, ...ours])
}
