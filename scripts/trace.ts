import { writeFileSync } from 'node:fs'
import { connectClickhouse, type Clickhouse } from '../infra/clickhouse/client.ts'
import { clickhouseAccess, clickhouseSettings } from '../infra/config/clickhouse.ts'
import { readConfig } from '../infra/config/config.ts'
import { urlOf } from '../infra/local/run-file.ts'
import { clickhouseOf } from '../infra/local/secrets.ts'
import { OFFSETS } from '../processors/kernel/version.ts'
import { recordId, recordPosition } from '../schemas/record-id.ts'
import type { TopicName } from '../schemas/topics.ts'
import { runCommand, running, text, UsageError, type Values } from './command/command.ts'
import {
  toOtlp,
  traceOfRequest,
  traceOfTrigger,
  type Trace,
  type TracedRecord,
  type TracedStep,
} from './trace/spans.ts'

const usage = `npm run trace -- --trigger ID | --request ID [flags]: what became of it, as an OpenTelemetry trace

  --trigger ID   a webhook-id: from the venue's message to each attempt to deliver
  --request ID   an X-Request-Id: payment, settlement, commands and their events
  --out FILE     where it is written, as OTLP JSON (default: standard output)
  --otlp URL     a collector that it is sent to as well, as http://localhost:4318/v1/traces
  --data DIR     data folder of the running system (default .data)
  --api URL      another system's API; its ClickHouse by the settings CLICKHOUSE_*

It reads the records of the log, which carry their times and what they follow from: nothing is measured for it meanwhile.`

const flags = { trigger: text, request: text, out: text, otlp: text, data: text, api: text } as const

const SEND_MS = 10_000
const READ_MS = 10_000

interface Addresses {
  readonly clickhouse: Clickhouse
  readonly api: string
}

async function main(values: Values<typeof flags>): Promise<void> {
  const { trigger, request, out, otlp } = values
  if ((trigger === undefined) === (request === undefined)) throw new UsageError('name one of --trigger and --request')
  const addresses = addressesOf(values)
  try {
    const trace =
      trigger === undefined ? await readRequest(addresses, request ?? '') : await readTrigger(addresses, trigger)
    const document = JSON.stringify(toOtlp(trace), null, 2)
    if (out === undefined) console.log(document)
    else writeFileSync(out, `${document}\n`)
    if (otlp !== undefined) await send(otlp, document)
    for (const { service, name, from, to } of trace.spans)
      console.error(
        `${new Date(from / 1000).toISOString()} ${((to - from) / 1000).toFixed(1).padStart(9)} ms  ${service}: ${name}`,
      )
  } finally {
    await addresses.clickhouse.close()
  }
}

function addressesOf({ data, api }: Values<typeof flags>): Addresses {
  const { CLICKHOUSE_DATABASE: database } = readConfig(process.env, ['CLICKHOUSE_DATABASE'])
  if (api !== undefined) {
    const config = readConfig(process.env, clickhouseSettings)
    return { api, clickhouse: connectClickhouse({ ...clickhouseAccess(config), database }) }
  }
  const run = running(data ?? '.data', 'or name its folder with --data, or another system with --api')
  return { api: urlOf(run, 'api'), clickhouse: connectClickhouse({ ...clickhouseOf(run, process.env), database }) }
}

async function send(url: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(SEND_MS) })
  if (!answer.ok) throw new UsageError(`${url} answers ${answer.status}: is it a collector's /v1/traces?`)
}

const micros = (column: string): string => `toUnixTimestamp64Micro(${column})`

const triggerSql = `SELECT alert_id, record, ${micros('time')} AS at FROM triggers WHERE trigger_id = {id:String} LIMIT 1`
const attemptsSql = `SELECT number, toString(outcome) AS outcome, status, error, ${micros('started')} AS started,
  ${micros('finished')} AS finished FROM webhook_attempts
  WHERE alert_id = {alert:String} AND trigger_id = {id:String} AND number > 0 ORDER BY started LIMIT 100`

interface TriggerRow {
  readonly alert_id: string
  readonly record: string
  readonly at: number
}

async function readTrigger({ clickhouse, api }: Addresses, webhookId: string): Promise<Trace> {
  const id = decodeURIComponent(webhookId)
  const [row] = await clickhouse.rows<TriggerRow>(triggerSql, { id })
  if (row === undefined)
    throw new UsageError(`there is no trigger ${id}; take a webhook-id, it is found a few seconds after its webhook`)
  const attempts = await clickhouse.rows<Parameters<typeof traceOfTrigger>[0]['attempts'][number]>(attemptsSql, {
    id,
    alert: row.alert_id,
  })
  const cause = await readRecord(api, row.record)
  const source = cause === null ? null : await readSource(api, cause)
  return traceOfTrigger({ trigger: id, alert: row.alert_id, time: row.at, cause, source, attempts })
}

interface ReadRecord extends TracedRecord {
  readonly value: Readonly<Record<string, unknown>>
}

/** null: it is not kept any more. */
async function readRecord(api: string, id: string): Promise<ReadRecord | null> {
  const answer = await fetch(`${api}/records/${encodeURIComponent(id)}`, { signal: AbortSignal.timeout(READ_MS) })
  if (answer.status === 404 || answer.status === 400) return null
  if (!answer.ok) throw new UsageError(`${api} answers ${answer.status} when it is asked for record ${id}; try again`)
  const { type, record } = (await answer.json()) as { type: string; record: ReadRecord['value'] }
  const number = (name: string): number | null => (typeof record[name] === 'number' ? record[name] : null)
  return { id, type, time: number('time') ?? 0, received: number('received'), value: record }
}

/** Which topic a record of `alerts.inputs` follows from; the rest of its place says its version. */
const sources: Readonly<Record<string, TopicName>> = {
  composite_price: 'market.tickers',
  liquidation_risk: 'market.funding',
  'metric cvd': 'market.trades',
  'metric funding': 'market.funding',
  'metric liquidated': 'market.liquidations',
}

function readSource(api: string, { id, type, value }: ReadRecord): Promise<ReadRecord | null> | null {
  const position = recordPosition(id)
  const topic = sources[type === 'metric' ? `metric ${String(value['core'])}` : type]
  if (position === undefined || topic === undefined) return null
  return readRecord(api, recordId({ topic, partition: position.partition, offset: Number(value['v']) % OFFSETS }))
}

/** What follows from what: an intent and what became of it; a command and its event. */
const requestSql = `SELECT * FROM (
  SELECT 'payments' AS service, concat('payment ', toString(e.event)) AS name, ${micros('i.created')} AS started,
    ${micros('e.time')} AS finished, e.event IN ('failed', 'conflict') AS is_error, i.payment_id AS about, i.route AS what
  FROM payment_intents AS i INNER JOIN payment_events AS e ON e.payment_id = i.payment_id AND e.request_id = i.request_id
  WHERE startsWith(i.request_id, {id:String})
  UNION ALL
  SELECT 'alerts' AS service, concat('alert ', toString(c.action), ' ', toString(e.event)) AS name,
    ${micros('c.created')} AS started, ${micros('e.time')} AS finished, e.event = 'rejected' AS is_error,
    c.alert_id AS about, ifNull(e.trigger_id, '') AS what
  FROM alert_commands AS c INNER JOIN alert_events AS e ON e.alert_id = c.alert_id AND e.request_id = c.request_id
  WHERE startsWith(c.request_id, {id:String})
) ORDER BY started, finished LIMIT 1000`

interface StepRow extends Omit<TracedStep, 'from' | 'to' | 'isError' | 'attributes'> {
  readonly started: number
  readonly finished: number
  readonly is_error: number
  readonly about: string
  readonly what: string
}

async function readRequest({ clickhouse }: Addresses, id: string): Promise<Trace> {
  const rows = await clickhouse.rows<StepRow>(requestSql, { id: `${id.replaceAll('.', '_')}_` })
  if (rows.length === 0)
    throw new UsageError(`the log knows nothing of a request ${id}: only those that pay or change an alert are written`)
  const steps = rows.map(({ service, name, started, finished, is_error: isError, about, what }) => ({
    service,
    name,
    from: started,
    to: finished,
    isError: isError === 1,
    attributes: { 'mda.request': id, 'mda.about': about, ...(what === '' ? {} : { 'mda.what': what }) },
  }))
  return traceOfRequest(id, steps)
}

await runCommand({ usage, flags, expected: [] }, main)
