import { mkdirSync, accessSync, constants } from 'node:fs'
import path from 'node:path'
import { createRequire } from 'node:module'
import { copyFile, readFile, rename } from 'node:fs/promises'
import { startChild, type Child } from '../child.ts'
import { startOnPorts } from '../ports.ts'
import { chainId, hotWallet, payer, payTo, token, type Account } from './accounts.ts'
import { prepareChain } from './prepare-chain.ts'

const HOST = '127.0.0.1'
const READY_MS = 30_000
const STOP_MS = 10_000
/** What a kill may take back; a stop takes nothing. The whole state is written each time, some KB for each payment. */
const STATE_EVERY_S = 5
/** Older transactions leave the state, so that it ends at some tens of MB. */
const TRANSACTION_BLOCKS_MAX = 5_000

export interface ChainOptions {
  /** Made when missing; holds the chain's state from one start to the next. */
  readonly dataDir: string
  /** 0: any free one. */
  readonly port: number
  readonly logFile: string
  /** Time between two blocks; 0 or left out: a block for each transaction, at once. */
  readonly blockSeconds?: number
}

/** The running chain; `url` is its JSON-RPC address. */
export interface Chain extends Child {
  readonly chainId: number
  readonly token: `0x${string}`
  readonly payer: Account
  readonly hotWallet: Account
  readonly payTo: `0x${string}`
}

/** Starts the local chain; resolves when token, example payer and hot wallet are in place. */
export async function startChain(options: ChainOptions): Promise<Chain> {
  const { dataDir } = options
  mkdirSync(dataDir, { recursive: true })
  const state = path.join(path.resolve(dataDir), 'state.json')
  await keepReadable(state)
  const child = await startOnPorts({ 'The local chain': options.port }, (port) => launch(port, state, options))
  return { ...child, chainId, token, payer, hotWallet, payTo }
}

function launch(port: number, state: string, { logFile, blockSeconds = 0 }: ChainOptions): Promise<Child> {
  const url = `http://${HOST}:${port}`
  const flags = {
    '--host': HOST,
    '--port': port,
    '--chain-id': chainId,
    '--state': state,
    '--state-interval': STATE_EVERY_S,
    '--transaction-block-keeper': TRANSACTION_BLOCKS_MAX,
    ...(blockSeconds > 0 && { '--block-time': blockSeconds }),
  }
  return startChild({
    name: 'chain',
    command: [
      findAnvil(),
      '--quiet',
      '--no-cors',
      ...Object.entries(flags).flatMap(([name, value]) => [name, String(value)]),
    ],
    logFile,
    ready: async () => ((await prepareChain(url)) ? url : undefined),
    readyWithinMs: READY_MS,
    stopWithinMs: STOP_MS,
  })
}

/** The local chain cannot be had on this machine; the message says how to mend it. */
class NoAnvilError extends Error {
  readonly code = 'no-anvil'
}

const platforms: Readonly<Record<string, string>> = { win32: 'win32', linux: 'linux', darwin: 'darwin' }
const machines: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * The chain's program: of the npm package for this platform, else the first `anvil` of the path. The program itself,
 * never the package's wrapper script: when a wrapper is killed, the chain lives on.
 */
function findAnvil(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const name = `@foundry-rs/anvil-${platforms[process.platform] ?? process.platform}-${machines[process.arch] ?? process.arch}`
  const program = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder))
  const found = [packaged(name, program), ...folders.map((folder) => path.join(folder, program))].find(runs)
  if (found !== undefined) return found
  throw new NoAnvilError(
    `the local chain needs anvil: npm install --no-save ${name}@1.7.1, or put an anvil of Foundry on the PATH; or pay nothing: --payments off`,
  )
}

function packaged(name: string, program: string): string | undefined {
  try {
    return path.join(path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', program)
  } catch {
    return undefined // npm installs none of the packages for other platforms
  }
}

function runs(file: string | undefined): file is string {
  if (file === undefined) return false
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * The chain writes its state in place, so a kill in the middle leaves half of it, which the chain would refuse for ever.
 * A state that can be read is copied; one that cannot gives way to the last copy, or to a new chain, and stays beside it
 * as `.broken`.
 */
export async function keepReadable(file: string): Promise<'new' | 'kept' | 'went-back'> {
  const copy = `${file}.copy`
  if (await isReadable(file)) {
    await copyFile(file, `${copy}.part`)
    await rename(`${copy}.part`, copy)
    return 'kept'
  }
  const isThere = await rename(file, `${file}.broken`).then(
    () => true,
    () => false, // no file: the first start
  )
  if (!isThere || !(await isReadable(copy))) return 'new'
  await copyFile(copy, file)
  return 'went-back'
}

async function isReadable(file: string): Promise<boolean> {
  try {
    const state: unknown = JSON.parse(await readFile(file, 'utf8'))
    return typeof state === 'object' && state !== null
  } catch {
    return false // not there, or cut short
  }
}
