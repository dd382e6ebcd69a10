import { BaseError, HttpRequestError, keccak256, TimeoutError } from 'viem'
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

/** Units that a transfer of ether takes, and no other transaction. */
const EMPTY_GAS = 21_000n

/** A signed transaction with its place in the wallet's sequence. */
interface Signed {
  readonly tx: Hex
  readonly raw: Hex
  readonly nonce: number
}

/** Writes down what was signed for a payment, before it is sent. */
type Sending = (sent: Sent) => Promise<void>

interface Open extends Signed {
  /** Of the payment that it is for; null: nobody watches it now. */
  readonly sending: Sending | null
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
  readonly #open = new Map<number, Open>()
  /** As those, for payments that have ended otherwise: wanted in a block only where others wait behind them. */
  readonly #left = new Map<number, Signed>()
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
  adopt(sent: Sent, sending: Sending): Promise<void> {
    return this.#inTurn(() => this.#adoptNow(sent, sending)) // before any that is sent from now on
  }

  async #adoptNow({ raw, tx }: Sent, sending: Sending): Promise<void> {
    if (raw === null || tx === null) return
    if ((await signerOf(raw)) === this.address) this.#note({ tx, raw, nonce: nonceOf(raw), sending })
    else this.#former.set(tx, raw)
    this.#resentAt = 0
  }

  /** Nobody watches what was sent for a payment any more: it has ended, or is gone on with from the log. */
  leave(sending: Sending, hasEnded: boolean): void {
    for (const { tx, raw, nonce } of [...this.#open.values()].filter((each) => each.sending === sending)) {
      if (hasEnded && this.#open.delete(nonce)) this.#left.set(nonce, { tx, raw, nonce })
      else this.#open.set(nonce, { tx, raw, nonce, sending: null })
    }
  }

  /** What a former owner has left so, the oldest first. */
  recall(left: readonly Sent[]): Promise<void> {
    return this.#inTurn(async () => {
      for (const { tx, raw } of left.toReversed()) {
        if (tx === null || raw === null || this.#left.has(nonceOf(raw))) continue
        if ((await signerOf(raw)) === this.address) this.#left.set(nonceOf(raw), { tx, raw, nonce: nonceOf(raw) })
      }
    })
  }

  /** One after the other; whoever asked for it is told how it ended. */
  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#queue.then(work)
    this.#queue = done.catch(() => undefined) // as above
    return done
  }

  /**
   * Signs a call, waits until `sending` has written it down, then sends it. Rejects with `NotSentError` where it is known
   * that what was signed last is not sent, with `ChainError` where nothing was signed, or every number was taken.
   * Otherwise it may be in a block, soon or already.
   */
  send(to: Address, data: Hex, sending: Sending): Promise<void> {
    return this.#inTurn(() => this.#sendNext(to, data, sending))
  }

  async #sendNext(to: Address, data: Hex, sending: Sending): Promise<void> {
    let from = 0
    for (let sends = 0; sends < SENDS_MAX; sends++) {
      const fees = await this.#currentFees()
      const signed = await this.#sign(to, data, Math.max(from, await this.#nextNonce()), fees)
      await sending(signed)
      this.#note({ ...signed, sending })
      if (await this.#submit(signed)) return
      from = signed.nonce + 1
    }
    throw new ChainError('the wallet’s transactions are numbered by somebody else too')
  }

  async #sign(to: Address, data: Hex, nonce: number, fees: Fees, gas = GAS): Promise<Signed> {
    const { account, chainId } = this.#options
    const { maxPriorityFeePerGas } = fees
    const maxFeePerGas = this.#capOf(fees)
    const call = { type: 'eip1559', chainId, nonce, to, data, value: 0n, gas } as const
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
    return this.#open.size + this.#left.size === 0 ? pending : Math.max(this.#next, pending)
  }

  async #currentFees(): Promise<Fees> {
    const { client, clock } = this.#options
    if (this.#fees !== undefined && clock.now() - this.#fees.at < FEES_MS) return this.#fees
    const block = await asked('block', client.getBlock())
    const maxPriorityFeePerGas = await asked('priorityFee', client.estimateMaxPriorityFeePerGas({ chain: null }))
    this.#fees = { base: block.baseFeePerGas ?? 0n, maxPriorityFeePerGas, at: clock.now() }
    return this.#fees
  }

  #note(signed: Open): void {
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
      if (refusal === 'unknown')
        report.warn({ err: error, nonce: signed.nonce }, 'the node may have a settlement or not')
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
   * Signs anew, at today's fees, what is stuck below them and holds up all behind it, whoever's it is. It keeps its number,
   * so that only one of the two can be in a block. Where its payment has ended it moves nothing: `emptied` is told of it.
   */
  raise(emptied: (empty: Signed) => void): Promise<void> {
    return this.#inTurn(() => this.#raiseNow(emptied))
  }

  async #raiseNow(emptied: (empty: Signed) => void): Promise<void> {
    if (this.#open.size === 0) return
    const fees = await this.#currentFees()
    const stuck = (): (Open | Signed)[] => this.#waiting().filter(({ raw }) => fees.base > feesOf(raw).cap)
    if (stuck().length === 0) return
    await this.#dropMined()
    for (const each of stuck()) {
      const { cap, tip } = feesOf(each.raw)
      const more = { ...fees, maxPriorityFeePerGas: raisedTip(tip, fees) }
      if (this.#capOf(more) < raisedBy(cap)) continue // a node would not take it
      const raised = 'sending' in each ? await this.#signAgain(each, more) : await this.#signEmpty(each, more, emptied)
      if (raised === undefined) continue
      const figures = { nonce: each.nonce, cap: String(cap), base: String(fees.base), hasEnded: !('sending' in each) }
      this.#options.report.warn(figures, 'raised the fee of a settlement')
      await this.#sendAgain(raised)
    }
  }

  async #signAgain(stuck: Open, fees: Fees): Promise<Signed | undefined> {
    const { nonce, raw, sending } = stuck
    const { to, data } = parseTransaction(raw)
    if (sending === null || data === undefined || to === undefined || to === null) return undefined
    const raised = await this.#sign(to, data, nonce, fees)
    if (this.#open.get(nonce) !== stuck) return undefined // its payment has just ended
    await sending(raised)
    const after = this.#open.get(nonce)
    if (after === undefined)
      this.#left.set(nonce, raised) // its payment has ended meanwhile
    else this.#open.set(nonce, { ...raised, sending: after.sending })
    return raised
  }

  async #signEmpty({ nonce }: Signed, fees: Fees, emptied: (empty: Signed) => void): Promise<Signed> {
    const empty = await this.#sign(this.address, '0x', nonce, fees, EMPTY_GAS)
    this.#left.set(nonce, empty)
    emptied(empty)
    return empty
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
    const { clock } = this.#options
    if (clock.now() - this.#resentAt < RESEND_EVERY_MS) return
    this.#resentAt = clock.now()
    await this.#dropMined()
    for (const each of this.#waiting()) await this.#sendAgain(each)
    for (const [tx, raw] of this.#former) {
      if (await this.hasPassed(raw)) this.#former.delete(tx)
      else await this.#sendAgain({ raw })
    }
  }

  /** Errors change nothing: most often it is known already. */
  async #sendAgain({ raw }: Pick<Signed, 'raw'>): Promise<void> {
    await this.#options.client.sendRawTransaction({ serializedTransaction: raw }).catch(() => undefined)
  }

  /** What is to get into a block, in order: what is open, and what was left before it. */
  #waiting(): (Open | Signed)[] {
    const last = Math.max(...this.#open.keys())
    const left = [...this.#left.values()].filter(({ nonce }) => nonce < last && !this.#open.has(nonce))
    return [...this.#open.values(), ...left].sort((a, b) => a.nonce - b.nonce)
  }

  async #dropMined(): Promise<void> {
    if (this.#open.size + this.#left.size === 0) return
    const used = await this.#usedBy(this.address)
    for (const each of [this.#open, this.#left]) for (const nonce of each.keys()) if (nonce < used) each.delete(nonce)
  }
}

function feesOf(raw: Hex): { readonly cap: bigint; readonly tip: bigint } {
  const { maxFeePerGas: cap = 0n, maxPriorityFeePerGas: tip = 0n } = parseTransaction(raw)
  return { cap, tip }
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

/** Words of a node’s checks before it takes a transaction into its pool. Source: go-ethereum’s `core/txpool/errors.go`. */
const REFUSALS = [
  /insufficient funds/i,
  /intrinsic gas|insufficient gas for floor data|gas limit/i,
  /underpriced|gas price below|less than block base fee|higher than max fee per gas|exceeds the configured cap/i,
  /nonce too high/i,
  /invalid (?:chain id|sender|signature)|wrong chain/i,
  /type not supported|oversized data/i,
  /pool is full|account limit exceeded/i,
]

/**
 * What the node’s answer to a raw transaction means. Refused is only what the node says that it looked at and did not take:
 * a gateway that gave up waiting answers in the same form, and has handed the transaction on.
 */
function refusalOf(error: unknown): 'known' | 'unknown' | 'taken' | 'refused' {
  if (!(error instanceof BaseError)) return 'unknown'
  if (error.walk((each) => each instanceof HttpRequestError || each instanceof TimeoutError) !== null) return 'unknown'
  const { details } = error
  if (/already (?:known|imported)|known transaction/i.test(details)) return 'known'
  if (/nonce (?:is )?too low|replacement transaction underpriced/i.test(details)) return 'taken'
  return REFUSALS.some((words) => words.test(details)) ? 'refused' : 'unknown'
}
