import { readConfig } from '../../infra/config/config.ts'
import { walletKey } from '../../infra/config/secrets.ts'

/** Own key, or undefined: then the example payer pays, whose key is public, and only play money. */
export function ownKey(): `0x${string}` | undefined {
  const config = readConfig(process.env, ['PAYER_KEY', 'PAYER_KEY_FILE'])
  const own = { PAYMENT_WALLET_KEY: config.PAYER_KEY, PAYMENT_WALLET_KEY_FILE: config.PAYER_KEY_FILE }
  return config.PAYER_KEY === '' && config.PAYER_KEY_FILE === '' ? undefined : walletKey(own)
}
