import { readConfig } from '../../infra/config/config.ts'
import { walletKey } from '../../infra/config/secrets.ts'
import { USDC_DECIMALS } from '../../processors/payments/wire/offer.ts'
import { UsageError } from '../command/command.ts'
import type { Offer } from './offer.ts'

export const DOLLAR = 10 ** USDC_DECIMALS

/** Own key, or undefined: then the example payer pays, whose key is public, and only play money. */
export function ownKey(): `0x${string}` | undefined {
  const config = readConfig(process.env, ['PAYER_KEY', 'PAYER_KEY_FILE'])
  const own = { PAYMENT_WALLET_KEY: config.PAYER_KEY, PAYMENT_WALLET_KEY_FILE: config.PAYER_KEY_FILE }
  return config.PAYER_KEY === '' && config.PAYER_KEY_FILE === '' ? undefined : walletKey(own)
}

/** Gives the amount, USDC; throws `UsageError` where an offer is not to be paid. */
export function agree(offer: Offer, maxUsd: number, { local, hasKey }: { local: boolean; hasKey: boolean }): number {
  const { network, asset, amount, payTo, token: domain } = offer
  const usd = Number(amount) / DOLLAR
  if (!local && !hasKey)
    throw new UsageError(`it asks for ${usd} USDC on ${network.v1}: say with PAYER_KEY or PAYER_KEY_FILE who pays`)
  if (asset.toLowerCase() !== network.usdc.address.toLowerCase() || domain.name !== network.usdc.name)
    throw new UsageError(`it asks for ${asset} (${domain.name}), which is not the USDC of ${network.v1}: not paid`)
  if (usd > maxUsd) throw new UsageError(`it asks for ${usd} USDC, more than --max ${maxUsd}: not paid`)
  console.error(`402: ${usd} USDC to ${payTo} on ${network.v1}${local ? ' (play money, local chain)' : ''}; paying`)
  return usd
}
