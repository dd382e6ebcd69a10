import { privateKeyToAccount } from 'viem/accounts'
import { readConfig } from '../../infra/config/config.ts'
import { privateKey } from '../../infra/config/secrets.ts'
import { payer as examplePayer } from '../../infra/local/chain/accounts.ts'
import { networks } from '../../processors/payments/wire/offer.ts'
import { Payer, type Offer } from '../clients/typescript/src/payer.ts'
import { UsageError } from './command.ts'

/** Own key, or undefined: then the example payer pays, whose key is public, and only play money. */
export function ownKey(): `0x${string}` | undefined {
  const { PAYER_KEY: text, PAYER_KEY_FILE: file } = readConfig(process.env, ['PAYER_KEY', 'PAYER_KEY_FILE'])
  return text === '' && file === '' ? undefined : privateKey('PAYER_KEY', text, file)
}

/** Pays no more than `maxUsd` in all, and says so on standard error. `isLocal`: the chain is the system's own, of play money. */
export function tellingPayer({ maxUsd, isLocal }: { readonly maxUsd: number; readonly isLocal: boolean }): Payer {
  if (!(maxUsd >= 0 && Number.isFinite(maxUsd))) throw new UsageError('--max must be an amount of USD')
  const key = ownKey()
  const agree = ({ usdc, payTo, network }: Offer): void => {
    const name = networks.find(({ caip2 }) => caip2 === network)?.v1 ?? network
    if (!isLocal && key === undefined)
      throw new UsageError(`it asks for ${usdc} USDC on ${name}: say with PAYER_KEY or PAYER_KEY_FILE who pays`)
    console.error(`402: ${usdc} USDC to ${payTo} on ${name}${isLocal ? ' (play money, local chain)' : ''}; paying`)
  }
  const account = privateKeyToAccount(key ?? examplePayer.key)
  return new Payer(account, { maxPerCallUsdc: maxUsd, totalUsdc: maxUsd }, agree)
}
