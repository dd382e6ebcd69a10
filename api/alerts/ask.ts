import { partitionOf } from '../../schemas/catalogue.ts'
import type { AlertEvent, Command } from '../../schemas/records.ts'
import { ApiError, errorStatus, type ErrorCode } from '../request/errors.ts'
import { ownRequest, type Call } from '../request/route.ts'
import type { Services } from '../services.ts'
import { commandedParts, type CachedAlert } from './alert-store.ts'
import { commandOf } from './creation.ts'

/**
 * Sends commands, of which there are several for an alert of several parts, and gives the event that followed of the first
 * that was done: a part that has ended says no to what the others do. Throws what they were refused with.
 */
export async function ask(services: Services, commands: readonly Command[]): Promise<Asked> {
  return firstOf(commands, await askAll(services, commands))
}

type Asked = AlertEvent & { event: Done }

/** As `ask`, and gives the windows of new and changed rules what they would have seen before. */
export async function askAnew(services: Services, commands: readonly Command[]): Promise<Asked> {
  const asked = await askAll(services, commands)
  const first = firstOf(commands, asked)
  const { database, now, log } = services
  const needs = {
    database,
    now,
    log,
    assetsIn: (partition: number) => assetsIn(services, partition),
    send: (command: Command) => ask(services, [command]),
  }
  services.warming.of(
    asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    needs,
  )
  return first
}

/** What venues list, of one partition. */
function assetsIn(services: Services, partition: number): readonly string[] {
  const { named } = services.present().catalogue(services.counted)
  return named.filter((asset) => partitionOf(asset, services.partitions) === partition)
}

async function askAll(services: Services, commands: readonly Command[]): Promise<PromiseSettledResult<Asked>[]> {
  return Promise.allSettled(commands.map((command) => askOne(services, command)))
}

function firstOf(commands: readonly Command[], asked: readonly PromiseSettledResult<Asked>[]): Asked {
  const failed = asked.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []))
  const [done] = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const why = failed.find((reason) => !isEnded(reason))
  if (done !== undefined && why === undefined) return done
  const isRepeatable = commands.every(({ action }) => repeatable.has(action))
  throw done !== undefined && isRepeatable ? halfDone(why) : (why ?? failed[0])
}

/** What does the same when it is done again. */
const repeatable: ReadonlySet<Command['action']> = new Set(['cancel', 'edit', 'pause', 'resume'])

function halfDone(why: unknown): unknown {
  if (!(why instanceof ApiError) || errorStatus[why.code] !== 503) return why
  const half = 'Only some of its symbols have changed: send the same request again, which is safe and completes it.'
  return new ApiError(why.code, `${why.message} ${half}`, { ...why.detail, cause: why })
}

function isEnded(reason: unknown): boolean {
  return reason instanceof ApiError && reason.code === 'alert_not_active'
}

async function askOne(services: Services, command: Command): Promise<AlertEvent & { event: Done }> {
  const event = await timed(services, command)
  if (isDone(event)) return event
  throw refusal(event)
}

async function timed({ alerts, metrics, log }: Services, command: Command): Promise<AlertEvent> {
  const { action, alert_id: alert, request_id: request, payment } = command
  const done = metrics.commandSeconds.startTimer({ action: command.action })
  try {
    const event = await alerts.log.command(command)
    const outcome = event.error ?? event.event
    done({ outcome })
    log.info({ request, action, alert, payment, outcome }, 'an alert was commanded')
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

/** The commands of an action on an alert that is there, one for each of its parts; `more` says what the action needs. */
export function actionOn(
  call: Pick<Call, 'services' | 'requestId'>,
  alert: Pick<CachedAlert, 'alert_id' | 'asset' | 'parts'>,
  action: Command['action'],
  more: Partial<Command> = {},
): readonly Command[] {
  return commandedParts(alert).map(({ asset, alert_id: alertId }, at, { length }) => {
    const now = call.services.now()
    const command = { ...commandOf({ request: ownRequest(call), action, asset, alertId, now }), ...more }
    if (length === 1 || action !== 'extend') return command
    // Each part is paid for with the whole; what is free is for those of the parts that have rung, too.
    const payment = more.payment ?? `free-${command.request_id}`
    return { ...command, payment: at === 0 ? payment : `${payment}.${at}` }
  })
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
