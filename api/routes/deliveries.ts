import { commandedParts } from '../alerts/alert-store.ts'
import { actionOn, ask } from '../alerts/ask.ts'
import { wrong } from '../alerts/fields.ts'
import { owned } from '../alerts/answers.ts'
import { ApiError } from '../request/errors.ts'
import { jsonReply, type Reply } from '../request/reply.ts'
import type { Call } from '../request/route.ts'
import type { Services } from '../services.ts'
import { attemptCursor, attemptPosition, findTrigger, readAttempts, type AttemptRow } from '../views/attempts.ts'
import { iso, isoOrNull } from '../views/time.ts'

export interface DeliveriesInput {
  readonly cursor: string | undefined
  readonly limit: number
}

/** Every attempt to deliver a trigger of the alert, newest first; for its owner. */
export async function alertDeliveries(call: Call, kind: string, id: string, input: DeliveriesInput): Promise<Reply> {
  await owned(call, kind, id)
  const { cursor, limit } = input
  const before = cursor === undefined ? undefined : attemptPosition(cursor)
  if (cursor !== undefined && before === undefined)
    throw wrong('invalid_cursor', 'cursor', 'cursor must be the next_cursor of the page before.')
  const rows = await readAttempts(call.services.database, id, { before, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return jsonReply(200, {
    alert_id: id,
    count: page.length,
    deliveries: page.map(shown),
    next_cursor: rows.length > limit && last !== undefined ? attemptCursor(last.position) : null,
  })
}

function shown(row: AttemptRow): object {
  const { trigger_id, number, outcome, status, error, digest, test } = row
  return {
    trigger_id,
    attempt: number,
    outcome,
    status,
    error,
    digest,
    test,
    triggered_at: iso(row.triggered),
    started_at: iso(row.started),
    finished_at: iso(row.finished),
    duration_ms: Math.max(0, Math.round((row.finished - row.started) / 1000)),
    next_attempt_at: isoOrNull(row.due),
  }
}

/** Sends a marked test event to the alert's webhook. */
export async function testAlert(call: Call, kind: string, id: string): Promise<Reply> {
  const { services } = call
  const alert = await owned(call, kind, id)
  if (alert.status === 'cancelled' || alert.status === 'expired')
    throw new ApiError('alert_not_active', `The alert is ${alert.status}; only one that has not ended can be tested.`)
  admit(services, id)
  const [first = alert] = commandedParts(alert)
  const { trigger_id } = await ask(services, actionOn(call, first, 'test'))
  return jsonReply(200, {
    alert_id: id,
    trigger_id,
    message: 'A test event is on its way; its attempts are in deliveries.',
  })
}

/** Sends a trigger once more, now, under its own id. */
export async function resendTrigger(call: Call, kind: string, id: string, trigger: string): Promise<Reply> {
  const { services } = call
  const alert = await owned(call, kind, id)
  admit(services, id)
  const part = alert.parts?.find(({ alert_id: own }) => trigger.startsWith(`${own}_`)) ?? alert
  const position = await findTrigger(services.database, part.alert_id, trigger)
  if (position === undefined)
    throw new ApiError('not_found', 'The alert has no such trigger; take a trigger_id of its deliveries.', {
      field: 'trigger_id',
    })
  const order = { trigger_id: trigger, trigger_partition: position.partition, trigger_offset: position.offset }
  await ask(services, actionOn(call, part, 'resend', order))
  return jsonReply(200, {
    alert_id: id,
    trigger_id: trigger,
    message: 'It is sent again; the attempt is in deliveries.',
  })
}

/** What an owner sends by hand reaches somebody's server: a few at once, then one in ten seconds. */
function admit({ alerts, steady }: Services, id: string): void {
  alerts.tests.admit(id, steady(), 'Send the next one')
}
