import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { startChild, type Child } from '../child.ts'
import { startOnPorts } from '../ports.ts'
import { chainId, hotWallet, payer, payTo, token, type Account } from './accounts.ts'
import { findAnvil } from './anvil.ts'
import { prepareChain } from './prepare-chain.ts'
import { keepReadable } from './state-file.ts'

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
