import { randomUUID } from 'node:crypto'
import type { AlertEvent, Command } from '../../schemas/records.ts'
import { ApiError, errorStatus, type ErrorCode } from '../errors.ts'
import type { Services } from '../services.ts'
import type { CachedAlert } from './alert-store.ts'
import { commandOf } from './creation.ts'

/** Sends a command and gives the event that followed; throws what it was refused with. */
export async function ask(services: Services, command: Command): Promise<AlertEvent & { event: Done }> {
  const event = await timed(services, command)
  if (isDone(event)) return event
  throw refusal(event)
}

async function timed({ alerts, metrics }: Services, command: Command): Promise<AlertEvent> {
  const done = metrics.commandSeconds.startTimer({ action: command.action })
  try {
    const event = await alerts.log.command(command)
    done({ outcome: event.error ?? event.event })
    return event
  } catch (error) {
    done({ outcome: error instanceof ApiError ? error.code : 'failed' })
    throw error
  }
}

type Done = Exclude<AlertEvent['event'], 'rejected' | 'unknown'>

function isDone(event: AlertEvent): event is AlertEvent & { event: Done } {
  return event.event !== 'rejected' && event.event !== 'unknown'
}

/** The command of an action on an alert that is there; `more` says what the action needs. */
export function actionOn(
  { now }: Services,
  { asset, alert_id: alertId }: CachedAlert,
  action: Command['action'],
  more: Partial<Command> = {},
): Command {
  return { ...commandOf({ request: randomUUID(), action, asset, alertId, now: now() }), ...more }
}

const fields: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid_add_hours: 'add_hours',
  invalid_until: 'until',
  idempotency_conflict: 'Idempotency-Key',
}

function refusal({ error, message }: AlertEvent): ApiError {
  const code = isCode(error) ? error : 'internal_error'
  const field = fields[code]
  return new ApiError(code, message ?? 'The request was refused.', {
    ...(field === undefined ? {} : { field }),
    ...(errorStatus[code] === 503 ? { retryAfterSeconds: 10 } : {}),
  })
}

function isCode(error: string | null): error is ErrorCode {
  return error !== null && Object.hasOwn(errorStatus, error)
}
