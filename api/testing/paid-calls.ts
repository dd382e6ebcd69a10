import { randomBytes } from 'node:crypto'
import { decodePaymentResponseHeader } from '@x402/core/http'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Child } from '../../infra/local/child.ts'
import { freeze } from '../../infra/local/testing/faults.ts'
import { signPayment, type Signing } from './fake-payments.ts'

/** What paid requests were answered: every answer for a receipt that says the money has come, by its transaction. */
export class Books {
  readonly answered = new Set<string>()

  /** An answer that somebody got. One that only says that the payment stands is still owed, and not noted. */
  note(response: Response): Response {
    const receipt = response.headers.get('payment-response')
    if (receipt === null || !response.ok) return response
    const { success, transaction } = decodePaymentResponseHeader(receipt)
    if (success) this.answered.add(transaction)
    return response
  }
}

export interface Answered {
  readonly status: number
  readonly text: string
  readonly body: Record<string, unknown>
  readonly headers: Headers
}

/** A broker that others keep busy may be late for the API's own deadlines; what it tells then must still be right. */
const LATE_MS = 60_000
/** Nothing was written, nothing was charged: it may be sent again. */
const LATE = 'Payments cannot be looked up right now'

/** A request as it is, sent again while payments cannot be looked up; what it was answered is in the books. */
export async function ask(
  books: Books,
  url: string,
  headers: Record<string, string> = {},
  init: RequestInit = {},
): Promise<Answered> {
  const until = performance.now() + LATE_MS
  for (;;) {
    const answer = await askOnce(books, url, headers, init)
    const isLate = answer.status === 503 && answer.text.includes(LATE)
    if (!isLate || performance.now() > until) return answer
  }
}

async function askOnce(
  books: Books,
  url: string,
  headers: Record<string, string>,
  init: RequestInit,
): Promise<Answered> {
  const response = books.note(await fetch(url, { ...init, headers }))
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true && text !== ''
  return {
    status: response.status,
    text,
    body: (isJson ? JSON.parse(text) : {}) as Record<string, unknown>,
    headers: response.headers,
  }
}

/** A payment that the account signs now, as the headers of both versions. */
export function signedNow(
  account: PrivateKeyAccount,
  signing: Partial<Signing> = {},
): Promise<{ v1: string; v2: string }> {
  const nonce: `0x${string}` = `0x${randomBytes(32).toString('hex')}`
  return signPayment({ amount: '20000', now: Math.floor(Date.now() / 1000), account, nonce, ...signing })
}

export function transactionOf({ headers }: Answered): string {
  return decodePaymentResponseHeader(headers.get('payment-response') ?? '').transaction
}

/** Stops a process for as long as the work lasts; it may be killed meanwhile. */
export async function frozen<Result>({ pid }: Child, work: () => Promise<Result>): Promise<Result> {
  await freeze(pid)
  try {
    return await work()
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}
