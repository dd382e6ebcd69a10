import { BaseError, HttpRequestError, keccak256, NonceTooLowError, TimeoutError } from 'viem'
import { parseTransaction, recoverTransactionAddress } from 'viem'
import type { Address, Hex, PublicClient, TransactionSerialized } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Clock, Report } from '../kernel/ports.ts'
import { asked, ChainError, GAS } from './chain.ts'
import type { Sent } from './settler.ts'

/** Fees are asked for this often at most. */
const FEES_MS = 2_000
/** The fee cap over the base fee: it may double and double again before a transaction gets stuck. */
const BASE_FEE_MULTIPLE = 4n
const SENDS_MAX = 5
const RESEND_EVERY_MS = 5_000

/** A signed transaction with its place in the wallet's sequence. */
export interface Signed {
  readonly tx: Hex
  readonly raw: Hex
  readonly nonce: number
}

interface Fees {
  readonly base: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Gas costs more than we pay: nothing was signed. */
class DearError extends ChainError {}

/** How long it is told that gas cost too much when it was last asked for, milliseconds. */
const DEAR_TOLD_MS = 60_000

/** A node takes one transaction in another's place only where it pays a tenth more. */
function raisedBy(fee: bigint): bigint {
  return (fee * 9n) / 8n + 1n
}

function raisedTip(tip: bigint, { maxPriorityFeePerGas }: Fees): bigint {
  const least = raisedBy(tip)
  return maxPriorityFeePerGas > least ? maxPriorityFeePerGas : least
}

export interface WalletOptions {
  readonly client: PublicClient
  readonly chainId: number
  readonly account: PrivateKeyAccount
  readonly clock: Clock
  readonly report: Report
  /** Most that is paid for a unit of gas, wei. */
  readonly feeMax: bigint
}

/** The node will not take the transaction: it is known that it is not sent. */
export class NotSentError extends Error {
  readonly code = 'not-sent'
}

/**
 * The hot wallet: the one place that gives its transactions their numbers, one after the other. What was sent and is not
 * in a block is sent again from time to time, so that nothing behind it is held up for ever.
 */
export class Wallet {
  readonly #options: WalletOptions
  #queue: Promise<unknown> = Promise.resolve()
  /** Sent, and not known to be in a block, by nonce. */
  readonly #open = new Map<number, Signed>()
  #next = 0
  /** Sent by a wallet that was the service's before, and not known to be in a block. */
  readonly #former = new Map<Hex, Hex>()
  #fees: (Fees & { readonly at: number }) | undefined
  #resentAt = 0
  #refusal: string | null = null
  #dear: { readonly at: number; readonly says: string } | undefined

  constructor(options: WalletOptions) {
    this.#options = options
  }

  get address(): Address {
    return this.#options.account.address
  }

  /** Why the last transaction was not sent, null where it was. */
  get refusal(): string | null {
    const { clock } = this.#options
    const isDear = this.#dear !== undefined && clock.now() - this.#dear.at < DEAR_TOLD_MS
    return isDear ? (this.#dear?.says ?? null) : this.#refusal
  }

  /** Most that a transaction sent now may cost, wei; rejects with `ChainError` where gas costs more than we pay. */
  async quote(): Promise<bigint> {
    return GAS * this.#capOf(await this.#currentFees())
  }

  /**
   * A transaction of a former owner: it keeps its number, and is sent again at once. One that was signed by a former wallet
   * has a number of that wallet's: it is sent again as it is, and never signed anew.
   */
  adopt(sent: Sent): Promise<void> {
    const done = this.#queue.then(() => this.#adoptNow(sent)) // before any that is sent from now on
    this.#queue = done.catch(() => undefined) // whoever asked for it is told
    return done
  }

  async #adoptNow({ raw, tx }: Sent): Promise<void> {
    if (raw === null || tx === null) return
    if ((await signerOf(raw)) === this.address) this.#note({ tx, raw, nonce: nonceOf(raw) })
    else this.#former.set(tx, raw)
    this.#resentAt = 0
  }

  /**
   * Signs a call, waits until `sending` has written it down, then sends it. Rejects with `NotSentError` where it is known
   * that what was signed last is not sent, with `ChainError` where nothing was signed, or every number was taken.
   * Otherwise it may be in a block, soon or already.
   */
  send(to: Address, data: Hex, sending: (sent: Sent) => Promise<void>): Promise<Signed> {
    const done = this.#queue.then(() => this.#sendNext(to, data, sending))
    this.#queue = done.catch(() => undefined) // whoever asked for it is told
    return done
  }

  async #sendNext(to: Address, data: Hex, sending: (sent: Sent) => Promise<void>): Promise<Signed> {
    let from = 0
    for (let sends = 0; sends < SENDS_MAX; sends++) {
      const fees = await this.#currentFees()
      const signed = await this.#sign(to, data, Math.max(from, await this.#nextNonce()), fees)
      await sending(signed)
      this.#note(signed)
      if (await this.#submit(signed)) return signed
      from = signed.nonce + 1
    }
    throw new ChainError('the wallet’s transactions are numbered by somebody else too')
  }

  async #sign(to: Address, data: Hex, nonce: number, fees: Fees): Promise<Signed> {
    const { account, chainId } = this.#options
    const { maxPriorityFeePerGas } = fees
    const maxFeePerGas = this.#capOf(fees)
    const call = { type: 'eip1559', chainId, nonce, to, data, value: 0n, gas: GAS } as const
    const raw = await account.signTransaction({ ...call, maxFeePerGas, maxPriorityFeePerGas })
    return { tx: keccak256(raw), raw, nonce }
  }

  /** The most that is offered for a unit of gas, within what we pay. */
  #capOf({ base, maxPriorityFeePerGas: tip }: Fees): bigint {
    const { feeMax, clock } = this.#options
    this.#dear = undefined
    if (base + tip > feeMax) {
      const says = `a unit of gas costs ${base + tip} wei, PAYMENT_FEE_WEI_MAX=${feeMax} allows no more: nothing is sent until it costs less`
      this.#dear = { at: clock.now(), says }
      throw new DearError(says)
    }
    const cap = base * BASE_FEE_MULTIPLE + tip
    return cap < feeMax ? cap : feeMax
  }

  /** While something is on its way, only we know the next number; a node may lag behind. */
  async #nextNonce(): Promise<number> {
    const { client, account } = this.#options
    const request = { address: account.address, blockTag: 'pending' } as const
    const pending = await asked('transactionCount', client.getTransactionCount(request))
    await this.#dropMined()
    return this.#open.size === 0 ? pending : Math.max(this.#next, pending)
  }

  async #currentFees(): Promise<Fees> {
    const { client, clock } = this.#options
    if (this.#fees !== undefined && clock.now() - this.#fees.at < FEES_MS) return this.#fees
    const block = await asked('block', client.getBlock())
    const maxPriorityFeePerGas = await asked('priorityFee', client.estimateMaxPriorityFeePerGas({ chain: null }))
    this.#fees = { base: block.baseFeePerGas ?? 0n, maxPriorityFeePerGas, at: clock.now() }
    return this.#fees
  }

  #note(signed: Signed): void {
    this.#open.set(signed.nonce, signed)
    this.#next = Math.max(this.#next, signed.nonce + 1)
  }

  /** True: the node has it, or may have it. False: its number is taken. Rejects where the node has refused it. */
  async #submit(signed: Signed): Promise<boolean> {
    const { client, report } = this.#options
    try {
      await client.sendRawTransaction({ serializedTransaction: signed.raw })
      this.#refusal = null
      return true
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === 'known' || refusal === 'unknown') return true
      if (this.#open.get(signed.nonce)?.tx === signed.tx) this.#open.delete(signed.nonce)
      if (refusal === 'taken') return false
      this.#next = signed.nonce
      this.#fees = undefined // they may be what was wrong
      this.#refusal = error instanceof BaseError ? error.shortMessage : 'the node refused a transaction'
      report.error({ err: error, nonce: signed.nonce }, 'the node refused a settlement')
      throw new NotSentError('the node refused the transaction', { cause: error })
    }
  }

  /**
   * Signs anew, at today's fees, what is stuck below them and holds up all behind it. It keeps its number, so that only
   * one of the two can be in a block.
   */
  raise(stuck: Sent, sending: (sent: Sent) => Promise<void>): Promise<void> {
    const done = this.#queue.then(() => this.#raiseNow(stuck, sending))
    this.#queue = done.catch(() => undefined) // whoever asked for it is told
    return done
  }

  async #raiseNow({ raw }: Sent, sending: (sent: Sent) => Promise<void>): Promise<void> {
    if (raw === null) return
    const { nonce = 0, to, data, maxFeePerGas: cap = 0n, maxPriorityFeePerGas: tip = 0n } = parseTransaction(raw)
    const fees = await this.#currentFees()
    if (fees.base <= cap || this.#open.get(nonce)?.raw !== raw || data === undefined) return
    if (to === undefined || to === null) return
    const more = { ...fees, maxPriorityFeePerGas: raisedTip(tip, fees) }
    if (this.#capOf(more) < raisedBy(cap)) return // a node would not take it
    const raised = await this.#sign(to, data, nonce, more)
    await sending(raised)
    this.#note(raised)
    this.#options.report.warn({ nonce, cap: String(cap), base: String(fees.base) }, 'raised the fee of a settlement')
    await this.#submit(raised)
  }

  /** Whether the chain has used its number: where no block has it, another has it that was sent elsewhere with the same key. */
  async hasPassed(raw: Hex): Promise<boolean> {
    return nonceOf(raw) < (await this.#usedBy(await signerOf(raw)))
  }

  /** Numbers that the chain has used of a wallet. */
  #usedBy(address: Address): Promise<number> {
    const { client } = this.#options
    return asked('transactionCount', client.getTransactionCount({ address, blockTag: 'latest' }))
  }

  /** Sends what is not in a block once more, in order, when it is time to. Its errors change nothing. */
  async resend(): Promise<void> {
    const { client, clock } = this.#options
    if (clock.now() - this.#resentAt < RESEND_EVERY_MS) return
    this.#resentAt = clock.now()
    await this.#dropMined()
    for (const [, { raw }] of [...this.#open].sort(([a], [b]) => a - b)) {
      await client.sendRawTransaction({ serializedTransaction: raw }).catch(() => undefined) // most often: known already
    }
    for (const [tx, raw] of this.#former) {
      if (await this.hasPassed(raw)) this.#former.delete(tx)
      else await client.sendRawTransaction({ serializedTransaction: raw }).catch(() => undefined) // as above
    }
  }

  async #dropMined(): Promise<void> {
    if (this.#open.size === 0) return
    const used = await this.#usedBy(this.address)
    for (const nonce of this.#open.keys()) if (nonce < used) this.#open.delete(nonce)
  }
}

/** Most that a signed transaction may cost, wei. */
export function costOf(raw: Hex): bigint {
  const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(raw)
  return gas * maxFeePerGas
}

/** A transaction’s number. */
export function nonceOf(raw: Hex): number {
  return parseTransaction(raw).nonce ?? 0 // zero is written as nothing
}

/** Whose transaction it is. */
function signerOf(raw: Hex): Promise<Address> {
  return recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized })
}

/** What the node’s answer to a raw transaction means. */
function refusalOf(error: unknown): 'known' | 'unknown' | 'taken' | 'refused' {
  if (!(error instanceof BaseError)) return 'unknown'
  const isUnanswered = error.walk((each) => each instanceof HttpRequestError || each instanceof TimeoutError) !== null
  if (isUnanswered || error instanceof ChainError) return 'unknown'
  const { message } = error
  if (/already (?:known|imported)|known transaction/i.test(message)) return 'known'
  const isLow = error.walk((each) => each instanceof NonceTooLowError) !== null
  return isLow || /nonce (?:is )?too low|replacement transaction underpriced/i.test(message) ? 'taken' : 'refused'
}
