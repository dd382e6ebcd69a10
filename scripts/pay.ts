import { randomBytes } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import { payer, token } from '../infra/local/chain/accounts.ts'
import { tokenAbi, localClient } from '../infra/local/chain/prepare-chain.ts'
import { urlOf } from '../infra/local/run-file.ts'
import { flag, runCommand, running, text, UsageError, type Values } from './command/command.ts'
import { ownKey } from './command/payer.ts'
import { buy, type Bought, agree, DOLLAR } from './pay/buy.ts'

const usage = `npm run pay -- METHOD PATH [BODY] [flags]: asks the API, pays what it asks, prints the answer.

  npm run pay -- GET /cvd/BTC
  npm run pay -- POST /price-alert '{"symbol":"BTC","condition":"above","target_price":1,"webhook_url":"https://localhost:4443/"}'

  --v1            as clients of version 1 of the protocol do (X-PAYMENT); otherwise version 2 (PAYMENT-SIGNATURE)
  --max USD       pay no more than this (default 1)
  --data DIR      data folder of the running system (default .data)
  --api URL       another API; then PAYER_KEY or PAYER_KEY_FILE says with which key to pay
  --help          this text

The answer goes to standard output, a stream as it comes, the payment's story to standard error. Without a key the example
payer of the local chain pays, with play money.`

interface Task {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
  readonly version: 1 | 2
  readonly maxUsd: number
  readonly data: string
  readonly api: string | undefined
}

const flags = { v1: flag, max: text, data: text, api: text } as const

async function main(values: Values<typeof flags>, words: readonly string[]): Promise<boolean> {
  const task = readTask(values, words)
  const { api, chain } = addressesOf(task)
  const key = ownKey()
  const account = privateKeyToAccount(key ?? payer.key)
  const before = await balanceOf(chain, account.address)
  const bought = await buy({
    url: new URL(task.path, api).href,
    method: task.method,
    body: task.body,
    version: task.version,
    account,
    agree: (offer) => void agree(offer, task.maxUsd, { local: chain !== undefined, hasKey: key !== undefined }),
    say: (line) => console.error(line),
    show: (events) => void process.stdout.write(events),
    nowSeconds: () => Math.floor(Date.now() / 1_000),
    nonce: () => `0x${randomBytes(32).toString('hex')}`,
  })
  if (bought.text !== '') console.log(pretty(bought.text))
  tell(bought, account.address, before, await balanceOf(chain, account.address))
  return bought.status < 400
}

function addressesOf({ data, api }: Task): { readonly api: string; readonly chain: string | undefined } {
  if (api !== undefined) return { api, chain: undefined }
  const run = running(data, 'with --payments local, or name another API with --api URL')
  return { api: urlOf(run, 'api'), chain: run.parts.find(({ name }) => name === 'chain')?.url }
}

async function balanceOf(chain: string | undefined, address: `0x${string}`): Promise<bigint | undefined> {
  if (chain === undefined) return undefined
  return localClient(chain).readContract({ address: token, abi: tokenAbi, functionName: 'balanceOf', args: [address] })
}

function tell({ status, offer, receipt }: Bought, payerAddress: string, before?: bigint, after?: bigint): void {
  if (offer === undefined) {
    console.error(`${status}: nothing was asked for, nothing was paid`)
    return
  }
  console.error(`${status}: ${receipt === undefined ? 'no receipt' : JSON.stringify(receipt)}`)
  if (before === undefined || after === undefined) return
  console.error(`${payerAddress} paid ${Number(before - after) / DOLLAR} USDC and has ${Number(after) / DOLLAR}`)
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text // not JSON: as it came
  }
}

function readTask(values: Values<typeof flags>, words: readonly string[]): Task {
  const [method = '', path = '', body, ...rest] = words
  if (!/^[A-Za-z]+$/.test(method) || !path.startsWith('/') || rest.length > 0)
    throw new UsageError(`say METHOD PATH [BODY], for example GET /cvd/BTC\n\n${usage}`)
  const maxUsd = Number(values.max ?? '1')
  if (!(maxUsd >= 0)) throw new UsageError('--max must be an amount of USD')
  const version = values.v1 === true ? 1 : 2
  return { method: method.toUpperCase(), path, body, version, maxUsd, data: values.data ?? '.data', api: values.api }
}

await runCommand({ usage, flags, allowPositionals: true }, main)
