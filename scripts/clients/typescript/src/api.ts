// Generated from the route table: npm run generate

export interface Operation {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'PATCH'
  readonly path: string
  readonly query: readonly string[]
  readonly body: readonly string[]
  readonly isOwners: boolean
  readonly isKeyed: boolean
  readonly isQuestion: boolean
  readonly priceUsdc: number
}

export type Condition =
  | {
      /** What is looked at; units and venues in the guide to rules */
      readonly metric:
        | 'price'
        | 'price_change_pct'
        | 'volume'
        | 'volume_usd'
        | 'volume_spike'
        | 'cvd'
        | 'cvd_change'
        | 'cvd_change_usd'
        | 'funding_rate_pct'
        | 'predicted_funding_rate_pct'
        | 'open_interest_usd'
        | 'open_interest_change_pct'
        | 'basis_pct'
        | 'long_short_ratio'
        | 'liquidated_usd'
        | 'liquidated_long_usd'
        | 'liquidated_short_usd'
        | 'liquidation_risk_pct'
        | 'cvd_signal'
        | 'funding_signal'
        | 'sentiment'
        | 'cascade_risk'
      /** Of this venue alone; null: over all */
      readonly exchange?:
        'binance' | 'coinbase' | 'okx' | 'bybit' | 'kraken' | 'gate' | 'binance_spot' | 'bitget' | 'hyperliquid' | null
      /** Over how long, where the metric is a change, a sum or a signal of a period */
      readonly window?: '1m' | '5m' | '15m' | '30m' | '1h' | '4h' | '12h' | '24h' | '7d' | null
      /** Looked at when a candle of this length closes; null: at once */
      readonly close?: '1m' | '5m' | '15m' | '1h' | '4h' | '1d' | null
      /** crosses_* and becomes have to have seen it otherwise first; changes_by counts either way */
      readonly operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | 'between' | 'changes_by' | 'becomes'
      /** The bound; of between two, the lower first; of becomes a class */
      readonly value:
        | number
        | readonly number[]
        | 'strong_bullish_pressure'
        | 'bullish_pressure'
        | 'neutral'
        | 'bearish_pressure'
        | 'strong_bearish_pressure'
        | 'insufficient_data'
        | 'extreme_bullish'
        | 'bullish'
        | 'slightly_bullish'
        | 'slightly_bearish'
        | 'bearish'
        | 'extreme_bearish'
        | 'Extremely bullish'
        | 'Bullish'
        | 'Slightly bullish'
        | 'Neutral'
        | 'Slightly bearish'
        | 'Bearish'
        | 'Extremely bearish'
        | 'low'
        | 'medium'
        | 'high'
      /** How far behind the bound it counts as over, once it has rung */
      readonly hysteresis?: number
    }
  | {
      /** Conditions, joined at most 3 deep */
      readonly all: readonly Condition[]
    }
  | {
      /** Conditions, joined at most 3 deep */
      readonly any: readonly Condition[]
    }

export interface CvdInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
  /** Rolling period that ends now; one of 1h, 4h, 24h, 7d */
  readonly period?: '1h' | '4h' | '24h' | '7d'
}

export type CvdAnswer = {
  /** Base asset */
  readonly symbol: string
  /** Running total of taker buys minus taker sells since `since`, base units */
  readonly cvd: number
  /** As cvd, in USD */
  readonly cvd_usd: number
  /** Taker buys minus taker sells of the period, base units */
  readonly period_cvd: number
  /** Taker buys of the period, base units */
  readonly buy_volume: number
  /** Taker sells of the period, base units */
  readonly sell_volume: number
  /** As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close */
  readonly period_cvd_usd: number
  /** As buy_volume, in USD */
  readonly buy_volume_usd: number
  /** As sell_volume, in USD */
  readonly sell_volume_usd: number
  /** period_cvd over period volume: beyond 15 % strong, beyond 5 % plain, else neutral; insufficient_data where our own trades hold less than a quarter of the period, or nothing traded */
  readonly signal:
    | 'strong_bullish_pressure'
    | 'bullish_pressure'
    | 'neutral'
    | 'bearish_pressure'
    | 'strong_bearish_pressure'
    | 'insufficient_data'
  /** The rolling period, ending now */
  readonly period: '1h' | '4h' | '24h' | '7d'
  /** Open WebSocket connections of the venues’ trade streams */
  readonly active_ws_connections: number
  /** The figures by venue; they add up to the totals */
  readonly exchanges: Readonly<
    Record<
      'binance' | 'bybit' | 'okx' | 'coinbase' | 'kraken' | 'gate' | 'binance_spot' | 'bitget' | 'hyperliquid',
      {
        /** Running total of taker buys minus taker sells since `since`, base units */
        readonly cvd: number
        /** As cvd, in USD */
        readonly cvd_usd: number
        /** Taker buys minus taker sells of the period, base units */
        readonly period_cvd: number
        /** Taker buys of the period, base units */
        readonly buy_volume: number
        /** Taker sells of the period, base units */
        readonly sell_volume: number
        /** As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close */
        readonly period_cvd_usd: number
        /** As buy_volume, in USD */
        readonly buy_volume_usd: number
        /** As sell_volume, in USD */
        readonly sell_volume_usd: number
        /** trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time. Of a period hours count that lie wholly within it. Null: nothing is known; candles of Bybit and Coinbase do not say what takers bought */
        readonly source: 'trades' | 'archive' | 'venue_candles' | 'mixed' | null
        /** live: streaming; gap: trades of the period are missing; stale: not heard for 30 s; unavailable: it refuses us or is switched off; unlisted: it has no such market */
        readonly status: 'live' | 'gap' | 'stale' | 'unavailable' | 'unlisted'
      }
    >
  >
  /** The figures by market type */
  readonly markets: Readonly<
    Record<
      'spot' | 'perp',
      {
        /** Running total of taker buys minus taker sells since `since`, base units */
        readonly cvd: number
        /** As cvd, in USD */
        readonly cvd_usd: number
        /** Taker buys minus taker sells of the period, base units */
        readonly period_cvd: number
        /** Taker buys of the period, base units */
        readonly buy_volume: number
        /** Taker sells of the period, base units */
        readonly sell_volume: number
        /** As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close */
        readonly period_cvd_usd: number
        /** As buy_volume, in USD */
        readonly buy_volume_usd: number
        /** As sell_volume, in USD */
        readonly sell_volume_usd: number
      }
    >
  >
  /** trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time. Of a period hours count that lie wholly within it. Null: nothing is known; candles of Bybit and Coinbase do not say what takers bought */
  readonly source: 'trades' | 'archive' | 'venue_candles' | 'mixed' | null
  /** The figures of the period by source: each hour of a venue is in one of them alone, and they add up to the totals */
  readonly sources: Readonly<
    Record<
      'trades' | 'archive' | 'venue_candles',
      {
        /** Taker buys minus taker sells of the period, base units */
        readonly period_cvd: number
        /** Taker buys of the period, base units */
        readonly buy_volume: number
        /** Taker sells of the period, base units */
        readonly sell_volume: number
        /** As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close */
        readonly period_cvd_usd: number
        /** As buy_volume, in USD */
        readonly buy_volume_usd: number
        /** As sell_volume, in USD */
        readonly sell_volume_usd: number
        /** How much of the period it tells: the mean over the instruments, 0 to 1 */
        readonly share: number
      }
    >
  >
  /** What of the time asked for the log really has */
  readonly coverage: {
    /** From here on the figures count */
    readonly from: string
    /** Up to here they count */
    readonly to: string
    /** The log reaches back to the start, has no hole and every listing venue was heard to the end */
    readonly complete: boolean
    /** How much of the time asked for the log holds, 0 to 1: the mean over the instruments; missing trades count as not held */
    readonly share: number
    /** Holes, newest first, at most 50 */
    readonly gaps: readonly {
      /** Venue; all: the log itself lost them */
      readonly exchange: string
      /** opened: being fetched; unfillable: the venue serves them no more; lost: the log lost them before they were counted, or may have */
      readonly state: 'opened' | 'unfillable' | 'lost' | 'unknown'
      /** Last trade before */
      readonly from: string
      /** First trade after */
      readonly to: string
      /** How many, where ids tell */
      readonly missing: number | null
      /** What of the venue’s own past says the taker volume of all hours that it touches (view venue_candles); not counted, since trades of those hours are. Null: nothing does, or it ended over eight days ago */
      readonly past: 'archive' | 'venue_candles' | 'mixed' | null
    }[]
  }
  /** From when cvd counts: the first trade in the log; null: none yet */
  readonly since: string | null
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 30 s */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface CvdHistoryInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
  /** Width of a bucket; weeks begin with Monday; one of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 8h, 12h, 1d, 1w */
  readonly interval?: '1m' | '3m' | '5m' | '15m' | '30m' | '1h' | '2h' | '4h' | '8h' | '12h' | '1d' | '1w'
  /** Anchor: cvd counts from the bucket that it lies in, and points begin there; without it from the first trade; an ISO 8601 time or Unix milliseconds */
  readonly since?: string | number
  /** Earliest bucket start, inclusive; with it, the oldest `limit` rows are given; an ISO 8601 time or Unix milliseconds */
  readonly start?: string | number
  /** Latest bucket start, exclusive; an ISO 8601 time or Unix milliseconds */
  readonly end?: string | number
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
}

export type CvdHistoryAnswer = {
  /** Base asset */
  readonly symbol: string
  /** Width of a bucket */
  readonly interval: '1m' | '3m' | '5m' | '15m' | '30m' | '1h' | '2h' | '4h' | '8h' | '12h' | '1d' | '1w'
  /** A point for every bucket, oldest first; delta 0 where nothing traded */
  readonly points: readonly {
    /** Start of the bucket */
    readonly time: string
    /** Taker buys minus taker sells of the bucket, base units */
    readonly delta: number
    /** Taker buys, base units */
    readonly buy_volume: number
    /** Taker sells, base units */
    readonly sell_volume: number
    /** Running total since `since`, at the end of the bucket, base units; before the first trade the same curve goes on to the left */
    readonly cvd: number
    /** trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time. Null: nothing is known of that time, as the candles of Bybit, OKX and Coinbase do not say what takers bought, and the zeros beside it say nothing */
    readonly source: 'trades' | 'archive' | 'venue_candles' | 'mixed' | null
    /** The same by venue */
    readonly exchanges: Readonly<
      Record<
        'binance' | 'bybit' | 'okx' | 'coinbase' | 'kraken' | 'gate' | 'binance_spot' | 'bitget' | 'hyperliquid',
        {
          /** Taker buys minus taker sells of the bucket, base units */
          readonly delta: number
          /** Taker buys, base units */
          readonly buy_volume: number
          /** Taker sells, base units */
          readonly sell_volume: number
          /** Running total since `since`, at the end of the bucket, base units; before the first trade the same curve goes on to the left */
          readonly cvd: number
          /** trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time. Null: nothing is known of that time, as the candles of Bybit, OKX and Coinbase do not say what takers bought, and the zeros beside it say nothing */
          readonly source: 'trades' | 'archive' | 'venue_candles' | 'mixed' | null
        }
      >
    >
    /** Whether the time of the bucket is over and no trade of it is missing; false for ever where completeness is gap for good */
    readonly complete: boolean
    /** complete: all trades as they came; backfilled: some were fetched later; gap: some are missing, or it begins before the first trade */
    readonly completeness: 'complete' | 'backfilled' | 'gap'
  }[]
  /** From when cvd counts: the bucket of `since`, or the first trade in the log; null: none yet */
  readonly since: string | null
  /** Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all */
  readonly next: string | null
  /** What of the time asked for the log really has */
  readonly coverage: {
    /** From here on the figures count */
    readonly from: string
    /** Up to here they count */
    readonly to: string
    /** The log reaches back to the start, has no hole and every listing venue was heard to the end */
    readonly complete: boolean
    /** How much of the time asked for the log holds, 0 to 1: the mean over the instruments; missing trades count as not held */
    readonly share: number
    /** Holes, newest first, at most 50 */
    readonly gaps: readonly {
      /** Venue; all: the log itself lost them */
      readonly exchange: string
      /** opened: being fetched; unfillable: the venue serves them no more; lost: the log lost them before they were counted, or may have */
      readonly state: 'opened' | 'unfillable' | 'lost' | 'unknown'
      /** Last trade before */
      readonly from: string
      /** First trade after */
      readonly to: string
      /** How many, where ids tell */
      readonly missing: number | null
      /** What of the venue’s own past says the taker volume of all hours that it touches (view venue_candles); not counted, since trades of those hours are. Null: nothing does, or it ended over eight days ago */
      readonly past: 'archive' | 'venue_candles' | 'mixed' | null
    }[]
  }
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 30 s */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface OhlcvInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
  /** Width of a bucket; weeks begin with Monday; one of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 8h, 12h, 1d, 1w */
  readonly interval?: '1m' | '3m' | '5m' | '15m' | '30m' | '1h' | '2h' | '4h' | '8h' | '12h' | '1d' | '1w'
  /** Whose trades; all merges spot and perpetual prices, so its wicks are wider; one of binance, bybit, okx, coinbase, kraken, gate, binance_spot, bitget, hyperliquid, all */
  readonly exchange?:
    'binance' | 'bybit' | 'okx' | 'coinbase' | 'kraken' | 'gate' | 'binance_spot' | 'bitget' | 'hyperliquid' | 'all'
  /** Earliest bucket start, inclusive; with it, the oldest `limit` rows are given; an ISO 8601 time or Unix milliseconds */
  readonly start?: string | number
  /** Latest bucket start, exclusive; an ISO 8601 time or Unix milliseconds */
  readonly end?: string | number
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
}

export type OhlcvAnswer = {
  /** Base asset */
  readonly symbol: string
  /** Width of a candle */
  readonly interval: '1m' | '3m' | '5m' | '15m' | '30m' | '1h' | '2h' | '4h' | '8h' | '12h' | '1d' | '1w'
  /** Whose trades; all merges spot and perpetual prices */
  readonly exchange:
    'binance' | 'bybit' | 'okx' | 'coinbase' | 'kraken' | 'gate' | 'binance_spot' | 'bitget' | 'hyperliquid' | 'all'
  /** Oldest first; none where nothing traded */
  readonly candles: readonly {
    /** Start of the candle */
    readonly time: string
    /** First price by venue time */
    readonly open: number
    /** Highest price */
    readonly high: number
    /** Lowest price */
    readonly low: number
    /** Last price by venue time */
    readonly close: number
    /** Base units */
    readonly volume: number
    /** Taker buys, base units; null: the venue’s candle does not say */
    readonly buy_volume: number | null
    /** Taker sells, base units; null as buy_volume */
    readonly sell_volume: number | null
    /** Trade records, or the fills of the venue’s candle; a venue may merge several fills into one; null: it does not say */
    readonly trades: number | null
    /** trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time */
    readonly source: 'trades' | 'archive' | 'venue_candles' | 'mixed'
    /** Whether the time of the bucket is over and no trade of it is missing; false for ever where completeness is gap for good */
    readonly complete: boolean
    /** complete: all trades as they came; backfilled: some were fetched later; gap: some are missing, or it begins before the first trade */
    readonly completeness: 'complete' | 'backfilled' | 'gap'
  }[]
  /** Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all */
  readonly next: string | null
  /** What of the time asked for the log really has */
  readonly coverage: {
    /** From here on the figures count */
    readonly from: string
    /** Up to here they count */
    readonly to: string
    /** The log reaches back to the start, has no hole and every listing venue was heard to the end */
    readonly complete: boolean
    /** How much of the time asked for the log holds, 0 to 1: the mean over the instruments; missing trades count as not held */
    readonly share: number
    /** Holes, newest first, at most 50 */
    readonly gaps: readonly {
      /** Venue; all: the log itself lost them */
      readonly exchange: string
      /** opened: being fetched; unfillable: the venue serves them no more; lost: the log lost them before they were counted, or may have */
      readonly state: 'opened' | 'unfillable' | 'lost' | 'unknown'
      /** Last trade before */
      readonly from: string
      /** First trade after */
      readonly to: string
      /** How many, where ids tell */
      readonly missing: number | null
      /** What of the venue’s own past says the taker volume of all hours that it touches (view venue_candles); not counted, since trades of those hours are. Null: nothing does, or it ended over eight days ago */
      readonly past: 'archive' | 'venue_candles' | 'mixed' | null
    }[]
  }
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 30 s */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface FundingExtremeInput {
  /** Least size of a rate that is flagged, percent; a number, 0 or more */
  readonly threshold?: number
}

export type FundingExtremeAnswer = {
  /** When the markets were read */
  readonly scanned_at: string
  /** Least size of a rate that is flagged, percent */
  readonly threshold: number
  /** Perpetuals of the three venues that were looked at */
  readonly total_markets_scanned: number
  /** Perpetuals known, but too old to be looked at */
  readonly stale_markets: number
  /** Those that are flagged */
  readonly extreme_markets: number
  /** Those of them that pay their venue’s interest and nothing else */
  readonly baseline_markets: number
  /** Largest first; of equal ones those at their baseline last */
  readonly results: readonly {
    /** As BTCUSDT */
    readonly symbol: string
    /** Its venue */
    readonly exchange: 'binance' | 'bybit' | 'okx'
    /** Running rate, fraction per interval */
    readonly funding_rate: number
    /** The same, percent */
    readonly funding_rate_pct: number
    /** By the year, percent */
    readonly annualized_pct: number
    /** What it pays while perpetual and index agree: the venue’s interest, percent per interval */
    readonly baseline_pct: number
    /** funding_rate_pct minus that */
    readonly excess_pct: number
    /** Whether there is no such excess: flagged, since the threshold is a least size, but not unusual */
    readonly baseline: boolean
    /** Who pays */
    readonly direction: 'longs_paying' | 'shorts_paying'
    /** By the sign of the rate */
    readonly signal: 'extreme_bullish' | 'extreme_bearish'
    /** Mark price, USDT */
    readonly mark_price: number
    /** Hours between two settlements of this perpetual */
    readonly interval_hours: number
    /** When the rate is settled */
    readonly next_funding_time: string
  }[]
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: rates 120 s, marks 60 s */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface FundingHistoryInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
  /** Whose perpetual; one of binance, bybit, okx, gate, bitget, hyperliquid */
  readonly exchange?: 'binance' | 'bybit' | 'okx' | 'gate' | 'bitget' | 'hyperliquid'
  /** Earliest bucket start, inclusive; with it, the oldest `limit` rows are given; an ISO 8601 time or Unix milliseconds */
  readonly start?: string | number
  /** Latest bucket start, exclusive; an ISO 8601 time or Unix milliseconds */
  readonly end?: string | number
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
}

export type FundingHistoryAnswer = {
  /** Perpetual, as BTCUSDT */
  readonly symbol: string
  /** Its venue; beyond binance, bybit and okx settled rates are all that is known, where its markets are listed here */
  readonly exchange: 'binance' | 'bybit' | 'okx' | 'gate' | 'bitget' | 'hyperliquid'
  /** Newest first */
  readonly history: readonly {
    /** When it was */
    readonly time: string
    /** Settled rate, fraction */
    readonly funding_rate: number
    /** The same, percent */
    readonly funding_rate_pct: number
    /** By the year of its own interval, percent; null: the interval is not known */
    readonly annualized_pct: number | null
    /** Hours since the settlement before, or the interval now where that is not known */
    readonly interval_hours: number | null
    /** live: told when it was settled, or days later; venue_history: read back later */
    readonly source: 'live' | 'venue_history'
  }[]
  /** Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all */
  readonly next: string | null
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 120 s without word from the venue; 9 h since its newest rate where nothing but the past is read of it */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface FundingRateInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
}

export type FundingRateAnswer = {
  /** Perpetual, as BTCUSDT */
  readonly symbol: string
  /** Whose perpetual: Binance, else Bybit, else OKX */
  readonly exchange: 'binance' | 'bybit' | 'okx'
  /** Running rate for next_funding_time, fraction per interval; positive: longs pay shorts */
  readonly funding_rate: number
  /** funding_rate x (24 / interval_hours) x 365, fraction */
  readonly funding_rate_annualized: number
  /** Hours between two settlements of this perpetual */
  readonly interval_hours: number
  /** When that rate is settled */
  readonly next_funding_time: string
  /** By the size of the rate in percent: beyond 0.05 extreme, 0.01 plain, 0.003 slight, else neutral; positive: bullish */
  readonly signal:
    'extreme_bullish' | 'bullish' | 'slightly_bullish' | 'neutral' | 'slightly_bearish' | 'bearish' | 'extreme_bearish'
  /** The signal in words */
  readonly signal_label: string
  /** Mark price, USDT */
  readonly mark_price: number
  /** Index price, USDT */
  readonly index_price: number
  /** Newest settled rate, fraction */
  readonly last_settled_rate: number | null
  /** The same, percent */
  readonly last_settled_pct: number | null
  /** When it was settled */
  readonly last_settled_time: string | null
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: rates 120 s, marks 60 s */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface FundingCompareInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
}

export type FundingCompareAnswer = {
  /** Base asset */
  readonly symbol: string
  /** The venues */
  readonly exchanges: Readonly<
    Record<
      'binance' | 'bybit' | 'okx',
      {
        /** Running rate, fraction per interval */
        readonly funding_rate: number | null
        /** By the year, percent */
        readonly annualized_pct: number | null
        /** When that rate is settled */
        readonly next_funding_time: string | null
        /** Mark price, USDT */
        readonly mark_price: number | null
        /** Hours between two settlements of this perpetual */
        readonly interval_hours: number | null
        /** live; stale: not heard for too long; unavailable: nothing is known; unlisted: it has no such perpetual */
        readonly status: 'live' | 'stale' | 'unavailable' | 'unlisted'
        /** Time of the newest input */
        readonly as_of: string | null
      }
    >
  >
  /** Long where funding is lowest by the year, short where it is highest; null below two venues */
  readonly best_arb: {
    /** Where to be long */
    readonly long_exchange: 'binance' | 'bybit' | 'okx'
    /** Where to be short */
    readonly short_exchange: 'binance' | 'bybit' | 'okx'
    /** Raw rate of the short exchange minus that of the long one, fractions */
    readonly rate_spread: number
    /** Difference of the annualised rates, percent */
    readonly annualized_spread_pct: number
    /** long_<venue>_short_<venue> */
    readonly direction: string
  } | null
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: rates 120 s, marks 60 s */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface PredictedFundingInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
}

export type PredictedFundingAnswer = {
  /** Base asset */
  readonly symbol: string
  /** Whose perpetual: Binance, else Bybit, else OKX */
  readonly exchange: 'binance' | 'bybit' | 'okx'
  /** The venue’s running rate, fraction per interval */
  readonly current_funding_rate: number
  /** Our model’s rate of the next settlement, fraction; positive: longs will pay shorts */
  readonly predicted_funding_rate: number
  /** By the year, percent */
  readonly predicted_annualized_pct: number
  /** venue: no premium is known since the last settlement, its running rate stands */
  readonly predicted_by: 'model' | 'venue'
  /** Hours between two settlements of this perpetual */
  readonly interval_hours: number
  /** The next settlement */
  readonly next_funding_time: string
  /** Time until then, milliseconds */
  readonly time_to_funding_ms: number
  /** Newest one-minute premium index, fraction; before the first, mark over index less one */
  readonly premium_index: number
  /** Its time-weighted mean since the last settlement, fraction */
  readonly average_premium_index: number | null
  /** Minutes that the mean rests on */
  readonly premium_samples: number
  /** Minutes since the last settlement */
  readonly premium_samples_expected: number
  /** Mark price, USDT */
  readonly mark_price: number
  /** Index price, USDT */
  readonly index_price: number
  /** By the size of the rate in percent: beyond 0.05 extreme, 0.01 plain, 0.003 slight, else neutral; positive: bullish */
  readonly signal:
    'extreme_bullish' | 'bullish' | 'slightly_bullish' | 'neutral' | 'slightly_bearish' | 'bearish' | 'extreme_bearish'
  /** Newest settled rate, fraction */
  readonly last_settled_rate: number | null
  /** The same, percent */
  readonly last_settled_pct: number | null
  /** When it was settled */
  readonly last_settled_time: string | null
  /** The last 10 settlements, newest first */
  readonly funding_history: readonly {
    /** When it was */
    readonly time: string
    /** Settled rate, fraction */
    readonly rate: number
  }[]
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: rates 120 s, marks 60 s */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface BasisInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
}

export type BasisAnswer = {
  /** Base asset */
  readonly symbol: string
  /** Middle of the book of Binance’s USDT spot pair, USDT */
  readonly spot_price: number
  /** Whose spot price */
  readonly spot_exchange: string
  /** Time of the spot price */
  readonly spot_as_of: string
  /** How old that is, milliseconds */
  readonly spot_age_ms: number
  /** The venues */
  readonly exchanges: Readonly<
    Record<
      'binance' | 'bybit' | 'okx',
      {
        /** Mark price, USDT */
        readonly perp_price: number | null
        /** perp_price minus spot_price, USDT taken for USD */
        readonly basis_usd: number | null
        /** The same, percent of spot_price */
        readonly basis_pct: number | null
        /** basis_pct x (8760 / interval_hours), as if the premium were earned at each funding: a measure for comparing venues, not a yield */
        readonly basis_annualized_pct: number | null
        /** contango: perpetual at or above spot */
        readonly direction: 'contango' | 'backwardation' | null
        /** live; stale: not heard for too long; unavailable: nothing is known; unlisted: it has no such perpetual */
        readonly status: 'live' | 'stale' | 'unavailable' | 'unlisted'
        /** Time of the mark price */
        readonly as_of: string | null
        /** Hours between two settlements of this perpetual */
        readonly interval_hours: number | null
      }
    >
  >
  /** The venue with the highest basis_annualized_pct, also when none is positive; null without one whose funding is known */
  readonly best_carry_trade: {
    /** The venue */
    readonly exchange: 'binance' | 'bybit' | 'okx'
    /** What the trade is paid by the year, percent: funding_rate x (24 / interval_hours) x 365 x 100. It changes with the rate, and is not basis_annualized_pct, by which the venue is chosen */
    readonly annualized_yield_pct: number
    /** long_spot_short_<venue>_perp */
    readonly strategy: string
    /** Earned once, when the perpetual is back at spot; not part of the yield */
    readonly basis_pct: number
    /** Running rate, fraction per interval; positive: the short side is paid */
    readonly funding_rate: number
    /** Hours between two settlements of this perpetual */
    readonly interval_hours: number
    /** When that rate is paid */
    readonly next_funding_time: string
  } | null
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: spot 15 s, marks 60 s */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface BasisHistoryInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
  /** Width of a bucket; weeks begin with Monday; one of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 8h, 12h, 1d, 1w */
  readonly interval?: '1m' | '3m' | '5m' | '15m' | '30m' | '1h' | '2h' | '4h' | '8h' | '12h' | '1d' | '1w'
  /** Earliest bucket start, inclusive; with it, the oldest `limit` rows are given; an ISO 8601 time or Unix milliseconds */
  readonly start?: string | number
  /** Latest bucket start, exclusive; an ISO 8601 time or Unix milliseconds */
  readonly end?: string | number
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
}

export type BasisHistoryAnswer = {
  /** Base asset */
  readonly symbol: string
  /** Width of a bucket */
  readonly interval: '1m' | '3m' | '5m' | '15m' | '30m' | '1h' | '2h' | '4h' | '8h' | '12h' | '1d' | '1w'
  /** A point for every bucket since the first that there is, oldest first */
  readonly points: readonly {
    /** Start of the bucket */
    readonly time: string
    /** Last price of Binance’s USDT spot pair in the bucket, USDT; null: none */
    readonly spot_price: number | null
    /** The same by venue */
    readonly exchanges: Readonly<
      Record<
        'binance' | 'bybit' | 'okx',
        {
          /** Last mark price of the bucket, USDT; null: not heard in it */
          readonly perp_price: number | null
          /** The venue’s own index at that mark, USDT; null: not said */
          readonly index_price: number | null
          /** spot: spot_price; index: index_price, in a bucket without spot_price; null: neither */
          readonly against: 'spot' | 'index' | null
          /** perp_price minus that, USDT taken for USD; null: one is missing */
          readonly basis_usd: number | null
          /** The same, percent of it */
          readonly basis_pct: number | null
          /** contango: perpetual at or above it */
          readonly direction: 'contango' | 'backwardation' | null
          /** live: told when it was so; venue_history: told by the venue of its past; null: not heard */
          readonly source: 'live' | 'venue_history' | null
        }
      >
    >
    /** The bucket is over, and every venue that lists the asset was heard in it */
    readonly complete: boolean
  }[]
  /** Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all */
  readonly next: string | null
  /** What of the time asked for there is */
  readonly coverage: {
    /** Start of the first bucket */
    readonly from: string
    /** Up to here there are figures */
    readonly to: string
    /** Every closed bucket that was asked for is there and complete */
    readonly complete: boolean
    /** How many of them are, 0 to 1 */
    readonly share: number
  }
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 60 s without word from any venue */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface OpenInterestInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
}

export type OpenInterestAnswer = {
  /** Base asset */
  readonly symbol: string
  /** Sum of the venues that count, base units of one side */
  readonly open_interest: number
  /** The same at each venue’s mark price, USDT taken for USD; null: a mark is missing or older than 60 s */
  readonly open_interest_usd: number | null
  /** How many venues that is */
  readonly venues: number
  /** The venues */
  readonly exchanges: Readonly<
    Record<
      'binance' | 'bybit' | 'okx',
      {
        /** Base units of one side */
        readonly open_interest: number | null
        /** The same at mark_price */
        readonly open_interest_usd: number | null
        /** Mark price of the last 60 s, USDT */
        readonly mark_price: number | null
        /** live; stale: not heard for too long; unavailable: nothing is known; unlisted: it has no such perpetual */
        readonly status: 'live' | 'stale' | 'unavailable' | 'unlisted'
        /** Time of the open interest */
        readonly as_of: string | null
      }
    >
  >
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 120 s */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface OpenInterestHistoryInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
  /** Width of a bucket; weeks begin with Monday; one of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 8h, 12h, 1d, 1w */
  readonly interval?: '1m' | '3m' | '5m' | '15m' | '30m' | '1h' | '2h' | '4h' | '8h' | '12h' | '1d' | '1w'
  /** Earliest bucket start, inclusive; with it, the oldest `limit` rows are given; an ISO 8601 time or Unix milliseconds */
  readonly start?: string | number
  /** Latest bucket start, exclusive; an ISO 8601 time or Unix milliseconds */
  readonly end?: string | number
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
}

export type OpenInterestHistoryAnswer = {
  /** Base asset */
  readonly symbol: string
  /** Width of a bucket */
  readonly interval: '1m' | '3m' | '5m' | '15m' | '30m' | '1h' | '2h' | '4h' | '8h' | '12h' | '1d' | '1w'
  /** A point for every bucket since the first that there is, oldest first */
  readonly points: readonly {
    /** Start of the bucket */
    readonly time: string
    /** Sum of the venues that were heard in the bucket, base units of one side; null: none was */
    readonly open_interest: number | null
    /** The same at each venue’s last mark price of the bucket; null: one is missing */
    readonly open_interest_usd: number | null
    /** The same by venue */
    readonly exchanges: Readonly<
      Record<
        'binance' | 'bybit' | 'okx',
        {
          /** Base units of one side; null: not heard in the bucket */
          readonly open_interest: number | null
          /** The same at the last mark price of the bucket, USDT taken for USD */
          readonly open_interest_usd: number | null
          /** live: told when it was so; venue_history: told by the venue of its past; null: not heard */
          readonly source: 'live' | 'venue_history' | null
        }
      >
    >
    /** The bucket is over, and every venue that lists the asset was heard in it */
    readonly complete: boolean
  }[]
  /** Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all */
  readonly next: string | null
  /** What of the time asked for there is */
  readonly coverage: {
    /** Start of the first bucket */
    readonly from: string
    /** Up to here there are figures */
    readonly to: string
    /** Every closed bucket that was asked for is there and complete */
    readonly complete: boolean
    /** How many of them are, 0 to 1 */
    readonly share: number
  }
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 120 s without word from any venue */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface LongShortInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
}

export type LongShortAnswer = {
  /** Base asset */
  readonly symbol: string
  /** The venues */
  readonly exchanges: Readonly<
    Record<
      'binance' | 'okx' | 'gate',
      {
        /** Share of longs, 0 to 1 */
        readonly long_ratio: number | null
        /** Share of shorts, 0 to 1; the two add up to 1 */
        readonly short_ratio: number | null
        /** Longs over shorts */
        readonly ls_ratio: number | null
        /** Whose positions */
        readonly source: 'top_traders'
        /** live; stale: not heard for too long; unavailable: nothing is known; unlisted: it has no such perpetual */
        readonly status: 'live' | 'stale' | 'unavailable' | 'unlisted'
        /** Start of the venue’s period */
        readonly as_of: string | null
      }
    >
  >
  /** All venues that count */
  readonly aggregate: {
    /** Arithmetic mean of the ratios */
    readonly avg_ls_ratio: number
    /** By the mean: beyond 2 / 1.5 / 1.02 bullish, below 0.5 / 0.67 / 0.98 bearish */
    readonly sentiment:
      | 'Extremely bullish'
      | 'Bullish'
      | 'Slightly bullish'
      | 'Neutral'
      | 'Slightly bearish'
      | 'Bearish'
      | 'Extremely bearish'
    /** The same as a sentence */
    readonly interpretation: string
  }
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 10 min */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface LongShortHistoryInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
  /** Width of a bucket; weeks begin with Monday; one of 5m, 15m, 30m, 1h, 2h, 4h, 8h, 12h, 1d, 1w */
  readonly interval?: '5m' | '15m' | '30m' | '1h' | '2h' | '4h' | '8h' | '12h' | '1d' | '1w'
  /** Earliest bucket start, inclusive; with it, the oldest `limit` rows are given; an ISO 8601 time or Unix milliseconds */
  readonly start?: string | number
  /** Latest bucket start, exclusive; an ISO 8601 time or Unix milliseconds */
  readonly end?: string | number
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
}

export type LongShortHistoryAnswer = {
  /** Base asset */
  readonly symbol: string
  /** Width of a bucket */
  readonly interval: '1m' | '3m' | '5m' | '15m' | '30m' | '1h' | '2h' | '4h' | '8h' | '12h' | '1d' | '1w'
  /** A point for every bucket since the first that there is, oldest first */
  readonly points: readonly {
    /** Start of the bucket */
    readonly time: string
    /** Arithmetic mean of the venues that were heard in the bucket; null: none was */
    readonly avg_ls_ratio: number | null
    /** The same by venue */
    readonly exchanges: Readonly<
      Record<
        'binance' | 'okx' | 'gate',
        {
          /** Share of longs, 0 to 1; null: no period of the venue begins in the bucket */
          readonly long_ratio: number | null
          /** Share of shorts, 0 to 1 */
          readonly short_ratio: number | null
          /** Longs over shorts */
          readonly ls_ratio: number | null
          /** live: told when it was so; venue_history: told by the venue of its past; null: not heard */
          readonly source: 'live' | 'venue_history' | null
        }
      >
    >
    /** The bucket is over, and every venue that lists the asset was heard in it */
    readonly complete: boolean
  }[]
  /** Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all */
  readonly next: string | null
  /** What of the time asked for there is */
  readonly coverage: {
    /** Start of the first bucket */
    readonly from: string
    /** Up to here there are figures */
    readonly to: string
    /** Every closed bucket that was asked for is there and complete */
    readonly complete: boolean
    /** How many of them are, 0 to 1 */
    readonly share: number
  }
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 10 min without word from any venue */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface LiquidationHeatmapInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
}

export type LiquidationHeatmapAnswer = {
  /** Base asset */
  readonly symbol: string
  /** Median of the venues’ marks, USD */
  readonly current_price: number
  /** Open interest of the venues, one side, USD */
  readonly open_interest_usd: number
  /** high: over 10 % of open interest within 5 % of the price; else medium: 5 % or more within 10 %; else low */
  readonly cascade_risk: 'low' | 'medium' | 'high'
  /** Always true */
  readonly estimated: boolean
  /** From here on openings and closings of positions were seen; what was open before is laid out by assumption */
  readonly levels_since: string
  /** Five tiers by two sides, nearest price first */
  readonly leverage_clusters: readonly {
    /** Tier */
    readonly leverage: '5x' | '10x' | '25x' | '50x' | '100x'
    /** Their mean weighted by size, USD; the current price where there are none */
    readonly liquidation_price: number
    /** From the current price, percent of it; negative: below */
    readonly distance_pct: number
    /** Their sum, USD */
    readonly oi_at_risk_usd: number
    /** The position, not the order */
    readonly side: 'long' | 'short'
  }[]
  /** Buckets that are not empty, nearest first, out to 25 % */
  readonly levels: readonly {
    /** Its middle, USD */
    readonly price: number
    /** Longs that are liquidated there, USD */
    readonly long_usd: number
    /** Shorts that are liquidated there, USD */
    readonly short_usd: number
  }[]
  /** How much is at risk */
  readonly risk_summary: {
    /** Within 5 % of the price, USD */
    readonly total_oi_at_risk_usd: number
    /** The same, percent of open interest */
    readonly oi_at_risk_pct: number
    /** Within 10 % of the price, USD */
    readonly total_oi_at_risk_10pct_usd: number
    /** The same, percent of open interest */
    readonly oi_at_risk_10pct_pct: number
    /** high: over 10 % of open interest within 5 % of the price; else medium: 5 % or more within 10 %; else low */
    readonly cascade_risk: 'low' | 'medium' | 'high'
    /** The rule that decided the class, with its figure; on the first day also since when levels are known */
    readonly cascade_risk_reason: string
  }
  /** Venues that count, by name */
  readonly exchanges: Readonly<
    Record<
      string,
      {
        /** One side, USD */
        readonly open_interest_usd: number
        /** USD */
        readonly mark_price: number
        /** Time of the older of the two */
        readonly as_of: string
      }
    >
  >
  /** What the model had where the price went, beside what venues reported since */
  readonly calibration: {
    /** Since when both count */
    readonly since: string
    /** Long levels that the mark has crossed, USD */
    readonly swept_long_usd: number
    /** Short levels that the mark has crossed, USD */
    readonly swept_short_usd: number
    /** Longs that venues reported liquidated, USD; a lower bound: not every venue sends all */
    readonly observed_long_usd: number
    /** Shorts that venues reported liquidated, USD */
    readonly observed_short_usd: number
    /** Observed over swept; null: nothing was swept */
    readonly observed_to_swept: number | null
  }
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 120 s */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface LiquidationHeatmapHistoryInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
  /** Width of a bucket; weeks begin with Monday; one of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 8h, 12h, 1d, 1w */
  readonly interval?: '1m' | '3m' | '5m' | '15m' | '30m' | '1h' | '2h' | '4h' | '8h' | '12h' | '1d' | '1w'
  /** Earliest bucket start, inclusive; with it, the oldest `limit` rows are given; an ISO 8601 time or Unix milliseconds */
  readonly start?: string | number
  /** Latest bucket start, exclusive; an ISO 8601 time or Unix milliseconds */
  readonly end?: string | number
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
}

export type LiquidationHeatmapHistoryAnswer = {
  /** Base asset */
  readonly symbol: string
  /** Width of a bucket */
  readonly interval: '1m' | '3m' | '5m' | '15m' | '30m' | '1h' | '2h' | '4h' | '8h' | '12h' | '1d' | '1w'
  /** A point for every bucket since the first that there is, oldest first */
  readonly points: readonly {
    /** Start of the bucket */
    readonly time: string
    /** Median of the venues’ marks at the end of the bucket, USD; null: none is known */
    readonly price: number | null
    /** Open interest of the venues then, one side, USD */
    readonly open_interest_usd: number
    /** Rows that are not empty, lowest price first, out to 10 % of the price: an estimate, as that of /liquidation/heatmap */
    readonly levels: readonly {
      /** Its middle, USD */
      readonly price: number
      /** Longs that are liquidated there, USD */
      readonly long_usd: number
      /** Shorts that are liquidated there, USD */
      readonly short_usd: number
    }[]
    /** The same by venue */
    readonly exchanges: Readonly<
      Record<
        'binance' | 'bybit' | 'okx',
        {
          /** The last it said in the bucket, base units of one side; null: it said nothing */
          readonly open_interest: number | null
          /** Its last mark price of the bucket, USDT */
          readonly mark_price: number | null
        }
      >
    >
    /** The bucket is over, and every venue that lists the asset was heard in it */
    readonly complete: boolean
  }[]
  /** Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all */
  readonly next: string | null
  /** What of the time asked for there is */
  readonly coverage: {
    /** Start of the first bucket */
    readonly from: string
    /** Up to here there are figures */
    readonly to: string
    /** Every closed bucket that was asked for is there and complete */
    readonly complete: boolean
    /** How many of them are, 0 to 1 */
    readonly share: number
  }
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 120 s without word from any venue */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface LiquidationRecentInput {
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
  /** One symbol only; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol?: string
}

export type LiquidationRecentAnswer = {
  /** Events in this answer */
  readonly count: number
  /** As BTCUSDT; null: all symbols */
  readonly symbol_filter: string | null
  /** Newest first */
  readonly events: readonly {
    /** liq_<unix seconds>_<place in the log> */
    readonly id: string
    /** As BTCUSDT */
    readonly symbol: string
    /** The position, not the order */
    readonly side: 'long' | 'short'
    /** Base units */
    readonly size: number
    /** USD */
    readonly price: number
    /** price x size, USD */
    readonly value_usd: number
    /** The venue’s time */
    readonly timestamp: string
    /** Venue, upper case */
    readonly exchange: string
    /** What the price is */
    readonly price_kind: 'unknown' | 'bankruptcy' | 'order' | 'average_fill'
    /** all: the venue sends every one; sampled: the largest of a symbol and second */
    readonly completeness: 'unknown' | 'all' | 'sampled'
  }[]
  /** Counts of the whole log, not of the events shown */
  readonly stats: {
    /** The last hour */
    readonly last_1h: {
      /** Liquidations */
      readonly total_events: number
      /** Of longs */
      readonly long_liquidations: number
      /** Of shorts */
      readonly short_liquidations: number
      /** USD */
      readonly total_value_usd: number
      /** From when they count; null: none was ever seen */
      readonly since: string | null
    }
    /** The last 24 hours */
    readonly last_24h: {
      /** Liquidations */
      readonly total_events: number
      /** USD */
      readonly total_value_usd: number
      /** From when they count; null: none was ever seen */
      readonly since: string | null
    }
  }
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 30 s without word from any venue */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface LiquidationHistoryInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
  /** Width of a bucket; weeks begin with Monday; one of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 8h, 12h, 1d, 1w */
  readonly interval?: '1m' | '3m' | '5m' | '15m' | '30m' | '1h' | '2h' | '4h' | '8h' | '12h' | '1d' | '1w'
  /** Earliest bucket start, inclusive; with it, the oldest `limit` rows are given; an ISO 8601 time or Unix milliseconds */
  readonly start?: string | number
  /** Latest bucket start, exclusive; an ISO 8601 time or Unix milliseconds */
  readonly end?: string | number
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
}

export type LiquidationHistoryAnswer = {
  /** Base asset */
  readonly symbol: string
  /** Width of a bucket */
  readonly interval: '1m' | '3m' | '5m' | '15m' | '30m' | '1h' | '2h' | '4h' | '8h' | '12h' | '1d' | '1w'
  /** A point for every bucket since the first that there is, oldest first */
  readonly points: readonly {
    /** Start of the bucket */
    readonly time: string
    /** Worth of the long positions that were liquidated, USD; a lower bound where a venue sends samples */
    readonly long_usd: number
    /** The same of short positions */
    readonly short_usd: number
    /** Long positions */
    readonly long_count: number
    /** Short positions */
    readonly short_count: number
    /** The same by venue */
    readonly exchanges: Readonly<
      Record<
        'bybit' | 'okx' | 'binance',
        {
          /** Worth of the long positions that were liquidated, USD; a lower bound where a venue sends samples */
          readonly long_usd: number
          /** The same of short positions */
          readonly short_usd: number
          /** Long positions */
          readonly long_count: number
          /** Short positions */
          readonly short_count: number
        }
      >
    >
    /** The bucket is over, and every venue that lists the asset was heard in it */
    readonly complete: boolean
  }[]
  /** Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all */
  readonly next: string | null
  /** What of the time asked for there is */
  readonly coverage: {
    /** Start of the first bucket */
    readonly from: string
    /** Up to here there are figures */
    readonly to: string
    /** Every closed bucket that was asked for is there and complete */
    readonly complete: boolean
    /** How many of them are, 0 to 1 */
    readonly share: number
  }
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 30 s without word from any venue */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface ScreenerInput {
  /** What the symbols are sorted by; those that do not say it come last; one of symbol, price, change_24h_pct, funding_rate_pct, funding_annualized_pct, open_interest_usd, open_interest_change_1h_pct, open_interest_change_24h_pct, cvd_1h_usd, cvd_24h_usd, volume_24h_usd, long_liquidated_24h_usd, short_liquidated_24h_usd, liquidated_1h_usd, liquidated_24h_usd */
  readonly sort?:
    | 'symbol'
    | 'price'
    | 'change_24h_pct'
    | 'funding_rate_pct'
    | 'funding_annualized_pct'
    | 'open_interest_usd'
    | 'open_interest_change_1h_pct'
    | 'open_interest_change_24h_pct'
    | 'cvd_1h_usd'
    | 'cvd_24h_usd'
    | 'volume_24h_usd'
    | 'long_liquidated_24h_usd'
    | 'short_liquidated_24h_usd'
    | 'liquidated_1h_usd'
    | 'liquidated_24h_usd'
  /** Largest first, or smallest first; one of desc, asc */
  readonly order?: 'desc' | 'asc'
  /** Only symbols that meet all of these conditions (at most 8); one that does not say a figure does not meet it; up to 8 conditions, separated by commas, each a figure of the answer, > or <, and a number, as open_interest_usd>1000000 */
  readonly where?: string
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
}

export type ScreenerAnswer = {
  /** Symbols that venues list */
  readonly known: number
  /** Those that meet the conditions */
  readonly matching: number
  /** In the order that was asked for, at most `limit` */
  readonly symbols: readonly {
    /** Base asset */
    readonly symbol: string
    /** Whose running rate it is; null: none is known */
    readonly funding_exchange: 'binance' | 'bybit' | 'okx' | null
    /** Composite price, USD; null: no venue says it now */
    readonly price: number | null
    /** Its change in 24 h, percent */
    readonly change_24h_pct: number | null
    /** Running rate of the venue in `funding_exchange`, percent per interval */
    readonly funding_rate_pct: number | null
    /** The same by the year, percent */
    readonly funding_annualized_pct: number | null
    /** Sum of the venues that were heard in the last 120 s, their marks in the last 60 s, one side, USD */
    readonly open_interest_usd: number | null
    /** Change of open interest in base units, of the venues that say both, percent; null: nothing is known of then */
    readonly open_interest_change_1h_pct: number | null
    /** The same in 24 hours */
    readonly open_interest_change_24h_pct: number | null
    /** Taker buys minus taker sells of the last hour, USD; null: the trades of the symbol are not streamed */
    readonly cvd_1h_usd: number | null
    /** The same of 24 hours, as far as the log and the venues’ past reach back */
    readonly cvd_24h_usd: number | null
    /** Taker volume of 24 hours of the venues whose trades count, as far as the log and the venues’ past reach back, USD */
    readonly volume_24h_usd: number | null
    /** Longs liquidated in 24 hours, as far as venues say so, USD */
    readonly long_liquidated_24h_usd: number | null
    /** Shorts */
    readonly short_liquidated_24h_usd: number | null
    /** Both sides in the last hour, USD */
    readonly liquidated_1h_usd: number | null
    /** Both sides in 24 hours, USD */
    readonly liquidated_24h_usd: number | null
  }[]
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 120 s without word from any venue on funding */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface PriceInput {
  /** Base asset, any case; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol: string
}

export type PriceAnswer = {
  /** Base asset */
  readonly symbol: string
  /** USD */
  readonly price: number
  /** Median of the used venues’ own changes, percent; null: none says */
  readonly change_24h: number | null
  /** Lowest since the composite before, USD */
  readonly low: number
  /** Highest since the composite before, USD */
  readonly high: number
  /** degraded: one source only, or sources more than 1 % apart */
  readonly quality: 'good' | 'degraded' | 'unknown'
  /** Venues that the price is made of */
  readonly sources: readonly string[]
  /** The chain venues */
  readonly exchanges: Readonly<
    Record<
      'binance' | 'coinbase' | 'okx' | 'bybit' | 'kraken',
      {
        /** Middle of its book in USD, or its last price; null: not known */
        readonly price: number | null
        /** How long ago it last changed, milliseconds; a quiet market is not a dead one */
        readonly age_ms: number | null
        /** Whether it is part of the price */
        readonly used: boolean
        /** live; stale: not heard for 15 s; unavailable: nothing is known; unlisted */
        readonly status: 'live' | 'stale' | 'unavailable' | 'unlisted'
      }
    >
  >
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: 15 s */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface PricesInput {
  /** Symbols, separated by commas; any case; 1 to 20 of btc, eth, sol, xrp, bnb, ada, doge, avax, dot, link, matic, uni, apt, arb, op, sui, near, atom, pepe, shib, ton, trx, ltc, separated by commas */
  readonly symbols: readonly string[]
}

export type PricesAnswer = {
  /** Always true */
  readonly success: boolean
  /** By lower-case symbol; a symbol that nobody can price is left out */
  readonly data: Partial<
    Readonly<
      Record<
        | 'btc'
        | 'eth'
        | 'sol'
        | 'xrp'
        | 'bnb'
        | 'ada'
        | 'doge'
        | 'avax'
        | 'dot'
        | 'link'
        | 'matic'
        | 'uni'
        | 'apt'
        | 'arb'
        | 'op'
        | 'sui'
        | 'near'
        | 'atom'
        | 'pepe'
        | 'shib'
        | 'ton'
        | 'trx'
        | 'ltc',
        {
          /** USD */
          readonly price: number
          /** Percent; null: the source does not say */
          readonly change_24h: number | null
          /** USD, of the source; null: it does not say */
          readonly volume_24h: number | null
          /** Price x last known supply, USD; null: the supply is not known */
          readonly market_cap: number | null
          /** Who answered: the first of the chain that is alive, else the registry */
          readonly source: 'binance' | 'coinbase' | 'okx' | 'bybit' | 'kraken' | 'coingecko'
          /** Time of the price */
          readonly as_of: string
        }
      >
    >
  >
  /** About the answer */
  readonly meta: {
    /** Symbols in the answer */
    readonly count: number
    /** Symbols asked for */
    readonly requested: number
    /** Time of the newest input */
    readonly as_of: string
    /** How old that is, milliseconds */
    readonly age_ms: number
    /** Whether it is older than it may be: exchanges 15 s, the registry 5 min; of any symbol of the answer */
    readonly stale: boolean
    /** When the answer was given */
    readonly timestamp: string
    /** Whether it came from the cache */
    readonly cached: boolean
  }
}

export interface MarketInput {
  /** Registry id of the token; a registry id such as bitcoin */
  readonly id: string
}

export type MarketAnswer = {
  /** Always true */
  readonly success: boolean
  /** The token; null: the registry does not say */
  readonly data: {
    /** Registry id */
    readonly id: string
    /** Lower case */
    readonly symbol: string
    /** Name */
    readonly name: string
    /** Composite of the chain venues, else the registry’s, USD */
    readonly price: number | null
    /** Percent, of the same origin as the price */
    readonly change_24h: number | null
    /** Percent */
    readonly change_7d: number | null
    /** Percent */
    readonly change_30d: number | null
    /** Sum over the venues that `source` names, else the registry’s, USD */
    readonly volume_24h: number | null
    /** USD */
    readonly market_cap: number | null
    /** 1 is the largest */
    readonly market_cap_rank: number | null
    /** Tokens */
    readonly circulating_supply: number | null
    /** Tokens */
    readonly total_supply: number | null
    /** Highest price ever, USD */
    readonly ath: number | null
    /** When */
    readonly ath_date: string | null
    /** Lowest price ever, USD */
    readonly atl: number | null
    /** When */
    readonly atl_date: string | null
    /** The registry’s own time */
    readonly last_updated: string
    /** Where price and details come from */
    readonly source: string
  }
  /** Time of the newest input */
  readonly as_of: string
  /** How old that is, milliseconds */
  readonly age_ms: number
  /** Whether it is older than it may be: prices 15 s, the registry 5 min */
  readonly stale: boolean
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface PriceAlertCreateInput {
  /** Any symbol of the catalogue, in any case */
  readonly symbol: string
  /** above and below are levels, crosses_above and crosses_below ring once */
  readonly condition: 'above' | 'below' | 'crosses_above' | 'crosses_below'
  /** USD */
  readonly target_price: number
  /** HTTPS URL that is called, signed; this or channel */
  readonly webhook_url?: string
  /** Where the events go, instead of webhook_url: a chat, an incident, or a body of your own form */
  readonly channel?:
    | {
        /** Which channel */
        readonly type: 'webhook'
        /** an HTTPS URL */
        readonly url: string
      }
    | {
        /** Which channel */
        readonly type: 'slack'
        /** the address of an incoming webhook */
        readonly url: string
      }
    | {
        /** Which channel */
        readonly type: 'discord'
        /** the address of a webhook */
        readonly url: string
      }
    | {
        /** Which channel */
        readonly type: 'telegram'
        /** the token of your bot */
        readonly bot_token: string
        /** the chat that the bot is in */
        readonly chat_id: string
      }
    | {
        /** Which channel */
        readonly type: 'teams'
        /** the address of a workflow’s webhook */
        readonly url: string
      }
    | {
        /** Which channel */
        readonly type: 'pagerduty'
        /** the integration key of a service */
        readonly routing_key: string
      }
    | {
        /** Which channel */
        readonly type: 'email'
        /** an email address */
        readonly to: string
        /** the code that POST /email-codes has mailed to it */
        readonly code?: string
      }
    | {
        /** Which channel */
        readonly type: 'template'
        /** an HTTPS URL */
        readonly url: string
        /** what is sent, with {{field}} where a field is to be put in */
        readonly body: string
        /** what the body is */
        readonly content_type?: 'application/json' | 'application/x-www-form-urlencoded' | 'text/plain'
      }
  /** What rings in these hours of a day is told in one message at their end */
  readonly quiet_hours?: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one; left out: so for chats and email */
  readonly digest?: boolean
  /** EVM or Solana address that lists find the alert by */
  readonly agent_wallet?: string
  /** Lifetime */
  readonly expires_in_hours?: number
}

export type PriceAlertCreateAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** As submitted, in upper case; of several joined by commas, or all */
  readonly symbol: string
  /** What it waits for; crosses_* ring once */
  readonly condition: 'above' | 'below' | 'crosses_above' | 'crosses_below'
  /** USD */
  readonly target_price: number
  /** Always active */
  readonly status: 'active'
  /** When it was made */
  readonly created_at: string
  /** When it expires */
  readonly expires_at: string
  /** Lifetime, hours */
  readonly expires_in_hours: number
  /** As submitted; no other answer shows it */
  readonly webhook_url?: string
  /** Where the events go, where that is no signed webhook */
  readonly channel?: {
    /** Which channel */
    readonly type: string
    /** Where it leads, without anything secret; of a template only the creation’s answer says it */
    readonly destination?: string
  }
  /** What rings in these hours is told in one message at their end */
  readonly quiet_hours: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one */
  readonly digest: boolean
  /** Always 0 */
  readonly trigger_count: number
  /** Always 0 */
  readonly delivery_attempts: number
  /** What it does */
  readonly message: string
  /** Bearer token that cancels and extends the alert; only here */
  readonly manage_token: string
  /** What its webhooks are signed with: whsec_ and base64; only here */
  readonly webhook_secret: string
}

export interface PriceAlertInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
}

export type PriceAlertAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** As submitted, in upper case; of several joined by commas, or all */
  readonly symbol: string
  /** What it waits for; crosses_* ring once */
  readonly condition: 'above' | 'below' | 'crosses_above' | 'crosses_below'
  /** USD */
  readonly target_price: number
  /** Where the events go, where that is no signed webhook */
  readonly channel?: {
    /** Which channel */
    readonly type: string
    /** Where it leads, without anything secret; of a template only the creation’s answer says it */
    readonly destination?: string
  }
  /** What rings in these hours is told in one message at their end */
  readonly quiet_hours: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one */
  readonly digest: boolean
  /** Where it is in its life */
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  /** When it was made */
  readonly created_at: string
  /** When it expires */
  readonly expires_at: string
  /** It rests: it neither rings nor tells that something is over */
  readonly paused: boolean
  /** When that ends by itself; null: at a word of its owner */
  readonly paused_until: string | null
  /** Triggers so far */
  readonly trigger_count: number
  /** Attempts to deliver them; null: ClickHouse does not say just now */
  readonly delivery_attempts: number | null
  /** Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now */
  readonly gaps:
    | readonly {
        /** Last record before */
        readonly from: string
        /** First record after */
        readonly to: string
      }[]
    | null
}

export interface PriceAlertsInput {
  /** Only alerts of this agent_wallet or payer; case does not matter for EVM addresses; an EVM address (0x and 40 hexadecimal digits) or a Solana address (32 to 44 base58 characters) */
  readonly wallet?: string
  /** One symbol only; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol?: string
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
  /** Where the page before ended: its next_cursor; next_cursor of the page before */
  readonly cursor?: string
}

export type PriceAlertsAnswer = {
  /** Alerts of this page */
  readonly count: number
  /** Newest first */
  readonly alerts: readonly {
    /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
    readonly alert_id: string
    /** As submitted, in upper case; of several joined by commas, or all */
    readonly symbol: string
    /** What it waits for; crosses_* ring once */
    readonly condition: 'above' | 'below' | 'crosses_above' | 'crosses_below'
    /** USD */
    readonly target_price: number
    /** Where the events go, where that is no signed webhook */
    readonly channel?: {
      /** Which channel */
      readonly type: string
      /** Where it leads, without anything secret; of a template only the creation’s answer says it */
      readonly destination?: string
    }
    /** What rings in these hours is told in one message at their end */
    readonly quiet_hours: {
      /** First minute, HH:MM */
      readonly from: string
      /** First minute after them, HH:MM */
      readonly to: string
      /** IANA name, such as Europe/Berlin */
      readonly time_zone: string
    } | null
    /** Beyond 10 messages a minute the rest is told in one */
    readonly digest: boolean
    /** Where it is in its life */
    readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
    /** When it was made */
    readonly created_at: string
    /** When it expires */
    readonly expires_at: string
    /** It rests: it neither rings nor tells that something is over */
    readonly paused: boolean
    /** When that ends by itself; null: at a word of its owner */
    readonly paused_until: string | null
    /** Triggers so far */
    readonly trigger_count: number
    /** Attempts to deliver them; null: ClickHouse does not say just now */
    readonly delivery_attempts: number | null
    /** Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now */
    readonly gaps:
      | readonly {
          /** Last record before */
          readonly from: string
          /** First record after */
          readonly to: string
        }[]
      | null
  }[]
  /** What `cursor` the next page has; null: this is the last */
  readonly next_cursor: string | null
}

export interface PriceAlertCancelInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type PriceAlertCancelAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** Always cancelled */
  readonly status: 'cancelled'
  /** What that means */
  readonly message: string
}

export interface PriceAlertExtendInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** Hours */
  readonly add_hours?: number
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type PriceAlertExtendAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** Where it is in its life */
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  /** When it expires */
  readonly expires_at: string
  /** Hours that were added */
  readonly add_hours: number
  /** What that means */
  readonly message: string
}

export interface PriceAlertPauseInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** When it ends by itself; left out: when it is resumed */
  readonly until?: string | null
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type PriceAlertPauseAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** As submitted, in upper case; of several joined by commas, or all */
  readonly symbol: string
  /** What it waits for; crosses_* ring once */
  readonly condition: 'above' | 'below' | 'crosses_above' | 'crosses_below'
  /** USD */
  readonly target_price: number
  /** Where the events go, where that is no signed webhook */
  readonly channel?: {
    /** Which channel */
    readonly type: string
    /** Where it leads, without anything secret; of a template only the creation’s answer says it */
    readonly destination?: string
  }
  /** What rings in these hours is told in one message at their end */
  readonly quiet_hours: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one */
  readonly digest: boolean
  /** Where it is in its life */
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  /** When it was made */
  readonly created_at: string
  /** When it expires */
  readonly expires_at: string
  /** It rests: it neither rings nor tells that something is over */
  readonly paused: boolean
  /** When that ends by itself; null: at a word of its owner */
  readonly paused_until: string | null
  /** Triggers so far */
  readonly trigger_count: number
  /** Attempts to deliver them; null: ClickHouse does not say just now */
  readonly delivery_attempts: number | null
  /** Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now */
  readonly gaps:
    | readonly {
        /** Last record before */
        readonly from: string
        /** First record after */
        readonly to: string
      }[]
    | null
}

export interface PriceAlertResumeInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type PriceAlertResumeAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** As submitted, in upper case; of several joined by commas, or all */
  readonly symbol: string
  /** What it waits for; crosses_* ring once */
  readonly condition: 'above' | 'below' | 'crosses_above' | 'crosses_below'
  /** USD */
  readonly target_price: number
  /** Where the events go, where that is no signed webhook */
  readonly channel?: {
    /** Which channel */
    readonly type: string
    /** Where it leads, without anything secret; of a template only the creation’s answer says it */
    readonly destination?: string
  }
  /** What rings in these hours is told in one message at their end */
  readonly quiet_hours: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one */
  readonly digest: boolean
  /** Where it is in its life */
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  /** When it was made */
  readonly created_at: string
  /** When it expires */
  readonly expires_at: string
  /** It rests: it neither rings nor tells that something is over */
  readonly paused: boolean
  /** When that ends by itself; null: at a word of its owner */
  readonly paused_until: string | null
  /** Triggers so far */
  readonly trigger_count: number
  /** Attempts to deliver them; null: ClickHouse does not say just now */
  readonly delivery_attempts: number | null
  /** Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now */
  readonly gaps:
    | readonly {
        /** Last record before */
        readonly from: string
        /** First record after */
        readonly to: string
      }[]
    | null
}

export interface PriceAlertDeliveriesInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
  /** Where the page before ended: its next_cursor; next_cursor of the page before */
  readonly cursor?: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type PriceAlertDeliveriesAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** Attempts of this page */
  readonly count: number
  /** Newest first */
  readonly deliveries: readonly {
    /** The same on every attempt: the webhook-id */
    readonly trigger_id: string
    /** 1 for the first one of a delivery or a resending; 0: it ended without one, or waits for its digest */
    readonly attempt: number
    /** What became of the trigger by it; digested: it waits for its digest */
    readonly outcome: 'delivered' | 'retry' | 'exhausted' | 'cancelled' | 'digested' | 'unknown'
    /** HTTP status, of email the reply code of SMTP; null: none came */
    readonly status: number | null
    /** Why, where it is known: timeout, dns, refused, tls, gone, rejected, ... */
    readonly error: string | null
    /** The digest that it is, or is to be, told in: its webhook-id; null: by itself */
    readonly digest: string | null
    /** A test event */
    readonly test: boolean
    /** When the condition was met */
    readonly triggered_at: string
    /** When the attempt began */
    readonly started_at: string
    /** When it was over */
    readonly finished_at: string
    /** How long it took, milliseconds */
    readonly duration_ms: number
    /** For retry and digested */
    readonly next_attempt_at: string | null
  }[]
  /** What `cursor` the next page has; null: this is the last */
  readonly next_cursor: string | null
}

export interface PriceAlertTestInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type PriceAlertTestAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** What its webhook-id is */
  readonly trigger_id: string
  /** Where to see what becomes of it */
  readonly message: string
}

export interface PriceAlertResendInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** The trigger_id of a webhook or of the deliveries; a trigger_id of the deliveries */
  readonly trigger_id: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type PriceAlertResendAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** What its webhook-id is */
  readonly trigger_id: string
  /** Where to see what becomes of it */
  readonly message: string
}

export interface LiquidationAlertCreateInput {
  /** Any symbol of the catalogue, in any case */
  readonly symbol: string
  /** The only one */
  readonly condition?: 'cascade_risk'
  /** Percent */
  readonly threshold_pct?: number
  /** USD */
  readonly min_value_usd?: number
  /** HTTPS URL that is called, signed; this or channel */
  readonly webhook_url?: string
  /** Where the events go, instead of webhook_url: a chat, an incident, or a body of your own form */
  readonly channel?:
    | {
        /** Which channel */
        readonly type: 'webhook'
        /** an HTTPS URL */
        readonly url: string
      }
    | {
        /** Which channel */
        readonly type: 'slack'
        /** the address of an incoming webhook */
        readonly url: string
      }
    | {
        /** Which channel */
        readonly type: 'discord'
        /** the address of a webhook */
        readonly url: string
      }
    | {
        /** Which channel */
        readonly type: 'telegram'
        /** the token of your bot */
        readonly bot_token: string
        /** the chat that the bot is in */
        readonly chat_id: string
      }
    | {
        /** Which channel */
        readonly type: 'teams'
        /** the address of a workflow’s webhook */
        readonly url: string
      }
    | {
        /** Which channel */
        readonly type: 'pagerduty'
        /** the integration key of a service */
        readonly routing_key: string
      }
    | {
        /** Which channel */
        readonly type: 'email'
        /** an email address */
        readonly to: string
        /** the code that POST /email-codes has mailed to it */
        readonly code?: string
      }
    | {
        /** Which channel */
        readonly type: 'template'
        /** an HTTPS URL */
        readonly url: string
        /** what is sent, with {{field}} where a field is to be put in */
        readonly body: string
        /** what the body is */
        readonly content_type?: 'application/json' | 'application/x-www-form-urlencoded' | 'text/plain'
      }
  /** What rings in these hours of a day is told in one message at their end */
  readonly quiet_hours?: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one; left out: so for chats and email */
  readonly digest?: boolean
  /** EVM or Solana address that lists find the alert by */
  readonly agent_wallet?: string
  /** Lifetime */
  readonly expires_in_hours?: number
}

export type LiquidationAlertCreateAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** As submitted, in upper case; of several joined by commas, or all */
  readonly symbol: string
  /** Always cascade_risk */
  readonly condition: 'cascade_risk'
  /** Percent of open interest at risk within 5 % of the price */
  readonly threshold_pct: number
  /** Least open interest at risk, USD */
  readonly min_value_usd: number
  /** Always active */
  readonly status: 'active'
  /** When it was made */
  readonly created_at: string
  /** When it expires */
  readonly expires_at: string
  /** Lifetime, hours */
  readonly expires_in_hours: number
  /** As submitted; no other answer shows it */
  readonly webhook_url?: string
  /** Where the events go, where that is no signed webhook */
  readonly channel?: {
    /** Which channel */
    readonly type: string
    /** Where it leads, without anything secret; of a template only the creation’s answer says it */
    readonly destination?: string
  }
  /** What rings in these hours is told in one message at their end */
  readonly quiet_hours: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one */
  readonly digest: boolean
  /** Always 0 */
  readonly trigger_count: number
  /** Always 0 */
  readonly delivery_attempts: number
  /** What it does */
  readonly message: string
  /** Bearer token that cancels and extends the alert; only here */
  readonly manage_token: string
  /** What its webhooks are signed with: whsec_ and base64; only here */
  readonly webhook_secret: string
}

export interface LiquidationAlertInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
}

export type LiquidationAlertAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** As submitted, in upper case; of several joined by commas, or all */
  readonly symbol: string
  /** Always cascade_risk */
  readonly condition: 'cascade_risk'
  /** Percent of open interest at risk within 5 % of the price */
  readonly threshold_pct: number
  /** Least open interest at risk, USD */
  readonly min_value_usd: number
  /** Where the events go, where that is no signed webhook */
  readonly channel?: {
    /** Which channel */
    readonly type: string
    /** Where it leads, without anything secret; of a template only the creation’s answer says it */
    readonly destination?: string
  }
  /** What rings in these hours is told in one message at their end */
  readonly quiet_hours: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one */
  readonly digest: boolean
  /** Where it is in its life */
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  /** When it was made */
  readonly created_at: string
  /** When it expires */
  readonly expires_at: string
  /** It rests: it neither rings nor tells that something is over */
  readonly paused: boolean
  /** When that ends by itself; null: at a word of its owner */
  readonly paused_until: string | null
  /** Triggers so far */
  readonly trigger_count: number
  /** Attempts to deliver them; null: ClickHouse does not say just now */
  readonly delivery_attempts: number | null
  /** Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now */
  readonly gaps:
    | readonly {
        /** Last record before */
        readonly from: string
        /** First record after */
        readonly to: string
      }[]
    | null
}

export interface LiquidationAlertsInput {
  /** Only alerts of this agent_wallet or payer; case does not matter for EVM addresses; an EVM address (0x and 40 hexadecimal digits) or a Solana address (32 to 44 base58 characters) */
  readonly wallet?: string
  /** One symbol only; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol?: string
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
  /** Where the page before ended: its next_cursor; next_cursor of the page before */
  readonly cursor?: string
}

export type LiquidationAlertsAnswer = {
  /** Alerts of this page */
  readonly count: number
  /** Newest first */
  readonly alerts: readonly {
    /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
    readonly alert_id: string
    /** As submitted, in upper case; of several joined by commas, or all */
    readonly symbol: string
    /** Always cascade_risk */
    readonly condition: 'cascade_risk'
    /** Percent of open interest at risk within 5 % of the price */
    readonly threshold_pct: number
    /** Least open interest at risk, USD */
    readonly min_value_usd: number
    /** Where the events go, where that is no signed webhook */
    readonly channel?: {
      /** Which channel */
      readonly type: string
      /** Where it leads, without anything secret; of a template only the creation’s answer says it */
      readonly destination?: string
    }
    /** What rings in these hours is told in one message at their end */
    readonly quiet_hours: {
      /** First minute, HH:MM */
      readonly from: string
      /** First minute after them, HH:MM */
      readonly to: string
      /** IANA name, such as Europe/Berlin */
      readonly time_zone: string
    } | null
    /** Beyond 10 messages a minute the rest is told in one */
    readonly digest: boolean
    /** Where it is in its life */
    readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
    /** When it was made */
    readonly created_at: string
    /** When it expires */
    readonly expires_at: string
    /** It rests: it neither rings nor tells that something is over */
    readonly paused: boolean
    /** When that ends by itself; null: at a word of its owner */
    readonly paused_until: string | null
    /** Triggers so far */
    readonly trigger_count: number
    /** Attempts to deliver them; null: ClickHouse does not say just now */
    readonly delivery_attempts: number | null
    /** Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now */
    readonly gaps:
      | readonly {
          /** Last record before */
          readonly from: string
          /** First record after */
          readonly to: string
        }[]
      | null
  }[]
  /** What `cursor` the next page has; null: this is the last */
  readonly next_cursor: string | null
}

export interface LiquidationAlertCancelInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type LiquidationAlertCancelAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** Always cancelled */
  readonly status: 'cancelled'
  /** What that means */
  readonly message: string
}

export interface LiquidationAlertExtendInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** Hours */
  readonly add_hours?: number
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type LiquidationAlertExtendAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** Where it is in its life */
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  /** When it expires */
  readonly expires_at: string
  /** Hours that were added */
  readonly add_hours: number
  /** What that means */
  readonly message: string
}

export interface LiquidationAlertPauseInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** When it ends by itself; left out: when it is resumed */
  readonly until?: string | null
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type LiquidationAlertPauseAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** As submitted, in upper case; of several joined by commas, or all */
  readonly symbol: string
  /** Always cascade_risk */
  readonly condition: 'cascade_risk'
  /** Percent of open interest at risk within 5 % of the price */
  readonly threshold_pct: number
  /** Least open interest at risk, USD */
  readonly min_value_usd: number
  /** Where the events go, where that is no signed webhook */
  readonly channel?: {
    /** Which channel */
    readonly type: string
    /** Where it leads, without anything secret; of a template only the creation’s answer says it */
    readonly destination?: string
  }
  /** What rings in these hours is told in one message at their end */
  readonly quiet_hours: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one */
  readonly digest: boolean
  /** Where it is in its life */
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  /** When it was made */
  readonly created_at: string
  /** When it expires */
  readonly expires_at: string
  /** It rests: it neither rings nor tells that something is over */
  readonly paused: boolean
  /** When that ends by itself; null: at a word of its owner */
  readonly paused_until: string | null
  /** Triggers so far */
  readonly trigger_count: number
  /** Attempts to deliver them; null: ClickHouse does not say just now */
  readonly delivery_attempts: number | null
  /** Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now */
  readonly gaps:
    | readonly {
        /** Last record before */
        readonly from: string
        /** First record after */
        readonly to: string
      }[]
    | null
}

export interface LiquidationAlertResumeInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type LiquidationAlertResumeAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** As submitted, in upper case; of several joined by commas, or all */
  readonly symbol: string
  /** Always cascade_risk */
  readonly condition: 'cascade_risk'
  /** Percent of open interest at risk within 5 % of the price */
  readonly threshold_pct: number
  /** Least open interest at risk, USD */
  readonly min_value_usd: number
  /** Where the events go, where that is no signed webhook */
  readonly channel?: {
    /** Which channel */
    readonly type: string
    /** Where it leads, without anything secret; of a template only the creation’s answer says it */
    readonly destination?: string
  }
  /** What rings in these hours is told in one message at their end */
  readonly quiet_hours: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one */
  readonly digest: boolean
  /** Where it is in its life */
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  /** When it was made */
  readonly created_at: string
  /** When it expires */
  readonly expires_at: string
  /** It rests: it neither rings nor tells that something is over */
  readonly paused: boolean
  /** When that ends by itself; null: at a word of its owner */
  readonly paused_until: string | null
  /** Triggers so far */
  readonly trigger_count: number
  /** Attempts to deliver them; null: ClickHouse does not say just now */
  readonly delivery_attempts: number | null
  /** Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now */
  readonly gaps:
    | readonly {
        /** Last record before */
        readonly from: string
        /** First record after */
        readonly to: string
      }[]
    | null
}

export interface LiquidationAlertDeliveriesInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
  /** Where the page before ended: its next_cursor; next_cursor of the page before */
  readonly cursor?: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type LiquidationAlertDeliveriesAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** Attempts of this page */
  readonly count: number
  /** Newest first */
  readonly deliveries: readonly {
    /** The same on every attempt: the webhook-id */
    readonly trigger_id: string
    /** 1 for the first one of a delivery or a resending; 0: it ended without one, or waits for its digest */
    readonly attempt: number
    /** What became of the trigger by it; digested: it waits for its digest */
    readonly outcome: 'delivered' | 'retry' | 'exhausted' | 'cancelled' | 'digested' | 'unknown'
    /** HTTP status, of email the reply code of SMTP; null: none came */
    readonly status: number | null
    /** Why, where it is known: timeout, dns, refused, tls, gone, rejected, ... */
    readonly error: string | null
    /** The digest that it is, or is to be, told in: its webhook-id; null: by itself */
    readonly digest: string | null
    /** A test event */
    readonly test: boolean
    /** When the condition was met */
    readonly triggered_at: string
    /** When the attempt began */
    readonly started_at: string
    /** When it was over */
    readonly finished_at: string
    /** How long it took, milliseconds */
    readonly duration_ms: number
    /** For retry and digested */
    readonly next_attempt_at: string | null
  }[]
  /** What `cursor` the next page has; null: this is the last */
  readonly next_cursor: string | null
}

export interface LiquidationAlertTestInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type LiquidationAlertTestAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** What its webhook-id is */
  readonly trigger_id: string
  /** Where to see what becomes of it */
  readonly message: string
}

export interface LiquidationAlertResendInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** The trigger_id of a webhook or of the deliveries; a trigger_id of the deliveries */
  readonly trigger_id: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type LiquidationAlertResendAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** What its webhook-id is */
  readonly trigger_id: string
  /** Where to see what becomes of it */
  readonly message: string
}

export interface RuleAlertCreateInput {
  /** Any symbol of the catalogue, in any case */
  readonly symbol?: string
  /** Of a rule for several, in place of symbol: a list, or all, those too that are listed later */
  readonly symbols?: readonly string[] | 'all'
  /** A condition; all or any of several */
  readonly when:
    | {
        /** What is looked at; units and venues in the guide to rules */
        readonly metric:
          | 'price'
          | 'price_change_pct'
          | 'volume'
          | 'volume_usd'
          | 'volume_spike'
          | 'cvd'
          | 'cvd_change'
          | 'cvd_change_usd'
          | 'funding_rate_pct'
          | 'predicted_funding_rate_pct'
          | 'open_interest_usd'
          | 'open_interest_change_pct'
          | 'basis_pct'
          | 'long_short_ratio'
          | 'liquidated_usd'
          | 'liquidated_long_usd'
          | 'liquidated_short_usd'
          | 'liquidation_risk_pct'
          | 'cvd_signal'
          | 'funding_signal'
          | 'sentiment'
          | 'cascade_risk'
        /** Of this venue alone; null: over all */
        readonly exchange?:
          | 'binance'
          | 'coinbase'
          | 'okx'
          | 'bybit'
          | 'kraken'
          | 'gate'
          | 'binance_spot'
          | 'bitget'
          | 'hyperliquid'
          | null
        /** Over how long, where the metric is a change, a sum or a signal of a period */
        readonly window?: '1m' | '5m' | '15m' | '30m' | '1h' | '4h' | '12h' | '24h' | '7d' | null
        /** Looked at when a candle of this length closes; null: at once */
        readonly close?: '1m' | '5m' | '15m' | '1h' | '4h' | '1d' | null
        /** crosses_* and becomes have to have seen it otherwise first; changes_by counts either way */
        readonly operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | 'between' | 'changes_by' | 'becomes'
        /** The bound; of between two, the lower first; of becomes a class */
        readonly value:
          | number
          | readonly number[]
          | 'strong_bullish_pressure'
          | 'bullish_pressure'
          | 'neutral'
          | 'bearish_pressure'
          | 'strong_bearish_pressure'
          | 'insufficient_data'
          | 'extreme_bullish'
          | 'bullish'
          | 'slightly_bullish'
          | 'slightly_bearish'
          | 'bearish'
          | 'extreme_bearish'
          | 'Extremely bullish'
          | 'Bullish'
          | 'Slightly bullish'
          | 'Neutral'
          | 'Slightly bearish'
          | 'Bearish'
          | 'Extremely bearish'
          | 'low'
          | 'medium'
          | 'high'
        /** How far behind the bound it counts as over, once it has rung */
        readonly hysteresis?: number
      }
    | {
        /** Conditions, joined at most 3 deep */
        readonly all: readonly Condition[]
      }
    | {
        /** Conditions, joined at most 3 deep */
        readonly any: readonly Condition[]
      }
  /** How long it has to hold before it rings, such as 90s or 5m; at most 24h */
  readonly held_for?: string | null
  /** It rings again, once it has been over and the cooldown has passed; else once */
  readonly repeat?: boolean
  /** Least time between two rings, 1m to 7d */
  readonly cooldown?: string
  /** A message tells when it is over, too */
  readonly resolved?: boolean
  /** Stands in each message */
  readonly note?: string | null
  /** A name that several rules share */
  readonly group?: string | null
  /** What you find it by */
  readonly tags?: readonly string[]
  /** HTTPS URL that is called, signed; this or channel */
  readonly webhook_url?: string
  /** Where the events go, instead of webhook_url: a chat, an incident, or a body of your own form */
  readonly channel?:
    | {
        /** Which channel */
        readonly type: 'webhook'
        /** an HTTPS URL */
        readonly url: string
      }
    | {
        /** Which channel */
        readonly type: 'slack'
        /** the address of an incoming webhook */
        readonly url: string
      }
    | {
        /** Which channel */
        readonly type: 'discord'
        /** the address of a webhook */
        readonly url: string
      }
    | {
        /** Which channel */
        readonly type: 'telegram'
        /** the token of your bot */
        readonly bot_token: string
        /** the chat that the bot is in */
        readonly chat_id: string
      }
    | {
        /** Which channel */
        readonly type: 'teams'
        /** the address of a workflow’s webhook */
        readonly url: string
      }
    | {
        /** Which channel */
        readonly type: 'pagerduty'
        /** the integration key of a service */
        readonly routing_key: string
      }
    | {
        /** Which channel */
        readonly type: 'email'
        /** an email address */
        readonly to: string
        /** the code that POST /email-codes has mailed to it */
        readonly code?: string
      }
    | {
        /** Which channel */
        readonly type: 'template'
        /** an HTTPS URL */
        readonly url: string
        /** what is sent, with {{field}} where a field is to be put in */
        readonly body: string
        /** what the body is */
        readonly content_type?: 'application/json' | 'application/x-www-form-urlencoded' | 'text/plain'
      }
  /** What rings in these hours of a day is told in one message at their end */
  readonly quiet_hours?: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one; left out: so for chats and email */
  readonly digest?: boolean
  /** EVM or Solana address that lists find the alert by */
  readonly agent_wallet?: string
  /** Lifetime; 0: no end, where payments are off */
  readonly expires_in_hours?: number
}

export type RuleAlertCreateAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** As submitted, in upper case; of several joined by commas, or all */
  readonly symbol: string
  /** Of a rule for several, in place of symbol: a list, or all, those too that are listed later */
  readonly symbols?: readonly string[] | 'all'
  /** As submitted, with its defaults */
  readonly when: Readonly<Record<string, unknown>>
  /** How long it has to hold before it rings, such as 90s or 5m; at most 24h */
  readonly held_for: string | null
  /** It rings again, once it has been over and the cooldown has passed; else once */
  readonly repeat: boolean
  /** Least time between two rings, 1m to 7d */
  readonly cooldown: string
  /** A message tells when it is over, too */
  readonly resolved: boolean
  /** Stands in each message */
  readonly note: string | null
  /** A name that several rules share */
  readonly group: string | null
  /** What you find it by */
  readonly tags: readonly string[]
  /** Always active */
  readonly status: 'active'
  /** When it was made */
  readonly created_at: string
  /** When it expires; null: it has no end */
  readonly expires_at: string | null
  /** Lifetime, hours */
  readonly expires_in_hours: number
  /** As submitted; no other answer shows it */
  readonly webhook_url?: string
  /** Where the events go, where that is no signed webhook */
  readonly channel?: {
    /** Which channel */
    readonly type: string
    /** Where it leads, without anything secret; of a template only the creation’s answer says it */
    readonly destination?: string
  }
  /** What rings in these hours is told in one message at their end */
  readonly quiet_hours: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one */
  readonly digest: boolean
  /** Always 0 */
  readonly trigger_count: number
  /** Always 0 */
  readonly delivery_attempts: number
  /** What it does */
  readonly message: string
  /** Bearer token that cancels and extends the alert; only here */
  readonly manage_token: string
  /** What its webhooks are signed with: whsec_ and base64; only here */
  readonly webhook_secret: string
}

export interface RuleAlertInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
}

export type RuleAlertAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** As submitted, in upper case; of several joined by commas, or all */
  readonly symbol: string
  /** Of a rule for several, in place of symbol: a list, or all, those too that are listed later */
  readonly symbols?: readonly string[] | 'all'
  /** Of several: each of a list, of all those that have rung */
  readonly by_symbol?: readonly {
    /** Which */
    readonly symbol: string
    /** Where it is */
    readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
    /** Triggers so far */
    readonly trigger_count: number
  }[]
  /** As submitted, with its defaults */
  readonly when: Readonly<Record<string, unknown>>
  /** How long it has to hold before it rings, such as 90s or 5m; at most 24h */
  readonly held_for: string | null
  /** It rings again, once it has been over and the cooldown has passed; else once */
  readonly repeat: boolean
  /** Least time between two rings, 1m to 7d */
  readonly cooldown: string
  /** A message tells when it is over, too */
  readonly resolved: boolean
  /** Stands in each message */
  readonly note: string | null
  /** A name that several rules share */
  readonly group: string | null
  /** What you find it by */
  readonly tags: readonly string[]
  /** Where the events go, where that is no signed webhook */
  readonly channel?: {
    /** Which channel */
    readonly type: string
    /** Where it leads, without anything secret; of a template only the creation’s answer says it */
    readonly destination?: string
  }
  /** What rings in these hours is told in one message at their end */
  readonly quiet_hours: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one */
  readonly digest: boolean
  /** Where it is in its life */
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  /** When it was made */
  readonly created_at: string
  /** When it expires; null: it has no end */
  readonly expires_at: string | null
  /** It rests: it neither rings nor tells that something is over */
  readonly paused: boolean
  /** When that ends by itself; null: at a word of its owner */
  readonly paused_until: string | null
  /** Triggers so far */
  readonly trigger_count: number
  /** Attempts to deliver them; null: ClickHouse does not say just now */
  readonly delivery_attempts: number | null
  /** Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now */
  readonly gaps:
    | readonly {
        /** Last record before */
        readonly from: string
        /** First record after */
        readonly to: string
      }[]
    | null
}

export interface RuleAlertsInput {
  /** Only alerts of this agent_wallet or payer; case does not matter for EVM addresses; an EVM address (0x and 40 hexadecimal digits) or a Solana address (32 to 44 base58 characters) */
  readonly wallet?: string
  /** One symbol only; BTC and BTCUSDT mean the same; 1 to 20 letters and digits, for example BTC */
  readonly symbol?: string
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
  /** Where the page before ended: its next_cursor; next_cursor of the page before */
  readonly cursor?: string
}

export type RuleAlertsAnswer = {
  /** Alerts of this page */
  readonly count: number
  /** Newest first */
  readonly alerts: readonly {
    /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
    readonly alert_id: string
    /** As submitted, in upper case; of several joined by commas, or all */
    readonly symbol: string
    /** Of a rule for several, in place of symbol: a list, or all, those too that are listed later */
    readonly symbols?: readonly string[] | 'all'
    /** Of several: each of a list, of all those that have rung */
    readonly by_symbol?: readonly {
      /** Which */
      readonly symbol: string
      /** Where it is */
      readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
      /** Triggers so far */
      readonly trigger_count: number
    }[]
    /** As submitted, with its defaults */
    readonly when: Readonly<Record<string, unknown>>
    /** How long it has to hold before it rings, such as 90s or 5m; at most 24h */
    readonly held_for: string | null
    /** It rings again, once it has been over and the cooldown has passed; else once */
    readonly repeat: boolean
    /** Least time between two rings, 1m to 7d */
    readonly cooldown: string
    /** A message tells when it is over, too */
    readonly resolved: boolean
    /** Stands in each message */
    readonly note: string | null
    /** A name that several rules share */
    readonly group: string | null
    /** What you find it by */
    readonly tags: readonly string[]
    /** Where the events go, where that is no signed webhook */
    readonly channel?: {
      /** Which channel */
      readonly type: string
      /** Where it leads, without anything secret; of a template only the creation’s answer says it */
      readonly destination?: string
    }
    /** What rings in these hours is told in one message at their end */
    readonly quiet_hours: {
      /** First minute, HH:MM */
      readonly from: string
      /** First minute after them, HH:MM */
      readonly to: string
      /** IANA name, such as Europe/Berlin */
      readonly time_zone: string
    } | null
    /** Beyond 10 messages a minute the rest is told in one */
    readonly digest: boolean
    /** Where it is in its life */
    readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
    /** When it was made */
    readonly created_at: string
    /** When it expires; null: it has no end */
    readonly expires_at: string | null
    /** It rests: it neither rings nor tells that something is over */
    readonly paused: boolean
    /** When that ends by itself; null: at a word of its owner */
    readonly paused_until: string | null
    /** Triggers so far */
    readonly trigger_count: number
    /** Attempts to deliver them; null: ClickHouse does not say just now */
    readonly delivery_attempts: number | null
    /** Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now */
    readonly gaps:
      | readonly {
          /** Last record before */
          readonly from: string
          /** First record after */
          readonly to: string
        }[]
      | null
  }[]
  /** What `cursor` the next page has; null: this is the last */
  readonly next_cursor: string | null
}

export interface RuleAlertCancelInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type RuleAlertCancelAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** Always cancelled */
  readonly status: 'cancelled'
  /** What that means */
  readonly message: string
}

export interface RuleAlertExtendInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** Hours */
  readonly add_hours?: number
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type RuleAlertExtendAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** Where it is in its life */
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  /** When it expires */
  readonly expires_at: string
  /** Hours that were added */
  readonly add_hours: number
  /** What that means */
  readonly message: string
}

export interface RuleAlertPauseInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** When it ends by itself; left out: when it is resumed */
  readonly until?: string | null
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type RuleAlertPauseAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** As submitted, in upper case; of several joined by commas, or all */
  readonly symbol: string
  /** Of a rule for several, in place of symbol: a list, or all, those too that are listed later */
  readonly symbols?: readonly string[] | 'all'
  /** Of several: each of a list, of all those that have rung */
  readonly by_symbol?: readonly {
    /** Which */
    readonly symbol: string
    /** Where it is */
    readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
    /** Triggers so far */
    readonly trigger_count: number
  }[]
  /** As submitted, with its defaults */
  readonly when: Readonly<Record<string, unknown>>
  /** How long it has to hold before it rings, such as 90s or 5m; at most 24h */
  readonly held_for: string | null
  /** It rings again, once it has been over and the cooldown has passed; else once */
  readonly repeat: boolean
  /** Least time between two rings, 1m to 7d */
  readonly cooldown: string
  /** A message tells when it is over, too */
  readonly resolved: boolean
  /** Stands in each message */
  readonly note: string | null
  /** A name that several rules share */
  readonly group: string | null
  /** What you find it by */
  readonly tags: readonly string[]
  /** Where the events go, where that is no signed webhook */
  readonly channel?: {
    /** Which channel */
    readonly type: string
    /** Where it leads, without anything secret; of a template only the creation’s answer says it */
    readonly destination?: string
  }
  /** What rings in these hours is told in one message at their end */
  readonly quiet_hours: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one */
  readonly digest: boolean
  /** Where it is in its life */
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  /** When it was made */
  readonly created_at: string
  /** When it expires; null: it has no end */
  readonly expires_at: string | null
  /** It rests: it neither rings nor tells that something is over */
  readonly paused: boolean
  /** When that ends by itself; null: at a word of its owner */
  readonly paused_until: string | null
  /** Triggers so far */
  readonly trigger_count: number
  /** Attempts to deliver them; null: ClickHouse does not say just now */
  readonly delivery_attempts: number | null
  /** Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now */
  readonly gaps:
    | readonly {
        /** Last record before */
        readonly from: string
        /** First record after */
        readonly to: string
      }[]
    | null
}

export interface RuleAlertResumeInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type RuleAlertResumeAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** As submitted, in upper case; of several joined by commas, or all */
  readonly symbol: string
  /** Of a rule for several, in place of symbol: a list, or all, those too that are listed later */
  readonly symbols?: readonly string[] | 'all'
  /** Of several: each of a list, of all those that have rung */
  readonly by_symbol?: readonly {
    /** Which */
    readonly symbol: string
    /** Where it is */
    readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
    /** Triggers so far */
    readonly trigger_count: number
  }[]
  /** As submitted, with its defaults */
  readonly when: Readonly<Record<string, unknown>>
  /** How long it has to hold before it rings, such as 90s or 5m; at most 24h */
  readonly held_for: string | null
  /** It rings again, once it has been over and the cooldown has passed; else once */
  readonly repeat: boolean
  /** Least time between two rings, 1m to 7d */
  readonly cooldown: string
  /** A message tells when it is over, too */
  readonly resolved: boolean
  /** Stands in each message */
  readonly note: string | null
  /** A name that several rules share */
  readonly group: string | null
  /** What you find it by */
  readonly tags: readonly string[]
  /** Where the events go, where that is no signed webhook */
  readonly channel?: {
    /** Which channel */
    readonly type: string
    /** Where it leads, without anything secret; of a template only the creation’s answer says it */
    readonly destination?: string
  }
  /** What rings in these hours is told in one message at their end */
  readonly quiet_hours: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one */
  readonly digest: boolean
  /** Where it is in its life */
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  /** When it was made */
  readonly created_at: string
  /** When it expires; null: it has no end */
  readonly expires_at: string | null
  /** It rests: it neither rings nor tells that something is over */
  readonly paused: boolean
  /** When that ends by itself; null: at a word of its owner */
  readonly paused_until: string | null
  /** Triggers so far */
  readonly trigger_count: number
  /** Attempts to deliver them; null: ClickHouse does not say just now */
  readonly delivery_attempts: number | null
  /** Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now */
  readonly gaps:
    | readonly {
        /** Last record before */
        readonly from: string
        /** First record after */
        readonly to: string
      }[]
    | null
}

export interface RuleAlertEditInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** A condition; all or any of several */
  readonly when:
    | {
        /** What is looked at; units and venues in the guide to rules */
        readonly metric:
          | 'price'
          | 'price_change_pct'
          | 'volume'
          | 'volume_usd'
          | 'volume_spike'
          | 'cvd'
          | 'cvd_change'
          | 'cvd_change_usd'
          | 'funding_rate_pct'
          | 'predicted_funding_rate_pct'
          | 'open_interest_usd'
          | 'open_interest_change_pct'
          | 'basis_pct'
          | 'long_short_ratio'
          | 'liquidated_usd'
          | 'liquidated_long_usd'
          | 'liquidated_short_usd'
          | 'liquidation_risk_pct'
          | 'cvd_signal'
          | 'funding_signal'
          | 'sentiment'
          | 'cascade_risk'
        /** Of this venue alone; null: over all */
        readonly exchange?:
          | 'binance'
          | 'coinbase'
          | 'okx'
          | 'bybit'
          | 'kraken'
          | 'gate'
          | 'binance_spot'
          | 'bitget'
          | 'hyperliquid'
          | null
        /** Over how long, where the metric is a change, a sum or a signal of a period */
        readonly window?: '1m' | '5m' | '15m' | '30m' | '1h' | '4h' | '12h' | '24h' | '7d' | null
        /** Looked at when a candle of this length closes; null: at once */
        readonly close?: '1m' | '5m' | '15m' | '1h' | '4h' | '1d' | null
        /** crosses_* and becomes have to have seen it otherwise first; changes_by counts either way */
        readonly operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | 'between' | 'changes_by' | 'becomes'
        /** The bound; of between two, the lower first; of becomes a class */
        readonly value:
          | number
          | readonly number[]
          | 'strong_bullish_pressure'
          | 'bullish_pressure'
          | 'neutral'
          | 'bearish_pressure'
          | 'strong_bearish_pressure'
          | 'insufficient_data'
          | 'extreme_bullish'
          | 'bullish'
          | 'slightly_bullish'
          | 'slightly_bearish'
          | 'bearish'
          | 'extreme_bearish'
          | 'Extremely bullish'
          | 'Bullish'
          | 'Slightly bullish'
          | 'Neutral'
          | 'Slightly bearish'
          | 'Bearish'
          | 'Extremely bearish'
          | 'low'
          | 'medium'
          | 'high'
        /** How far behind the bound it counts as over, once it has rung */
        readonly hysteresis?: number
      }
    | {
        /** Conditions, joined at most 3 deep */
        readonly all: readonly Condition[]
      }
    | {
        /** Conditions, joined at most 3 deep */
        readonly any: readonly Condition[]
      }
  /** How long it has to hold before it rings, such as 90s or 5m; at most 24h */
  readonly held_for?: string | null
  /** It rings again, once it has been over and the cooldown has passed; else once */
  readonly repeat?: boolean
  /** Least time between two rings, 1m to 7d */
  readonly cooldown?: string
  /** A message tells when it is over, too */
  readonly resolved?: boolean
  /** Stands in each message */
  readonly note?: string | null
  /** A name that several rules share */
  readonly group?: string | null
  /** What you find it by */
  readonly tags?: readonly string[]
  /** What rings in these hours of a day is told in one message at their end */
  readonly quiet_hours?: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one; left out: so for chats and email */
  readonly digest?: boolean
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type RuleAlertEditAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** As submitted, in upper case; of several joined by commas, or all */
  readonly symbol: string
  /** Of a rule for several, in place of symbol: a list, or all, those too that are listed later */
  readonly symbols?: readonly string[] | 'all'
  /** Of several: each of a list, of all those that have rung */
  readonly by_symbol?: readonly {
    /** Which */
    readonly symbol: string
    /** Where it is */
    readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
    /** Triggers so far */
    readonly trigger_count: number
  }[]
  /** As submitted, with its defaults */
  readonly when: Readonly<Record<string, unknown>>
  /** How long it has to hold before it rings, such as 90s or 5m; at most 24h */
  readonly held_for: string | null
  /** It rings again, once it has been over and the cooldown has passed; else once */
  readonly repeat: boolean
  /** Least time between two rings, 1m to 7d */
  readonly cooldown: string
  /** A message tells when it is over, too */
  readonly resolved: boolean
  /** Stands in each message */
  readonly note: string | null
  /** A name that several rules share */
  readonly group: string | null
  /** What you find it by */
  readonly tags: readonly string[]
  /** Where the events go, where that is no signed webhook */
  readonly channel?: {
    /** Which channel */
    readonly type: string
    /** Where it leads, without anything secret; of a template only the creation’s answer says it */
    readonly destination?: string
  }
  /** What rings in these hours is told in one message at their end */
  readonly quiet_hours: {
    /** First minute, HH:MM */
    readonly from: string
    /** First minute after them, HH:MM */
    readonly to: string
    /** IANA name, such as Europe/Berlin */
    readonly time_zone: string
  } | null
  /** Beyond 10 messages a minute the rest is told in one */
  readonly digest: boolean
  /** Where it is in its life */
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  /** When it was made */
  readonly created_at: string
  /** When it expires; null: it has no end */
  readonly expires_at: string | null
  /** It rests: it neither rings nor tells that something is over */
  readonly paused: boolean
  /** When that ends by itself; null: at a word of its owner */
  readonly paused_until: string | null
  /** Triggers so far */
  readonly trigger_count: number
  /** Attempts to deliver them; null: ClickHouse does not say just now */
  readonly delivery_attempts: number | null
  /** Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now */
  readonly gaps:
    | readonly {
        /** Last record before */
        readonly from: string
        /** First record after */
        readonly to: string
      }[]
    | null
}

export interface RuleAlertDeliveriesInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** Most rows; a whole number from 1 to 1000 */
  readonly limit?: number
  /** Where the page before ended: its next_cursor; next_cursor of the page before */
  readonly cursor?: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type RuleAlertDeliveriesAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** Attempts of this page */
  readonly count: number
  /** Newest first */
  readonly deliveries: readonly {
    /** The same on every attempt: the webhook-id */
    readonly trigger_id: string
    /** 1 for the first one of a delivery or a resending; 0: it ended without one, or waits for its digest */
    readonly attempt: number
    /** What became of the trigger by it; digested: it waits for its digest */
    readonly outcome: 'delivered' | 'retry' | 'exhausted' | 'cancelled' | 'digested' | 'unknown'
    /** HTTP status, of email the reply code of SMTP; null: none came */
    readonly status: number | null
    /** Why, where it is known: timeout, dns, refused, tls, gone, rejected, ... */
    readonly error: string | null
    /** The digest that it is, or is to be, told in: its webhook-id; null: by itself */
    readonly digest: string | null
    /** A test event */
    readonly test: boolean
    /** When the condition was met */
    readonly triggered_at: string
    /** When the attempt began */
    readonly started_at: string
    /** When it was over */
    readonly finished_at: string
    /** How long it took, milliseconds */
    readonly duration_ms: number
    /** For retry and digested */
    readonly next_attempt_at: string | null
  }[]
  /** What `cursor` the next page has; null: this is the last */
  readonly next_cursor: string | null
}

export interface RuleAlertTestInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type RuleAlertTestAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** What its webhook-id is */
  readonly trigger_id: string
  /** Where to see what becomes of it */
  readonly message: string
}

export interface RuleAlertResendInput {
  /** The alert_id that the creation gave; an alert_id as the creation gave it */
  readonly id: string
  /** The trigger_id of a webhook or of the deliveries; a trigger_id of the deliveries */
  readonly trigger_id: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type RuleAlertResendAnswer = {
  /** alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_... */
  readonly alert_id: string
  /** What its webhook-id is */
  readonly trigger_id: string
  /** Where to see what becomes of it */
  readonly message: string
}

export interface WalletMessageInput {
  /** The address that paid; 0x and 40 hexadecimal digits */
  readonly address: string
}

export type WalletMessageAnswer = {
  /** The text */
  readonly message: string
  /** Until when it is taken, once */
  readonly expires_at: string
}

export interface WalletAlertsInput {
  /** Of GET /wallet/message, as it is */
  readonly message?: string
  /** Of the wallet, hexadecimal (personal_sign; of a contract wallet ERC-1271) */
  readonly signature?: string
  /** In place of both: next_cursor of the page before, within 5 minutes of the signature */
  readonly cursor?: string
  /** Only these */
  readonly state?: 'active' | 'triggered' | 'expired' | 'cancelled' | 'paused'
  /** Only rules of this group */
  readonly group?: string
  /** Only rules with this tag */
  readonly tag?: string
  /** Most alerts */
  readonly limit?: number
}

export type WalletAlertsAnswer = {
  /** Alerts of this page */
  readonly count: number
  /** Newest first */
  readonly alerts: readonly Readonly<Record<string, unknown>>[]
  /** What `cursor` the next page has; null: this is the last */
  readonly next_cursor: string | null
}

export interface EmailCodeInput {
  /** An email address */
  readonly to: string
}

export type EmailCodeAnswer = {
  /** The address, without most of its name */
  readonly to: string
  /** What to do with the code */
  readonly message: string
}

export interface AlertBacktestInput {
  /** Any symbol of the catalogue */
  readonly symbol?: string
  /** As of an alert; cascade_risk tries a liquidation alert out; a rule has `when` instead */
  readonly condition?: 'above' | 'below' | 'crosses_above' | 'crosses_below' | 'cascade_risk'
  /** USD; of price alerts */
  readonly target_price?: number
  /** Percent; of liquidation alerts */
  readonly threshold_pct?: number
  /** USD; of liquidation alerts */
  readonly min_value_usd?: number
  /** A condition; all or any of several; of rule alerts */
  readonly when?:
    | {
        /** What is looked at; units and venues in the guide to rules */
        readonly metric:
          | 'price'
          | 'price_change_pct'
          | 'volume'
          | 'volume_usd'
          | 'volume_spike'
          | 'cvd'
          | 'cvd_change'
          | 'cvd_change_usd'
          | 'funding_rate_pct'
          | 'predicted_funding_rate_pct'
          | 'open_interest_usd'
          | 'open_interest_change_pct'
          | 'basis_pct'
          | 'long_short_ratio'
          | 'liquidated_usd'
          | 'liquidated_long_usd'
          | 'liquidated_short_usd'
          | 'liquidation_risk_pct'
          | 'cvd_signal'
          | 'funding_signal'
          | 'sentiment'
          | 'cascade_risk'
        /** Of this venue alone; null: over all */
        readonly exchange?:
          | 'binance'
          | 'coinbase'
          | 'okx'
          | 'bybit'
          | 'kraken'
          | 'gate'
          | 'binance_spot'
          | 'bitget'
          | 'hyperliquid'
          | null
        /** Over how long, where the metric is a change, a sum or a signal of a period */
        readonly window?: '1m' | '5m' | '15m' | '30m' | '1h' | '4h' | '12h' | '24h' | '7d' | null
        /** Looked at when a candle of this length closes; null: at once */
        readonly close?: '1m' | '5m' | '15m' | '1h' | '4h' | '1d' | null
        /** crosses_* and becomes have to have seen it otherwise first; changes_by counts either way */
        readonly operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | 'between' | 'changes_by' | 'becomes'
        /** The bound; of between two, the lower first; of becomes a class */
        readonly value:
          | number
          | readonly number[]
          | 'strong_bullish_pressure'
          | 'bullish_pressure'
          | 'neutral'
          | 'bearish_pressure'
          | 'strong_bearish_pressure'
          | 'insufficient_data'
          | 'extreme_bullish'
          | 'bullish'
          | 'slightly_bullish'
          | 'slightly_bearish'
          | 'bearish'
          | 'extreme_bearish'
          | 'Extremely bullish'
          | 'Bullish'
          | 'Slightly bullish'
          | 'Neutral'
          | 'Slightly bearish'
          | 'Bearish'
          | 'Extremely bearish'
          | 'low'
          | 'medium'
          | 'high'
        /** How far behind the bound it counts as over, once it has rung */
        readonly hysteresis?: number
      }
    | {
        /** Conditions, joined at most 3 deep */
        readonly all: readonly Condition[]
      }
    | {
        /** Conditions, joined at most 3 deep */
        readonly any: readonly Condition[]
      }
  /** How long it has to hold before it rings, such as 90s or 5m; at most 24h; of rule alerts */
  readonly held_for?: string | null
  /** It rings again, once it has been over and the cooldown has passed; else once; of rule alerts */
  readonly repeat?: boolean
  /** Least time between two rings, 1m to 7d; of rule alerts */
  readonly cooldown?: string
  /** A message tells when it is over, too; of rule alerts */
  readonly resolved?: boolean
  /** Stands in each message; of rule alerts */
  readonly note?: string | null
  /** A name that several rules share; of rule alerts */
  readonly group?: string | null
  /** What you find it by; of rule alerts */
  readonly tags?: readonly string[]
  /** As of a creation; not looked at */
  readonly webhook_url?: string
  /** As of a creation; not looked at */
  readonly channel?: Readonly<Record<string, unknown>>
  /** As of a creation; not looked at */
  readonly quiet_hours?: Readonly<Record<string, unknown>> | null
  /** As of a creation; not looked at */
  readonly digest?: boolean
  /** As of a creation; not looked at */
  readonly agent_wallet?: string
  /** As of a creation; not looked at */
  readonly expires_in_hours?: number
  /** In place of symbol: a list, each tried out by itself, or all, those that are streamed */
  readonly symbols?: readonly string[] | 'all'
  /** How far to look back */
  readonly days?: number
  /** Also tell the figures that it rests on, some 300 values of each */
  readonly figures?: boolean
}

export type AlertBacktestAnswer = {
  /** Any symbol of the catalogue */
  readonly symbol?: string
  /** As of an alert; cascade_risk tries a liquidation alert out; a rule has `when` instead */
  readonly condition?: 'above' | 'below' | 'crosses_above' | 'crosses_below' | 'cascade_risk'
  /** USD; of price alerts */
  readonly target_price?: number
  /** Percent; of liquidation alerts */
  readonly threshold_pct?: number
  /** USD; of liquidation alerts */
  readonly min_value_usd?: number
  /** A condition; all or any of several; of rule alerts */
  readonly when?:
    | {
        /** What is looked at; units and venues in the guide to rules */
        readonly metric:
          | 'price'
          | 'price_change_pct'
          | 'volume'
          | 'volume_usd'
          | 'volume_spike'
          | 'cvd'
          | 'cvd_change'
          | 'cvd_change_usd'
          | 'funding_rate_pct'
          | 'predicted_funding_rate_pct'
          | 'open_interest_usd'
          | 'open_interest_change_pct'
          | 'basis_pct'
          | 'long_short_ratio'
          | 'liquidated_usd'
          | 'liquidated_long_usd'
          | 'liquidated_short_usd'
          | 'liquidation_risk_pct'
          | 'cvd_signal'
          | 'funding_signal'
          | 'sentiment'
          | 'cascade_risk'
        /** Of this venue alone; null: over all */
        readonly exchange?:
          | 'binance'
          | 'coinbase'
          | 'okx'
          | 'bybit'
          | 'kraken'
          | 'gate'
          | 'binance_spot'
          | 'bitget'
          | 'hyperliquid'
          | null
        /** Over how long, where the metric is a change, a sum or a signal of a period */
        readonly window?: '1m' | '5m' | '15m' | '30m' | '1h' | '4h' | '12h' | '24h' | '7d' | null
        /** Looked at when a candle of this length closes; null: at once */
        readonly close?: '1m' | '5m' | '15m' | '1h' | '4h' | '1d' | null
        /** crosses_* and becomes have to have seen it otherwise first; changes_by counts either way */
        readonly operator: 'above' | 'below' | 'crosses_above' | 'crosses_below' | 'between' | 'changes_by' | 'becomes'
        /** The bound; of between two, the lower first; of becomes a class */
        readonly value:
          | number
          | readonly number[]
          | 'strong_bullish_pressure'
          | 'bullish_pressure'
          | 'neutral'
          | 'bearish_pressure'
          | 'strong_bearish_pressure'
          | 'insufficient_data'
          | 'extreme_bullish'
          | 'bullish'
          | 'slightly_bullish'
          | 'slightly_bearish'
          | 'bearish'
          | 'extreme_bearish'
          | 'Extremely bullish'
          | 'Bullish'
          | 'Slightly bullish'
          | 'Neutral'
          | 'Slightly bearish'
          | 'Bearish'
          | 'Extremely bearish'
          | 'low'
          | 'medium'
          | 'high'
        /** How far behind the bound it counts as over, once it has rung */
        readonly hysteresis?: number
      }
    | {
        /** Conditions, joined at most 3 deep */
        readonly all: readonly Condition[]
      }
    | {
        /** Conditions, joined at most 3 deep */
        readonly any: readonly Condition[]
      }
  /** How long it has to hold before it rings, such as 90s or 5m; at most 24h; of rule alerts */
  readonly held_for?: string | null
  /** It rings again, once it has been over and the cooldown has passed; else once; of rule alerts */
  readonly repeat?: boolean
  /** Least time between two rings, 1m to 7d; of rule alerts */
  readonly cooldown?: string
  /** A message tells when it is over, too; of rule alerts */
  readonly resolved?: boolean
  /** Stands in each message; of rule alerts */
  readonly note?: string | null
  /** A name that several rules share; of rule alerts */
  readonly group?: string | null
  /** What you find it by; of rule alerts */
  readonly tags?: readonly string[]
  /** Those that were tried out, where the body has symbols */
  readonly symbols?: readonly string[]
  /** Times that it would have rung */
  readonly trigger_count: number
  /** The same by days that were covered; null: less than one was */
  readonly triggers_per_day: number | null
  /** Each of them, where the body has symbols */
  readonly by_symbol?: readonly {
    /** Which */
    readonly symbol: string
    /** Times that it would have rung */
    readonly trigger_count: number
    /** The same by days that were covered; null: less than one was */
    readonly triggers_per_day: number | null
    /** Prices, or records of figures, that there were */
    readonly records: number
    /** What it rests on; null: there is no history */
    readonly coverage: {
      /** First record that was looked at */
      readonly from: string
      /** Until when it looked */
      readonly to: string
      /** All of it, without a gap */
      readonly complete: boolean
      /** From then on our own log decides, before it the venues’ past; null: there is no own log */
      readonly own_from: string | null
      /** How far it was to look back */
      readonly days: number
      /** The bound that ended it early; null: none */
      readonly stopped_by: 'rows' | 'seconds' | null
      /** Gaps in it */
      readonly gap_count: number
      /** Seconds of all gaps: the alert would have been blind */
      readonly gap_seconds: number
      /** The newest 50 */
      readonly gaps: readonly {
        /** Begin */
        readonly from: string
        /** End, exclusive */
        readonly to: string
      }[]
    } | null
  }[]
  /** The newest 100, newest first */
  readonly triggers: readonly {
    /** For which */
    readonly symbol: string
    /** When the condition was met */
    readonly time: string
    /** What the webhook would have said, USD */
    readonly price: number
    /** The same in words */
    readonly condition_met: string
    /** degraded: one price source only, or sources over 1 % apart */
    readonly quality: 'good' | 'degraded'
    /** Told by candles after a time without any source */
    readonly late: boolean
    /** Who told what rings it: our own log (live), or the venues’ past, at the end of a candle */
    readonly source: 'live' | 'archive' | 'venue_candles' | 'venue_history' | 'mixed'
    /** The log record that rings it, for GET /records/:id; null: it is of the past, or time alone rings it */
    readonly record: string | null
  }[]
  /** Why no more than our own log was looked at; none: the venues’ past was, too */
  readonly no_past: readonly {
    /** Which */
    readonly metric:
      | 'price'
      | 'price_change_pct'
      | 'volume'
      | 'volume_usd'
      | 'volume_spike'
      | 'cvd'
      | 'cvd_change'
      | 'cvd_change_usd'
      | 'funding_rate_pct'
      | 'predicted_funding_rate_pct'
      | 'open_interest_usd'
      | 'open_interest_change_pct'
      | 'basis_pct'
      | 'long_short_ratio'
      | 'liquidated_usd'
      | 'liquidated_long_usd'
      | 'liquidated_short_usd'
      | 'liquidation_risk_pct'
      | 'cvd_signal'
      | 'funding_signal'
      | 'sentiment'
      | 'cascade_risk'
    /** Of this venue; null: over all */
    readonly exchange: string | null
    /** Over how long; null: as it is */
    readonly window: string | null
    /** Why */
    readonly why: string
  }[]
  /** Where the body asks for them: one for each condition, from left to right */
  readonly figures?: readonly {
    /** Which */
    readonly metric:
      | 'price'
      | 'price_change_pct'
      | 'volume'
      | 'volume_usd'
      | 'volume_spike'
      | 'cvd'
      | 'cvd_change'
      | 'cvd_change_usd'
      | 'funding_rate_pct'
      | 'predicted_funding_rate_pct'
      | 'open_interest_usd'
      | 'open_interest_change_pct'
      | 'basis_pct'
      | 'long_short_ratio'
      | 'liquidated_usd'
      | 'liquidated_long_usd'
      | 'liquidated_short_usd'
      | 'liquidation_risk_pct'
      | 'cvd_signal'
      | 'funding_signal'
      | 'sentiment'
      | 'cascade_risk'
    /** Of this venue; null: over all */
    readonly exchange: string | null
    /** Over how long; null: as it is */
    readonly window: string | null
    /** Some 300, oldest first, and where it rang */
    readonly points: readonly {
      /** When it was so */
      readonly time: string
      /** A number, or a class; null: it was not known */
      readonly value: number | string | null
    }[]
  }[]
  /** Prices, estimates of risk, or records of figures, that there were */
  readonly records: number
  /** What the answer rests on; of several symbols see by_symbol */
  readonly coverage?: {
    /** First record that was looked at */
    readonly from: string
    /** Until when it looked */
    readonly to: string
    /** All of it, without a gap */
    readonly complete: boolean
    /** From then on our own log decides, before it the venues’ past; null: there is no own log */
    readonly own_from: string | null
    /** How far it was to look back */
    readonly days: number
    /** The bound that ended it early; null: none */
    readonly stopped_by: 'rows' | 'seconds' | null
    /** Gaps in it */
    readonly gap_count: number
    /** Seconds of all gaps: the alert would have been blind */
    readonly gap_seconds: number
    /** The newest 50 */
    readonly gaps: readonly {
      /** Begin */
      readonly from: string
      /** End, exclusive */
      readonly to: string
    }[]
  }
  /** What is taken for granted */
  readonly assumes: string
  /** Time of the newest record */
  readonly as_of: string
  /** When this was answered */
  readonly timestamp: string
  /** The same question was asked within a minute */
  readonly cached: boolean
}

export interface RecordInput {
  /** The record that a webhook names; the record of a webhook */
  readonly id: string
}

export type RecordAnswer = {
  /** As asked for */
  readonly id: string
  /** Its topic */
  readonly topic: string
  /** Its partition */
  readonly partition: number
  /** Its offset */
  readonly offset: number
  /** Kafka record timestamp */
  readonly time: string
  /** What kind of record it is */
  readonly type: string
  /** As it is in the log; times are microseconds since the Unix epoch */
  readonly record: Readonly<Record<string, unknown>>
}

export interface CreditBuyInput {
  /** What is paid and becomes credit; the price of this request */
  readonly amount_usdc?: number
  /** A key that gets the credit; left out: a new one */
  readonly key_id?: string
  /** A name of your own */
  readonly label?: string
  /** What it may do; all of it unless said */
  readonly scopes?: readonly string[]
  /** When it ends; null: never */
  readonly expires_in_days?: number | null
  /** Most that it may spend on a day (UTC); null: no limit */
  readonly daily_max_usdc?: number | null
}

export type CreditBuyAnswer = {
  /** Names the key; no secret */
  readonly key_id: string
  /** A name of your own */
  readonly label: string
  /** What it may do */
  readonly scopes: readonly ('read' | 'alerts' | 'manage')[]
  /** Whether it can be used */
  readonly status: 'active' | 'expired' | 'revoked'
  /** When it was bought */
  readonly created_at: string
  /** When it ends; null: never */
  readonly expires_at: string | null
  /** What was bought less what was charged */
  readonly balance_usdc: number
  /** Of the balance, what is set aside for API instances: a minute at most */
  readonly held_usdc: number
  /** All that was paid in */
  readonly bought_usdc: number
  /** All that was charged; up to a second behind */
  readonly charged_usdc: number
  /** What was charged today (UTC) */
  readonly charged_today_usdc: number
  /** Most that it may spend on a day; null: no limit */
  readonly daily_max_usdc: number | null
  /** How long the secret before the last rotation is taken; null: there is none */
  readonly former_secret_until: string | null
  /** The key itself, mda_...: only here, and again for the same payment */
  readonly api_key: string | null
  /** What was bought */
  readonly amount_usdc: number
}

export interface KeyInput {
  /** The key_id that the purchase gave; a key_id as POST /credit gave it */
  readonly key_id: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type KeyAnswer = {
  /** Names the key; no secret */
  readonly key_id: string
  /** A name of your own */
  readonly label: string
  /** What it may do */
  readonly scopes: readonly ('read' | 'alerts' | 'manage')[]
  /** Whether it can be used */
  readonly status: 'active' | 'expired' | 'revoked'
  /** When it was bought */
  readonly created_at: string
  /** When it ends; null: never */
  readonly expires_at: string | null
  /** What was bought less what was charged */
  readonly balance_usdc: number
  /** Of the balance, what is set aside for API instances: a minute at most */
  readonly held_usdc: number
  /** All that was paid in */
  readonly bought_usdc: number
  /** All that was charged; up to a second behind */
  readonly charged_usdc: number
  /** What was charged today (UTC) */
  readonly charged_today_usdc: number
  /** Most that it may spend on a day; null: no limit */
  readonly daily_max_usdc: number | null
  /** How long the secret before the last rotation is taken; null: there is none */
  readonly former_secret_until: string | null
}

export interface KeyChangeInput {
  /** The key_id that the purchase gave; a key_id as POST /credit gave it */
  readonly key_id: string
  /** A name of your own */
  readonly label?: string
  /** What it may do; all of it unless said */
  readonly scopes?: readonly string[]
  /** When it ends; null: never */
  readonly expires_in_days?: number | null
  /** Most that it may spend on a day (UTC); null: no limit */
  readonly daily_max_usdc?: number | null
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type KeyChangeAnswer = {
  /** Names the key; no secret */
  readonly key_id: string
  /** A name of your own */
  readonly label: string
  /** What it may do */
  readonly scopes: readonly ('read' | 'alerts' | 'manage')[]
  /** Whether it can be used */
  readonly status: 'active' | 'expired' | 'revoked'
  /** When it was bought */
  readonly created_at: string
  /** When it ends; null: never */
  readonly expires_at: string | null
  /** What was bought less what was charged */
  readonly balance_usdc: number
  /** Of the balance, what is set aside for API instances: a minute at most */
  readonly held_usdc: number
  /** All that was paid in */
  readonly bought_usdc: number
  /** All that was charged; up to a second behind */
  readonly charged_usdc: number
  /** What was charged today (UTC) */
  readonly charged_today_usdc: number
  /** Most that it may spend on a day; null: no limit */
  readonly daily_max_usdc: number | null
  /** How long the secret before the last rotation is taken; null: there is none */
  readonly former_secret_until: string | null
}

export interface KeyRotateInput {
  /** The key_id that the purchase gave; a key_id as POST /credit gave it */
  readonly key_id: string
  /** Hours; 0: no more, where it has leaked */
  readonly grace_hours?: number
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type KeyRotateAnswer = {
  /** Names the key; no secret */
  readonly key_id: string
  /** A name of your own */
  readonly label: string
  /** What it may do */
  readonly scopes: readonly ('read' | 'alerts' | 'manage')[]
  /** Whether it can be used */
  readonly status: 'active' | 'expired' | 'revoked'
  /** When it was bought */
  readonly created_at: string
  /** When it ends; null: never */
  readonly expires_at: string | null
  /** What was bought less what was charged */
  readonly balance_usdc: number
  /** Of the balance, what is set aside for API instances: a minute at most */
  readonly held_usdc: number
  /** All that was paid in */
  readonly bought_usdc: number
  /** All that was charged; up to a second behind */
  readonly charged_usdc: number
  /** What was charged today (UTC) */
  readonly charged_today_usdc: number
  /** Most that it may spend on a day; null: no limit */
  readonly daily_max_usdc: number | null
  /** How long the secret before the last rotation is taken; null: there is none */
  readonly former_secret_until: string | null
  /** The key itself, mda_...: only here */
  readonly api_key: string | null
}

export interface KeyRevokeInput {
  /** The key_id that the purchase gave; a key_id as POST /credit gave it */
  readonly key_id: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type KeyRevokeAnswer = {
  /** Names the key; no secret */
  readonly key_id: string
  /** A name of your own */
  readonly label: string
  /** What it may do */
  readonly scopes: readonly ('read' | 'alerts' | 'manage')[]
  /** Whether it can be used */
  readonly status: 'active' | 'expired' | 'revoked'
  /** When it was bought */
  readonly created_at: string
  /** When it ends; null: never */
  readonly expires_at: string | null
  /** What was bought less what was charged */
  readonly balance_usdc: number
  /** Of the balance, what is set aside for API instances: a minute at most */
  readonly held_usdc: number
  /** All that was paid in */
  readonly bought_usdc: number
  /** All that was charged; up to a second behind */
  readonly charged_usdc: number
  /** What was charged today (UTC) */
  readonly charged_today_usdc: number
  /** Most that it may spend on a day; null: no limit */
  readonly daily_max_usdc: number | null
  /** How long the secret before the last rotation is taken; null: there is none */
  readonly former_secret_until: string | null
}

export interface KeyUsageInput {
  /** The key_id that the purchase gave; a key_id as POST /credit gave it */
  readonly key_id: string
  /** A month, UTC; left out: this one; a month such as 2026-11 */
  readonly month?: string
  /** As the creation gave it; an API key of the buyer’s does as well */
  readonly manage_token?: string
}

export type KeyUsageAnswer = {
  /** The key */
  readonly key_id: string
  /** UTC */
  readonly month: string
  /** Oldest first; some seconds behind */
  readonly usage: readonly {
    /** UTC, 2026-11-24 */
    readonly day: string
    /** Method and path */
    readonly route: string
    /** Answers given */
    readonly requests: number
    /** What they cost together */
    readonly usdc: number
  }[]
}

export interface WalletKeysInput {
  /** Of GET /wallet/message, as it is */
  readonly message: string
  /** Of the wallet, hexadecimal (personal_sign; of a contract wallet ERC-1271) */
  readonly signature: string
}

export type WalletKeysAnswer = {
  /** How many */
  readonly count: number
  /** Newest first */
  readonly keys: readonly {
    /** Names the key; no secret */
    readonly key_id: string
    /** A name of your own */
    readonly label: string
    /** What it may do */
    readonly scopes: readonly ('read' | 'alerts' | 'manage')[]
    /** Whether it can be used */
    readonly status: 'active' | 'expired' | 'revoked'
    /** When it was bought */
    readonly created_at: string
    /** When it ends; null: never */
    readonly expires_at: string | null
    /** What was bought less what was charged */
    readonly balance_usdc: number
    /** Of the balance, what is set aside for API instances: a minute at most */
    readonly held_usdc: number
    /** All that was paid in */
    readonly bought_usdc: number
    /** All that was charged; up to a second behind */
    readonly charged_usdc: number
    /** What was charged today (UTC) */
    readonly charged_today_usdc: number
    /** Most that it may spend on a day; null: no limit */
    readonly daily_max_usdc: number | null
    /** How long the secret before the last rotation is taken; null: there is none */
    readonly former_secret_until: string | null
    /** Bearer token that changes, rotates and revokes the key */
    readonly manage_token: string | null
  }[]
}

export interface HealthzInput {}

export type HealthzAnswer = {
  /** degraded: a part or the log is not ok, or no venue is live, for trades or for another topic; unavailable: the log has not been read yet */
  readonly status: 'ok' | 'degraded' | 'unavailable'
  /** Where the market comes from */
  readonly mode: 'demo' | 'live' | 'tape'
  /** Version of the service */
  readonly version: string
  /** off: every route is free for everyone */
  readonly payments: 'off' | 'play-money' | 'on'
  /** Parts by name */
  readonly parts: Readonly<Record<string, string>>
  /** unavailable: ClickHouse cannot be read; answers about now do not need it */
  readonly ranges: 'available' | 'unavailable'
  /** How far the log is */
  readonly log?: {
    /** late: derived data lag; quiet: no feed writes */
    readonly status: 'ok' | 'late' | 'quiet' | 'empty'
    /** Age of the newest mark, milliseconds */
    readonly age_ms: number | null
    /** How far derived data are behind, milliseconds */
    readonly lag_ms: number | null
    /** The newest mark */
    readonly as_of: string | null
  }
  /** Open WebSocket connections of the venues’ trade streams */
  readonly active_ws_connections?: number
  /** Trade streams by venue */
  readonly venues?: Readonly<
    Record<
      'binance' | 'bybit' | 'okx' | 'coinbase' | 'kraken' | 'gate' | 'binance_spot' | 'bitget' | 'hyperliquid',
      {
        /** live, connecting, down, unavailable, off or unknown */
        readonly state: string
        /** Open WebSocket connections */
        readonly sockets: number
        /** Feed processes that report it */
        readonly feeds: number
        /** Since when it is in that state */
        readonly since: string | null
      }
    >
  >
  /** Channels and polls, by the topic that they feed */
  readonly channels?: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            /** live, connecting, down, unavailable, off or unknown */
            readonly state: string
            /** Open WebSocket connections */
            readonly sockets: number
            /** Feed processes that report it */
            readonly feeds: number
            /** Since when it is in that state */
            readonly since: string | null
          }
        >
      >
    >
  >
  /** Topics by name */
  readonly topics?: Readonly<
    Record<
      string,
      {
        /** Its newest mark */
        readonly as_of: string
        /** How old that is, milliseconds */
        readonly age_ms: number
      }
    >
  >
  /** Gaps that are being repaired */
  readonly open_gaps?: number
  /** Records that a processor, the dispatcher or the payments have set aside */
  readonly dead_letters?: {
    /** How many there are; SELECT * FROM dead_letters has them all */
    readonly count: number
    /** The newest by its record time */
    readonly newest: {
      /** Who set it aside */
      readonly processor: string
      /** Its topic */
      readonly topic: string
      /** Its partition */
      readonly partition: number
      /** Its offset */
      readonly offset: number
      /** Its record time */
      readonly time: string
      /** undecodable, unknown_schema, failed or held */
      readonly reason: string
      /** What was wrong, as a code */
      readonly code: string
      /** Line of code that threw; null: it is not known */
      readonly at: string | null
    } | null
  }
  /** What readers of the log could not read, or found to be lost of what they wrote */
  readonly log_gaps?: {
    /** How many gaps there are; SELECT * FROM log_gaps has them all */
    readonly count: number
    /** The one that was found last */
    readonly newest: {
      /** Processor or service */
      readonly reader: string
      /** Its topic */
      readonly topic: string
      /** Its partition */
      readonly partition: number
      /** retention, cut, replaced or output_cut */
      readonly reason: string
      /** Kafka time of the last record before it, of retention a minute earlier */
      readonly from: string
      /** Kafka time of the first record after it, or when it was found; of the last that was read of it, where that is later */
      readonly to: string
      /** Records that were never read; null: not known */
      readonly missing: number | null
      /** When it was found */
      readonly time: string
    } | null
  }
  /** Records of followed topics that this instance of the API passed over since its start */
  readonly unread?: {
    /** How many */
    readonly count: number
    /** The newest */
    readonly newest: {
      /** Its topic */
      readonly topic: string
      /** Its partition */
      readonly partition: number
      /** Its offset */
      readonly offset: number
    } | null
  }
  /** Age of the oldest undelivered trigger, no receiver excluded; 0: all are delivered */
  readonly oldest_undelivered_ms?: number
  /** How far the venues’ past is read back */
  readonly backfill?: {
    /** starting: it is not known yet what the log has; paused: the disk has too little room for it */
    readonly state: 'off' | 'starting' | 'running' | 'paused' | 'done'
    /** Rows that are wanted: candles, rates, open interest, marks, ratios */
    readonly wanted: number
    /** Those that are not in the log yet */
    readonly missing: number
    /** Disk that those will take, log and ClickHouse; estimated */
    readonly bytes_left: number
    /** Until the slowest venue has all; null: one has no pace yet */
    readonly seconds_left: number | null
  }
  /** Self-audit by venue */
  readonly audit?: Readonly<
    Record<
      string,
      {
        /** Minutes and instruments compared */
        readonly compared: number
        /** Those that differ by more than a billionth */
        readonly different: number
        /** Those that no recorded gap or subscription explains */
        readonly unexplained: number
        /** Worst of the unexplained ones, fraction of their volume; null: there is none */
        readonly worst_volume_difference: number | null
        /** The same of buys minus sells; null: there is none, or the venue says nothing */
        readonly worst_delta_difference: number | null
        /** venue:market:symbol of the worst */
        readonly worst_instrument: string | null
        /** Its minute */
        readonly worst_minute: string | null
      }
    >
  >
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface ReadyzInput {}

export type ReadyzAnswer = {
  /** Whether it can */
  readonly status: 'ready' | 'unavailable'
  /** Why not */
  readonly reason?: string
  /** When the answer was given */
  readonly timestamp: string
  /** Whether it came from the cache */
  readonly cached: boolean
}

export interface PricingInput {}

export type PricingAnswer = {
  /** off: every route is free */
  readonly payments: 'off' | 'play-money' | 'on'
  /** What prices are in */
  readonly currency: string
  /** How it is paid; not there while payments are off */
  readonly pay?: {
    /** x402, whose versions 1 and 2 are taken */
    readonly protocol: string
    /** exact */
    readonly scheme: string
    /** CAIP-2 name of the network */
    readonly network: string
    /** Token contract */
    readonly asset: string
    /** Name in its EIP-712 domain */
    readonly asset_name: string
    /** Who is paid */
    readonly pay_to: string
  }
  /** All routes */
  readonly routes: readonly {
    /** HTTP method */
    readonly method: string
    /** Path, parameters in braces */
    readonly path: string
    /** What it is */
    readonly says: string
    /** USDC for one request; 0: free */
    readonly price_usdc: number
  }[]
}

export interface WellKnownX402Input {}

export type WellKnownX402Answer = {
  /** Of this document: 1 */
  readonly version: number
  /** Newest version of the protocol that is spoken */
  readonly x402Version: number
  /** An example of each route that is paid for */
  readonly resources: readonly string[]
  /** Address of the OpenAPI document */
  readonly openapi: string
}

/** How each operation is asked. */
export const operations = {
  cvd: {
    method: 'GET',
    path: '/cvd/{symbol}',
    query: ['period'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.02,
  },
  cvd_history: {
    method: 'GET',
    path: '/cvd/history/{symbol}',
    query: ['interval', 'since', 'start', 'end', 'limit'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.02,
  },
  ohlcv: {
    method: 'GET',
    path: '/ohlcv/{symbol}',
    query: ['interval', 'exchange', 'start', 'end', 'limit'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.02,
  },
  funding_extreme: {
    method: 'GET',
    path: '/funding-rate/extreme',
    query: ['threshold'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.02,
  },
  funding_history: {
    method: 'GET',
    path: '/funding-rate/history/{symbol}',
    query: ['exchange', 'start', 'end', 'limit'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.02,
  },
  funding_rate: {
    method: 'GET',
    path: '/funding-rate/{symbol}',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.02,
  },
  funding_compare: {
    method: 'GET',
    path: '/futures/funding-compare/{symbol}',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.03,
  },
  predicted_funding: {
    method: 'GET',
    path: '/futures/predicted-funding/{symbol}',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.02,
  },
  basis: {
    method: 'GET',
    path: '/futures/basis/{symbol}',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.02,
  },
  basis_history: {
    method: 'GET',
    path: '/futures/basis/history/{symbol}',
    query: ['interval', 'start', 'end', 'limit'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.02,
  },
  open_interest: {
    method: 'GET',
    path: '/futures/open-interest/{symbol}',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.02,
  },
  open_interest_history: {
    method: 'GET',
    path: '/futures/open-interest/history/{symbol}',
    query: ['interval', 'start', 'end', 'limit'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.02,
  },
  long_short: {
    method: 'GET',
    path: '/futures/long-short/{symbol}',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.02,
  },
  long_short_history: {
    method: 'GET',
    path: '/futures/long-short/history/{symbol}',
    query: ['interval', 'start', 'end', 'limit'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.02,
  },
  liquidation_heatmap: {
    method: 'GET',
    path: '/liquidation/heatmap/{symbol}',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.05,
  },
  liquidation_heatmap_history: {
    method: 'GET',
    path: '/liquidation/heatmap/history/{symbol}',
    query: ['interval', 'start', 'end', 'limit'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.05,
  },
  liquidation_recent: {
    method: 'GET',
    path: '/liquidation/recent',
    query: ['limit', 'symbol'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.03,
  },
  liquidation_history: {
    method: 'GET',
    path: '/liquidation/history/{symbol}',
    query: ['interval', 'start', 'end', 'limit'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.03,
  },
  screener: {
    method: 'GET',
    path: '/screener',
    query: ['sort', 'order', 'where', 'limit'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.05,
  },
  price: {
    method: 'GET',
    path: '/price/{symbol}',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.005,
  },
  prices: {
    method: 'GET',
    path: '/api/v1/prices',
    query: ['symbols'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.005,
  },
  market: {
    method: 'GET',
    path: '/api/v1/market/{id}',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.005,
  },
  price_alert_create: {
    method: 'POST',
    path: '/price-alert',
    query: [],
    body: [
      'symbol',
      'condition',
      'target_price',
      'webhook_url',
      'channel',
      'quiet_hours',
      'digest',
      'agent_wallet',
      'expires_in_hours',
    ],
    isOwners: false,
    isKeyed: true,
    isQuestion: false,
    priceUsdc: 0.04,
  },
  price_alert: {
    method: 'GET',
    path: '/price-alert/{id}',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  price_alerts: {
    method: 'GET',
    path: '/price-alerts',
    query: ['wallet', 'symbol', 'limit', 'cursor'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  price_alert_cancel: {
    method: 'DELETE',
    path: '/price-alert/{id}',
    query: [],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  price_alert_extend: {
    method: 'POST',
    path: '/price-alert/{id}/extend',
    query: [],
    body: ['add_hours'],
    isOwners: true,
    isKeyed: true,
    isQuestion: false,
    priceUsdc: 0.02,
  },
  price_alert_pause: {
    method: 'POST',
    path: '/price-alert/{id}/pause',
    query: [],
    body: ['until'],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  price_alert_resume: {
    method: 'POST',
    path: '/price-alert/{id}/resume',
    query: [],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  price_alert_deliveries: {
    method: 'GET',
    path: '/price-alert/{id}/deliveries',
    query: ['limit', 'cursor'],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  price_alert_test: {
    method: 'POST',
    path: '/price-alert/{id}/test',
    query: [],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  price_alert_resend: {
    method: 'POST',
    path: '/price-alert/{id}/deliveries/{trigger_id}/resend',
    query: [],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  liquidation_alert_create: {
    method: 'POST',
    path: '/liquidation/alert',
    query: [],
    body: [
      'symbol',
      'condition',
      'threshold_pct',
      'min_value_usd',
      'webhook_url',
      'channel',
      'quiet_hours',
      'digest',
      'agent_wallet',
      'expires_in_hours',
    ],
    isOwners: false,
    isKeyed: true,
    isQuestion: false,
    priceUsdc: 0.06,
  },
  liquidation_alert: {
    method: 'GET',
    path: '/liquidation/alert/{id}',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  liquidation_alerts: {
    method: 'GET',
    path: '/liquidation/alerts',
    query: ['wallet', 'symbol', 'limit', 'cursor'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  liquidation_alert_cancel: {
    method: 'DELETE',
    path: '/liquidation/alert/{id}',
    query: [],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  liquidation_alert_extend: {
    method: 'POST',
    path: '/liquidation/alert/{id}/extend',
    query: [],
    body: ['add_hours'],
    isOwners: true,
    isKeyed: true,
    isQuestion: false,
    priceUsdc: 0.03,
  },
  liquidation_alert_pause: {
    method: 'POST',
    path: '/liquidation/alert/{id}/pause',
    query: [],
    body: ['until'],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  liquidation_alert_resume: {
    method: 'POST',
    path: '/liquidation/alert/{id}/resume',
    query: [],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  liquidation_alert_deliveries: {
    method: 'GET',
    path: '/liquidation/alert/{id}/deliveries',
    query: ['limit', 'cursor'],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  liquidation_alert_test: {
    method: 'POST',
    path: '/liquidation/alert/{id}/test',
    query: [],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  liquidation_alert_resend: {
    method: 'POST',
    path: '/liquidation/alert/{id}/deliveries/{trigger_id}/resend',
    query: [],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  rule_alert_create: {
    method: 'POST',
    path: '/alerts',
    query: [],
    body: [
      'symbol',
      'symbols',
      'when',
      'held_for',
      'repeat',
      'cooldown',
      'resolved',
      'note',
      'group',
      'tags',
      'webhook_url',
      'channel',
      'quiet_hours',
      'digest',
      'agent_wallet',
      'expires_in_hours',
    ],
    isOwners: false,
    isKeyed: true,
    isQuestion: false,
    priceUsdc: 0.06,
  },
  rule_alert: {
    method: 'GET',
    path: '/alerts/{id}',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  rule_alerts: {
    method: 'GET',
    path: '/alerts',
    query: ['wallet', 'symbol', 'limit', 'cursor'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  rule_alert_cancel: {
    method: 'DELETE',
    path: '/alerts/{id}',
    query: [],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  rule_alert_extend: {
    method: 'POST',
    path: '/alerts/{id}/extend',
    query: [],
    body: ['add_hours'],
    isOwners: true,
    isKeyed: true,
    isQuestion: false,
    priceUsdc: 0.03,
  },
  rule_alert_pause: {
    method: 'POST',
    path: '/alerts/{id}/pause',
    query: [],
    body: ['until'],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  rule_alert_resume: {
    method: 'POST',
    path: '/alerts/{id}/resume',
    query: [],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  rule_alert_edit: {
    method: 'PATCH',
    path: '/alerts/{id}',
    query: [],
    body: ['when', 'held_for', 'repeat', 'cooldown', 'resolved', 'note', 'group', 'tags', 'quiet_hours', 'digest'],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  rule_alert_deliveries: {
    method: 'GET',
    path: '/alerts/{id}/deliveries',
    query: ['limit', 'cursor'],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  rule_alert_test: {
    method: 'POST',
    path: '/alerts/{id}/test',
    query: [],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  rule_alert_resend: {
    method: 'POST',
    path: '/alerts/{id}/deliveries/{trigger_id}/resend',
    query: [],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  wallet_message: {
    method: 'GET',
    path: '/wallet/message',
    query: ['address'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  wallet_alerts: {
    method: 'POST',
    path: '/wallet/alerts',
    query: [],
    body: ['message', 'signature', 'cursor', 'state', 'group', 'tag', 'limit'],
    isOwners: false,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  email_code: {
    method: 'POST',
    path: '/email-codes',
    query: [],
    body: ['to'],
    isOwners: false,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  alert_backtest: {
    method: 'POST',
    path: '/alerts/backtest',
    query: [],
    body: [
      'symbol',
      'condition',
      'target_price',
      'threshold_pct',
      'min_value_usd',
      'when',
      'held_for',
      'repeat',
      'cooldown',
      'resolved',
      'note',
      'group',
      'tags',
      'webhook_url',
      'channel',
      'quiet_hours',
      'digest',
      'agent_wallet',
      'expires_in_hours',
      'symbols',
      'days',
      'figures',
    ],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  record: {
    method: 'GET',
    path: '/records/{id}',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  credit_buy: {
    method: 'POST',
    path: '/credit',
    query: [],
    body: ['amount_usdc', 'key_id', 'label', 'scopes', 'expires_in_days', 'daily_max_usdc'],
    isOwners: false,
    isKeyed: true,
    isQuestion: false,
    priceUsdc: 1,
  },
  key: {
    method: 'GET',
    path: '/keys/{key_id}',
    query: [],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  key_change: {
    method: 'PATCH',
    path: '/keys/{key_id}',
    query: [],
    body: ['label', 'scopes', 'expires_in_days', 'daily_max_usdc'],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  key_rotate: {
    method: 'POST',
    path: '/keys/{key_id}/rotate',
    query: [],
    body: ['grace_hours'],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  key_revoke: {
    method: 'DELETE',
    path: '/keys/{key_id}',
    query: [],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  key_usage: {
    method: 'GET',
    path: '/keys/{key_id}/usage',
    query: ['month'],
    body: [],
    isOwners: true,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  wallet_keys: {
    method: 'POST',
    path: '/wallet/keys',
    query: [],
    body: ['message', 'signature'],
    isOwners: false,
    isKeyed: false,
    isQuestion: false,
    priceUsdc: 0,
  },
  healthz: {
    method: 'GET',
    path: '/healthz',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  readyz: {
    method: 'GET',
    path: '/readyz',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  pricing: {
    method: 'GET',
    path: '/pricing',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
  well_known_x402: {
    method: 'GET',
    path: '/.well-known/x402',
    query: [],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0,
  },
} as const satisfies Readonly<Record<string, Operation>>

export type OperationName = keyof typeof operations

export interface StreamInput {
  /** Symbols, separated by commas; any case; BTC and BTCUSDT mean the same; 1 to 20 symbols of letters and digits, separated by commas */
  readonly symbols: readonly string[]
  /** What is told; some of cvd, price, funding, liquidations, signals, separated by commas; all of them if left out */
  readonly channels?: readonly string[]
  /** Rolling period that ends now; one of 1h, 4h, 24h, 7d */
  readonly period?: '1h' | '4h' | '24h' | '7d'
  /** How long the stream lasts; where it is paid for, from the payment on; a whole number from 1 to 3600 */
  readonly seconds?: number
  /** The id of the last event that was read; it is remembered over cuts of one call */
  readonly last_event_id?: string
}

export type StreamEvent =
  | {
      readonly name: 'cvd'
      readonly id: string
      readonly data: {
        /** Base asset */
        readonly symbol: string
        /** Running total of taker buys minus taker sells since `since`, base units */
        readonly cvd: number
        /** As cvd, in USD */
        readonly cvd_usd: number
        /** Taker buys minus taker sells of the period, base units */
        readonly period_cvd: number
        /** Taker buys of the period, base units */
        readonly buy_volume: number
        /** Taker sells of the period, base units */
        readonly sell_volume: number
        /** As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close */
        readonly period_cvd_usd: number
        /** As buy_volume, in USD */
        readonly buy_volume_usd: number
        /** As sell_volume, in USD */
        readonly sell_volume_usd: number
        /** period_cvd over period volume: beyond 15 % strong, beyond 5 % plain, else neutral; insufficient_data where our own trades hold less than a quarter of the period, or nothing traded */
        readonly signal:
          | 'strong_bullish_pressure'
          | 'bullish_pressure'
          | 'neutral'
          | 'bearish_pressure'
          | 'strong_bearish_pressure'
          | 'insufficient_data'
        /** The rolling period, ending now */
        readonly period: '1h' | '4h' | '24h' | '7d'
        /** Open WebSocket connections of the venues’ trade streams */
        readonly active_ws_connections: number
        /** The figures by venue; they add up to the totals */
        readonly exchanges: Readonly<
          Record<
            'binance' | 'bybit' | 'okx' | 'coinbase' | 'kraken' | 'gate' | 'binance_spot' | 'bitget' | 'hyperliquid',
            {
              /** Running total of taker buys minus taker sells since `since`, base units */
              readonly cvd: number
              /** As cvd, in USD */
              readonly cvd_usd: number
              /** Taker buys minus taker sells of the period, base units */
              readonly period_cvd: number
              /** Taker buys of the period, base units */
              readonly buy_volume: number
              /** Taker sells of the period, base units */
              readonly sell_volume: number
              /** As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close */
              readonly period_cvd_usd: number
              /** As buy_volume, in USD */
              readonly buy_volume_usd: number
              /** As sell_volume, in USD */
              readonly sell_volume_usd: number
              /** trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time. Of a period hours count that lie wholly within it. Null: nothing is known; candles of Bybit and Coinbase do not say what takers bought */
              readonly source: 'trades' | 'archive' | 'venue_candles' | 'mixed' | null
              /** live: streaming; gap: trades of the period are missing; stale: not heard for 30 s; unavailable: it refuses us or is switched off; unlisted: it has no such market */
              readonly status: 'live' | 'gap' | 'stale' | 'unavailable' | 'unlisted'
            }
          >
        >
        /** The figures by market type */
        readonly markets: Readonly<
          Record<
            'spot' | 'perp',
            {
              /** Running total of taker buys minus taker sells since `since`, base units */
              readonly cvd: number
              /** As cvd, in USD */
              readonly cvd_usd: number
              /** Taker buys minus taker sells of the period, base units */
              readonly period_cvd: number
              /** Taker buys of the period, base units */
              readonly buy_volume: number
              /** Taker sells of the period, base units */
              readonly sell_volume: number
              /** As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close */
              readonly period_cvd_usd: number
              /** As buy_volume, in USD */
              readonly buy_volume_usd: number
              /** As sell_volume, in USD */
              readonly sell_volume_usd: number
            }
          >
        >
        /** trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time. Of a period hours count that lie wholly within it. Null: nothing is known; candles of Bybit and Coinbase do not say what takers bought */
        readonly source: 'trades' | 'archive' | 'venue_candles' | 'mixed' | null
        /** The figures of the period by source: each hour of a venue is in one of them alone, and they add up to the totals */
        readonly sources: Readonly<
          Record<
            'trades' | 'archive' | 'venue_candles',
            {
              /** Taker buys minus taker sells of the period, base units */
              readonly period_cvd: number
              /** Taker buys of the period, base units */
              readonly buy_volume: number
              /** Taker sells of the period, base units */
              readonly sell_volume: number
              /** As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close */
              readonly period_cvd_usd: number
              /** As buy_volume, in USD */
              readonly buy_volume_usd: number
              /** As sell_volume, in USD */
              readonly sell_volume_usd: number
              /** How much of the period it tells: the mean over the instruments, 0 to 1 */
              readonly share: number
            }
          >
        >
        /** What of the time asked for the log really has */
        readonly coverage: {
          /** From here on the figures count */
          readonly from: string
          /** Up to here they count */
          readonly to: string
          /** The log reaches back to the start, has no hole and every listing venue was heard to the end */
          readonly complete: boolean
          /** How much of the time asked for the log holds, 0 to 1: the mean over the instruments; missing trades count as not held */
          readonly share: number
          /** Holes, newest first, at most 50 */
          readonly gaps: readonly {
            /** Venue; all: the log itself lost them */
            readonly exchange: string
            /** opened: being fetched; unfillable: the venue serves them no more; lost: the log lost them before they were counted, or may have */
            readonly state: 'opened' | 'unfillable' | 'lost' | 'unknown'
            /** Last trade before */
            readonly from: string
            /** First trade after */
            readonly to: string
            /** How many, where ids tell */
            readonly missing: number | null
            /** What of the venue’s own past says the taker volume of all hours that it touches (view venue_candles); not counted, since trades of those hours are. Null: nothing does, or it ended over eight days ago */
            readonly past: 'archive' | 'venue_candles' | 'mixed' | null
          }[]
        }
        /** From when cvd counts: the first trade in the log; null: none yet */
        readonly since: string | null
        /** Time of the newest input */
        readonly as_of: string
        /** How old that is, milliseconds */
        readonly age_ms: number
        /** Whether it is older than it may be: 30 s */
        readonly stale: boolean
        /** When the answer was given */
        readonly timestamp: string
        /** Whether it came from the cache */
        readonly cached: boolean
      }
    }
  | {
      readonly name: 'price'
      readonly id: string
      readonly data: {
        /** Base asset */
        readonly symbol: string
        /** USD */
        readonly price: number
        /** Median of the used venues’ own changes, percent; null: none says */
        readonly change_24h: number | null
        /** Lowest since the composite before, USD */
        readonly low: number
        /** Highest since the composite before, USD */
        readonly high: number
        /** degraded: one source only, or sources more than 1 % apart */
        readonly quality: 'good' | 'degraded' | 'unknown'
        /** Venues that the price is made of */
        readonly sources: readonly string[]
        /** The chain venues */
        readonly exchanges: Readonly<
          Record<
            'binance' | 'coinbase' | 'okx' | 'bybit' | 'kraken',
            {
              /** Middle of its book in USD, or its last price; null: not known */
              readonly price: number | null
              /** How long ago it last changed, milliseconds; a quiet market is not a dead one */
              readonly age_ms: number | null
              /** Whether it is part of the price */
              readonly used: boolean
              /** live; stale: not heard for 15 s; unavailable: nothing is known; unlisted */
              readonly status: 'live' | 'stale' | 'unavailable' | 'unlisted'
            }
          >
        >
        /** Time of the newest input */
        readonly as_of: string
        /** How old that is, milliseconds */
        readonly age_ms: number
        /** Whether it is older than it may be: 15 s */
        readonly stale: boolean
        /** When the answer was given */
        readonly timestamp: string
        /** Whether it came from the cache */
        readonly cached: boolean
      }
    }
  | {
      readonly name: 'funding'
      readonly id: string
      readonly data: {
        /** Perpetual, as BTCUSDT */
        readonly symbol: string
        /** Whose perpetual: Binance, else Bybit, else OKX */
        readonly exchange: 'binance' | 'bybit' | 'okx'
        /** Running rate for next_funding_time, fraction per interval; positive: longs pay shorts */
        readonly funding_rate: number
        /** funding_rate x (24 / interval_hours) x 365, fraction */
        readonly funding_rate_annualized: number
        /** Hours between two settlements of this perpetual */
        readonly interval_hours: number
        /** When that rate is settled */
        readonly next_funding_time: string
        /** By the size of the rate in percent: beyond 0.05 extreme, 0.01 plain, 0.003 slight, else neutral; positive: bullish */
        readonly signal:
          | 'extreme_bullish'
          | 'bullish'
          | 'slightly_bullish'
          | 'neutral'
          | 'slightly_bearish'
          | 'bearish'
          | 'extreme_bearish'
        /** The signal in words */
        readonly signal_label: string
        /** Mark price, USDT */
        readonly mark_price: number
        /** Index price, USDT */
        readonly index_price: number
        /** Newest settled rate, fraction */
        readonly last_settled_rate: number | null
        /** The same, percent */
        readonly last_settled_pct: number | null
        /** When it was settled */
        readonly last_settled_time: string | null
        /** Time of the newest input */
        readonly as_of: string
        /** How old that is, milliseconds */
        readonly age_ms: number
        /** Whether it is older than it may be: rates 120 s, marks 60 s */
        readonly stale: boolean
        /** When the answer was given */
        readonly timestamp: string
        /** Whether it came from the cache */
        readonly cached: boolean
      }
    }
  | {
      readonly name: 'liquidations'
      readonly id: string
      readonly data: {
        /** liq_<unix seconds>_<place in the log> */
        readonly id: string
        /** As BTCUSDT */
        readonly symbol: string
        /** The position, not the order */
        readonly side: 'long' | 'short'
        /** Base units */
        readonly size: number
        /** USD */
        readonly price: number
        /** price x size, USD */
        readonly value_usd: number
        /** The venue’s time */
        readonly timestamp: string
        /** Venue, upper case */
        readonly exchange: string
        /** What the price is */
        readonly price_kind: 'unknown' | 'bankruptcy' | 'order' | 'average_fill'
        /** all: the venue sends every one; sampled: the largest of a symbol and second */
        readonly completeness: 'unknown' | 'all' | 'sampled'
        /** When we had it */
        readonly as_of: string
      }
    }
  | {
      readonly name: 'signals'
      readonly id: string
      readonly data: {
        /** Base asset */
        readonly symbol: string
        /** What it is a signal of: cvd, funding or liquidations */
        readonly kind: string
        /** The window that it looks at */
        readonly period: string
        /** Venue that it is about; null: all of them */
        readonly exchange: string | null
        /** The class that it had */
        readonly from: string
        /** The class that it has */
        readonly to: string
        /** What was classified; of cvd period delta over period volume, a fraction */
        readonly value: number
        /** End of the window that was looked at */
        readonly as_of: string
      }
    }
  | {
      readonly name: 'ready'
      readonly id: string
      readonly data: {
        /** Whether it goes on where Last-Event-ID was; else all that is known was told */
        readonly resumed: boolean
      }
    }
  | {
      readonly name: 'missed'
      readonly id: string
      readonly data: {
        /** slow: newer ones took their place; not_held: too long ago, all is told anew */
        readonly reason: 'slow' | 'not_held'
        /** Since when; null: the id did not say */
        readonly from: string | null
        /** Until when */
        readonly to: string
        /** How many by channel; of not_held nothing */
        readonly counts: Readonly<Record<string, number>>
      }
    }
  | {
      readonly name: 'end'
      readonly id: string
      readonly data: {
        /** Why it ends */
        readonly reason: 'time_over' | 'replaced' | 'restarting'
        /** How to go on */
        readonly message: string
      }
    }

/** How each stream is asked for. */
export const streams = {
  stream: {
    method: 'GET',
    path: '/stream',
    query: ['symbols', 'channels', 'period', 'seconds'],
    body: [],
    isOwners: false,
    isKeyed: false,
    isQuestion: true,
    priceUsdc: 0.1,
  },
} as const satisfies Readonly<Record<string, Operation>>

export type StreamName = keyof typeof streams

/** Every operation as a method; how it is sent is the client's. */
export abstract class Api<Options> {
  protected abstract send(name: OperationName, input: object, options: Options | undefined): Promise<unknown>
  protected abstract listen(
    name: StreamName,
    input: object,
    options: Options | undefined,
  ): AsyncGenerator<unknown, void>
  /** Cumulative volume delta over four venues. `GET /cvd/{symbol}`. 0.02 USDC. */
  async cvd(input: CvdInput, options?: Options): Promise<CvdAnswer> {
    return (await this.send('cvd', input, options)) as CvdAnswer
  }

  /** Volume delta by bucket, with its running total. `GET /cvd/history/{symbol}`. 0.02 USDC. */
  async cvdHistory(input: CvdHistoryInput, options?: Options): Promise<CvdHistoryAnswer> {
    return (await this.send('cvd_history', input, options)) as CvdHistoryAnswer
  }

  /** Candles from our own trade log. `GET /ohlcv/{symbol}`. 0.02 USDC. */
  async ohlcv(input: OhlcvInput, options?: Options): Promise<OhlcvAnswer> {
    return (await this.send('ohlcv', input, options)) as OhlcvAnswer
  }

  /** Perpetuals whose funding is out of the ordinary. `GET /funding-rate/extreme`. 0.02 USDC. */
  async fundingExtreme(input: FundingExtremeInput = {}, options?: Options): Promise<FundingExtremeAnswer> {
    return (await this.send('funding_extreme', input, options)) as FundingExtremeAnswer
  }

  /** Settled funding rates. `GET /funding-rate/history/{symbol}`. 0.02 USDC. */
  async fundingHistory(input: FundingHistoryInput, options?: Options): Promise<FundingHistoryAnswer> {
    return (await this.send('funding_history', input, options)) as FundingHistoryAnswer
  }

  /** Running funding rate of a perpetual. `GET /funding-rate/{symbol}`. 0.02 USDC. */
  async fundingRate(input: FundingRateInput, options?: Options): Promise<FundingRateAnswer> {
    return (await this.send('funding_rate', input, options)) as FundingRateAnswer
  }

  /** Funding of three venues side by side. `GET /futures/funding-compare/{symbol}`. 0.03 USDC. */
  async fundingCompare(input: FundingCompareInput, options?: Options): Promise<FundingCompareAnswer> {
    return (await this.send('funding_compare', input, options)) as FundingCompareAnswer
  }

  /** Predicted rate of the next settlement. `GET /futures/predicted-funding/{symbol}`. 0.02 USDC. */
  async predictedFunding(input: PredictedFundingInput, options?: Options): Promise<PredictedFundingAnswer> {
    return (await this.send('predicted_funding', input, options)) as PredictedFundingAnswer
  }

  /** Perpetuals against spot. `GET /futures/basis/{symbol}`. 0.02 USDC. */
  async basis(input: BasisInput, options?: Options): Promise<BasisAnswer> {
    return (await this.send('basis', input, options)) as BasisAnswer
  }

  /** Basis by bucket: the last mark price of each perpetual against the last spot price, or where none is known against the venue’s own index. `GET /futures/basis/history/{symbol}`. 0.02 USDC. */
  async basisHistory(input: BasisHistoryInput, options?: Options): Promise<BasisHistoryAnswer> {
    return (await this.send('basis_history', input, options)) as BasisHistoryAnswer
  }

  /** Open interest of perpetuals, by venue and in sum. `GET /futures/open-interest/{symbol}`. 0.02 USDC. */
  async openInterest(input: OpenInterestInput, options?: Options): Promise<OpenInterestAnswer> {
    return (await this.send('open_interest', input, options)) as OpenInterestAnswer
  }

  /** Open interest by bucket: the last that each venue said in it. `GET /futures/open-interest/history/{symbol}`. 0.02 USDC. */
  async openInterestHistory(input: OpenInterestHistoryInput, options?: Options): Promise<OpenInterestHistoryAnswer> {
    return (await this.send('open_interest_history', input, options)) as OpenInterestHistoryAnswer
  }

  /** Top traders’ long/short ratio. `GET /futures/long-short/{symbol}`. 0.02 USDC. */
  async longShort(input: LongShortInput, options?: Options): Promise<LongShortAnswer> {
    return (await this.send('long_short', input, options)) as LongShortAnswer
  }

  /** Top traders’ long/short ratio by bucket: the last period of each venue in it. `GET /futures/long-short/history/{symbol}`. 0.02 USDC. */
  async longShortHistory(input: LongShortHistoryInput, options?: Options): Promise<LongShortHistoryAnswer> {
    return (await this.send('long_short_history', input, options)) as LongShortHistoryAnswer
  }

  /** Estimated liquidation levels and cascade risk. `GET /liquidation/heatmap/{symbol}`. 0.05 USDC. */
  async liquidationHeatmap(input: LiquidationHeatmapInput, options?: Options): Promise<LiquidationHeatmapAnswer> {
    return (await this.send('liquidation_heatmap', input, options)) as LiquidationHeatmapAnswer
  }

  /** Estimated liquidation levels by time and price: the model, replayed over open interest and marks. `GET /liquidation/heatmap/history/{symbol}`. 0.05 USDC. */
  async liquidationHeatmapHistory(
    input: LiquidationHeatmapHistoryInput,
    options?: Options,
  ): Promise<LiquidationHeatmapHistoryAnswer> {
    return (await this.send('liquidation_heatmap_history', input, options)) as LiquidationHeatmapHistoryAnswer
  }

  /** Newest liquidations and their statistics. `GET /liquidation/recent`. 0.03 USDC. */
  async liquidationRecent(input: LiquidationRecentInput = {}, options?: Options): Promise<LiquidationRecentAnswer> {
    return (await this.send('liquidation_recent', input, options)) as LiquidationRecentAnswer
  }

  /** Liquidations by bucket and side. `GET /liquidation/history/{symbol}`. 0.03 USDC. */
  async liquidationHistory(input: LiquidationHistoryInput, options?: Options): Promise<LiquidationHistoryAnswer> {
    return (await this.send('liquidation_history', input, options)) as LiquidationHistoryAnswer
  }

  /** Funding, CVD, open interest and liquidations of all symbols, sorted and filtered. `GET /screener`. 0.05 USDC. */
  async screener(input: ScreenerInput = {}, options?: Options): Promise<ScreenerAnswer> {
    return (await this.send('screener', input, options)) as ScreenerAnswer
  }

  /** Composite price of five exchanges. `GET /price/{symbol}`. 0.005 USDC. */
  async price(input: PriceInput, options?: Options): Promise<PriceAnswer> {
    return (await this.send('price', input, options)) as PriceAnswer
  }

  /** Prices of up to 20 symbols. `GET /api/v1/prices`. 0.005 USDC. */
  async prices(input: PricesInput, options?: Options): Promise<PricesAnswer> {
    return (await this.send('prices', input, options)) as PricesAnswer
  }

  /** Details of a token. `GET /api/v1/market/{id}`. 0.005 USDC. */
  async market(input: MarketInput, options?: Options): Promise<MarketAnswer> {
    return (await this.send('market', input, options)) as MarketAnswer
  }

  /** Create a price alert. `POST /price-alert`. 0.04 USDC. */
  async priceAlertCreate(input: PriceAlertCreateInput, options?: Options): Promise<PriceAlertCreateAnswer> {
    return (await this.send('price_alert_create', input, options)) as PriceAlertCreateAnswer
  }

  /** Status of a price alert. `GET /price-alert/{id}`. Free. */
  async priceAlert(input: PriceAlertInput, options?: Options): Promise<PriceAlertAnswer> {
    return (await this.send('price_alert', input, options)) as PriceAlertAnswer
  }

  /** Active price alerts. `GET /price-alerts`. Free. */
  async priceAlerts(input: PriceAlertsInput = {}, options?: Options): Promise<PriceAlertsAnswer> {
    return (await this.send('price_alerts', input, options)) as PriceAlertsAnswer
  }

  /** Cancel a price alert. `DELETE /price-alert/{id}`. Free. */
  async priceAlertCancel(input: PriceAlertCancelInput, options?: Options): Promise<PriceAlertCancelAnswer> {
    return (await this.send('price_alert_cancel', input, options)) as PriceAlertCancelAnswer
  }

  /** Extend a price alert. `POST /price-alert/{id}/extend`. 0.02 USDC. */
  async priceAlertExtend(input: PriceAlertExtendInput, options?: Options): Promise<PriceAlertExtendAnswer> {
    return (await this.send('price_alert_extend', input, options)) as PriceAlertExtendAnswer
  }

  /** Pause a price alert, until a time or until it is resumed. `POST /price-alert/{id}/pause`. Free. */
  async priceAlertPause(input: PriceAlertPauseInput, options?: Options): Promise<PriceAlertPauseAnswer> {
    return (await this.send('price_alert_pause', input, options)) as PriceAlertPauseAnswer
  }

  /** Resume a price alert. `POST /price-alert/{id}/resume`. Free. */
  async priceAlertResume(input: PriceAlertResumeInput, options?: Options): Promise<PriceAlertResumeAnswer> {
    return (await this.send('price_alert_resume', input, options)) as PriceAlertResumeAnswer
  }

  /** Deliveries of a price alert. `GET /price-alert/{id}/deliveries`. Free. */
  async priceAlertDeliveries(input: PriceAlertDeliveriesInput, options?: Options): Promise<PriceAlertDeliveriesAnswer> {
    return (await this.send('price_alert_deliveries', input, options)) as PriceAlertDeliveriesAnswer
  }

  /** Send a test event of a price alert. `POST /price-alert/{id}/test`. Free. */
  async priceAlertTest(input: PriceAlertTestInput, options?: Options): Promise<PriceAlertTestAnswer> {
    return (await this.send('price_alert_test', input, options)) as PriceAlertTestAnswer
  }

  /** Send a delivery of a price alert again. `POST /price-alert/{id}/deliveries/{trigger_id}/resend`. Free. */
  async priceAlertResend(input: PriceAlertResendInput, options?: Options): Promise<PriceAlertResendAnswer> {
    return (await this.send('price_alert_resend', input, options)) as PriceAlertResendAnswer
  }

  /** Create a liquidation alert. `POST /liquidation/alert`. 0.06 USDC. */
  async liquidationAlertCreate(
    input: LiquidationAlertCreateInput,
    options?: Options,
  ): Promise<LiquidationAlertCreateAnswer> {
    return (await this.send('liquidation_alert_create', input, options)) as LiquidationAlertCreateAnswer
  }

  /** Status of a liquidation alert. `GET /liquidation/alert/{id}`. Free. */
  async liquidationAlert(input: LiquidationAlertInput, options?: Options): Promise<LiquidationAlertAnswer> {
    return (await this.send('liquidation_alert', input, options)) as LiquidationAlertAnswer
  }

  /** Active liquidation alerts. `GET /liquidation/alerts`. Free. */
  async liquidationAlerts(input: LiquidationAlertsInput = {}, options?: Options): Promise<LiquidationAlertsAnswer> {
    return (await this.send('liquidation_alerts', input, options)) as LiquidationAlertsAnswer
  }

  /** Cancel a liquidation alert. `DELETE /liquidation/alert/{id}`. Free. */
  async liquidationAlertCancel(
    input: LiquidationAlertCancelInput,
    options?: Options,
  ): Promise<LiquidationAlertCancelAnswer> {
    return (await this.send('liquidation_alert_cancel', input, options)) as LiquidationAlertCancelAnswer
  }

  /** Extend a liquidation alert. `POST /liquidation/alert/{id}/extend`. 0.03 USDC. */
  async liquidationAlertExtend(
    input: LiquidationAlertExtendInput,
    options?: Options,
  ): Promise<LiquidationAlertExtendAnswer> {
    return (await this.send('liquidation_alert_extend', input, options)) as LiquidationAlertExtendAnswer
  }

  /** Pause a liquidation alert, until a time or until it is resumed. `POST /liquidation/alert/{id}/pause`. Free. */
  async liquidationAlertPause(
    input: LiquidationAlertPauseInput,
    options?: Options,
  ): Promise<LiquidationAlertPauseAnswer> {
    return (await this.send('liquidation_alert_pause', input, options)) as LiquidationAlertPauseAnswer
  }

  /** Resume a liquidation alert. `POST /liquidation/alert/{id}/resume`. Free. */
  async liquidationAlertResume(
    input: LiquidationAlertResumeInput,
    options?: Options,
  ): Promise<LiquidationAlertResumeAnswer> {
    return (await this.send('liquidation_alert_resume', input, options)) as LiquidationAlertResumeAnswer
  }

  /** Deliveries of a liquidation alert. `GET /liquidation/alert/{id}/deliveries`. Free. */
  async liquidationAlertDeliveries(
    input: LiquidationAlertDeliveriesInput,
    options?: Options,
  ): Promise<LiquidationAlertDeliveriesAnswer> {
    return (await this.send('liquidation_alert_deliveries', input, options)) as LiquidationAlertDeliveriesAnswer
  }

  /** Send a test event of a liquidation alert. `POST /liquidation/alert/{id}/test`. Free. */
  async liquidationAlertTest(input: LiquidationAlertTestInput, options?: Options): Promise<LiquidationAlertTestAnswer> {
    return (await this.send('liquidation_alert_test', input, options)) as LiquidationAlertTestAnswer
  }

  /** Send a delivery of a liquidation alert again. `POST /liquidation/alert/{id}/deliveries/{trigger_id}/resend`. Free. */
  async liquidationAlertResend(
    input: LiquidationAlertResendInput,
    options?: Options,
  ): Promise<LiquidationAlertResendAnswer> {
    return (await this.send('liquidation_alert_resend', input, options)) as LiquidationAlertResendAnswer
  }

  /** Create a rule. `POST /alerts`. 0.06 USDC. */
  async ruleAlertCreate(input: RuleAlertCreateInput, options?: Options): Promise<RuleAlertCreateAnswer> {
    return (await this.send('rule_alert_create', input, options)) as RuleAlertCreateAnswer
  }

  /** Status of a rule. `GET /alerts/{id}`. Free. */
  async ruleAlert(input: RuleAlertInput, options?: Options): Promise<RuleAlertAnswer> {
    return (await this.send('rule_alert', input, options)) as RuleAlertAnswer
  }

  /** Active rule alerts. `GET /alerts`. Free. */
  async ruleAlerts(input: RuleAlertsInput = {}, options?: Options): Promise<RuleAlertsAnswer> {
    return (await this.send('rule_alerts', input, options)) as RuleAlertsAnswer
  }

  /** Cancel a rule. `DELETE /alerts/{id}`. Free. */
  async ruleAlertCancel(input: RuleAlertCancelInput, options?: Options): Promise<RuleAlertCancelAnswer> {
    return (await this.send('rule_alert_cancel', input, options)) as RuleAlertCancelAnswer
  }

  /** Extend a rule. `POST /alerts/{id}/extend`. 0.03 USDC. */
  async ruleAlertExtend(input: RuleAlertExtendInput, options?: Options): Promise<RuleAlertExtendAnswer> {
    return (await this.send('rule_alert_extend', input, options)) as RuleAlertExtendAnswer
  }

  /** Pause a rule, until a time or until it is resumed. `POST /alerts/{id}/pause`. Free. */
  async ruleAlertPause(input: RuleAlertPauseInput, options?: Options): Promise<RuleAlertPauseAnswer> {
    return (await this.send('rule_alert_pause', input, options)) as RuleAlertPauseAnswer
  }

  /** Resume a rule. `POST /alerts/{id}/resume`. Free. */
  async ruleAlertResume(input: RuleAlertResumeInput, options?: Options): Promise<RuleAlertResumeAnswer> {
    return (await this.send('rule_alert_resume', input, options)) as RuleAlertResumeAnswer
  }

  /** Change a rule. `PATCH /alerts/{id}`. Free. */
  async ruleAlertEdit(input: RuleAlertEditInput, options?: Options): Promise<RuleAlertEditAnswer> {
    return (await this.send('rule_alert_edit', input, options)) as RuleAlertEditAnswer
  }

  /** Deliveries of a rule. `GET /alerts/{id}/deliveries`. Free. */
  async ruleAlertDeliveries(input: RuleAlertDeliveriesInput, options?: Options): Promise<RuleAlertDeliveriesAnswer> {
    return (await this.send('rule_alert_deliveries', input, options)) as RuleAlertDeliveriesAnswer
  }

  /** Send a test event of a rule. `POST /alerts/{id}/test`. Free. */
  async ruleAlertTest(input: RuleAlertTestInput, options?: Options): Promise<RuleAlertTestAnswer> {
    return (await this.send('rule_alert_test', input, options)) as RuleAlertTestAnswer
  }

  /** Send a delivery of a rule again. `POST /alerts/{id}/deliveries/{trigger_id}/resend`. Free. */
  async ruleAlertResend(input: RuleAlertResendInput, options?: Options): Promise<RuleAlertResendAnswer> {
    return (await this.send('rule_alert_resend', input, options)) as RuleAlertResendAnswer
  }

  /** What a wallet signs to see its alerts. `GET /wallet/message`. Free. */
  async walletMessage(input: WalletMessageInput, options?: Options): Promise<WalletMessageAnswer> {
    return (await this.send('wallet_message', input, options)) as WalletMessageAnswer
  }

  /** The alerts that a wallet paid for, with their tokens. `POST /wallet/alerts`. Free. */
  async walletAlerts(input: WalletAlertsInput = {}, options?: Options): Promise<WalletAlertsAnswer> {
    return (await this.send('wallet_alerts', input, options)) as WalletAlertsAnswer
  }

  /** Mail an address the code that alerts to it are made with. `POST /email-codes`. Free. */
  async emailCode(input: EmailCodeInput, options?: Options): Promise<EmailCodeAnswer> {
    return (await this.send('email_code', input, options)) as EmailCodeAnswer
  }

  /** How often an alert would have rung in the last 30 days, before buying it. `POST /alerts/backtest`. Free. */
  async alertBacktest(input: AlertBacktestInput = {}, options?: Options): Promise<AlertBacktestAnswer> {
    return (await this.send('alert_backtest', input, options)) as AlertBacktestAnswer
  }

  /** The log record that a trigger names, to check it against. `GET /records/{id}`. Free. */
  async record(input: RecordInput, options?: Options): Promise<RecordAnswer> {
    return (await this.send('record', input, options)) as RecordAnswer
  }

  /** Buy credit: a new API key, or more for one. `POST /credit`. 1 USDC. */
  async creditBuy(input: CreditBuyInput = {}, options?: Options): Promise<CreditBuyAnswer> {
    return (await this.send('credit_buy', input, options)) as CreditBuyAnswer
  }

  /** An API key with its balance. `GET /keys/{key_id}`. Free. */
  async key(input: KeyInput, options?: Options): Promise<KeyAnswer> {
    return (await this.send('key', input, options)) as KeyAnswer
  }

  /** Change what an API key may do. `PATCH /keys/{key_id}`. Free. */
  async keyChange(input: KeyChangeInput, options?: Options): Promise<KeyChangeAnswer> {
    return (await this.send('key_change', input, options)) as KeyChangeAnswer
  }

  /** Give an API key another secret. `POST /keys/{key_id}/rotate`. Free. */
  async keyRotate(input: KeyRotateInput, options?: Options): Promise<KeyRotateAnswer> {
    return (await this.send('key_rotate', input, options)) as KeyRotateAnswer
  }

  /** End an API key for good. `DELETE /keys/{key_id}`. Free. */
  async keyRevoke(input: KeyRevokeInput, options?: Options): Promise<KeyRevokeAnswer> {
    return (await this.send('key_revoke', input, options)) as KeyRevokeAnswer
  }

  /** What an API key was charged, by day and route. `GET /keys/{key_id}/usage`. Free. */
  async keyUsage(input: KeyUsageInput, options?: Options): Promise<KeyUsageAnswer> {
    return (await this.send('key_usage', input, options)) as KeyUsageAnswer
  }

  /** The API keys that a wallet bought. `POST /wallet/keys`. Free. */
  async walletKeys(input: WalletKeysInput, options?: Options): Promise<WalletKeysAnswer> {
    return (await this.send('wallet_keys', input, options)) as WalletKeysAnswer
  }

  /** How the system is: parts, venues, gaps, lag. `GET /healthz`. Free. */
  async healthz(input: HealthzInput = {}, options?: Options): Promise<HealthzAnswer> {
    return (await this.send('healthz', input, options)) as HealthzAnswer
  }

  /** Whether this instance can answer. `GET /readyz`. Free. */
  async readyz(input: ReadyzInput = {}, options?: Options): Promise<ReadyzAnswer> {
    return (await this.send('readyz', input, options)) as ReadyzAnswer
  }

  /** Every route with its price, and how it is paid. `GET /pricing`. Free. */
  async pricing(input: PricingInput = {}, options?: Options): Promise<PricingAnswer> {
    return (await this.send('pricing', input, options)) as PricingAnswer
  }

  /** What can be bought, for clients that discover it. `GET /.well-known/x402`. Free. */
  async wellKnownX402(input: WellKnownX402Input = {}, options?: Options): Promise<WellKnownX402Answer> {
    return (await this.send('well_known_x402', input, options)) as WellKnownX402Answer
  }

  /** What changes, as it changes: server-sent events for an hour. `GET /stream`. 0.1 USDC. */
  stream(input: StreamInput, options?: Options): AsyncGenerator<StreamEvent, void> {
    return this.listen('stream', input, options) as AsyncGenerator<StreamEvent, void>
  }
}
