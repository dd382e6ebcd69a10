import { settings, type SettingName } from '../../config/settings.ts'
import type { Role } from '../role.ts'

const owners: readonly Role[] = ['webhooks', 'api', 'console']
const payees: readonly Role[] = ['payments', 'api']

/** Who needs each secret that a service reads: no other has it. */
const readers: Partial<Record<SettingName, readonly Role[]>> = {
  CLICKHOUSE_PASSWORD: ['prepare', 'processors', 'api', 'console'],
  CONSOLE_TOKEN: ['console'],
  SERVICE_SECRET: owners,
  SERVICE_SECRETS_READ: owners,
  SMTP_URL: owners,
  PAYMENT_RPC_URL: payees,
  PAYMENT_FACILITATOR_URL: payees,
  PAYMENT_WALLET_KEY: ['payments'],
}

/** Of the database's own user, and of commands. */
const unread = new Set<string>(['CLICKHOUSE_ANALYST_PASSWORD', 'PAYER_KEY', 'MDA_API_KEY', 'BACKUP_KEY'])

/** Each secret of the settings with the services that need it. */
export const secrets: readonly (readonly [string, readonly Role[]])[] = Object.entries(settings).flatMap(
  ([name, setting]) => {
    if (!('secret' in setting) || unread.has(name)) return []
    const roles = readers[name as SettingName]
    if (roles === undefined) throw new Error(`which services need the secret ${name}?`)
    return [[name, roles] as const]
  },
)
