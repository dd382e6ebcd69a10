import { walletNonce, walletSeal, type ServiceSecrets } from '../../processors/alerts/secrets.ts'
import { ApiError } from '../request/errors.ts'
import type { HasSigned } from '../payments/payments.ts'
import type { CreationKey } from './creation-index.ts'
import { cursorOf, creationKeyOf } from './alert-store.ts'

/** A message is taken so long after it was made, and a list may be read on so long; milliseconds. */
export const WALLET_MS = 300_000
/** Messages that were taken and are not over; beyond, nobody is let in until some are. */
const TAKEN_MAX = 100_000

/** What a message is signed for: the route that takes it, and no other does, and what whoever signs reads. */
const purposes = {
  alerts: {
    path: '/wallet/alerts',
    statement: 'Show my alerts and the tokens that control them. This costs nothing and moves nothing.',
  },
  keys: {
    path: '/wallet/keys',
    statement:
      'Show my API keys and the tokens that replace them: who has such a token can spend their credit. This costs nothing.',
  },
} as const
export type WalletPurpose = keyof typeof purposes
export const walletPurposes = Object.keys(purposes) as WalletPurpose[]

const NOT_OURS = 'This is no message of this service for that'

/** Base, SIWE's chain id where nothing is paid: a signature says who signs, not where. */
const CHAIN = 8453

export interface WalletOptions {
  readonly secrets: ServiceSecrets
  /** Base of our addresses: whoever signs sees its host. */
  readonly baseUrl: string
  readonly chainId?: number | undefined
  /** Left out: plain accounts alone can sign. */
  readonly hasSigned?: HasSigned | undefined
}

export interface WalletProof {
  readonly message: string
  readonly signature: `0x${string}`
}

/** What wallets sign (EIP-4361) to be shown their alerts, or their API keys; each instance of the API takes a message once, in its time. */
export class Wallets {
  readonly #options: WalletOptions
  /** By message: until when it could be taken. Oldest first. */
  readonly #taken = new Map<string, number>()

  constructor(options: WalletOptions) {
    this.#options = options
  }

  /** Made of purpose, address and time, under a version of SERVICE_SECRET, alone, so that it is known again. */
  async message(
    purpose: WalletPurpose,
    address: `0x${string}`,
    issuedMs: number,
    version = this.#options.secrets.newest,
  ): Promise<string> {
    const { createSiweMessage } = await import('viem/siwe') // only here is it needed
    const { secrets, baseUrl, chainId = CHAIN } = this.#options
    const { path, statement } = purposes[purpose]
    const base = new URL(baseUrl)
    return createSiweMessage({
      address,
      chainId,
      domain: base.host,
      uri: new URL(path, base).href,
      nonce: walletNonce(secrets, version, `${purpose}|${address.toLowerCase()}|${issuedMs}`),
      statement,
      version: '1',
      issuedAt: new Date(issuedMs),
      expirationTime: new Date(issuedMs + WALLET_MS),
    })
  }

  /** Who has signed a message for that, lower case; throws `invalid_wallet_proof`, or `forbidden` where it is another. */
  async signerOf(purpose: WalletPurpose, { message, signature }: WalletProof, now: number): Promise<string> {
    this.#forget(now)
    const address = await this.#named(purpose, message, now)
    this.#assertFresh(purpose, message)
    const hasSigned = this.#options.hasSigned ?? (await import('../payments/signatures.ts')).hasPlainlySigned
    if (!(await hasSigned(address, message, signature)))
      throw new ApiError('forbidden', 'The signature is not that of the wallet that the message names.', {
        field: 'signature',
      })
    this.#assertFresh(purpose, message) // another request may have brought it meanwhile
    this.#taken.set(message, now + WALLET_MS)
    return address.toLowerCase()
  }

  async #named(purpose: WalletPurpose, message: string, now: number): Promise<`0x${string}`> {
    const { parseSiweMessage } = await import('viem/siwe')
    const { address, issuedAt } = parseSiweMessage(message)
    const issued = issuedAt?.getTime() ?? NaN
    if (address === undefined || Number.isNaN(issued)) throw refused(purpose, NOT_OURS)
    const versions = [...this.#options.secrets.byVersion.keys()] // an instance beside this one may make them under another
    const ours = await Promise.all(versions.map((version) => this.message(purpose, address, issued, version)))
    if (!ours.includes(message)) throw refused(purpose, NOT_OURS)
    if (now >= issued + WALLET_MS) throw refused(purpose, 'The message is over')
    return address
  }

  #assertFresh(purpose: WalletPurpose, message: string): void {
    if (this.#taken.has(message)) throw refused(purpose, 'The message was used before')
    if (this.#taken.size < TAKEN_MAX) return
    throw new ApiError('overloaded', 'Too many wallets ask at once; try again.', { retryAfterSeconds: 10 })
  }

  #forget(now: number): void {
    for (const [message, until] of this.#taken) {
      if (until > now) return
      this.#taken.delete(message)
    }
  }
}

function refused(purpose: WalletPurpose, message: string): ApiError {
  const advice = `ask GET /wallet/message?purpose=${purpose} for one, and sign it as it is.`
  return new ApiError('invalid_wallet_proof', `${message}; ${advice}`, { field: 'message' })
}

/** Where a list goes on, and whose it is: sealed, so that nobody goes on with another's. */
export function walletCursor(secrets: ServiceSecrets, { owner, until, at }: WalletCursor): string {
  const text = `${secrets.newest}.${owner}.${until}.${cursorOf(at)}`
  return `${text}.${walletSeal(secrets, secrets.newest, text)}`
}

export interface WalletCursor {
  readonly owner: string
  /** Milliseconds since the Unix epoch. */
  readonly until: number
  readonly at: CreationKey
}

/** Undefined: it is none of ours, or over. */
export function readWalletCursor(secrets: ServiceSecrets, cursor: string, now: number): WalletCursor | undefined {
  const [, text, version, owner = '', until, at = ''] =
    /^((\d{1,6})\.(0x[0-9a-f]{40})\.(\d{1,15})\.([\w-]{1,300}))\.[\w-]{43}$/.exec(cursor) ?? []
  if (text === undefined || !secrets.byVersion.has(Number(version))) return undefined
  if (cursor !== `${text}.${walletSeal(secrets, Number(version), text)}` || Number(until) <= now) return undefined
  const key = creationKeyOf(at)
  return key === undefined ? undefined : { owner, until: Number(until), at: key }
}
