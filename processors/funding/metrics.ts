import type { Figure, Funding, FundingView, Metric, Micros } from '../../schemas/records.ts'
import { ratioVenues } from '../../schemas/venues.ts'
import { asDecimal, percentChange } from '../prices/decimal.ts'
import type { AssetState } from './state.ts'

/** Name of its metrics in `alerts.inputs`. */
const CORE = 'funding'

const SECOND: Micros = 1_000_000
/** An asset whose open interest is streamed is told of so often, others, which are polled, so often: `alerts.inputs` is read by all. */
const STREAMED_EVERY: Micros = 10 * SECOND
const POLLED_EVERY: Micros = 60 * SECOND
/** What was said longer ago is no figure of now. */
const RATE_LIFETIME: Micros = 120 * SECOND
const MARK_LIFETIME: Micros = 60 * SECOND
const OPEN_INTEREST_LIFETIME: Micros = 120 * SECOND
const RATIO_LIFETIME: Micros = 600 * SECOND

/** What the asset says to rules of alerts, at its pace: rates and basis in percent, open interest in USD, ratios. */
export function metricOf(asset: AssetState, { exchanges, time, v }: Funding): Metric[] {
  const isStreamed = exchanges.some(({ open_interest: size }) => size !== null)
  if (time - asset.told < (isStreamed ? STREAMED_EVERY : POLLED_EVERY)) return []
  const figures = [...exchanges.flatMap((view) => figuresOf(view, time)), ...ratiosOf(asset, time)]
  if (figures.length === 0) return []
  asset.told = time
  return [{ asset: asset.asset, core: CORE, figures, time, v }]
}

function figuresOf(view: FundingView, now: Micros): Figure[] {
  const { exchange, rate, predicted, mark, index, open_interest: size } = view
  const isRate = isFresh(view.rate_time, now, RATE_LIFETIME)
  const isMark = isFresh(view.mark_time, now, MARK_LIFETIME)
  const isSize = isMark && isFresh(view.open_interest_time, now, OPEN_INTEREST_LIFETIME)
  return [
    ...told('funding_rate', exchange, isRate && rate !== null ? asDecimal(rate * 100) : null),
    ...told('predicted_funding_rate', exchange, isRate && predicted !== null ? asDecimal(predicted * 100) : null),
    ...told('open_interest', exchange, isSize && size !== null && mark !== null ? asDecimal(size * mark) : null),
    ...told(
      'basis',
      exchange,
      isMark && mark !== null && index !== null && index > 0 ? percentChange(index, mark) : null,
    ),
  ]
}

function ratiosOf({ ratios }: AssetState, now: Micros): Figure[] {
  return ratioVenues.flatMap((venue) => {
    const known = ratios.get(venue)
    return told(
      'long_short',
      venue,
      isFresh(known?.received ?? null, now, RATIO_LIFETIME) ? (known?.ratio ?? null) : null,
    )
  })
}

function told(figure: string, exchange: string, value: number | null): Figure[] {
  return value === null ? [] : [{ figure, exchange, value }]
}

function isFresh(time: Micros | null, now: Micros, lifetime: Micros): boolean {
  return time !== null && now - time <= lifetime
}
