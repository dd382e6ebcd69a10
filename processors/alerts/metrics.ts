import { fundingVenues, liquidationVenues, priceVenues, ratioVenues, tradeVenues } from '../../schemas/venues.ts'
import { cascadeRisks } from '../liquidations/cascade.ts'
import { asDecimal } from '../prices/decimal.ts'
import { signalClasses } from '../cvd/signal.ts'
import { sentiments, classifySentiment, classifyFunding, fundingClasses } from '../funding/classes.ts'

/** What tells the figures of a metric: a record type of its own, or the processor that a `metric` names. */
export type MetricInput = 'composite_price' | 'liquidation_risk' | 'cvd' | 'funding' | 'liquidated'

/** What a metric is of the figures that are told. `change_pct`, `sum` and `spike` look at a window. */
type Make = 'value' | 'change_pct' | 'sum' | 'spike' | 'class'

/** One metric that a rule can rest on; a line of the table. */
export interface Metric {
  readonly says: string
  /** Behind the figure, for people; `{base}`: base units. */
  readonly unit: string
  readonly input: MetricInput
  /** The figures that are added, each with its sign. */
  readonly figures: Readonly<Record<string, 1 | -1>>
  readonly make: Make
  /** Which venues it can be asked of alone; none: it is of the asset. */
  readonly exchanges: readonly string[]
  /** What it is over all venues: their sum, their mean, that of the first of them that tells it, or one that is told for itself. */
  readonly over: 'sum' | 'mean' | 'first' | 'own'
  /** Classes by place, and what a figure's place is where it is not told itself. */
  readonly classes?: readonly string[]
  readonly classOf?: (value: number) => string
  /** Its windows where they are not all: the figure's name ends with it. */
  readonly periods?: readonly string[]
  /** It is 0 or more whatever happens. */
  readonly isNeverNegative?: true
  /** It is told only of assets that somebody wants. */
  readonly needsSubscription: boolean
}

const trade = tradeVenues.map(({ venue }) => venue)
const price = { input: 'composite_price', figures: { price: 1 }, exchanges: priceVenues, over: 'own' } as const
const flow = { input: 'cvd', exchanges: trade, over: 'sum', needsSubscription: true } as const
const funding = { input: 'funding', exchanges: fundingVenues, needsSubscription: false } as const
const closed = {
  input: 'liquidated',
  exchanges: liquidationVenues,
  over: 'sum',
  make: 'sum',
  unit: 'USD',
  isNeverNegative: true,
} as const
const risk = { input: 'liquidation_risk', exchanges: [], over: 'own', needsSubscription: true } as const

/** Every metric, by the name that a rule gives it. */
const metrics = {
  price: { ...price, make: 'value', unit: 'USD', says: 'price', isNeverNegative: true, needsSubscription: false },
  price_change_pct: { ...price, make: 'change_pct', unit: '%', says: 'price change', needsSubscription: false },
  volume: { ...flow, figures: { buy: 1, sell: 1 }, make: 'sum', unit: '{base}', says: 'volume', isNeverNegative: true },
  volume_usd: {
    ...flow,
    figures: { buy_usd: 1, sell_usd: 1 },
    make: 'sum',
    unit: 'USD',
    says: 'volume',
    isNeverNegative: true,
  },
  volume_spike: {
    ...flow,
    figures: { buy: 1, sell: 1 },
    make: 'spike',
    unit: 'times its mean',
    says: 'volume',
    isNeverNegative: true,
  },
  cvd: { ...flow, figures: { cvd: 1 }, make: 'value', unit: '{base}', says: 'CVD' },
  cvd_change: { ...flow, figures: { buy: 1, sell: -1 }, make: 'sum', unit: '{base}', says: 'CVD change' },
  cvd_change_usd: { ...flow, figures: { buy_usd: 1, sell_usd: -1 }, make: 'sum', unit: 'USD', says: 'CVD change' },
  funding_rate_pct: {
    ...funding,
    figures: { funding_rate: 1 },
    over: 'first',
    make: 'value',
    unit: '%',
    says: 'funding rate',
  },
  predicted_funding_rate_pct: {
    ...funding,
    figures: { predicted_funding_rate: 1 },
    over: 'first',
    make: 'value',
    unit: '%',
    says: 'predicted funding rate',
  },
  open_interest_usd: {
    ...funding,
    figures: { open_interest: 1 },
    over: 'sum',
    make: 'value',
    unit: 'USD',
    says: 'open interest',
    isNeverNegative: true,
    needsSubscription: true,
  },
  open_interest_change_pct: {
    ...funding,
    figures: { open_interest: 1 },
    over: 'sum',
    make: 'change_pct',
    unit: '%',
    says: 'open interest change',
    needsSubscription: true,
  },
  basis_pct: {
    ...funding,
    figures: { basis: 1 },
    over: 'first',
    make: 'value',
    unit: '%',
    says: 'basis of mark over index',
    needsSubscription: true,
  },
  long_short_ratio: {
    ...funding,
    exchanges: ratioVenues,
    figures: { long_short: 1 },
    over: 'mean',
    make: 'value',
    unit: '',
    says: 'top traders’ long/short ratio',
    isNeverNegative: true,
    needsSubscription: true,
  },
  liquidated_usd: {
    ...closed,
    figures: { liquidated_long: 1, liquidated_short: 1 },
    says: 'liquidated',
    needsSubscription: true,
  },
  liquidated_long_usd: {
    ...closed,
    figures: { liquidated_long: 1 },
    says: 'longs liquidated',
    needsSubscription: true,
  },
  liquidated_short_usd: {
    ...closed,
    figures: { liquidated_short: 1 },
    says: 'shorts liquidated',
    needsSubscription: true,
  },
  liquidation_risk_pct: {
    ...risk,
    figures: { at_risk: 1 },
    make: 'value',
    unit: '% of open interest',
    says: 'liquidation risk',
    isNeverNegative: true,
  },
  cvd_signal: {
    ...flow,
    exchanges: [],
    over: 'own',
    figures: { cvd_class: 1 },
    make: 'class',
    unit: '',
    says: 'CVD signal',
    classes: signalClasses,
    periods: ['1h', '4h', '24h', '7d'],
  },
  funding_signal: {
    ...funding,
    figures: { funding_rate: 1 },
    over: 'first',
    make: 'class',
    unit: '',
    says: 'funding signal',
    classes: fundingClasses,
    classOf: (percent) => classifyFunding(asDecimal(percent / 100)),
  },
  sentiment: {
    ...funding,
    exchanges: ratioVenues,
    figures: { long_short: 1 },
    over: 'mean',
    make: 'class',
    unit: '',
    says: 'top traders’ sentiment',
    classes: sentiments,
    classOf: classifySentiment,
    needsSubscription: true,
  },
  cascade_risk: {
    ...risk,
    figures: { cascade_class: 1 },
    make: 'class',
    unit: '',
    says: 'cascade risk',
    classes: cascadeRisks,
  },
} as const satisfies Readonly<Record<string, Metric>>

export type MetricName = keyof typeof metrics
export const metricNames = Object.keys(metrics) as readonly MetricName[]

export function metricOf(name: MetricName): Metric {
  return metrics[name]
}

export function isMetric(name: unknown): name is MetricName {
  return typeof name === 'string' && Object.hasOwn(metrics, name)
}

const SECOND = 1_000_000
const units: Readonly<Record<string, number>> = { s: SECOND, m: 60 * SECOND, h: 3_600 * SECOND, d: 86_400 * SECOND }

/** Windows that changes and sums look at. */
export const windows = ['1m', '5m', '15m', '30m', '1h', '4h', '12h', '24h'] as const
/** Candles at whose close a condition can be looked at. */
export const candles = ['1m', '5m', '15m', '1h', '4h', '1d'] as const

/** `90s`, `5m`, `2h`, `1d` in microseconds; undefined: it is no such text. */
export function durationOf(text: unknown): number | undefined {
  const [, digits, unit] = typeof text === 'string' ? (/^([1-9]\d{0,5})([smhd])$/.exec(text) ?? []) : []
  return unit === undefined ? undefined : Number(digits) * (units[unit] ?? NaN)
}

/** What tells each figure, by its name. */
export const figureInputs: ReadonlyMap<string, MetricInput> = new Map(
  metricNames.flatMap((name) => {
    const { figures, periods, input } = metricOf(name)
    const names = Object.keys(figures)
    const all =
      periods === undefined ? names : names.flatMap((figure) => periods.map((period) => `${figure}_${period}`))
    return all.map((figure) => [figure, input] as const)
  }),
)

/** Whether it looks at a window; a plain value does only where its change is asked for. */
export function looksAtWindow(metric: Metric): boolean {
  return metric.make === 'change_pct' || addsUp(metric)
}

/** Whether it adds up what came within a window, which time alone empties. */
export function addsUp({ make }: Metric): boolean {
  return make === 'sum' || make === 'spike'
}

/** The processors that tell what is added up: their marks say up to when they have told all of it. */
export const tellersOfSums: ReadonlySet<string> = new Set(
  metricNames.map(metricOf).flatMap((metric) => (addsUp(metric) ? [metric.input] : [])),
)
