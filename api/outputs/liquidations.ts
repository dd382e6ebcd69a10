import { cascadeRisks } from '../../processors/liquidations/cascade.ts'
import type { Output } from '../route.ts'
import {
  array,
  boolean,
  instant,
  integer,
  nullableInstant,
  nullableNumber,
  nullableText,
  number,
  object,
  oneOf,
  text,
  type Schema,
} from '../schema.ts'
import { agedBy, stamped } from './shared.ts'

const side = oneOf(['long', 'short'], 'The position, not the order')
const cascadeRisk = oneOf(
  cascadeRisks,
  'high: over 10 % of open interest within 5 % of the price; else medium: 5 % or more within 10 %; else low',
)
const usd = (says: string): Schema => number(says, { minimum: 0 })

export const heatmapOutput: Output = {
  says: 'Estimated liquidation levels',
  type: 'application/json',
  schema: object('Liquidation heatmap of one asset: a model, since nobody publishes entries and leverage', {
    symbol: text('Base asset'),
    current_price: number('Median of the venues’ marks, USD'),
    open_interest_usd: usd('Open interest of the venues, one side, USD'),
    cascade_risk: cascadeRisk,
    estimated: boolean('Always true'),
    levels_since: instant(
      'From here on openings and closings of positions were seen; what was open before is laid out by assumption',
    ),
    leverage_clusters: array(
      object('Live levels of one leverage tier and side', {
        leverage: oneOf(['5x', '10x', '25x', '50x', '100x'], 'Tier'),
        liquidation_price: number('Their mean weighted by size, USD; the current price where there are none'),
        distance_pct: number('From the current price, percent of it; negative: below'),
        oi_at_risk_usd: usd('Their sum, USD'),
        side,
      }),
      'Five tiers by two sides, nearest price first',
    ),
    levels: array(
      object('One bucket of 0.25 % of the price', {
        price: number('Its middle, USD'),
        long_usd: usd('Longs that are liquidated there, USD'),
        short_usd: usd('Shorts that are liquidated there, USD'),
      }),
      'Buckets that are not empty, nearest first, out to 25 %',
    ),
    risk_summary: object('How much is at risk', {
      total_oi_at_risk_usd: usd('Within 5 % of the price, USD'),
      oi_at_risk_pct: usd('The same, percent of open interest'),
      total_oi_at_risk_10pct_usd: usd('Within 10 % of the price, USD'),
      oi_at_risk_10pct_pct: usd('The same, percent of open interest'),
      cascade_risk: cascadeRisk,
      cascade_risk_reason: text(
        'The rule that decided the class, with its figure; on the first day also since when levels are known',
      ),
    }),
    exchanges: {
      type: 'object',
      description: 'Venues that count, by name',
      additionalProperties: object('One venue', {
        open_interest_usd: usd('One side, USD'),
        mark_price: number('USD'),
        as_of: instant('Time of the older of the two'),
      }),
    },
    calibration: object('What the model had where the price went, beside what venues reported since', {
      since: instant('Since when both count'),
      swept_long_usd: usd('Long levels that the mark has crossed, USD'),
      swept_short_usd: usd('Short levels that the mark has crossed, USD'),
      observed_long_usd: usd('Longs that venues reported liquidated, USD; a lower bound: not every venue sends all'),
      observed_short_usd: usd('Shorts that venues reported liquidated, USD'),
      observed_to_swept: nullableNumber('Observed over swept; null: nothing was swept'),
    }),
    ...agedBy('120 s'),
    ...stamped,
  }),
}

export const liquidationsOutput: Output = {
  says: 'Newest liquidations',
  type: 'application/json',
  schema: object('Liquidations of the last 24 h, at most the newest 1000', {
    count: integer('Events in this answer', { minimum: 0 }),
    symbol_filter: nullableText('As BTCUSDT; null: all symbols'),
    events: array(
      object('One liquidation', {
        id: text('liq_<unix seconds>_<place in the log>'),
        symbol: text('As BTCUSDT'),
        side,
        size: number('Base units'),
        price: number('USD'),
        value_usd: number('price x size, USD'),
        timestamp: instant('The venue’s time'),
        exchange: text('Venue, upper case'),
        price_kind: oneOf(['unknown', 'bankruptcy', 'order', 'average_fill'], 'What the price is'),
        completeness: oneOf(
          ['unknown', 'all', 'sampled'],
          'all: the venue sends every one; sampled: the largest of a symbol and second',
        ),
      }),
      'Newest first',
    ),
    stats: object('Counts of the whole log, not of the events shown', {
      last_1h: object('The last hour', {
        total_events: integer('Liquidations'),
        long_liquidations: integer('Of longs'),
        short_liquidations: integer('Of shorts'),
        total_value_usd: number('USD'),
        since: nullableInstant('From when they count; null: none was ever seen'),
      }),
      last_24h: object('The last 24 hours', {
        total_events: integer('Liquidations'),
        total_value_usd: number('USD'),
        since: nullableInstant('From when they count; null: none was ever seen'),
      }),
    }),
    ...agedBy('30 s without word from any venue'),
    ...stamped,
  }),
}
