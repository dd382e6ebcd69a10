import { readFileSync } from 'node:fs'
import { commandOf, partsOf, readCreation } from '../../api/alerts/creation.ts'
import { kindMeant } from '../../api/alerts/kinds/kinds.ts'
import { ApiError } from '../../api/request/errors.ts'
import { alertKinds } from '../../processors/alerts/kinds/kinds.ts'
import { metricOf, type MetricInput } from '../../processors/alerts/metrics.ts'
import { everywhereIn } from '../../processors/alerts/parts.ts'
import { nobody } from '../../processors/alerts/record.ts'
import { knownAsset, partitionOf } from '../../schemas/catalogue.ts'
import { HOURS_MAX, type GivenCommand } from './given.ts'
import { UsageError } from '../command/command.ts'

const ALERTS_MAX = 100_000
/** Stands for the receiver that a backtest does not call. */
const NOWHERE = 'https://backtest.invalid/'

export interface AlertsContext {
  /** Milliseconds. */
  readonly from: number
  readonly to: number
  readonly partitions: number
  /** What the replay tells figures of. */
  readonly told: ReadonlySet<MetricInput>
}

/**
 * The alerts of a file as commands at the start of the range; each lives to its end where it does not say otherwise. Throws
 * `UsageError`, also of what could never ring.
 */
export function readAlerts(file: string, context: AlertsContext): GivenCommand[] {
  const list = readJson(file)
  if (!Array.isArray(list) || list.length === 0 || list.length > ALERTS_MAX)
    throw new UsageError(`${file} must hold a list of 1 to ${ALERTS_MAX} alerts`)
  return list.flatMap((body: unknown, index) => {
    const where = `${file}, alert ${index + 1}`
    if (!isBody(body)) throw new UsageError(`${where}: an alert is an object`)
    return commandsFor(body, { where, index, ...context })
  })
}

type Body = Readonly<Record<string, unknown>>

interface AlertSource extends AlertsContext {
  readonly where: string
  readonly index: number
}

function commandsFor(body: Body, source: AlertSource): GivenCommand[] {
  const { where, index, from, to, partitions, told } = source
  const kind = kindMeant(body)
  const whole = 'channel' in body ? body : { webhook_url: NOWHERE, ...body }
  const creation = checked(where, () => readCreation(kind, whole, { reach: 'any', hasMail: true }))
  const { symbol, symbols, terms } = creation
  const untold = kind.figures(terms).find(({ metric }) => !told.has(metricOf(metric).input))
  if (untold !== undefined) throw new UsageError(`${where}: nothing that is read here tells ${untold.metric}`)
  const name = Array.isArray(symbols) ? 'list' : symbol.toLowerCase()
  const id = typeof body['alert_id'] === 'string' ? body['alert_id'] : `alert_${name}_${index + 1}`
  const hours = Math.min(HOURS_MAX, Math.max(1, Math.ceil((to - from) / 3_600_000)))
  const livesOn = body['expires_in_hours'] === undefined
  const alert = {
    ...nobody,
    ...alertKinds.of(terms).write(terms),
    expires_in_hours: livesOn ? hours : creation.expires_in_hours,
    receiver: 'backtest.invalid:443',
  }
  const assets = (Array.isArray(symbols) ? symbols : [symbol]).map(assetOf)
  return partsOf(creation, id, { assets, partitions }).map(({ id: alertId, asset, symbol: own }, at) => {
    const request = at === 0 ? `backtest_${index + 1}` : `backtest_${index + 1}.${at}`
    const command = commandOf({ request, action: 'create', asset, alertId, now: from })
    const partition = everywhereIn(asset) ?? partitionOf(asset, partitions)
    return { partition, livesOn, message: { type: 'command', value: { ...command, alert: { ...alert, symbol: own } } } }
  })
}

export function assetOf(symbol: string): string {
  return knownAsset(symbol)?.id ?? symbol.toLowerCase()
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
