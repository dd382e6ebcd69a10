import { token } from '../infra/local/chain/accounts.ts'
import { tokenAbi, localClient } from '../infra/local/chain/prepare-chain.ts'
import { urlOf } from '../infra/local/run-file.ts'
import { decodeHeader } from '../processors/payments/wire/headers.ts'
import { USDC_DECIMALS } from '../processors/payments/wire/offer.ts'
import {
  MarketDataClient,
  NoAnswerError,
  type PaidBy,
  type Payment,
  type Reply,
  type Sent,
} from './clients/typescript/src/index.ts'
import { flag, runCommand, running, text, UsageError, type Values } from './command/command.ts'
import { tellingPayer } from './command/payer.ts'

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

const DOLLAR = 10 ** USDC_DECIMALS
/** For the answer with its payment, or the begin of a stream. */
const DEADLINE_MS = 300_000
const TRIES = 8

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
  const payer = tellingPayer({ maxUsd: task.maxUsd, isLocal: chain !== undefined })
  const before = await balanceOf(chain, payer.address)
  const client = new MarketDataClient({
    baseUrl: api,
    payer: task.version === 1 ? asVersion1(payer) : payer,
    deadlineMs: DEADLINE_MS,
    tries: TRIES,
  })
  const reply = await shown((sent) => client.request(task.method, task.path, { body: task.body, ...sent }))
  if (reply.text !== '') console.log(pretty(reply.text))
  tell(reply, payer.address, before, await balanceOf(chain, payer.address))
  return reply.status < 400
}

/** The body of a 402 alone is what clients of version 1 read. */
function asVersion1(payer: PaidBy): PaidBy {
  return { pay: ({ body }) => payer.pay({ header: () => null, body }) }
}

/** The reply, once its events are shown as they came; what was paid for and is cut is opened again by the same payment. */
async function shown(ask: (sent: Sent) => Promise<Reply>): Promise<Reply> {
  let payment: Payment | undefined
  for (let tries = 1; ; tries++) {
    const reply = await ask({ payment }).catch(unanswered)
    try {
      for await (const bytes of reply.events ?? []) process.stdout.write(bytes)
      return reply
    } catch (error) {
      if (reply.payment === undefined || tries === TRIES) throw error
      console.error(`${error instanceof Error ? error.message : String(error)}; the same payment again`)
      payment = reply.payment
    }
  }
}

/** Where the answer to a payment never came, there is none; the money may have moved. */
function unanswered(error: unknown): Reply {
  if (!(error instanceof NoAnswerError) || error.payment === undefined) throw error
  console.error(error.message)
  return { status: 503, headers: new Headers(), text: '', payment: error.payment }
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

function tell({ status, headers, payment }: Reply, payerAddress: `0x${string}`, before?: bigint, after?: bigint): void {
  if (payment === undefined) {
    console.error(`${status}: nothing was asked for, nothing was paid`)
    return
  }
  const receipt = decodeHeader(headers.get('payment-response') ?? headers.get('x-payment-response') ?? '')
  console.error(`${status}: ${'object' in receipt ? JSON.stringify(receipt.object) : 'no receipt'}`)
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
  const { v1, max = '1', data = '.data', api } = values
  return { method: method.toUpperCase(), path, body, version: v1 === true ? 1 : 2, maxUsd: Number(max), data, api }
}

await runCommand({ usage, flags, allowPositionals: true }, main)
