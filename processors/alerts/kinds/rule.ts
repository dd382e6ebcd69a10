import type { Micros } from '../../../schemas/records.ts'
import { asDecimal, decimalText } from '../../prices/decimal.ts'
import { durationOf, metricOf } from '../metrics.ts'
import { readRule, WAITING, writeRule } from './kind.ts'
import type { AlertKind, Cause, Sight, Stand, StoredAlert, Verdict } from './kind.ts'
import { priceSources } from './price.ts'
import { intervalOf, isEdge, isFault, leavesOf, readWrittenTerms, seriesOf } from './rule-terms.ts'
import type { Condition, Leaf, RuleTerms } from './rule-terms.ts'

/** A condition with the figure that it had when the rule rang, or was over. */
interface Figure {
  readonly metric: string
  readonly exchange: string | null
  readonly window: string | null
  readonly value: number | string | null
}

interface RuleCause extends Cause {
  readonly figures: readonly Figure[]
}

type Truth = boolean | undefined

/** Any derived figures beyond their bounds, joined; looked at by its series alone. */
export const rule: AlertKind<RuleTerms, 'readings', RuleCause> = {
  kind: 'rule',
  input: 'readings',
  needsSubscription: ({ when }) => leavesOf(when).some(({ metric }) => metricOf(metric).needsSubscription),

  read(_, given) {
    const terms = given === undefined ? undefined : readWrittenTerms(given)
    return terms === undefined || isFault(terms) ? undefined : terms
  },
  write: writeRule,
  ringsOnce: ({ repeat }) => !repeat,
  cooldown: ({ cooldown }) => durationOf(cooldown) ?? 0,
  holds: (terms) => (terms.held_for === null ? 0 : (durationOf(terms.held_for) ?? 0)),
  isEdge,
  resolves: ({ resolved }) => resolved,
  causeNow: causeOf,
  mayLastForever: true,

  levels: {},
  wait: () => '',
  at: () => NaN,
  series: ({ when }) => [...new Set(leavesOf(when).map(seriesOf))],
  stand,
  evaluate(alert, { sight, time }) {
    const truth = truthOf(alert.terms.when, { sight, now: time, isWide: alert.status === 'triggered' })
    return verdictOf(alert, truth, () => causeOf(alert.terms, sight, time))
  },

  describe: ({ when, held_for: held }) => `${conditionWords(when)}${held === null ? '' : ` for ${held}`}`,
  describeCause: (terms, symbol, { figures, isOver, isChanged }) => {
    const bounds = leavesOf(terms.when).flatMap(boundsOf)
    const now = figures.map((figure) => figureWords(figure, bounds)).join(', ')
    if (isOver !== true) return `${symbol}: ${rule.describe(terms)}; now ${now}`
    const why = isChanged === true ? ': the rule was changed' : ' no longer'
    return `Over: ${symbol} ${conditionWords(terms.when)}${why}; now ${now}`
  },
  evidence: (terms, cause) => {
    const state = cause?.isOver === true ? 'resolved' : 'triggered'
    const condition = JSON.stringify({ ...terms, state, figures: cause?.figures ?? [] })
    return { severity: 'medium', oi_at_risk_usd: null, oi_at_risk_pct: null, cascade_risk: null, condition }
  },

  event: 'rule_alert',
  payload: (trigger) => {
    const { state, figures, note, group, tags, when } = readRule(trigger) ?? {}
    const isOver = state === 'resolved' ? { triggered: false } : {}
    return {
      ...isOver,
      status: state,
      condition: when,
      figures,
      condition_met: trigger.condition_met,
      note,
      group,
      tags,
    }
  },
  sourceFigure: 'price',
}

function verdictOf(alert: StoredAlert<RuleTerms>, truth: Truth, cause: () => RuleCause): Verdict<RuleCause> {
  const { status, armed, held, terms } = alert
  if (status === 'triggered') return truth === false ? { is: 'back', cause: cause() } : WAITING
  if (isEdge(terms) && !armed) return truth === false ? { is: 'armed' } : WAITING
  if (held > 0) return truth === false ? { is: 'released' } : WAITING
  if (truth !== true) return WAITING
  return terms.held_for === null ? { is: 'met', cause: cause(), isBack: false } : { is: 'held', cause: cause() }
}

interface Look {
  readonly sight: Sight
  readonly now: Micros
  readonly isWide: boolean
}

/** Whether a condition is met; undefined: not all that decides is known. */
function truthOf(condition: Condition, look: Look): Truth {
  if ('metric' in condition) return isMet(condition, look)
  const parts = 'all' in condition ? condition.all : condition.any
  const decides = 'any' in condition
  let truth: Truth = !decides
  for (const part of parts) {
    const one = truthOf(part, look)
    if (one === decides) return decides
    if (one === undefined) truth = undefined
  }
  return truth
}

function isMet(leaf: Leaf, { sight, now, isWide }: Look): Truth {
  const value = sight.series.get(seriesOf(leaf))?.at(now)
  if (value === undefined) return undefined
  const { low, high, isClosed } = intervalOf(leaf, isWide)
  return isClosed ? value >= low && value <= high : value > low && value < high
}

/**
 * Where a rule has to stand so that whatever makes it ring, be over, or be ready is looked at: at one part of what has to
 * come together, at each part of what is enough by itself.
 */
function stand(alert: StoredAlert<RuleTerms>, sight: Sight | undefined, now: Micros): readonly Stand[] {
  const { status, armed, held, terms, ended_at: ended, paused_until: paused } = alert
  if (ended > 0 || paused > 0 || (status !== 'active' && (status !== 'triggered' || armed))) return []
  const goal = status === 'active' && held === 0 && (armed || !isEdge(terms))
  if (sight === undefined) return leavesOf(terms.when).flatMap((leaf) => bounds(leaf, goal, false))
  const look = { sight, now, isWide: status === 'triggered' }
  if (truthOf(terms.when, look) !== goal) return toward(terms.when, goal, look)
  return rule.series?.(terms).map((name) => ({ name: `${name} *`, at: 0 })) ?? []
}

function toward(condition: Condition, goal: boolean, look: Look): readonly Stand[] {
  if ('metric' in condition) return bounds(condition, goal, look.isWide)
  const parts = 'all' in condition ? condition.all : condition.any
  const isEnough = 'any' in condition ? goal : !goal
  if (isEnough) return parts.flatMap((part) => toward(part, goal, look))
  const missing = parts.find((part) => truthOf(part, look) !== goal)
  return missing === undefined ? [] : toward(missing, goal, look)
}

/** The levels of which a value passes one when it enters, or leaves, the interval. */
function bounds(leaf: Leaf, goal: boolean, isWide: boolean): readonly Stand[] {
  const { low, high, isClosed } = intervalOf(leaf, isWide)
  const name = seriesOf(leaf)
  const [fromBelow, fromAbove] = goal === isClosed ? ['>=', '<='] : ['>', '<']
  const stands: Stand[] = []
  if (goal) {
    if (low > -Infinity) stands.push({ name: `${name} ${fromBelow}`, at: low })
    else stands.push({ name: `${name} ${fromAbove}`, at: high })
    return high < Infinity && low > -Infinity ? [...stands, { name: `${name} ${fromAbove}`, at: high }] : stands
  }
  if (low > -Infinity) stands.push({ name: `${name} ${fromAbove}`, at: low })
  if (high < Infinity) stands.push({ name: `${name} ${fromBelow}`, at: high })
  return stands
}

function causeOf(terms: RuleTerms, { series, price }: Sight, time: Micros): RuleCause {
  const leaves = leavesOf(terms.when)
  const figures = leaves.map((leaf): Figure => {
    const value = series.get(seriesOf(leaf))?.at(time)
    const { classes } = metricOf(leaf.metric)
    const shown = value === undefined ? null : classes === undefined ? asDecimal(value) : (classes[value] ?? null)
    return { metric: leaf.metric, exchange: leaf.exchange, window: leaf.window, value: shown }
  })
  const isPrice = leaves.some(({ metric }) => metricOf(metric).input === 'composite_price')
  return {
    price: price?.price ?? 0,
    figures,
    key: JSON.stringify([time, figures]), // one mark ends several times of holding
    sources: priceSources(price?.sources ?? []),
    quality: isPrice ? (price?.quality ?? 'degraded') : 'good',
    late: false,
    time,
  }
}

function conditionWords(condition: Condition): string {
  if ('metric' in condition) return leafWords(condition)
  const [parts, word] = 'all' in condition ? [condition.all, ' and '] : [condition.any, ' or ']
  return parts.map((part) => ('metric' in part ? leafWords(part) : `(${conditionWords(part)})`)).join(word)
}

function leafWords(leaf: Leaf): string {
  const { operator, value, close } = leaf
  const bound =
    typeof value === 'string'
      ? classWords(value)
      : typeof value === 'object'
        ? value.map(grouped).join(' and ')
        : grouped(value)
  const { unit } = metricOf(leaf.metric)
  const at = close === null ? '' : ` at the close of ${close}`
  return `${subject(leaf)} ${operator.replaceAll('_', ' ')} ${bound}${unitWords(unit)}${at}`
}

/** What a rule compares its figures with. */
function boundsOf(leaf: Leaf): number[] {
  return [false, true].flatMap((isWide) => {
    const { low, high } = intervalOf(leaf, isWide)
    return [low, high]
  })
}

function figureWords({ metric, exchange, window, value }: Figure, bounds: readonly number[]): string {
  const { unit } = metricOf(metric as Leaf['metric'])
  const shown =
    typeof value === 'number'
      ? `${grouped(shortened(value, bounds))}${unitWords(unit)}`
      : classWords(value ?? 'not known')
  return `${subject({ metric: metric as Leaf['metric'], exchange, window })} ${shown}`
}

function classWords(value: string): string {
  return value.replaceAll('_', ' ')
}

/** Rounded, where that does not put it on another side of a bound. */
function shortened(value: number, bounds: readonly number[]): number {
  const short = rounded(value)
  return bounds.every((bound) => Math.sign(short - bound) === Math.sign(value - bound)) ? short : value
}

/** Digits of a figure below 1,000 that tell people something. */
const DIGITS = 6

/** Cents of what is large; the whole figure stands in `figures` beside the words. */
function rounded(value: number): number {
  return Math.abs(value) < 1_000 ? Number(value.toPrecision(DIGITS)) : Number(value.toFixed(2))
}

/** 5000000 as 5,000,000. */
function grouped(value: number): string {
  return decimalText(value).replace(/^-?\d+/, (whole) => whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','))
}

function subject({ metric, exchange, window }: Pick<Leaf, 'metric' | 'exchange' | 'window'>): string {
  const where = exchange === null ? '' : ` on ${exchange}`
  return `${metricOf(metric).says}${where}${window === null ? '' : ` over ${window}`}`
}

function unitWords(unit: string): string {
  return unit === '' || unit === '{base}' ? '' : ` ${unit}`
}
