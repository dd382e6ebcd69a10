import type { Micros, Trigger } from '../../schemas/records.ts'
import { metricOf, metricNames } from '../../processors/alerts/metrics.ts'
import { field, readSymbol, wrong } from '../alerts/fields.ts'
import { apiKinds, kindMeant } from '../alerts/kinds/kinds.ts'
import type { Trial } from '../alerts/what-if.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import type { Body } from '../body.ts'
import { findAsset } from '../catalogue.ts'
import { ApiError } from '../errors.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { type BodyRule, type Call, type Output, route } from '../route.ts'
import { iso } from '../views/time.ts'
import { partitionTime } from '../views/world.ts'
import { noData } from './answers.ts'
import {
  array,
  boolean,
  instant,
  integer,
  nullable,
  nullableNumber,
  nullableText,
  number,
  object,
  oneOf,
  type Schema,
  text,
} from '../schema.ts'

const others = apiKinds.filter(({ kind, conditions }) => kind !== 'price' && conditions.length > 0)

/** A kind's own fields, each saying whose it is. */
const fields = Object.fromEntries(
  apiKinds.flatMap(({ kind, body }) =>
    Object.entries(body).flatMap(([name, schema]) => {
      const description = `${String(schema['description'])}; of ${kind} alerts`
      return name === 'condition' ? [] : [[name, { ...schema, description }]]
    }),
  ),
)
const tries = others.map(({ kind, conditions: [condition] }) => `${String(condition)} tries a ${kind} alert out`)

const termFields: Readonly<Record<string, Schema>> = {
  symbol: text('Any symbol of the catalogue', { pattern: '^[A-Z0-9]{1,20}$' }),
  condition: oneOf(
    apiKinds.flatMap(({ conditions }) => conditions),
    `As of an alert; ${tries.join(', ')}; a rule has \`when\` instead`,
  ),
  ...fields,
}
const optional = ['condition', ...Object.keys(fields)]
/** Of a creation, so that its body can be tried out as it is. */
const notLookedAt: Readonly<Record<string, Schema>> = {
  webhook_url: text('As of a creation; not looked at'),
  channel: { type: 'object', description: 'As of a creation; not looked at' },
  quiet_hours: { type: ['object', 'null'], description: 'As of a creation; not looked at' },
  digest: boolean('As of a creation; not looked at'),
  agent_wallet: text('As of a creation; not looked at'),
  expires_in_hours: integer('As of a creation; not looked at'),
}

const wish: Readonly<Record<string, Schema>> = {
  figures: boolean('Also tell the figures that it rests on, some 300 values of each', { default: false }),
}

/** What a creation takes; webhook_url, channel, agent_wallet and expires_in_hours may be there and are not looked at. */
const whatIfBody: BodyRule = {
  schema: object('An alert to be tried out', { ...termFields, ...notLookedAt, ...wish }, [
    ...optional,
    ...Object.keys({ ...notLookedAt, ...wish }),
  ]),
  example: { symbol: 'BTC', condition: 'above', target_price: 60_000 },
  optional: false,
}

const span = { from: instant('Begin'), to: instant('End, exclusive') }

const coverageSchema = object('What the answer rests on', {
  from: instant('First record that was looked at'),
  to: instant('Until when it looked'),
  complete: boolean('All 7 days, without a gap'),
  stopped_by: nullable(oneOf(['rows', 'seconds'], 'The bound that ended it early; null: none')),
  gap_count: integer('Gaps in it'),
  gap_seconds: number('Seconds of all gaps: the alert would have been blind'),
  gaps: array(object('A time without a record: over 1 minute for prices, 5 for risk', span), 'The newest 50'),
})

const trigger = object('A time at which it would have rung', {
  time: instant('When the condition was met'),
  price: number('What the webhook would have said, USD'),
  condition_met: text('The same in words'),
  quality: oneOf(['good', 'degraded'], 'degraded: one price source only, or sources over 1 % apart'),
  late: boolean('Told by candles after a time without any source'),
  record: text('The log record that rings it, for GET /records/:id'),
})

const figure = object('A figure that the alert rests on', {
  metric: oneOf(metricNames, 'Which'),
  exchange: nullableText('Of this venue; null: over all'),
  window: nullableText('Over how long; null: as it is'),
  points: array(
    object('A value', {
      time: instant('When it was so'),
      value: { type: ['number', 'string', 'null'], description: 'A number, or a class; null: it was not known' },
    }),
    'Some 300, oldest first, and where it rang',
  ),
})

const whatIfOutput: Output = {
  says: 'How often the alert would have rung in the last 7 days, decided by the code that decides about live alerts',
  type: 'application/json',
  schema: object(
    'A trial',
    {
      ...termFields,
      trigger_count: integer('Times that it would have rung'),
      triggers_per_day: nullableNumber('The same by days that were covered; null: less than one was'),
      triggers: array(trigger, 'The newest 100, newest first'),
      figures: array(figure, 'Where the body asks for them: one for each condition, from left to right'),
      records: integer('Prices, or estimates of risk, that were evaluated'),
      coverage: coverageSchema,
      assumes: text('What is taken for granted'),
      as_of: instant('Time of the newest record'),
      timestamp: instant('When this was answered'),
      cached: boolean('The same question was asked within a minute'),
    },
    [...optional, 'figures'],
  ),
}

export const alertBacktest = route({
  priceUsdc: 0,
  limit: 'caller',
  ttlMs: 0,
  method: 'POST',
  path: '/alerts/backtest',
  name: 'alert_backtest',
  says: 'How often an alert would have rung in the last 7 days, before buying it',
  input: {},
  body: whatIfBody,
  outputs: { 200: whatIfOutput },
  errors: [
    ...(['invalid_body', 'invalid_symbol', 'invalid_condition'] as const),
    ...apiKinds.flatMap(({ errors }) => errors),
    ...(['symbol_not_found', 'data_unavailable'] as const),
  ],
  prepare: (call) => whatIfAnswer(call),
})

const SECOND: Micros = 1_000_000
const DAY: Micros = 86_400 * SECOND

/** Most triggers and gaps that an answer lists; the newest. All are counted. */
const TRIGGERS_SHOWN = 100
const GAPS_SHOWN = 50
/** A week that begins this much later is whole: prices come by the second, estimates by the minute. */
const LATE_START: Micros = 300 * SECOND

/** How often an alert would have rung in the last 7 days, decided by the alerts' own core over the log's records. */
async function whatIfAnswer({ services, body, caller }: Call): Promise<Reply> {
  if (body === undefined) throw new ApiError('invalid_body', 'Send the alert as a JSON object.')
  const symbol = readSymbol(body)
  const kind = kindMeant({ condition: body['condition'], when: body['when'] })
  const terms = kind.read(body)
  const isDrawn = readFigures(body)
  const present = services.present()
  const { asset } = findAsset(symbol, present.catalogue(services.counted))
  const to = partitionTime(present.world(), 'alerts.inputs', asset, services.partitions)
  if (to === undefined) throw noData(`history of ${symbol}`)
  const { value: trial, cached } = await services.trials.of({ terms, symbol, asset }, to, caller)
  if (trial.seen === null) throw noData(`history of ${symbol}`)
  const figures = isDrawn ? { figures: figuresOf(trial) } : {}
  const shown = { symbol, ...kind.show(terms), ...bodyOf(trial, trial.seen), ...figures, as_of: iso(trial.seen.to) }
  return jsonReply(200, { ...shown, timestamp: services.timestamp(), cached })
}

function readFigures(body: Body): boolean {
  const asked = field(body, 'figures') ?? false
  if (typeof asked === 'boolean') return asked
  throw wrong('invalid_body', 'figures', 'figures must be true or false.')
}

/** In the order of the conditions; classes by their names. */
function figuresOf({ figures, points }: Trial): object[] {
  return figures.map(({ metric, exchange, window }, at) => {
    const { classes } = metricOf(metric)
    const valueOf = (value: number | undefined): number | string | null =>
      value === undefined ? null : classes === undefined ? asDecimal(value) : (classes[value] ?? null)
    const told = points.map(({ time, values }) => ({ time: iso(time), value: valueOf(values[at]) }))
    return { metric, exchange, window, points: told }
  })
}

function bodyOf(trial: Trial, seen: NonNullable<Trial['seen']>): object {
  const { rang, records, gaps, asked, stopped } = trial
  const blind = gaps.reduce((sum, { from, to }) => sum + to - from, 0)
  const watched = Math.max(0, Math.max(seen.to, stopped === null ? asked.to : 0) - seen.from - blind)
  return {
    trigger_count: rang.length,
    triggers_per_day: watched < DAY ? null : (rang.length * DAY) / watched,
    triggers: rang.slice(-TRIGGERS_SHOWN).toReversed().map(triggerShown),
    records,
    coverage: {
      from: iso(seen.from),
      to: iso(stopped === null ? asked.to : seen.to),
      complete: seen.from - asked.from <= LATE_START && gaps.length === 0 && stopped === null,
      stopped_by: stopped,
      gap_count: gaps.length,
      gap_seconds: blind / SECOND,
      gaps: gaps
        .slice(-GAPS_SHOWN)
        .toReversed()
        .map(({ from, to }) => ({ from: iso(from), to: iso(to) })),
    },
    assumes: ASSUMES,
  }
}

const ASSUMES =
  'The alert is created 7 days ago and lives until now, whatever expires_in_hours says; ' +
  'crosses_* ring once, and are counted as if created again a minute after each time.'

function triggerShown({ time, current_price, condition_met, quality, late, record }: Trigger): object {
  return { time: iso(time), price: current_price, condition_met, quality, late, record }
}
