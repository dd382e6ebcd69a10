import { jsonOutput, dataRoute, type Run } from '../request/route.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import { symbolOf } from '../../schemas/catalogue.ts'
import type { Micros } from '../../schemas/records.ts'
import { liquidationVenues } from '../../schemas/venues.ts'
import { findAsset, type Listed } from '../present/catalogue.ts'
import type { View } from '../request/reply.ts'
import { begunOf, countableOf, countedOf, liquidationsOf, type LiquidationRow } from '../views/liquidations.ts'
import { iso } from '../views/time.ts'
import { heardOn, settledTime } from '../views/world.ts'
import {
  array,
  boolean,
  instant,
  integer,
  nullableInstant,
  nullableText,
  number,
  object,
  oneOf,
  text,
} from '../request/schema.ts'
import { limitOf, symbolFilter } from './parameters.ts'
import { readLiquidated, type Liquidated } from '../views/liquidated.ts'
import { areLive, readLive } from '../views/live.ts'
import { noData, replyNow, viewContext, type Asking, type ViewContext, agedBy, dataErrors, stamped } from './answers.ts'
import { SERIES_SPAN, seriesRoute, type SeriesSource } from './series.ts'

/** Most events that are held; the window has the newest. */
const EVENTS_MAX = 1_000

const side = oneOf(['long', 'short'], 'The position, not the order')

/** One liquidation as it is shown. */
export const liquidationFields = {
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
}

/** What a count of a time rests on. */
const counted = {
  since: nullableInstant('From when they count; null: none was ever seen'),
  complete: boolean('All of that time was heard, of every venue without a break; what was missed no venue tells later'),
}

const liquidationsOutput = jsonOutput(
  'Newest liquidations',
  object('Liquidations of the last 24 h, at most the newest 1000', {
    count: integer('Events in this answer', { minimum: 0 }),
    symbol_filter: nullableText('As BTCUSDT; null: all symbols'),
    events: array(object('One liquidation', liquidationFields), 'Newest first'),
    stats: object('Counts of the whole log, not of the events shown', {
      last_1h: object('The last hour', {
        total_events: integer('Liquidations'),
        long_liquidations: integer('Of longs'),
        short_liquidations: integer('Of shorts'),
        total_value_usd: number('USD'),
        ...counted,
      }),
      last_24h: object('The last 24 hours', {
        total_events: integer('Liquidations'),
        total_value_usd: number('USD'),
        ...counted,
      }),
    }),
    ...agedBy('30 s without word from any venue'),
    ...stamped,
  }),
)

export const liquidationRecent = dataRoute({
  path: '/liquidation/recent',
  name: 'liquidation_recent',
  description: 'Newest liquidations and their statistics',
  priceUsdc: 0.03,
  ttlMs: 15_000,
  input: { limit: limitOf(50, EVENTS_MAX), symbol: symbolFilter },
  outputs: { 200: liquidationsOutput },
  errors: dataErrors,
  prepare: (call) => replyLiquidations(call, call.input),
})

const HOUR: Micros = 3_600_000_000
/** How far the window of events reaches back. */
const WINDOW: Micros = 24 * HOUR
/** Silence of all channels for longer makes the answer stale. */
const LIQUIDATIONS_STALE: Micros = 30_000_000

interface Asked {
  readonly symbol: string | undefined
  readonly limit: number
}

/** `/liquidation/recent` */
async function replyLiquidations(call: Asking, { symbol, limit }: Asked): Promise<Run> {
  const listed = symbol === undefined ? null : findAsset(symbol, viewContext(call.services).catalogue)
  return replyNow(call, (context) => liquidationsView(context, listed, limit))
}

function liquidationsView({ present, world }: ViewContext, listed: Listed | null, limit: number): View {
  const now = settledTime(world, 'market.liquidations')
  if (now === undefined) throw noData('word from any venue’s liquidation stream')
  const asset = listed?.asset ?? null
  const all = liquidationsOf(present, asset, { from: now - WINDOW, now })
  const rows = [...all.take(Math.min(limit, EVENTS_MAX))]
  const events = rows.map((row) => eventOf(row, present.states.length))
  const body = {
    count: events.length,
    symbol_filter: listed === null ? null : `${listed.symbol}USDT`,
    events,
    stats: shownStats({ present, world }, { asset, now }),
  }
  const heard = liquidationVenues.map((venue) => heardOn(world, 'market.liquidations', venue))
  const asOf = Math.max(0, ...heard, rows[0]?.time ?? 0)
  return { body, asOf, freshUntil: asOf + LIQUIDATIONS_STALE }
}

/** A liquidation as it is shown; `partitions`: of the log. */
export function eventOf(row: LiquidationRow, partitions: number): object {
  const order = row.offset * partitions + row.partition
  return {
    id: `liq_${Math.floor(row.time / 1_000_000)}_${order}`,
    symbol: `${symbolOf(row.asset)}USDT`,
    side: row.side,
    size: row.size,
    price: row.price,
    value_usd: asDecimal(row.value),
    timestamp: iso(row.time),
    exchange: row.venue.toUpperCase(),
    price_kind: row.price_kind,
    completeness: row.completeness,
  }
}

/** Statistics count the log: `since` is where it begins, or what is counted of it, if that is within the window. */
function shownStats(
  { present, world }: Pick<ViewContext, 'present' | 'world'>,
  { asset, now }: { asset: string | null; now: Micros },
): object {
  const begun = begunOf(present)
  const of = (width: Micros) => {
    const from = now - width
    const { since, sums } = countableOf(present, asset, { from, now })
    const counts = countedOf(sums)
    const complete = since === from && areLive(world, channels, { from, to: now })
    return { ...counts, restsOn: { since: begun === null ? null : iso(Math.max(since, begun)), complete } }
  }
  const [hour, day] = [of(HOUR), of(WINDOW)]
  return {
    last_1h: {
      total_events: hour.events,
      long_liquidations: hour.longs,
      short_liquidations: hour.shorts,
      total_value_usd: asDecimal(hour.usd),
      ...hour.restsOn,
    },
    last_24h: { total_events: day.events, total_value_usd: asDecimal(day.usd), ...day.restsOn },
  }
}

const figures = {
  long_usd: number('Worth of the long positions that were liquidated, USD; a lower bound where a venue sends samples'),
  short_usd: number('The same of short positions'),
  long_count: integer('Long positions', { minimum: 0 }),
  short_count: integer('Short positions', { minimum: 0 }),
}

/** Every venue is heard on one channel for all its markets: while it is live, no liquidation is a zero. */
const channels = { topic: 'market.liquidations', venues: liquidationVenues } as const

const liquidated: SeriesSource = {
  first: async (_, { present }) => begunOf(present) ?? undefined,
  newest: ({ present, asset }) => liquidationsOf(present, asset, { from: 0 }).next().value?.time ?? 0,
  async read({ database }, { present, asset, world }, query) {
    const { from, to, width, now } = query
    const [all, isLive] = await Promise.all([
      readLiquidated(database, present, { asset, ...query }),
      readLive({ database, world }, channels, { from, to: Math.min(to, now) }),
    ])
    const rows = Map.groupBy(all, ({ bucket }) => bucket)
    return (time) => {
      const own = rows.get(time) ?? []
      const ofVenue = (venue: string): object => sumOf(own.filter((row) => row.venue === venue))
      return {
        total: sumOf(own),
        exchanges: Object.fromEntries(liquidationVenues.map((venue) => [venue, ofVenue(venue)])),
        heard: new Set(liquidationVenues.filter((venue) => isLive(venue, { from: time, to: time + width }))),
      }
    }
  },
}

export const liquidationHistory = seriesRoute({
  path: '/liquidation/history/:symbol',
  name: 'liquidation_history',
  description: 'Liquidations by bucket and side',
  priceUsdc: 0.03,
  ttlMs: 15_000,
  topic: 'market.liquidations',
  venues: liquidationVenues,
  wanted: false,
  shortest: '1m',
  spanMax: SERIES_SPAN,
  stale: { after: LIQUIDATIONS_STALE, description: '30 s without word from any venue' },
  total: figures,
  venue: figures,
  source: liquidated,
})

function sumOf(rows: readonly Liquidated[]): object {
  const sum = (of: (row: Liquidated) => number): number => rows.reduce((total, row) => total + of(row), 0)
  return {
    long_usd: asDecimal(sum(({ long }) => long.usd)),
    short_usd: asDecimal(sum(({ short }) => short.usd)),
    long_count: sum(({ long }) => long.count),
    short_count: sum(({ short }) => short.count),
  }
}
