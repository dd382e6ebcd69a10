import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { privateKeyToAccount } from 'viem/accounts'
import { readConfig } from '../infra/config/config.ts'
import { readSecretFile } from '../infra/config/secrets.ts'
import { payer as examplePayer } from '../infra/local/chain/accounts.ts'
import { urlOf } from '../infra/local/run-file.ts'
import { packageVersion } from '../infra/version.ts'
import { MarketDataClient } from './clients/typescript/src/index.ts'
import { Payer } from './clients/typescript/src/payer.ts'
import { readNumber, runCommand, runOf, text, type Values } from './command/command.ts'
import { ownKey } from './command/payer.ts'
import { createMcpServer, type McpOptions } from './mcp/server.ts'

const usage = `npm run mcp -- [flags]: a server of the Model Context Protocol on standard input and output, over the API's routes.

  --api URL            the API (default: the system that runs on --data, else http://127.0.0.1:3000)
  --data DIR           data folder of a running system (default .data); not looked at with --api
  --budget-usdc N      most that this session may spend (default: BUDGET_USDC, else 0: nothing is paid)
  --max-per-call N     most that one call may cost, USDC (default: MAX_PER_CALL_USDC, else 0.10)
  --help               this text

PAYER_KEY or PAYER_KEY_FILE says with which key to pay; on a system with --payments local the example payer pays, with
play money; without a key nothing is paid. What is over the budget is refused before anything is signed. Keys are neither
logged nor shown. MDA_API_KEY or MDA_API_KEY_FILE is an API key of POST /credit (the tool credit_buy buys one): what costs
something is charged to its credit first, within the key's own limits and beside the budget.

An agent's configuration, with the checkout's path:
  {"mcpServers": {"market-data": {"command": "npm", "args": ["run", "-s", "mcp", "--prefix", "PATH", "--", "--budget-usdc", "1"]}}}`

const flags = { api: text, data: text, 'budget-usdc': text, 'max-per-call': text } as const

const MAX_PER_CALL_USDC = 0.1

interface Task {
  readonly api: string
  readonly budgetUsdc: number
  readonly maxPerCallUsdc: number
  /** The system's own chain of play money is there. */
  readonly isLocal: boolean
}

async function main(values: Values<typeof flags>): Promise<void> {
  const task = readTask(values)
  const payer = payerOf(task)
  const isPaying = payer instanceof Payer
  const apiKey = ownApiKey()
  const client = new MarketDataClient({
    baseUrl: task.api,
    ...(isPaying && { payer }),
    ...(apiKey !== '' && { apiKey }),
  })
  const server = createMcpServer({ client, payer, version: packageVersion(), maxPerCallUsdc: task.maxPerCallUsdc })
  await server.connect(new StdioServerTransport())
  const money = isPaying ? `pays up to ${task.budgetUsdc} USDC from ${payer.address}` : `pays nothing (${payer.why})`
  const credit = apiKey === '' ? '' : ', charges the credit of MDA_API_KEY'
  console.error(`MCP server for ${task.api}: ${money}${credit}`)
}

/** Empty: none. */
function ownApiKey(): string {
  const { MDA_API_KEY: text, MDA_API_KEY_FILE: file } = readConfig(process.env, ['MDA_API_KEY', 'MDA_API_KEY_FILE'])
  return text === '' && file !== '' ? readSecretFile('MDA_API_KEY', file) : text
}

function payerOf({ budgetUsdc, maxPerCallUsdc, isLocal }: Task): McpOptions['payer'] {
  if (budgetUsdc === 0) return { why: 'without a budget: --budget-usdc' }
  const key = ownKey() ?? (isLocal ? examplePayer.key : undefined)
  if (key === undefined) return { why: 'without a key: PAYER_KEY or PAYER_KEY_FILE' }
  return new Payer(privateKeyToAccount(key), { maxPerCallUsdc, totalUsdc: budgetUsdc })
}

function readTask(values: Values<typeof flags>): Task {
  const run = values.api === undefined ? runOf(values.data ?? '.data') : undefined
  const { BUDGET_USDC, MAX_PER_CALL_USDC: most } = process.env
  return {
    api: values.api ?? (run === undefined ? 'http://127.0.0.1:3000' : urlOf(run, 'api')),
    budgetUsdc: amountOf(values['budget-usdc'] ?? BUDGET_USDC, 0, '--budget-usdc'),
    maxPerCallUsdc: amountOf(values['max-per-call'] ?? most, MAX_PER_CALL_USDC, '--max-per-call'),
    isLocal: run?.parts.some(({ name }) => name === 'chain') === true,
  }
}

function amountOf(text: string | undefined, otherwise: number, name: string): number {
  return text === undefined || text === '' ? otherwise : readNumber(name, text)
}

await runCommand({ usage, flags }, main)
