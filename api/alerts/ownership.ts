import { bearerOf, ownerByKey } from '../credit/tokens.ts'
import { isManageToken } from '../../processors/alerts/secrets.ts'
import { ApiError } from '../errors.ts'
import type { Call } from '../route.ts'
import { kindOf, type CachedAlert } from './alert-store.ts'

type Asking = Pick<Call, 'services' | 'header'>

/** The alert, as every API instance sees it; throws `alert_not_found`. */
export async function existing({ services }: Pick<Call, 'services'>, kind: string, id: string): Promise<CachedAlert> {
  const alert = (await services.alerts.log.book()).find(id)
  if (alert !== undefined && kindOf(alert) === kind) return alert
  throw new ApiError('alert_not_found', `There is no ${kind} alert of this id; ended ones are told of for 7 days.`, {
    field: 'id',
  })
}

/** The alert, asked for by its owner; throws `alert_not_found`, then `unauthorized`, then `forbidden`. */
export async function owned(call: Asking, kind: string, id: string): Promise<CachedAlert> {
  const alert = await existing(call, kind, id)
  const { control, secrets } = call.services.alerts
  if (control === 'open') return alert
  const owner = await ownerByKey(call)
  if (owner !== undefined && owner === alert.owner) return alert
  const token = bearerOf(call.header)
  if (token === undefined)
    throw new ApiError('unauthorized', 'Send Authorization: Bearer and the manage_token that the creation gave.')
  if (!isManageToken(secrets, alert.key_version, id, token))
    throw new ApiError('forbidden', 'This is not the manage_token of the alert.')
  return alert
}
