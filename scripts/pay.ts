import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { token } from '../infra/local/chain/accounts.ts'
import { tokenAbi, localClient } from '../infra/local/chain/prepare-chain.ts'
import { urlOf } from '../infra/local/run-file.ts'
import { decodeHeader } from '../processors/payments/wire/headers.ts'
import { USDC_DECIMALS } from '../processors/payments/wire/offer.ts'
import { MarketDataClient, type PaidBy, type Payment, type Reply } from './clients/typescript/src/index.ts'
import { flag, readNumber, runCommand, running, text, UsageError, type Values } from './command/command.ts'
import { tellingPayer } from './command/payer.ts'

const usage = `npm run pay -- METHOD PATH [BODY] [flags]: asks the API, pays what it asks, prints the answer.

  npm run pay -- GET /cvd/BTC
  npm run pay -- POST /price-alert '{"symbol":"BTC","condition":"above","target_price":1,"webhook_url":"https://localhost:4443/"}'

  --v1            as clients of version 1 of the protocol do (X-PAYMENT); otherwise version 2 (PAYMENT-SIGNATURE)
  --max USD       pay no more than this (default 1)
  --payment FILE  send the payment that is kept there, and no other
  --data DIR      data folder of the running system (default .data)
  --api URL       another API; then PAYER_KEY or PAYER_KEY_FILE says with which key to pay
  --help          this text

The answer goes to standard output, a stream as it comes, the payment's story to standard error. Without a key the example
payer of the local chain pays, with play money.

A payment is kept in payment-*.json of the working folder until it is answered or refused. Where no answer came its money may
have moved: the same command with --payment sends it again, and it is charged once. The file is as secret as the answer.`

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
  /** File of a payment that was kept. */
  readonly payment: string | undefined
  readonly data: string
  readonly api: string | undefined
}

const flags = { v1: flag, max: text, payment: text, data: text, api: text } as const

async function main(values: Values<typeof flags>, words: readonly string[]): Promise<boolean> {
  const task = readTask(values, words)
  const { api, chain } = addressesOf(task)
  const payer = tellingPayer({ maxUsd: task.maxUsd, isLocal: chain !== undefined })
  const kept = new KeptPayment(task.version === 1 ? asVersion1(payer) : payer, task.payment)
  const before = await balanceOf(chain, payer.address)
  const client = new MarketDataClient({ baseUrl: api, payer: kept, deadlineMs: DEADLINE_MS, tries: TRIES })
  const ask = (payment: Payment | undefined): Promise<Reply> =>
    client.request(task.method, task.path, { body: task.body, headers: kept.headers, payment })
  try {
    const reply = await shown(ask, kept.before)
    if (reply.text !== '') console.log(pretty(reply.text))
    tell(reply)
    if (isSettled(reply)) kept.forget()
    tellBalance(payer.address, before, await balanceOf(chain, payer.address))
    return reply.status < 400
  } catch (error) {
    if (!isUnread(error)) throw error
    return true
  } finally {
    kept.tell()
  }
}

/** The body of a 402 alone is what clients of version 1 read. */
function asVersion1(payer: PaidBy): PaidBy {
  return { pay: ({ body }) => payer.pay({ header: () => null, body }) }
}

/** A payment in a file, from before it is sent: until it is answered or refused, its money may move. */
class KeptPayment implements PaidBy {
  /** That of the file that was given. */
  readonly before: Payment | undefined
  /** The key of what is paid anew, which the payment is kept with. */
  readonly headers = { 'idempotency-key': crypto.randomUUID() }
  readonly #payer: PaidBy
  #file: string | undefined

  constructor(payer: PaidBy, file: string | undefined) {
    this.#payer = payer
    this.#file = file
    this.before = file === undefined ? undefined : readPayment(file)
  }

  async pay(asked: Parameters<PaidBy['pay']>[0]): Promise<Payment> {
    const { headers, usdc } = await this.#payer.pay(asked)
    const key = this.headers['idempotency-key']
    const payment = { headers: { ...headers, ...this.headers }, usdc, idempotencyKey: key }
    const file = path.resolve(`payment-${crypto.randomUUID()}.json`)
    writeFileSync(file, JSON.stringify(payment), { mode: 0o600, flag: 'wx' })
    this.#file = file
    return payment
  }

  forget(): void {
    if (this.#file !== undefined) rmSync(this.#file)
    this.#file = undefined
  }

  tell(): void {
    const file = this.#file
    if (file === undefined) return
    console.error(
      `the payment is kept in ${file}: the same command with --payment ${file} sends it again, charged once`,
    )
  }
}

/** Throws `UsageError` where the file holds none. */
function readPayment(file: string): Payment {
  try {
    const { headers, usdc, idempotencyKey } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    if (isTexts(headers) && typeof usdc === 'number' && typeof idempotencyKey === 'string')
      return { headers, usdc, idempotencyKey }
  } catch {
    // No file, or no JSON.
  }
  throw new UsageError(`--payment: ${file} holds no payment`)
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string')
}

/** Whether a payment is of no further use: answered, or refused. */
function isSettled({ status }: Reply): boolean {
  return status === 200 || status === 201 || status === 402
}

/** The reply, once its events are shown as they came; what was paid for and is cut is opened again by the same payment. */
async function shown(
  ask: (payment: Payment | undefined) => Promise<Reply>,
  before: Payment | undefined,
): Promise<Reply> {
  let payment = before
  for (let tries = 1; ; tries++) {
    const reply = await ask(payment)
    try {
      if (reply.events !== undefined) await pipeline(reply.events, process.stdout, { end: false })
      return reply
    } catch (error) {
      if (isUnread(error) || reply.payment === undefined || tries === TRIES) throw error
      console.error(`${error instanceof Error ? error.message : String(error)}; the same payment again`)
      payment = reply.payment
    }
  }
}

/** The reader of our output has seen enough, as `head` does. */
function isUnread(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
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

function tell({ status, headers, payment }: Reply): void {
  if (payment === undefined) {
    console.error(`${status}: nothing was asked for, nothing was paid`)
    return
  }
  const receipt = decodeHeader(headers.get('payment-response') ?? headers.get('x-payment-response') ?? '')
  console.error(`${status}: ${'object' in receipt ? JSON.stringify(receipt.object) : 'no receipt'}`)
}

function tellBalance(payerAddress: `0x${string}`, before?: bigint, after?: bigint): void {
  if (before === undefined || after === undefined || before === after) return
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
  const { v1, max = '1', payment, data = '.data', api } = values
  const version = v1 === true ? 1 : 2
  return { method: method.toUpperCase(), path, body, version, maxUsd: readNumber('--max', max), payment, data, api }
}

await runCommand({ usage, flags, allowPositionals: true }, main)
