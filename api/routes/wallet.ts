import { manageToken, webhookSecret } from '../../processors/alerts/secrets.ts'
import { statusAnswer } from '../alerts/answers.ts'
import { kindOf } from '../alerts/alert-store.ts'
import { field, wrong } from '../alerts/fields.ts'
import { readWalletCursor, WALLET_MS, walletCursor } from '../alerts/wallet.ts'
import type { Body } from '../body.ts'
import { ownerByKey } from '../credit/tokens.ts'
import { ApiError } from '../errors.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { Call } from '../route.ts'
import type { CreationKey } from '../alerts/creation-index.ts'

/** The text that a wallet signs to be shown its alerts. */
export async function replyWalletMessage({ services }: Pick<Call, 'services'>, address: string): Promise<Reply> {
  const now = services.now()
  return jsonReply(200, {
    message: await services.alerts.wallets.message(address as `0x${string}`, now),
    expires_at: new Date(now + WALLET_MS).toISOString(),
  })
}

export const LIMIT_MAX = 1_000
const LIMIT_DEFAULT = 100
const ADVICE = 'ask GET /wallet/message, have the wallet sign its message, and send both.'

/** The alerts that the wallet paid for, newest first, with what controls them. */
export async function replyWalletAlerts(call: Call): Promise<Reply> {
  const { services, body = {} } = call
  const { alerts } = services
  const limit = field(body, 'limit') ?? LIMIT_DEFAULT
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > LIMIT_MAX)
    throw wrong('invalid_limit', 'limit', `limit must be a whole number from 1 to ${LIMIT_MAX}.`)
  const filters = { state: text(body, 'state'), group: text(body, 'group'), tag: text(body, 'tag') }
  const { owner, until, before } = await askerOf(call, body)
  const book = await alerts.log.book()
  const { alerts: page, next } = book.owned({ owner, ...filters, before, limit: Number(limit) })
  const beside = await services.beside.of(page)
  const { secrets } = alerts
  return jsonReply(200, {
    count: page.length,
    alerts: page.map((alert) => ({
      kind: kindOf(alert),
      ...statusAnswer(alert, beside(alert)),
      manage_token: manageToken(secrets, alert.key_version, alert.alert_id),
      webhook_secret: webhookSecret(secrets, alert.key_version, alert.alert_id),
    })),
    next_cursor: next === undefined ? null : walletCursor(secrets, { owner, until, at: next }),
  })
}

interface Asker {
  readonly owner: string
  readonly until: number
  readonly before: CreationKey | undefined
}

async function askerOf(call: Pick<Call, 'services' | 'header'>, body: Body): Promise<Asker> {
  const { services } = call
  const cursor = text(body, 'cursor')
  if (cursor !== undefined) {
    const read = readWalletCursor(services.alerts.secrets, cursor, services.now())
    if (read === undefined)
      throw wrong('invalid_cursor', 'cursor', 'cursor must be a next_cursor of the last 5 minutes.')
    return { owner: read.owner, until: read.until, before: read.at }
  }
  const byKey = await ownerByKey(call)
  if (byKey !== undefined) return { owner: byKey, until: services.now() + WALLET_MS, before: undefined }
  const owner = await walletOf(call, body)
  return { owner, until: services.now() + WALLET_MS, before: undefined }
}

/** The wallet that has signed the message of a body. */
export async function walletOf({ services }: Pick<Call, 'services'>, body: Body): Promise<string> {
  const [message, signature] = [text(body, 'message'), text(body, 'signature')]
  if (message === undefined || message.length > 2_000)
    throw wrong('invalid_wallet_proof', 'message', `message is missing: ${ADVICE}`)
  if (signature === undefined || !/^0x(?:[0-9a-fA-F]{2}){1,1000}$/.test(signature))
    throw wrong('invalid_wallet_proof', 'signature', `signature must be hexadecimal, 0x...: ${ADVICE}`)
  return services.alerts.wallets.signerOf(message, signature as `0x${string}`, services.now())
}

function text(body: Body, name: string): string | undefined {
  const value = field(body, name)
  if (value === undefined || typeof value === 'string') return value
  throw new ApiError('invalid_body', `${name} must be a text.`, { field: name })
}
