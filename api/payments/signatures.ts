import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  hashMessage,
  hashTypedData,
  parseAbi,
  recoverMessageAddress,
  recoverTypedDataAddress,
  AbiDecodingDataSizeTooSmallError,
  type Hex,
  type PublicClient,
} from 'viem'
import { connectNode } from '../../infra/chain.ts'
import { authorizationTypes, type Seller } from '../../processors/payments/wire/offer.ts'
import type { Payment } from '../../processors/payments/wire/decode.ts'
import { ApiError } from '../request/errors.ts'
import { RateLimiter } from '../request/limits.ts'
import type { HasSigned, IsSigned } from './payments.ts'

const erc1271 = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
/** What a contract wallet says to a signature of its own. Source: ERC-1271. */
const MAGIC = '0x1626ba7e'
/** `0x` and 65 bytes. */
const PLAIN_LENGTH = 132
const CALL_MS = 3_000
const RETRY_AFTER_SECONDS = 2
/** Accounts that are remembered, of each kind. */
const KNOWN_MAX = 10_000
/** An account without code may be given some: a wallet that is deployed. Milliseconds. */
const PLAIN_MS = 60_000
/** Looks at the chain: by all accounts that have never signed together, and by each that has. */
const looksLimit = { perSecond: 10, burst: 50, callersMax: KNOWN_MAX } as const
const STRANGERS = 'strangers'

/**
 * Judges signatures: a plain account's here, without the chain; any other by the contract that the payer would have to
 * be. A wallet that is not deployed yet (ERC-6492) is refused: its maker's code is not called from our wallet. `now`:
 * milliseconds of a steady clock.
 */
export function signatureChecks(client: PublicClient, seller: Seller, now: () => number): Signatures {
  const contracts = new Contracts(client, now)
  const { chainId } = seller.network
  const domain = { name: seller.assetName, version: seller.assetVersion, chainId, verifyingContract: seller.asset }
  const isSigned: IsSigned = async ({ authorization, signature }) => {
    const data = {
      domain,
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message: messageOf(authorization),
    } as const
    const { from } = authorization
    if (
      signature.length === PLAIN_LENGTH &&
      (await recovered(() => recoverTypedDataAddress({ ...data, signature }))) === from
    )
      return true
    return contracts.haveSigned(from, hashTypedData(data), signature)
  }
  const hasSigned: HasSigned = async (address, message, signature) =>
    (await hasPlainlySigned(address, message, signature)) ||
    contracts.haveSigned(lower(address), hashMessage(message), signature)
  return { isSigned, hasSigned }
}

interface Signatures {
  readonly isSigned: IsSigned
  readonly hasSigned: HasSigned
}

/** Whether a plain account has signed a text. */
export async function hasPlainlySigned(address: Hex, message: string, signature: Hex): Promise<boolean> {
  if (signature.length !== PLAIN_LENGTH) return false
  return (await recovered(() => recoverMessageAddress({ message, signature }))) === lower(address)
}

function lower(address: Hex): Hex {
  return address.toLowerCase() as Hex
}

export function signatureNode(rpcUrl: string): PublicClient {
  return connectNode(rpcUrl, CALL_MS)
}

interface Message {
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly nonce: Hex
}

function messageOf({ from, to, value, validAfter, validBefore, nonce }: Payment['authorization']): Message {
  return {
    from,
    to,
    value: BigInt(value),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce,
  }
}

/** Lower case; undefined where there is no key that could have signed so. */
async function recovered(recover: () => Promise<Hex>): Promise<string | undefined> {
  try {
    return (await recover()).toLowerCase()
  } catch {
    return undefined // r, s or v are none of the curve's
  }
}

/**
 * Accounts that are no plain ones, as far as they are known. Whoever names an account and signs for it wrongly has the
 * node asked: for all accounts that have never signed together there is one rate, so that it stays free for settling.
 */
class Contracts {
  readonly #client: PublicClient
  readonly #now: () => number
  readonly #looks = new RateLimiter(looksLimit)
  /** Without code, by the time until which that is believed. */
  readonly #plain = new Map<Hex, number>()
  /** Wallets that have signed. */
  readonly #signers = new Set<Hex>()

  constructor(client: PublicClient, now: () => number) {
    this.#client = client
    this.#now = now
  }

  async haveSigned(address: Hex, hash: Hex, signature: Hex): Promise<boolean> {
    const now = this.#now()
    if ((this.#plain.get(address) ?? 0) > now) return false
    const isSigner = this.#signers.has(address)
    if (this.#looks.take(isSigner ? address : STRANGERS, now).kind === 'refused') throw unchecked()
    try {
      if (!isSigner && !(await this.#hasCode(address))) return false
      const args = [hash, signature] as const
      const answer = await this.#client.readContract({ address, abi: erc1271, functionName: 'isValidSignature', args })
      if (answer === MAGIC) bounded(this.#signers).add(address)
      return answer === MAGIC
    } catch (error) {
      if (isRefusal(error)) return false
      throw unchecked(error)
    }
  }

  async #hasCode(address: Hex): Promise<boolean> {
    const code = await this.#client.getCode({ address })
    if (code !== undefined && code !== '0x') return true
    bounded(this.#plain).set(address, this.#now() + PLAIN_MS)
    return false
  }
}

/** Room for one more: the one that is known for longest goes. */
function bounded<Known extends Map<Hex, number> | Set<Hex>>(known: Known): Known {
  const [oldest] = known.size < KNOWN_MAX ? [] : known.keys()
  if (oldest !== undefined) known.delete(oldest)
  return known
}

function unchecked(cause?: unknown): ApiError {
  const message = 'The signature cannot be checked right now; send the same again in a moment.'
  return new ApiError('data_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause })
}

/** The contract answered, and not with the magic value. */
function isRefusal(error: unknown): boolean {
  const isOne = (inner: unknown): boolean =>
    inner instanceof ContractFunctionRevertedError ||
    inner instanceof ContractFunctionZeroDataError ||
    inner instanceof AbiDecodingDataSizeTooSmallError
  return error instanceof BaseError && error.walk(isOne) !== null
}
