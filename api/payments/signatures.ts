import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createPublicClient,
  hashTypedData,
  http,
  parseAbi,
  recoverTypedDataAddress,
  AbiDecodingDataSizeTooSmallError,
  type Hex,
  type PublicClient,
} from 'viem'
import type { Payment } from '../../processors/payments/wire/decode.ts'
import type { Seller } from '../../processors/payments/wire/offer.ts'
import { ApiError } from '../errors.ts'
import type { IsSigned } from './payments.ts'

/** What a payer signs. Source: EIP-3009. */
const types = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

const erc1271 = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
/** What a contract wallet says to a signature of its own. Source: ERC-1271. */
const MAGIC = '0x1626ba7e'
/** `0x` and 65 bytes. */
const PLAIN_LENGTH = 132
const CALL_MS = 3_000
const RETRY_AFTER_SECONDS = 2

/**
 * Judges signatures: a plain account's here, without the chain; any other by the contract that the payer would have to
 * be. A wallet that is not deployed yet (ERC-6492) is refused: its maker's code is not called from our wallet.
 */
export function signatureCheck(rpcUrl: string, seller: Seller): IsSigned {
  const client = createPublicClient({ transport: http(rpcUrl, { timeout: CALL_MS, retryCount: 1 }) })
  const { chainId } = seller.network
  const domain = { name: seller.assetName, version: seller.assetVersion, chainId, verifyingContract: seller.asset }
  return async ({ authorization, signature }) => {
    const data = { domain, types, primaryType: 'TransferWithAuthorization', message: messageOf(authorization) } as const
    const { from } = authorization
    if (
      signature.length === PLAIN_LENGTH &&
      (await recovered(() => recoverTypedDataAddress({ ...data, signature }))) === from
    )
      return true
    return isContractSigned(client, from, hashTypedData(data), signature)
  }
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

async function isContractSigned(client: PublicClient, address: Hex, hash: Hex, signature: Hex): Promise<boolean> {
  try {
    const code = await client.getCode({ address })
    if (code === undefined || code === '0x') return false
    const args = [hash, signature] as const
    const said = await client.readContract({ address, abi: erc1271, functionName: 'isValidSignature', args })
    return said === MAGIC
  } catch (error) {
    if (isRefusal(error)) return false
    throw new ApiError(
      'data_unavailable',
      'The signature cannot be checked right now; send the same again in a moment.',
      {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        cause: error,
      },
    )
  }
}

/** The contract answered, and not with the magic value. */
function isRefusal(error: unknown): boolean {
  const isOne = (inner: unknown): boolean =>
    inner instanceof ContractFunctionRevertedError ||
    inner instanceof ContractFunctionZeroDataError ||
    inner instanceof AbiDecodingDataSizeTooSmallError
  return error instanceof BaseError && error.walk(isOne) !== null
}
