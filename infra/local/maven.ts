import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../config/config.ts'
import { javaEnv } from './java.ts'
import { withLock } from './lock.ts'

const KAFKA = '4.1.1'
/** 3.0.9 runs on Java 17; 3.3 needs 21. */
const REGISTRY = '3.0.9'
const LOG4J = '2.24.3'
/** From 3.9 on it does not ask for an artifact's parent POM where it only unpacks it. */
const DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.9.0'
const FETCH_MS = 20 * 60_000
const PROGRESS_EVERY_MS = 2_000

export interface FetchOptions {
  /** Maven's program. */
  readonly maven: string
  /** Folder of what was fetched, shared by all checkouts and data folders that name it. */
  readonly cache: string
  readonly onProgress: (line: string) => void
}

/** The cache folder: `MDA_CACHE`, or `.cache` below the checkout. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const { MDA_CACHE } = readConfig(env, ['MDA_CACHE'])
  return MDA_CACHE === '' ? fileURLToPath(new URL('../../.cache', import.meta.url)) : resolve(MDA_CACHE)
}

/** The jars of Apache Kafka as absolute paths in a stable order, fetched at the first call. */
export async function fetchKafka(options: FetchOptions): Promise<readonly string[]> {
  const folder = await fetchInto(`kafka-${KAFKA}`, 'Apache Kafka (54 MB)', options, async (target, scratch) => {
    const pom = join(scratch, 'pom.xml')
    await writeFile(pom, kafkaPom)
    return [
      '-f',
      pom,
      `${DEPENDENCY_PLUGIN}:copy-dependencies`,
      '-DincludeScope=runtime',
      `-DoutputDirectory=${target}`,
    ]
  })
  const names = await readdir(folder)
  return names
    .filter((name) => name.endsWith('.jar'))
    .sort()
    .map((name) => join(folder, name))
}

/** The runnable jar of Apicurio Registry, fetched at the first call. */
export async function fetchRegistry(options: FetchOptions): Promise<string> {
  const artifact = `io.apicurio:apicurio-registry-app:${REGISTRY}:tar.gz:all`
  const folder = await fetchInto(
    `registry-${REGISTRY}`,
    'Apicurio Registry (109 MB)',
    options,
    async (target, scratch) => {
      const pom = join(scratch, 'pom.xml')
      await writeFile(pom, emptyPom)
      return ['-f', pom, `${DEPENDENCY_PLUGIN}:unpack`, `-Dartifact=${artifact}`, `-DoutputDirectory=${target}`]
    },
  )
  return join(folder, `apicurio-registry-app-${REGISTRY}-runner.jar`)
}

/**
 * Lets Maven fill a scratch folder and moves it into place when it is whole, so that a cut download is never taken for
 * a part. Maven checks each file's checksum and keeps what it already has. Two processes do it one after the other.
 */
async function fetchInto(
  name: string,
  title: string,
  { maven, cache, onProgress }: FetchOptions,
  goal: (target: string, scratch: string) => Promise<readonly string[]>,
): Promise<string> {
  const folder = join(cache, name)
  if (await exists(folder)) return folder
  await mkdir(cache, { recursive: true })
  await withLock(join(cache, `${name}.lock`), FETCH_MS, async () => {
    if (await exists(folder)) return
    const scratch = join(cache, `${name}.part`)
    await rm(scratch, { recursive: true, force: true })
    try {
      await mkdir(join(scratch, 'files'), { recursive: true })
      onProgress(`fetching ${title} with Maven`)
      await fetchTwice(maven, await goal(join(scratch, 'files'), scratch), title, onProgress)
      await rename(join(scratch, 'files'), folder)
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  })
  return folder
}

/** Networks fail for a moment. Maven keeps what it has got, and only with `-U` asks again for what it could not get. */
async function fetchTwice(
  maven: string,
  args: readonly string[],
  title: string,
  onProgress: (line: string) => void,
): Promise<void> {
  try {
    await runMaven(maven, args, title, onProgress)
  } catch (error) {
    onProgress(`${error instanceof Error ? error.message : String(error)}; trying once more`)
    await runMaven(maven, ['-U', ...args], title, onProgress)
  }
}

async function runMaven(
  maven: string,
  args: readonly string[],
  title: string,
  onProgress: (line: string) => void,
): Promise<void> {
  const child = spawn(maven, ['-B', '--strict-checksums', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...javaEnv() },
    timeout: FETCH_MS,
  })
  const problems: string[] = []
  let files = 0
  let told = Date.now()
  child.stderr.resume()
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.includes('[ERROR]') && problems.length < 5) problems.push(line.replace('[ERROR]', '').trim())
    if (!/^(\[INFO\] )?Downloaded/.test(line)) return
    files += 1
    if (Date.now() - told < PROGRESS_EVERY_MS) return
    told = Date.now()
    onProgress(`fetching ${title}: ${files} files`)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`Maven could not fetch ${title}: ${problems.join(' ') || `exit ${code}`}`)
}

async function exists(folder: string): Promise<boolean> {
  return (await readdir(folder).catch(() => [])).length > 0
}

const pomHead = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>parts</artifactId><version>1</version><packaging>pom</packaging>`

const emptyPom = `${pomHead}</project>\n`

/** Kafka's own POM has no logging back end: that sits in its distribution. */
const kafkaPom = `${pomHead}<dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${KAFKA}</version></dependency>
<dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-api</artifactId><version>${LOG4J}</version></dependency>
<dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-core</artifactId><version>${LOG4J}</version></dependency>
<dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>${LOG4J}</version></dependency>
</dependencies></project>
`
