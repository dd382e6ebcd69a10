import { chainId, hotWallet, payTo } from './accounts.ts'

const LOOPBACK = /^https?:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?(?:\/|$)/

/**
 * Settings of all services of a system that is paid on the local chain, by the addresses of chain and API. A facilitator
 * of this machine settles in place of the hot wallet.
 */
export function localPayments(urls: {
  readonly chain: string
  readonly api: string
  readonly facilitator?: string
}): Record<string, string> {
  const { facilitator = '' } = urls
  return {
    PAYMENT_RPC_URL: urls.chain,
    PAYMENT_CHAIN_ID: String(chainId),
    PAYMENT_PAY_TO: payTo,
    PAYMENT_PUBLIC_URL: urls.api,
    // What a surrounding configuration says of a real network must not reach play money.
    PAYMENT_ASSET: '',
    PAYMENT_ASSET_NAME: '',
    PAYMENT_ASSET_VERSION: '',
    PAYMENT_FACILITATOR_URL: LOOPBACK.test(facilitator) ? facilitator : '',
  }
}

/** For the settling processor alone. */
export const localWallet: Readonly<Record<string, string>> = {
  PAYMENT_WALLET_KEY: hotWallet.key,
  PAYMENT_WALLET_KEY_FILE: '',
  // Play money's gas is worth nothing, and costs far more units of it than a real network's.
  PAYMENT_FEE_WEI_MAX: '100000000000000',
  PAYMENT_GAS_LOST_WEI_MAX: '100000000000000000000',
}
