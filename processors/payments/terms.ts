import type * as viem from 'viem'
import { networkOf, networks, type Network, type Seller } from './wire/offer.ts'

/** The settings that say whether, where and to whom is paid; read by the API and by the settling processor alike. */
export const termsSettings = [
  'MODE',
  'PAYMENTS',
  'PAYMENT_RPC_URL',
  'PAYMENT_CHAIN_ID',
  'PAYMENT_ASSET',
  'PAYMENT_ASSET_NAME',
  'PAYMENT_ASSET_VERSION',
  'PAYMENT_PAY_TO',
  'PAYMENT_FACILITATOR_URL',
  'PAYMENT_PUBLIC_URL',
  'PAYMENT_SETTLE_SECONDS',
] as const

/** Their values, typed by their kinds. */
export type TermsConfig = Readonly<
  Record<Exclude<(typeof termsSettings)[number], 'PAYMENT_CHAIN_ID' | 'PAYMENT_SETTLE_SECONDS'>, string>
> & { readonly PAYMENT_CHAIN_ID: number; readonly PAYMENT_SETTLE_SECONDS: number }

export interface Terms {
  /** `local`: play money on the chain of this machine. */
  readonly mode: 'local' | 'x402'
  readonly seller: Seller
  /** May hold a key of its provider: show its origin only. */
  readonly rpcUrl: string
  /** undefined: a wallet of ours settles. */
  readonly facilitatorUrl: string | undefined
  /** Base of the resources that are offered, without a slash at its end; undefined: the API's own address. */
  readonly publicUrl: string | undefined
  readonly settleMs: number
}

export type TermsRead =
  | { readonly is: 'off' }
  | { readonly is: 'on'; readonly terms: Terms }
  /** Whole sentences that name the setting and how to mend it. */
  | { readonly is: 'wrong'; readonly problems: readonly string[] }

/** As payers sign it: long enough for a slow caller, short enough that a lost payment ends soon. */
const MAX_TIMEOUT_SECONDS = 300
const SETTLE_SECONDS_MAX = 120

type Addresses = Pick<typeof viem, 'getAddress' | 'isAddress'>

/** What the settings say, or everything that is wrong with them. What knows addresses is loaded only where one is paid. */
export async function readTerms(config: TermsConfig): Promise<TermsRead> {
  const { PAYMENTS: mode, PAYMENT_SETTLE_SECONDS: settleSeconds } = config
  if (mode !== 'local' && mode !== 'x402') return { is: 'off' }
  const addresses = await import('viem') // rule: purity - loads code, once, and only where it is needed
  const network = networkOf(config.PAYMENT_CHAIN_ID)
  const problems = [...problemsOf(config, mode, network), ...addressProblems(config, network, addresses)]
  if (problems.length > 0 || network === undefined) return { is: 'wrong', problems }
  const terms: Terms = {
    mode,
    seller: sellerOf(config, network, addresses),
    rpcUrl: config.PAYMENT_RPC_URL,
    facilitatorUrl: given(config.PAYMENT_FACILITATOR_URL),
    publicUrl: given(config.PAYMENT_PUBLIC_URL),
    settleMs: settleSeconds * 1_000,
  }
  return { is: 'on', terms }
}

function sellerOf(config: TermsConfig, network: Network, { getAddress }: Addresses): Seller {
  const { usdc } = network
  return {
    network,
    asset: getAddress(given(config.PAYMENT_ASSET) ?? usdc.address),
    assetName: given(config.PAYMENT_ASSET_NAME) ?? usdc.name,
    assetVersion: given(config.PAYMENT_ASSET_VERSION) ?? usdc.version,
    payTo: getAddress(config.PAYMENT_PAY_TO),
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
  }
}

function* problemsOf(config: TermsConfig, mode: Terms['mode'], network: Network | undefined): Generator<string> {
  if (network === undefined) yield `PAYMENT_CHAIN_ID must be one of ${networks.map((one) => one.chainId).join(', ')}`
  yield* mode === 'local' ? localProblems(config) : realProblems(config)
  const { PAYMENT_FACILITATOR_URL: facilitator, PAYMENT_PUBLIC_URL: publicUrl } = config
  if (facilitator !== '' && !isHttp(facilitator)) yield 'PAYMENT_FACILITATOR_URL must be an absolute http or https URL'
  if (publicUrl !== '' && !isHttp(publicUrl)) yield 'PAYMENT_PUBLIC_URL must be an absolute http or https URL'
  if (!isHttp(config.PAYMENT_RPC_URL))
    yield 'PAYMENT_RPC_URL must be the http or https URL of a node of the network; for example https://sepolia.base.org'
  const seconds = config.PAYMENT_SETTLE_SECONDS
  if (seconds < 1 || seconds > SETTLE_SECONDS_MAX)
    yield `PAYMENT_SETTLE_SECONDS must be from 1 to ${SETTLE_SECONDS_MAX}`
}

/** Anyone can make play money: it must never be taken for USDC. */
function* localProblems({ PAYMENT_RPC_URL: rpc, PAYMENT_CHAIN_ID: chainId }: TermsConfig): Generator<string> {
  if (chainId === 8_453) yield 'PAYMENTS=local is play money: PAYMENT_CHAIN_ID=8453 is Base, for PAYMENTS=x402'
  if (isHttp(rpc) && !isLoopback(rpc))
    yield 'PAYMENTS=local is for the chain of this machine: PAYMENT_RPC_URL must be a loopback address; for a real network say PAYMENTS=x402'
}

function* realProblems({ MODE: mode, PAYMENT_PAY_TO: payTo, ...config }: TermsConfig): Generator<string> {
  if (mode !== 'live')
    yield `a ${mode} takes no real payments: PAYMENTS=x402 is for npm run live; try payments with npm start -- --payments local`
  if (config.PAYMENT_PUBLIC_URL === '')
    yield 'PAYMENT_PUBLIC_URL must be the address under which callers reach the API: offers name it; for example https://api.example.com'
  if (publicAccounts.has(payTo.toLowerCase()))
    yield `PAYMENT_PAY_TO=${payTo} is a development address whose key everybody knows; give one of yours`
}

function* addressProblems(
  config: TermsConfig,
  network: Network | undefined,
  { isAddress }: Addresses,
): Generator<string> {
  const {
    PAYMENT_PAY_TO: payTo,
    PAYMENT_ASSET: asset,
    PAYMENT_ASSET_NAME: name,
    PAYMENT_ASSET_VERSION: version,
  } = config
  if (!isAddress(payTo))
    yield 'PAYMENT_PAY_TO must be the address that is paid: 0x and 40 hex digits, in lower case or with a right checksum'
  else if (/^0x0+$/.test(payTo)) yield 'PAYMENT_PAY_TO must not be the zero address'
  if (asset === '') return
  if (!isAddress(asset)) yield 'PAYMENT_ASSET must be the address of a token; leave it out for USDC'
  const isUsdc = asset.toLowerCase() === network?.usdc.address.toLowerCase()
  if (!isUsdc && (name === '' || version === ''))
    yield 'PAYMENT_ASSET is not the network’s USDC: give PAYMENT_ASSET_NAME and PAYMENT_ASSET_VERSION of its EIP-712 domain too'
}

/** The accounts that every local development chain funds; their keys are printed in its manual. */
const publicAccounts: ReadonlySet<string> = new Set([
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
])

/** Whether everybody knows that address's key. */
export function isPublicAccount(address: string): boolean {
  return publicAccounts.has(address.toLowerCase())
}

function given(text: string): string | undefined {
  return text === '' ? undefined : text.replace(/\/+$/, '')
}

function isHttp(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

function isLoopback(text: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(text).hostname)
}
