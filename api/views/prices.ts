import type { CompositePrice, Micros, SpotTicker } from '../../schemas/records.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import { PRICES } from '../../processors/prices/prices.ts'
import { SILENT } from '../../processors/prices/state.ts'
import { RENAMED } from '../../processors/prices/tickers.ts'
import { partsOf } from '../../schemas/venues.ts'
import type { Present } from '../present/present.ts'
import type { Aged } from './legs.ts'
import { heardOn } from './world.ts'

/** The newest composite price of an asset, if there is one. */
export function priceOf(present: Present, asset: string): CompositePrice | undefined {
  return present.of(asset).price.get(asset)
}

/** One spot market now; prices and volumes in USD by what a unit of its quote was worth. */
export interface TickerRow {
  readonly asset: string
  readonly instrument: string
  readonly venue: string
  readonly quote: string
  readonly price: number
  /** The same in units of its quote. */
  readonly quotePrice: number
  /** Percent. */
  readonly change24h: number | null
  readonly volume24h: number | null
  readonly time: Micros
  readonly received: Micros
}

/** The spot markets of some assets, busiest first; not those that are no longer listed, or that another stands for now. */
export function tickersOf(present: Present, ...assets: readonly string[]): TickerRow[] {
  const rows = assets.flatMap((asset) => {
    const own = [...present.of(asset).ticker.values()].filter((row) => row.asset === asset)
    return withoutFormer(own.filter(({ instrument }) => isListed(present, instrument)).map(tickerOf))
  })
  return rows.toSorted((a, b) => (b.volume24h ?? 0) - (a.volume24h ?? 0))
}

/** A market of which no list says anything is taken for listed. */
function isListed({ common }: Present, instrument: string): boolean {
  return (common.instrument.get(instrument)?.status ?? 'live') === 'live'
}

/** One market of a venue stands for an asset at a time: what is a minute behind another was renamed, or stood for it before. */
function withoutFormer(rows: readonly TickerRow[]): TickerRow[] {
  return rows.filter(
    ({ venue, received }) => !rows.some((other) => other.venue === venue && other.received - received > RENAMED),
  )
}

/** The spot market that an asset's perpetuals are held against, as it was known at a moment; undefined where it was not. */
export function heldAgainstAt(present: Present, asset: string, at: Micros): TickerRow | undefined {
  const then = present
    .of(asset)
    .against.get(asset)
    ?.findLast(({ received }) => received <= at)
  return then === undefined ? undefined : tickerOf(then)
}

function tickerOf(ticker: SpotTicker): TickerRow {
  const { asset, instrument, quote, quote_usd: usd, price, last, time, received } = ticker
  const { volume_24h: base, quote_volume_24h: quoted } = ticker
  // A venue that tells base units only: at its last price, the nearest there is to what was paid.
  const volume = quoted ?? (base === null ? null : base * last)
  return {
    asset,
    instrument,
    venue: partsOf(instrument).venue,
    quote,
    price: asDecimal(price * usd),
    quotePrice: asDecimal(price),
    change24h: ticker.change_24h,
    volume24h: volume === null ? null : volume * usd,
    time,
    received,
  }
}

/** Spot prices older than this are stale. */
const SPOT_STALE: Micros = 15_000_000

/** How old a spot price is: a quiet market is not a dead one, so it stands while its venue's channel is alive. */
export function spotOf(ticker: Spoken, present: Present): Aged {
  return spotAt(ticker, present, Infinity)
}

/** The same, as it was at a moment. */
export function spotAt(ticker: Spoken, present: Present, moment: Micros): Aged {
  const asOf = Math.max(ticker.time, heldUpBy(ticker, present, moment))
  return { asOf, freshUntil: asOf + SPOT_STALE }
}

/**
 * How old a composite price is: it stands while the channel of one of its sources is alive, and no longer than its processor
 * has looked.
 */
export function compositeAge({ asset, sources, time }: CompositePrice, present: Present): Aged {
  const { ticker, derived } = present.of(asset)
  const held = sources.map(({ exchange, instrument }) => {
    // what a source said later is not in this price
    const received = Math.min(time, ticker.get(instrument)?.received ?? time)
    return heldUpBy({ venue: exchange, instrument, received }, present, derived.get(PRICES) ?? 0)
  })
  const asOf = Math.max(time, ...held)
  return { asOf, freshUntil: asOf + SPOT_STALE }
}

type Spoken = Pick<TickerRow, 'venue' | 'instrument' | 'time' | 'received'>

/** Up to when a living channel speaks for a market: not for one that is listed no longer, or that was silent for long. */
function heldUpBy(market: Omit<Spoken, 'time'>, present: Present, moment: Micros): Micros {
  const { venue, instrument, received } = market
  const heard = Math.min(moment, heardOn(present.world(), 'market.tickers', venue))
  return isListed(present, instrument) && heard - received <= SILENT ? heard : 0
}
