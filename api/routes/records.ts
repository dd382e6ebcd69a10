import { recordPlace } from '../../schemas/record-id.ts'
import { ApiError } from '../errors.ts'
import type { Answer, Call } from '../route.ts'

/** A record of the log does not change, milliseconds. */
const FRESH_MS = 3_600_000

/** The record of the log that a trigger names, read from the log itself. */
export async function recordAnswer({ services }: Pick<Call, 'services'>, id: string): Promise<Answer> {
  const place = recordPlace(id)
  const found = place === undefined ? undefined : await services.alerts.log.record(place)
  if (place === undefined || found === undefined)
    throw new ApiError('not_found', 'There is no such record, or it is not kept any more, or it is not public.', {
      field: 'id',
    })
  const { type, value } = found.message
  const body = { id, ...place, time: new Date(found.time).toISOString(), type, record: value }
  return { kind: 'json', status: 200, body, freshForMs: FRESH_MS }
}
