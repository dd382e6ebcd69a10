import { jsonOutput, type BodyRule, type Call, route } from '../request/route.ts'
import type { Ring, WhatIfTerms } from '../../processors/alerts/what-if.ts'
import type { Micros } from '../../schemas/records.ts'
import { metricOf, metricNames, type MetricInput } from '../../processors/alerts/metrics.ts'
import { CVD } from '../../processors/cvd/cvd.ts'
import { FUNDING } from '../../processors/funding/funding.ts'
import { LIQUIDATED } from '../../processors/liquidated/liquidated.ts'
import { LIQUIDATIONS } from '../../processors/liquidations/liquidations.ts'
import { PRICES } from '../../processors/prices/prices.ts'
import { field, readSymbol, readSymbols, SYMBOLS_MAX, wrong } from '../alerts/fields.ts'
import { apiKind, apiKinds, kindMeant } from '../alerts/kinds/kinds.ts'
import { assetLookedAt } from '../alerts/looked-at.ts'
import { DAYS_MAX, LATE_START, RINGS_KEPT, type Trial, type Tried } from '../alerts/what-if.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import type { Body } from '../request/body.ts'
import { findAsset } from '../present/catalogue.ts'
import { ApiError } from '../request/errors.ts'
import { jsonReply, type Reply } from '../request/reply.ts'
import type { Services } from '../services.ts'
import { pastSources } from '../views/past-inputs.ts'
import { iso, isoOrNull } from '../views/time.ts'
import { derivedTime } from '../views/world.ts'
import { noData } from './answers.ts'
import {
  array,
  boolean,
  instant,
  nullableInstant,
  integer,
  nullable,
  nullableNumber,
  nullableText,
  number,
  object,
  oneOf,
  type Schema,
  text,
} from '../request/schema.ts'

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
  symbols: {
    description: 'In place of symbol: a list, each tried out by itself, or all, those that are streamed',
    oneOf: [{ ...array(text('A symbol'), 'A list'), minItems: 1, maxItems: SYMBOLS_MAX }, oneOf(['all'], 'All')],
  },
  days: integer('How far to look back', { minimum: 1, maximum: DAYS_MAX, default: DAYS_MAX }),
  figures: boolean('Also tell the figures that it rests on, some 300 values of each', { default: false }),
}

/** What a creation takes; webhook_url, channel, agent_wallet and expires_in_hours may be there and are not looked at. */
const whatIfBody: BodyRule = {
  schema: object('An alert to be tried out', { ...termFields, ...notLookedAt, ...wish }, [
    'symbol',
    ...optional,
    ...Object.keys({ ...notLookedAt, ...wish }),
  ]),
  example: { symbol: 'BTC', condition: 'above', target_price: 60_000 },
  optional: false,
}

const span = { from: instant('Begin'), to: instant('End, exclusive') }

const coverageSchema = object('What the answer rests on', {
  from: instant('First record that was looked at'),
  to: instant('Until when it looked: how far the processors have come that tell its figures'),
  complete: boolean('All of it, without a gap'),
  own_from: nullableInstant('From then on our own log decides, before it the venues’ past; null: there is no own log'),
  days: integer('How far it was to look back'),
  stopped_by: nullable(oneOf(['rows', 'seconds'], 'The bound that ended it early; null: none')),
  gap_count: integer('Gaps in it'),
  gap_seconds: number('Seconds of all gaps: the alert would have been blind'),
  gaps: array(
    object('A time without a record: over 1 minute for prices, 2 for rules, 5 for risk', span),
    'The newest 50',
  ),
})

const trigger = object('A time at which it would have rung', {
  symbol: text('For which'),
  time: instant('When the condition was met; where it is late, the end of the time that the candles tell of'),
  price: number('What the webhook would have said, USD'),
  condition_met: text('The same in words'),
  quality: oneOf(['good', 'degraded'], 'degraded: one price source only, or sources over 1 % apart'),
  late: boolean('Told by candles after a time without any source'),
  source: oneOf(pastSources, 'Who told what rings it: our own log (live), or the venues’ past, at the end of a candle'),
  record: nullableText(
    'The log record that rings it, for GET /records/:id; null: it is of the past, or time alone rings it',
  ),
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

const untold = object('A figure of which the venues’ past says nothing', {
  metric: oneOf(metricNames, 'Which'),
  exchange: nullableText('Of this venue; null: over all'),
  window: nullableText('Over how long; null: as it is'),
  why: text('Why'),
})

const counts = {
  trigger_count: integer('Times that it would have rung'),
  triggers_per_day: nullableNumber('The same by days that were covered; null: less than one was'),
}

const bySymbol = object('What became of one symbol', {
  symbol: text('Which'),
  ...counts,
  records: integer('Prices, or records of figures, that there were'),
  coverage: { ...coverageSchema, type: ['object', 'null'], description: 'What it rests on; null: there is no history' },
})

const whatIfOutput = jsonOutput(
  'How often the alert would have rung in the last days, decided by the code that decides about live alerts',
  object(
    'A trial',
    {
      ...termFields,
      symbols: array(text('A symbol'), 'Those that were tried out, where the body has symbols'),
      ...counts,
      by_symbol: array(bySymbol, 'Each of them, where the body has symbols'),
      triggers: array(trigger, 'The newest 100, newest first'),
      no_past: array(untold, 'Why no more than our own log was looked at; none: the venues’ past was, too'),
      figures: array(figure, 'Where the body asks for them: one for each condition, from left to right'),
      records: integer('Prices, estimates of risk, or records of figures, that there were'),
      coverage: { ...coverageSchema, description: 'What the answer rests on; of several symbols see by_symbol' },
      assumes: text('What is taken for granted'),
      as_of: instant('Time of the newest record'),
      timestamp: instant('When this was answered'),
      cached: boolean('The same question was asked within a minute'),
    },
    [...optional, 'symbol', 'symbols', 'by_symbol', 'coverage', 'figures'],
  ),
)

export const alertBacktest = route({
  priceUsdc: 0,
  limit: 'caller',
  ttlMs: 0,
  method: 'POST',
  path: '/alerts/backtest',
  name: 'alert_backtest',
  description: 'How often an alert would have rung in the last 30 days, before buying it',
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
const GAPS_SHOWN = 50
/** How often an alert would have rung, decided by the alerts' own core over the log's records and what venues tell of before. */
async function whatIfAnswer({ services, body, caller }: Call): Promise<Reply> {
  if (body === undefined) throw new ApiError('invalid_body', 'Send the alert as a JSON object.')
  const given = readSymbols(body)
  const symbols = given === undefined ? [readSymbol(body)] : given === 'all' ? streamed(services) : given
  const kind = kindMeant({ ...body, kind: undefined })
  const terms = kind.read(body)
  const [isDrawn, days] = [readFigures(body) && given === undefined, readDays(body)]
  const tried = symbols.map((symbol) => triedOf(services, { symbol, terms }, given))
  const { value: trials, cached } = await services.trials.of(tried, { days, isDrawn }, caller)
  const told = tried.map(({ symbol }, at) => ({ symbol, trial: trials[at] }))
  const known = told.flatMap(({ symbol, trial }) => (trial === undefined ? [] : [{ symbol, trial }]))
  const [first] = known
  if (first === undefined || known.every(({ trial }) => trial.seen === null))
    throw noData(`history of ${symbols.join(', ')}`)
  const answer = {
    ...(given === undefined ? { symbol: first.symbol } : { symbols }),
    ...kind.show(terms),
    ...(given === undefined ? ownCounts(first.trial) : sumOf(known)),
    triggers: triggersOf(known),
    no_past: first.trial.untold.map(({ metric, exchange, window, why }) => ({ metric, exchange, window, why })),
    records: known.reduce((sum, { trial }) => sum + trial.records, 0),
    assumes: ASSUMES,
    ...(isDrawn && { figures: figuresOf(first.trial) }),
    as_of: iso(Math.max(...known.map(({ trial }) => trial.seen?.to ?? 0))),
  }
  return jsonReply(200, { ...answer, timestamp: services.timestamp(), cached })
}

/** The symbols that are always wanted, in place of all. */
function streamed({ preSubscribed }: Services): readonly string[] {
  return [...preSubscribed].slice(0, SYMBOLS_MAX).map((asset) => asset.toUpperCase())
}

/** The processor that tells an input: no trial goes beyond what it has told. */
const tellerOf: Readonly<Record<MetricInput, string>> = {
  composite_price: PRICES,
  liquidation_risk: LIQUIDATIONS,
  cvd: CVD,
  funding: FUNDING,
  liquidated: LIQUIDATED,
}

/** `given`: the symbols as they were asked for; undefined: one alone was. */
function triedOf(
  services: Services,
  terms: Omit<WhatIfTerms, 'asset'>,
  given: readonly string[] | 'all' | undefined,
): Tried {
  const present = services.present()
  const asset =
    given === 'all'
      ? findAsset(terms.symbol, present.catalogue(services.counted)).asset
      : assetLookedAt(services, terms)
  const figures = apiKind(terms.terms.kind).figures(terms.terms)
  const tellers = figures.map(({ metric }) => tellerOf[metricOf(metric).input])
  const to = derivedTime(present.world(), tellers, asset, services.partitions)
  if (to === undefined && given === undefined) throw noData(`history of ${terms.symbol}`)
  return { ...terms, asset, to: to ?? services.now() * 1000 }
}

function readDays(body: Body): number {
  const days = field(body, 'days') ?? DAYS_MAX
  if (Number.isInteger(days) && Number(days) >= 1 && Number(days) <= DAYS_MAX) return Number(days)
  throw wrong('invalid_body', 'days', `days must be a whole number from 1 to ${DAYS_MAX}.`)
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

interface Known {
  readonly symbol: string
  readonly trial: Trial
}

function ownCounts(trial: Trial): object {
  return { ...countsOf([trial]), coverage: coverageOf(trial) }
}

/** Of several symbols: all of it, and of each. */
function sumOf(known: readonly Known[]): object {
  const by = known.map(({ symbol, trial }) => {
    return { symbol, ...countsOf([trial]), records: trial.records, coverage: coverageOf(trial) }
  })
  return { ...countsOf(known.map(({ trial }) => trial)), by_symbol: by }
}

/** Rings of all of them, by the days that the longest of them covers. */
function countsOf(trials: readonly Trial[]): object {
  const count = trials.reduce((sum, { rings }) => sum + rings, 0)
  const watched = Math.max(...trials.map(watchedOf))
  return { trigger_count: count, triggers_per_day: watched < DAY ? null : (count * DAY) / watched }
}

function watchedOf({ seen, gaps, asked, stopped }: Trial): Micros {
  if (seen === null) return 0
  return Math.max(0, Math.max(seen.to, stopped === null ? asked.to : 0) - seen.from - blindOf(gaps))
}

function blindOf(gaps: Trial['gaps']): Micros {
  return gaps.reduce((sum, { from, to }) => sum + to - from, 0)
}

function triggersOf(known: readonly Known[]): object[] {
  const all = known.flatMap(({ symbol, trial }) => trial.rang.map((ring) => ({ symbol, ring })))
  const newest = all.toSorted((a, b) => a.ring.time - b.ring.time).slice(-RINGS_KEPT)
  return newest.toReversed().map(({ symbol, ring }) => ({ symbol, ...triggerShown(ring) }))
}

function coverageOf({ seen, gaps, asked, own, stopped }: Trial): object | null {
  if (seen === null) return null
  return {
    from: iso(seen.from),
    to: iso(stopped === null ? asked.to : seen.to),
    days: Math.round((asked.to - asked.from) / DAY),
    own_from: isoOrNull(own),
    complete: seen.from - asked.from <= LATE_START && gaps.length === 0 && stopped === null,
    stopped_by: stopped,
    gap_count: gaps.length,
    gap_seconds: blindOf(gaps) / SECOND,
    gaps: gaps
      .slice(-GAPS_SHOWN)
      .toReversed()
      .map(({ from, to }) => ({ from: iso(from), to: iso(to) })),
  }
}

const ASSUMES =
  'The alert is created at the begin and lives until now, whatever expires_in_hours says; ' +
  'crosses_* ring once, and are counted as if created again a minute after each time. ' +
  'What lies before own_from is told by candles at their end, USDT taken for USD, and by settled rates, open interest and ' +
  'ratios as the venues tell them later.'

function triggerShown({ time, current_price, condition_met, quality, late, record, source }: Ring): object {
  const told = { source: source ?? 'live', record: source === undefined ? record : null }
  return { time: iso(time), price: current_price, condition_met, quality, late, ...told }
}
