import { readFileSync } from 'node:fs'
import { commandOf, readCreation } from '../../api/alerts/creation.ts'
import { kindMeant } from '../../api/alerts/kinds/kinds.ts'
import { ApiError } from '../../api/errors.ts'
import { alertKinds } from '../../processors/alerts/kinds/kinds.ts'
import { nobody } from '../../processors/alerts/record.ts'
import { knownAsset, partitionOf } from '../../schemas/catalogue.ts'
import type { GivenCommand } from './run.ts'
import { UsageError } from '../command/command.ts'

/** The alerts core keeps an alert this long at most. */
const HOURS_MAX = 720
const ALERTS_MAX = 100_000
/** Stands for the receiver that a backtest does not call. */
const NOWHERE = 'https://backtest.invalid/'

/** The alerts of a file as commands at the start of the range; each lives to its end where it does not say otherwise. */
export function readAlerts(
  file: string,
  { from, to, partitions }: { readonly from: number; readonly to: number; readonly partitions: number },
): GivenCommand[] {
  const list = readJson(file)
  if (!Array.isArray(list) || list.length === 0 || list.length > ALERTS_MAX)
    throw new UsageError(`${file} must hold a list of 1 to ${ALERTS_MAX} alerts`)
  const hours = Number.isFinite(to) ? Math.min(HOURS_MAX, Math.max(1, Math.ceil((to - from) / 3_600_000))) : HOURS_MAX
  return list.map((body: unknown, index) => {
    const where = `${file}, alert ${index + 1}`
    if (!isBody(body)) throw new UsageError(`${where}: an alert is an object`)
    return commandFor(body, { where, index, from, hours, partitions })
  })
}

type Body = Readonly<Record<string, unknown>>

interface AlertSource {
  readonly where: string
  readonly index: number
  readonly from: number
  readonly hours: number
  readonly partitions: number
}

function commandFor(body: Body, { where, index, from, hours, partitions }: AlertSource): GivenCommand {
  const whole = 'channel' in body ? body : { webhook_url: NOWHERE, ...body }
  const creation = checked(where, () => readCreation(kindMeant(body), whole, { reach: 'any', hasMail: true }))
  const { symbol, terms } = creation
  const asset = knownAsset(symbol)?.id ?? symbol.toLowerCase()
  const alertId = typeof body['alert_id'] === 'string' ? body['alert_id'] : `alert_${symbol.toLowerCase()}_${index + 1}`
  const lifetime = body['expires_in_hours'] === undefined ? hours : creation.expires_in_hours
  const value = {
    ...commandOf({ request: `backtest_${index + 1}`, action: 'create', asset, alertId, now: from }),
    alert: {
      ...nobody,
      ...alertKinds.of(terms).write(terms),
      symbol,
      expires_in_hours: lifetime,
      receiver: 'backtest.invalid:443',
    },
  } as const
  return { partition: partitionOf(asset, partitions), message: { type: 'command', value } }
}

function checked<Value>(where: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (error instanceof ApiError) throw new UsageError(`${where}: ${error.message}`, { cause: error })
    throw error
  }
}

/** The value in a JSON file. */
export function readJson(file: string): unknown {
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
  try {
    return JSON.parse(content) as unknown
  } catch (error) {
    throw new UsageError(`${file} is no JSON`, { cause: error })
  }
}

function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
