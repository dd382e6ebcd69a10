import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { promisify } from 'node:util'
import { readConfig } from '../config/config.ts'
import { startChild, type Child, type ChildSpec } from './child.ts'

const run = promisify(execFile)

/** Kafka 4 and the registry need 17. */
const JAVA_MIN = 17
/** In the order of preference; a distribution has one or another of them. */
const JAVA_PACKAGES = ['openjdk-17-jre-headless', 'openjdk-21-jre-headless', 'openjdk-25-jre-headless']
const PROBE_MS = 20_000
const INSTALL_MS = 10 * 60_000

/** Programs that the local broker and registry need, as commands or absolute paths. */
export interface Tools {
  readonly java: string
  readonly javaVersion: string
  readonly maven: string
}

export interface ToolOptions {
  readonly onProgress: (line: string) => void
  readonly env?: Readonly<Record<string, string | undefined>>
}

/**
 * Finds Java 17 or newer and Maven. Installs what is missing with apt-get where it may: as root, or after a yes on the
 * terminal. Otherwise throws one line that says what to run.
 */
export async function ensureTools({ onProgress, env = process.env }: ToolOptions): Promise<Tools> {
  const { JAVA_HOME } = readConfig(env, ['JAVA_HOME'])
  const known = toolsOf.get(JAVA_HOME)
  if (known !== undefined) return known
  const tools = await findOrInstall(JAVA_HOME, onProgress)
  toolsOf.set(JAVA_HOME, tools)
  return tools
}

/** Asking them costs a second or more, and a part that is started again after a crash should not wait for it. */
const toolsOf = new Map<string, Tools>()

async function findOrInstall(javaHome: string, onProgress: ToolOptions['onProgress']): Promise<Tools> {
  const found = await find(javaHome)
  if (isComplete(found)) return found
  await install(
    [...(found.java === undefined ? ['java'] : []), ...(found.maven === undefined ? ['maven'] : [])],
    onProgress,
  )
  const now = await find(javaHome)
  if (isComplete(now)) return now
  throw new Error(`still no Java ${JAVA_MIN} and Maven after the installation; ${advice(JAVA_PACKAGES[0] ?? '')}`)
}

function isComplete(tools: Partial<Tools>): tools is Tools {
  return tools.java !== undefined && tools.maven !== undefined
}

async function find(javaHome: string): Promise<Partial<Tools>> {
  const maven = (await answers('mvn', ['--version'])) === undefined ? {} : { maven: 'mvn' }
  for (const java of await javaCandidates(javaHome)) {
    const javaVersion = versionIn((await answers(java, ['-version'])) ?? '')
    if (javaVersion !== undefined && Number(javaVersion.split('.')[0]) >= JAVA_MIN)
      return { ...maven, java, javaVersion }
  }
  return maven
}

async function javaCandidates(javaHome: string): Promise<string[]> {
  const installed = await readdir('/usr/lib/jvm').catch(() => [])
  const homes = installed.map((name) => `/usr/lib/jvm/${name}/bin/java`)
  return [...(javaHome === '' ? [] : [`${javaHome}/bin/java`]), 'java', ...homes]
}

/** `openjdk version "17.0.15" 2025-04-15` gives 17.0.15. */
export function versionIn(text: string): string | undefined {
  return /version "([\d.]+)/.exec(text)?.[1]
}

/** What the program prints, or undefined where it cannot be run. */
async function answers(program: string, args: readonly string[]): Promise<string | undefined> {
  const result = await run(program, args, { timeout: PROBE_MS }).catch(() => undefined)
  return result === undefined ? undefined : result.stdout + result.stderr
}

async function install(missing: readonly string[], onProgress: (line: string) => void): Promise<void> {
  const names = missing.join(' and ')
  if ((await answers('apt-get', ['--version'])) === undefined) {
    throw new Error(`${names} not found: install Java ${JAVA_MIN} or newer and Maven, then start again`)
  }
  const root = process.getuid?.() === 0
  if (!root && !(await confirmed(`${names} not found. Install with sudo apt-get? [y/N] `))) {
    throw new Error(`${names} not found; ${advice(JAVA_PACKAGES[0] ?? '')}`)
  }
  onProgress(`installing ${names} with apt-get`)
  await apt(root, ['update'])
  const java = missing.includes('java') ? [await javaPackage()] : []
  await apt(root, [
    'install',
    '-y',
    '--no-install-recommends',
    ...java,
    ...(missing.includes('maven') ? ['maven'] : []),
  ])
}

async function javaPackage(): Promise<string> {
  for (const name of JAVA_PACKAGES) {
    if ((await answers('apt-cache', ['show', name])) !== undefined) return name
  }
  return 'default-jre-headless'
}

async function apt(root: boolean, args: readonly string[]): Promise<void> {
  const command = root ? ['apt-get', ...args] : ['sudo', 'apt-get', ...args]
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run(command[0] ?? 'apt-get', command.slice(1), { timeout: INSTALL_MS, env, maxBuffer: 64 << 20 }).catch(
    (error: unknown) => {
      throw new Error(`${command.join(' ')} failed: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      })
    },
  )
}

/**
 * The environment of a JVM, which by a locale other than of UTF-8 finds no file whose path has letters beyond ASCII. On
 * macOS it takes UTF-8 by itself.
 */
export function javaEnv(): Readonly<Record<string, string>> {
  const { LC_ALL, LC_CTYPE, LANG } = process.env
  const isUtf8 = /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '')
  return isUtf8 || process.platform === 'darwin' ? {} : { LC_ALL: 'C.UTF-8' }
}

export interface JavaSpec extends Omit<ChildSpec, 'command'> {
  readonly tools: Tools
  /** What was fetched, and archives of classes. */
  readonly cache: string
  readonly dataDir: string
  /** Name of the archive of classes, where several parts run the same program; left out: the part's. */
  readonly archive?: string
  /** Behind the options of the JVM. */
  readonly args: readonly string[]
}

/** Only the quick compiler: for a program that ends soon or has little to do. It takes 40 MB less, and a third more CPU. */
export const QUICK_COMPILER = '-XX:TieredStopAtLevel=1'

/** Java, and the options of a program that has little to hold. */
export const smallJava = ({ java }: Tools): readonly [string, ...string[]] => [
  java,
  '-XX:+IgnoreUnrecognizedVMOptions', // an older release knows fewer of them
  '-Xlog:cds=error',
  '-Xlog:cds+dynamic=error',
  // It would begin with a 64th of the machine's memory.
  '-Xms24m',
  '-Xmx256m',
  '-XX:+UseSerialGC',
  // By itself it keeps two thirds as much again as is in use, and what was ever taken beside the heap.
  '-XX:MinHeapFreeRatio=20',
  '-XX:MaxHeapFreeRatio=30',
  '-XX:TrimNativeHeapInterval=60000',
  // The archive of classes is mapped where it was made for: anywhere else each of its pages would be written to.
  '-XX:+UnlockDiagnosticVMOptions',
  '-XX:ArchiveRelocationMode=0',
]

/**
 * Starts a Java program with the archive of the classes that it loads, which halves the time to start. The first clean
 * stop writes the archive, into the data folder and from there into the cache; a JVM that it does not fit ignores it.
 */
export async function startJava({ tools, cache, dataDir, args, archive: named, ...spec }: JavaSpec): Promise<Child> {
  const own = join(dataDir, 'classes.jsa')
  const shared = join(cache, `${named ?? spec.name}-java-${tools.javaVersion}.jsa`)
  const archive = existsSync(shared) ? `-XX:SharedArchiveFile=${shared}` : `-XX:ArchiveClassesAtExit=${own}`
  const env = { ...javaEnv(), ...spec.env }
  const child = await startChild({ ...spec, env, command: [...smallJava(tools), archive, ...args] })
  const stop = async (): Promise<void> => {
    await child.stop()
    if (existsSync(own)) await move(own, shared)
  }
  return { ...child, stop }
}

/** To another disk as well; whoever looks for it finds all of it or nothing. */
async function move(from: string, to: string): Promise<void> {
  const part = `${to}.${process.pid}`
  await copyFile(from, part)
  await rename(part, to)
  await rm(from)
}

function advice(javaPackage: string): string {
  return `run: sudo apt-get update && sudo apt-get install -y ${javaPackage} maven`
}

async function confirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim())
  } finally {
    terminal.close()
  }
}
