import {
  COOLDOWN_DEFAULT,
  DEPTH_MAX,
  isFault,
  leavesOf,
  NOTE_MAX,
  TAGS_MAX,
  operators,
  readRuleTerms,
  seriesOf,
  specOf,
  type Condition,
  type RuleTerms,
} from '../../../processors/alerts/kinds/rule-terms.ts'
import { candles, metricNames, metricOf, windows } from '../../../processors/alerts/metrics.ts'
import type { SeriesSpec } from '../../../processors/alerts/series.ts'
import type { Body } from '../../request/body.ts'
import { ApiError } from '../../request/errors.ts'
import {
  array,
  boolean,
  component,
  nullable,
  nullableText,
  number,
  object,
  oneOf,
  text,
  type Schema,
} from '../../request/schema.ts'
import type { Database } from '../../views/database.ts'
import { inPages, inputsOf, readFirst, readInputs, type InputsWanted, type PageRange } from '../../views/what-if.ts'
import type { ApiKind } from './kind.ts'
import { priceSources } from './price.ts'

const periods = [...new Set([...windows, ...metricNames.flatMap((name) => metricOf(name).periods ?? [])])]
const venues = [...new Set(metricNames.flatMap((name) => metricOf(name).exchanges))]
const classes = [...new Set(metricNames.flatMap((name) => metricOf(name).classes ?? []))]

const leaf = object(
  'A figure beyond a bound',
  {
    metric: oneOf(metricNames, 'What is looked at; units and venues in the guide to rules'),
    exchange: nullable(oneOf(venues, 'Of this venue alone; null: over all')),
    window: nullable(oneOf(periods, 'Over how long, where the metric is a change, a sum or a signal of a period')),
    close: nullable(oneOf(candles, 'Looked at when a candle of this length closes; null: at once')),
    operator: oneOf(
      operators,
      'crosses_* and becomes have to have seen it otherwise first; changes_by counts either way',
    ),
    value: {
      description: 'The bound; of between two, the lower first; of becomes a class',
      oneOf: [
        number('The bound'),
        { ...array(number('A bound'), 'The lower, the higher'), minItems: 2, maxItems: 2 },
        oneOf(classes, 'A class'),
      ],
    },
    hysteresis: number('How far behind the bound it counts as over, once it has rung', { minimum: 0, default: 0 }),
  },
  ['exchange', 'window', 'close', 'hysteresis'],
)

const parts = { ...array(component('Condition'), `Conditions, joined at most ${DEPTH_MAX} deep`), minItems: 1 }
const condition: Schema = {
  type: 'object',
  description: 'A condition; all or any of several',
  oneOf: [leaf, object('All of them', { all: parts }), object('One of them or more', { any: parts })],
}

const body = {
  when: condition,
  held_for: nullable(text('How long it has to hold before it rings, such as 90s or 5m; at most 24h')),
  repeat: boolean('It rings again, once it has been over and the cooldown has passed; else once', { default: true }),
  cooldown: text('Least time between two rings, 1m to 7d', { default: COOLDOWN_DEFAULT }),
  resolved: boolean('A message tells when it is over, too', { default: false }),
  note: nullable(text('Stands in each message and in the status, which anyone may read', { maxLength: NOTE_MAX })),
  group: nullable(text('A name that several rules share; anyone may read it', { maxLength: 64 })),
  tags: {
    ...array(text('A name', { maxLength: 32 }), 'What you find it by; anyone may read them'),
    maxItems: TAGS_MAX,
  },
}

const example = {
  when: { metric: 'cvd_change', window: '1h', operator: 'above', value: 500 },
  held_for: '1m',
  note: 'Buyers',
}

/** A page of prices has an hour: some 18,000. */
const HOUR = 3_600_000_000

/** Any derived figures, joined. */
export const rule: ApiKind<RuleTerms> = {
  kind: 'rule',
  named: 'a rule',
  paths: { alert: '/alerts', alerts: '/alerts' },
  priceUsdc: { create: 0.06, extend: 0.03 },
  perDayUsdc: 0.005,
  idPrefix: 'rule_',
  mayLastForever: true,
  isEditable: true,
  mayBeForSeveral: true,

  conditions: [],
  body,
  optional: Object.keys(body).filter((name) => name !== 'when'),
  example,
  errors: ['invalid_rule'],
  read(given: Body) {
    const terms = readRuleTerms(given)
    if (!isFault(terms)) return terms
    const { pointer, message, allowed } = terms
    const field = pointer.split('/')[1] ?? 'when'
    throw new ApiError('invalid_rule', message, { field, more: { pointer, allowed } })
  },

  components: { Condition: condition },
  answer: { ...body, when: { type: 'object', description: 'As submitted, with its defaults' } },
  show: ({ when, held_for, repeat, cooldown, resolved, note, group, tags }) => {
    return { when, held_for, repeat, cooldown, resolved, note, group, tags }
  },

  webhook: {
    summary: 'A rule rang, or what it rang for is over',
    severities: ['medium'],
    data: {
      triggered: boolean('False in a test event, and where it is over'),
      current_price: number('Composite price, USD; 0: none is known'),
      status: oneOf(['triggered', 'resolved'], 'resolved: what it rang for is over'),
      condition: { type: 'object', description: '`when` of the rule' },
      figures: array(
        object('A figure of it', {
          metric: text('As in the rule'),
          exchange: nullableText('As in the rule'),
          window: nullableText('As in the rule'),
          value: { type: ['number', 'string', 'null'], description: 'Then; a class; null: not known' },
        }),
        'What it looks at, from left to right; none in a test event',
      ),
      condition_met: text('What happened, in words'),
      note: nullableText('Of the rule'),
      group: nullableText('Of the rule'),
      tags: array(text('A name'), 'Of the rule'),
      sources: priceSources,
    },
  },

  figures: ({ when }) => leavesOf(when).map(specOf),
  canRing: ({ when }, isTold) => canBeMet(when, isTold),
  blindAfter: 120_000_000,
  async begins(database, range, terms) {
    const firsts = wantedOf(terms).tables.map((table) => readFirst(database, table, range))
    return (await Promise.all(firsts)).reduce(
      (first, time) => (time === undefined || (first ?? time) < time ? first : time),
      undefined,
    )
  },
  history(database: Database, range: PageRange, terms) {
    const wanted = wantedOf(terms)
    const page = wanted.tables.includes('prices_log') ? HOUR : 6 * HOUR
    return inPages(range, page, (part) => readInputs(database, part, wanted))
  },
  needsMinutes: ({ held_for: held }) => held !== null,
}

/** What is not told is not known, and never met. */
function canBeMet(condition: Condition, isTold: (figure: SeriesSpec) => boolean): boolean {
  if ('all' in condition) return condition.all.every((part) => canBeMet(part, isTold))
  if ('any' in condition) return condition.any.some((part) => canBeMet(part, isTold))
  return isTold(specOf(condition))
}

function wantedOf({ when }: RuleTerms): InputsWanted {
  return inputsOf(leavesOf(when).map(seriesOf))
}
