"""Generated from the route table: npm run generate"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict, TypeVar

from .history import AsyncHistory, History, ranged
from .payment import Payment

T = TypeVar("T")


class CvdExchangesValue(TypedDict):
    # Running total of taker buys minus taker sells since `since`, base units
    cvd: float
    # As cvd, in USD
    cvd_usd: float
    # Taker buys minus taker sells of the period, base units
    period_cvd: float
    # Taker buys of the period, base units
    buy_volume: float
    # Taker sells of the period, base units
    sell_volume: float
    # As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close
    period_cvd_usd: float
    # As buy_volume, in USD
    buy_volume_usd: float
    # As sell_volume, in USD
    sell_volume_usd: float
    # trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time. Of a period hours count that lie wholly within it. Null: nothing is known; candles of Bybit and Coinbase do not say what takers bought
    source: Literal["trades", "archive", "venue_candles", "mixed", None]
    # live: streaming; gap: trades of the period are missing; stale: not heard for 30 s; unavailable: it refuses us or is switched off; unlisted: it has no such market
    status: Literal["live", "gap", "stale", "unavailable", "unlisted"]


class CvdMarketsValue(TypedDict):
    # Running total of taker buys minus taker sells since `since`, base units
    cvd: float
    # As cvd, in USD
    cvd_usd: float
    # Taker buys minus taker sells of the period, base units
    period_cvd: float
    # Taker buys of the period, base units
    buy_volume: float
    # Taker sells of the period, base units
    sell_volume: float
    # As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close
    period_cvd_usd: float
    # As buy_volume, in USD
    buy_volume_usd: float
    # As sell_volume, in USD
    sell_volume_usd: float


class CvdSourcesValue(TypedDict):
    # Taker buys minus taker sells of the period, base units
    period_cvd: float
    # Taker buys of the period, base units
    buy_volume: float
    # Taker sells of the period, base units
    sell_volume: float
    # As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close
    period_cvd_usd: float
    # As buy_volume, in USD
    buy_volume_usd: float
    # As sell_volume, in USD
    sell_volume_usd: float
    # How much of the period it tells: the mean over the instruments, 0 to 1
    share: float


CvdCoverageGapsItem = TypedDict(
    "CvdCoverageGapsItem",
    {
        "exchange": "str",
        "state": 'Literal["opened", "unfillable", "lost", "unknown"]',
        "from": "str",
        "to": "str",
        "missing": "int | None",
        "past": 'Literal["archive", "venue_candles", "mixed", None]',
    },
)


CvdCoverage = TypedDict(
    "CvdCoverage",
    {
        "from": "str",
        "to": "str",
        "complete": "bool",
        "share": "float",
        "gaps": "list[CvdCoverageGapsItem]",
    },
)


class Cvd(TypedDict):
    # Base asset
    symbol: str
    # Running total of taker buys minus taker sells since `since`, base units
    cvd: float
    # As cvd, in USD
    cvd_usd: float
    # Taker buys minus taker sells of the period, base units
    period_cvd: float
    # Taker buys of the period, base units
    buy_volume: float
    # Taker sells of the period, base units
    sell_volume: float
    # As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close
    period_cvd_usd: float
    # As buy_volume, in USD
    buy_volume_usd: float
    # As sell_volume, in USD
    sell_volume_usd: float
    # period_cvd over period volume: beyond 15 % strong, beyond 5 % plain, else neutral; insufficient_data where our own trades hold less than a quarter of the period, or nothing traded
    signal: Literal["strong_bullish_pressure", "bullish_pressure", "neutral", "bearish_pressure", "strong_bearish_pressure", "insufficient_data"]
    # The rolling period, ending now
    period: Literal["1h", "4h", "24h", "7d"]
    # Open WebSocket connections of the venues’ trade streams
    active_ws_connections: int
    # The figures by venue; they add up to the totals
    exchanges: dict[str, CvdExchangesValue]
    # The figures by market type
    markets: dict[str, CvdMarketsValue]
    # trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time. Of a period hours count that lie wholly within it. Null: nothing is known; candles of Bybit and Coinbase do not say what takers bought
    source: Literal["trades", "archive", "venue_candles", "mixed", None]
    # The figures of the period by source: each hour of a venue is in one of them alone, and they add up to the totals
    sources: dict[str, CvdSourcesValue]
    # What of the time asked for the log really has
    coverage: CvdCoverage
    # From when cvd counts: the first trade in the log; null: none yet
    since: str | None
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 30 s
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class CvdHistoryPointsItemExchangesValue(TypedDict):
    # Taker buys minus taker sells of the bucket, base units
    delta: float
    # Taker buys, base units
    buy_volume: float
    # Taker sells, base units
    sell_volume: float
    # Running total since `since`, at the end of the bucket, base units; before the first trade the same curve goes on to the left
    cvd: float
    # trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time. Null: nothing is known of that time, as the candles of Bybit, OKX and Coinbase do not say what takers bought, and the zeros beside it say nothing
    source: Literal["trades", "archive", "venue_candles", "mixed", None]


class CvdHistoryPointsItem(TypedDict):
    # Start of the bucket
    time: str
    # Taker buys minus taker sells of the bucket, base units
    delta: float
    # Taker buys, base units
    buy_volume: float
    # Taker sells, base units
    sell_volume: float
    # Running total since `since`, at the end of the bucket, base units; before the first trade the same curve goes on to the left
    cvd: float
    # trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time. Null: nothing is known of that time, as the candles of Bybit, OKX and Coinbase do not say what takers bought, and the zeros beside it say nothing
    source: Literal["trades", "archive", "venue_candles", "mixed", None]
    # The same by venue
    exchanges: dict[str, CvdHistoryPointsItemExchangesValue]
    # Whether the time of the bucket is over and no trade of it is missing; false for ever where completeness is gap for good
    complete: bool
    # complete: all trades as they came; backfilled: some were fetched later; gap: some are missing, or it begins before the first trade
    completeness: Literal["complete", "backfilled", "gap"]


CvdHistoryCoverageGapsItem = TypedDict(
    "CvdHistoryCoverageGapsItem",
    {
        "exchange": "str",
        "state": 'Literal["opened", "unfillable", "lost", "unknown"]',
        "from": "str",
        "to": "str",
        "missing": "int | None",
        "past": 'Literal["archive", "venue_candles", "mixed", None]',
    },
)


CvdHistoryCoverage = TypedDict(
    "CvdHistoryCoverage",
    {
        "from": "str",
        "to": "str",
        "complete": "bool",
        "share": "float",
        "gaps": "list[CvdHistoryCoverageGapsItem]",
    },
)


class CvdHistory(TypedDict):
    # Base asset
    symbol: str
    # Width of a bucket
    interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"]
    # A point for every bucket, oldest first; delta 0 where nothing traded
    points: list[CvdHistoryPointsItem]
    # From when cvd counts: the bucket of `since`, or the first trade in the log; null: none yet
    since: str | None
    # Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all
    next: str | None
    # What of the time asked for the log really has
    coverage: CvdHistoryCoverage
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 30 s
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class OhlcvCandlesItem(TypedDict):
    # Start of the candle
    time: str
    # First price by venue time
    open: float
    # Highest price
    high: float
    # Lowest price
    low: float
    # Last price by venue time
    close: float
    # Base units
    volume: float
    # Taker buys, base units; null: the venue’s candle does not say
    buy_volume: float | None
    # Taker sells, base units; null as buy_volume
    sell_volume: float | None
    # Trade records, or the fills of the venue’s candle; a venue may merge several fills into one; null: it does not say
    trades: int | None
    # trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time
    source: Literal["trades", "archive", "venue_candles", "mixed"]
    # Whether the time of the bucket is over and no trade of it is missing; false for ever where completeness is gap for good
    complete: bool
    # complete: all trades as they came; backfilled: some were fetched later; gap: some are missing, or it begins before the first trade
    completeness: Literal["complete", "backfilled", "gap"]


OhlcvCoverageGapsItem = TypedDict(
    "OhlcvCoverageGapsItem",
    {
        "exchange": "str",
        "state": 'Literal["opened", "unfillable", "lost", "unknown"]',
        "from": "str",
        "to": "str",
        "missing": "int | None",
        "past": 'Literal["archive", "venue_candles", "mixed", None]',
    },
)


OhlcvCoverage = TypedDict(
    "OhlcvCoverage",
    {
        "from": "str",
        "to": "str",
        "complete": "bool",
        "share": "float",
        "gaps": "list[OhlcvCoverageGapsItem]",
    },
)


class Ohlcv(TypedDict):
    # Base asset
    symbol: str
    # Width of a candle
    interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"]
    # Whose trades; all merges spot and perpetual prices
    exchange: Literal["binance", "bybit", "okx", "coinbase", "kraken", "gate", "binance_spot", "bitget", "hyperliquid", "all"]
    # Oldest first; none where nothing traded
    candles: list[OhlcvCandlesItem]
    # Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all
    next: str | None
    # What of the time asked for the log really has
    coverage: OhlcvCoverage
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 30 s
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class FundingExtremeResultsItem(TypedDict):
    # As BTCUSDT
    symbol: str
    # Its venue
    exchange: Literal["binance", "bybit", "okx"]
    # Running rate, fraction per interval
    funding_rate: float
    # The same, percent
    funding_rate_pct: float
    # By the year, percent
    annualized_pct: float
    # What it pays while perpetual and index agree: the venue’s interest, percent per interval
    baseline_pct: float
    # funding_rate_pct minus that
    excess_pct: float
    # Whether there is no such excess: flagged, since the threshold is a least size, but not unusual
    baseline: bool
    # Who pays
    direction: Literal["longs_paying", "shorts_paying"]
    # By the sign of the rate
    signal: Literal["extreme_bullish", "extreme_bearish"]
    # Mark price, USDT
    mark_price: float
    # Hours between two settlements of this perpetual
    interval_hours: float
    # When the rate is settled
    next_funding_time: str


class FundingExtreme(TypedDict):
    # When the markets were read
    scanned_at: str
    # Least size of a rate that is flagged, percent
    threshold: float
    # Perpetuals of the three venues that were looked at
    total_markets_scanned: int
    # Perpetuals known, but too old to be looked at
    stale_markets: int
    # Those that are flagged
    extreme_markets: int
    # Those of them that pay their venue’s interest and nothing else
    baseline_markets: int
    # Largest first; of equal ones those at their baseline last
    results: list[FundingExtremeResultsItem]
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: rates 120 s, marks 60 s
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class FundingHistoryHistoryItem(TypedDict):
    # When it was
    time: str
    # Settled rate, fraction
    funding_rate: float
    # The same, percent
    funding_rate_pct: float
    # By the year of its own interval, percent; null: the interval is not known
    annualized_pct: float | None
    # Hours since the settlement before, or the interval now where that is not known
    interval_hours: float | None
    # live: told when it was settled, or days later; venue_history: read back later
    source: Literal["live", "venue_history"]


class FundingHistory(TypedDict):
    # Perpetual, as BTCUSDT
    symbol: str
    # Its venue; beyond binance, bybit and okx settled rates are all that is known, where its markets are listed here
    exchange: Literal["binance", "bybit", "okx", "gate", "bitget", "hyperliquid"]
    # Newest first
    history: list[FundingHistoryHistoryItem]
    # Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all
    next: str | None
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 120 s without word from the venue; 9 h since its newest rate where nothing but the past is read of it
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class FundingRate(TypedDict):
    # Perpetual, as BTCUSDT
    symbol: str
    # Whose perpetual: Binance, else Bybit, else OKX
    exchange: Literal["binance", "bybit", "okx"]
    # Running rate for next_funding_time, fraction per interval; positive: longs pay shorts
    funding_rate: float
    # funding_rate x (24 / interval_hours) x 365, fraction
    funding_rate_annualized: float
    # Hours between two settlements of this perpetual
    interval_hours: float
    # When that rate is settled
    next_funding_time: str
    # By the size of the rate in percent: beyond 0.05 extreme, 0.01 plain, 0.003 slight, else neutral; positive: bullish
    signal: Literal["extreme_bullish", "bullish", "slightly_bullish", "neutral", "slightly_bearish", "bearish", "extreme_bearish"]
    # The signal in words
    signal_label: str
    # Mark price, USDT
    mark_price: float
    # Index price, USDT
    index_price: float
    # Newest settled rate, fraction
    last_settled_rate: float | None
    # The same, percent
    last_settled_pct: float | None
    # When it was settled
    last_settled_time: str | None
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: rates 120 s, marks 60 s
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class FundingCompareExchangesValue(TypedDict):
    # Running rate, fraction per interval
    funding_rate: float | None
    # By the year, percent
    annualized_pct: float | None
    # When that rate is settled
    next_funding_time: str | None
    # Mark price, USDT
    mark_price: float | None
    # Hours between two settlements of this perpetual
    interval_hours: float | None
    # live; stale: not heard for too long; unavailable: nothing is known; unlisted: it has no such perpetual
    status: Literal["live", "stale", "unavailable", "unlisted"]
    # Time of the newest input
    as_of: str | None


class FundingCompareBestArb(TypedDict):
    # Where to be long
    long_exchange: Literal["binance", "bybit", "okx"]
    # Where to be short
    short_exchange: Literal["binance", "bybit", "okx"]
    # Raw rate of the short exchange minus that of the long one, fractions
    rate_spread: float
    # Difference of the annualised rates, percent
    annualized_spread_pct: float
    # long_<venue>_short_<venue>
    direction: str


class FundingCompare(TypedDict):
    # Base asset
    symbol: str
    # The venues
    exchanges: dict[str, FundingCompareExchangesValue]
    # Long where funding is lowest by the year, short where it is highest; null below two venues
    best_arb: FundingCompareBestArb | None
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: rates 120 s, marks 60 s
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class PredictedFundingFundingHistoryItem(TypedDict):
    # When it was
    time: str
    # Settled rate, fraction
    rate: float


class PredictedFunding(TypedDict):
    # Base asset
    symbol: str
    # Whose perpetual: Binance, else Bybit, else OKX
    exchange: Literal["binance", "bybit", "okx"]
    # The venue’s running rate, fraction per interval
    current_funding_rate: float
    # Our model’s rate of the next settlement, fraction; positive: longs will pay shorts
    predicted_funding_rate: float
    # By the year, percent
    predicted_annualized_pct: float
    # venue: no premium is known since the last settlement, its running rate stands
    predicted_by: Literal["model", "venue"]
    # Hours between two settlements of this perpetual
    interval_hours: float
    # The next settlement
    next_funding_time: str
    # Time until then, milliseconds
    time_to_funding_ms: int
    # Newest one-minute premium index, fraction; before the first, mark over index less one
    premium_index: float
    # Its time-weighted mean since the last settlement, fraction
    average_premium_index: float | None
    # Minutes that the mean rests on
    premium_samples: int
    # Minutes since the last settlement
    premium_samples_expected: int
    # Mark price, USDT
    mark_price: float
    # Index price, USDT
    index_price: float
    # By the size of the rate in percent: beyond 0.05 extreme, 0.01 plain, 0.003 slight, else neutral; positive: bullish
    signal: Literal["extreme_bullish", "bullish", "slightly_bullish", "neutral", "slightly_bearish", "bearish", "extreme_bearish"]
    # Newest settled rate, fraction
    last_settled_rate: float | None
    # The same, percent
    last_settled_pct: float | None
    # When it was settled
    last_settled_time: str | None
    # The last 10 settlements, newest first
    funding_history: list[PredictedFundingFundingHistoryItem]
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: rates 120 s, marks 60 s
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class BasisExchangesValue(TypedDict):
    # Mark price, USDT
    perp_price: float | None
    # perp_price minus spot_price, USDT taken for USD
    basis_usd: float | None
    # The same, percent of spot_price
    basis_pct: float | None
    # basis_pct x (8760 / interval_hours), as if the premium were earned at each funding: a measure for comparing venues, not a yield
    basis_annualized_pct: float | None
    # contango: perpetual at or above spot
    direction: Literal["contango", "backwardation", None]
    # live; stale: not heard for too long; unavailable: nothing is known; unlisted: it has no such perpetual
    status: Literal["live", "stale", "unavailable", "unlisted"]
    # Time of the mark price
    as_of: str | None
    # Hours between two settlements of this perpetual
    interval_hours: float | None


class BasisBestCarryTrade(TypedDict):
    # The venue
    exchange: Literal["binance", "bybit", "okx"]
    # What the trade is paid by the year, percent: funding_rate x (24 / interval_hours) x 365 x 100. It changes with the rate, and is not basis_annualized_pct, by which the venue is chosen
    annualized_yield_pct: float
    # long_spot_short_<venue>_perp
    strategy: str
    # Earned once, when the perpetual is back at spot; not part of the yield
    basis_pct: float
    # Running rate, fraction per interval; positive: the short side is paid
    funding_rate: float
    # Hours between two settlements of this perpetual
    interval_hours: float
    # When that rate is paid
    next_funding_time: str


class Basis(TypedDict):
    # Base asset
    symbol: str
    # Middle of the book of Binance’s USDT spot pair, USDT
    spot_price: float
    # Whose spot price
    spot_exchange: str
    # Time of the spot price
    spot_as_of: str
    # How old that is, milliseconds
    spot_age_ms: int
    # The venues
    exchanges: dict[str, BasisExchangesValue]
    # The venue with the highest basis_annualized_pct, also when none is positive; null without one whose funding is known
    best_carry_trade: BasisBestCarryTrade | None
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: spot 15 s, marks 60 s
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class BasisHistoryPointsItemExchangesValue(TypedDict):
    # Last mark price of the bucket, USDT; null: not heard in it
    perp_price: float | None
    # The venue’s own index at that mark, USDT; null: not said
    index_price: float | None
    # spot: spot_price; index: index_price, in a bucket without spot_price; null: neither
    against: Literal["spot", "index", None]
    # perp_price minus that, USDT taken for USD; null: one is missing
    basis_usd: float | None
    # The same, percent of it
    basis_pct: float | None
    # contango: perpetual at or above it
    direction: Literal["contango", "backwardation", None]
    # live: told when it was so; venue_history: told by the venue of its past; null: not heard
    source: Literal["live", "venue_history", None]


class BasisHistoryPointsItem(TypedDict):
    # Start of the bucket
    time: str
    # Last price of Binance’s USDT spot pair in the bucket, USDT; null: none
    spot_price: float | None
    # The same by venue
    exchanges: dict[str, BasisHistoryPointsItemExchangesValue]
    # The bucket is over, and every venue that lists the asset was heard in it
    complete: bool


BasisHistoryCoverage = TypedDict(
    "BasisHistoryCoverage",
    {
        "from": "str",
        "to": "str",
        "complete": "bool",
        "share": "float",
    },
)


class BasisHistory(TypedDict):
    # Base asset
    symbol: str
    # Width of a bucket
    interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"]
    # A point for every bucket since the first that there is, oldest first
    points: list[BasisHistoryPointsItem]
    # Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all
    next: str | None
    # What of the time asked for there is
    coverage: BasisHistoryCoverage
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 60 s without word from any venue
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class OpenInterestExchangesValue(TypedDict):
    # Base units of one side
    open_interest: float | None
    # The same at mark_price
    open_interest_usd: float | None
    # Mark price of the last 60 s, USDT
    mark_price: float | None
    # live; stale: not heard for too long; unavailable: nothing is known; unlisted: it has no such perpetual
    status: Literal["live", "stale", "unavailable", "unlisted"]
    # Time of the open interest
    as_of: str | None


class OpenInterest(TypedDict):
    # Base asset
    symbol: str
    # Sum of the venues that count, base units of one side
    open_interest: float
    # The same at each venue’s mark price, USDT taken for USD; null: a mark is missing or older than 60 s
    open_interest_usd: float | None
    # How many venues that is
    venues: int
    # The venues
    exchanges: dict[str, OpenInterestExchangesValue]
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 120 s
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class OpenInterestHistoryPointsItemExchangesValue(TypedDict):
    # Base units of one side; null: not heard in the bucket
    open_interest: float | None
    # The same at the last mark price of the bucket, USDT taken for USD
    open_interest_usd: float | None
    # live: told when it was so; venue_history: told by the venue of its past; null: not heard
    source: Literal["live", "venue_history", None]


class OpenInterestHistoryPointsItem(TypedDict):
    # Start of the bucket
    time: str
    # Sum of the venues that were heard in the bucket, base units of one side; null: none was
    open_interest: float | None
    # The same at each venue’s last mark price of the bucket; null: one is missing
    open_interest_usd: float | None
    # The same by venue
    exchanges: dict[str, OpenInterestHistoryPointsItemExchangesValue]
    # The bucket is over, and every venue that lists the asset was heard in it
    complete: bool


OpenInterestHistoryCoverage = TypedDict(
    "OpenInterestHistoryCoverage",
    {
        "from": "str",
        "to": "str",
        "complete": "bool",
        "share": "float",
    },
)


class OpenInterestHistory(TypedDict):
    # Base asset
    symbol: str
    # Width of a bucket
    interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"]
    # A point for every bucket since the first that there is, oldest first
    points: list[OpenInterestHistoryPointsItem]
    # Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all
    next: str | None
    # What of the time asked for there is
    coverage: OpenInterestHistoryCoverage
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 120 s without word from any venue
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class LongShortExchangesValue(TypedDict):
    # Share of longs, 0 to 1
    long_ratio: float | None
    # Share of shorts, 0 to 1; the two add up to 1
    short_ratio: float | None
    # Longs over shorts
    ls_ratio: float | None
    # Whose positions
    source: Literal["top_traders"]
    # live; stale: not heard for too long; unavailable: nothing is known; unlisted: it has no such perpetual
    status: Literal["live", "stale", "unavailable", "unlisted"]
    # Start of the venue’s period
    as_of: str | None


class LongShortAggregate(TypedDict):
    # Arithmetic mean of the ratios
    avg_ls_ratio: float
    # By the mean: beyond 2 / 1.5 / 1.02 bullish, below 0.5 / 0.67 / 0.98 bearish
    sentiment: Literal["Extremely bullish", "Bullish", "Slightly bullish", "Neutral", "Slightly bearish", "Bearish", "Extremely bearish"]
    # The same as a sentence
    interpretation: str


class LongShort(TypedDict):
    # Base asset
    symbol: str
    # The venues
    exchanges: dict[str, LongShortExchangesValue]
    # All venues that count
    aggregate: LongShortAggregate
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 10 min
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class LongShortHistoryPointsItemExchangesValue(TypedDict):
    # Share of longs, 0 to 1; null: no period of the venue begins in the bucket
    long_ratio: float | None
    # Share of shorts, 0 to 1
    short_ratio: float | None
    # Longs over shorts
    ls_ratio: float | None
    # live: told when it was so; venue_history: told by the venue of its past; null: not heard
    source: Literal["live", "venue_history", None]


class LongShortHistoryPointsItem(TypedDict):
    # Start of the bucket
    time: str
    # Arithmetic mean of the venues that were heard in the bucket; null: none was
    avg_ls_ratio: float | None
    # The same by venue
    exchanges: dict[str, LongShortHistoryPointsItemExchangesValue]
    # The bucket is over, and every venue that lists the asset was heard in it
    complete: bool


LongShortHistoryCoverage = TypedDict(
    "LongShortHistoryCoverage",
    {
        "from": "str",
        "to": "str",
        "complete": "bool",
        "share": "float",
    },
)


class LongShortHistory(TypedDict):
    # Base asset
    symbol: str
    # Width of a bucket
    interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"]
    # A point for every bucket since the first that there is, oldest first
    points: list[LongShortHistoryPointsItem]
    # Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all
    next: str | None
    # What of the time asked for there is
    coverage: LongShortHistoryCoverage
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 10 min without word from any venue
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class LiquidationHeatmapLeverageClustersItem(TypedDict):
    # Tier
    leverage: Literal["5x", "10x", "25x", "50x", "100x"]
    # Their mean weighted by size, USD; the current price where there are none
    liquidation_price: float
    # From the current price, percent of it; negative: below
    distance_pct: float
    # Their sum, USD
    oi_at_risk_usd: float
    # The position, not the order
    side: Literal["long", "short"]


class LiquidationHeatmapLevelsItem(TypedDict):
    # Its middle, USD
    price: float
    # Longs that are liquidated there, USD
    long_usd: float
    # Shorts that are liquidated there, USD
    short_usd: float


class LiquidationHeatmapRiskSummary(TypedDict):
    # Within 5 % of the price, USD
    total_oi_at_risk_usd: float
    # The same, percent of open interest
    oi_at_risk_pct: float
    # Within 10 % of the price, USD
    total_oi_at_risk_10pct_usd: float
    # The same, percent of open interest
    oi_at_risk_10pct_pct: float
    # high: over 10 % of open interest within 5 % of the price; else medium: 5 % or more within 10 %; else low
    cascade_risk: Literal["low", "medium", "high"]
    # The rule that decided the class, with its figure; on the first day also since when levels are known
    cascade_risk_reason: str


class LiquidationHeatmapExchangesValue(TypedDict):
    # One side, USD
    open_interest_usd: float
    # USD
    mark_price: float
    # Time of the older of the two
    as_of: str


class LiquidationHeatmapCalibration(TypedDict):
    # Since when both count
    since: str
    # Long levels that the mark has crossed, USD
    swept_long_usd: float
    # Short levels that the mark has crossed, USD
    swept_short_usd: float
    # Longs that venues reported liquidated, USD; a lower bound: not every venue sends all
    observed_long_usd: float
    # Shorts that venues reported liquidated, USD
    observed_short_usd: float
    # Observed over swept; null: nothing was swept
    observed_to_swept: float | None


class LiquidationHeatmap(TypedDict):
    # Base asset
    symbol: str
    # Median of the venues’ marks, USD
    current_price: float
    # Open interest of the venues, one side, USD
    open_interest_usd: float
    # high: over 10 % of open interest within 5 % of the price; else medium: 5 % or more within 10 %; else low
    cascade_risk: Literal["low", "medium", "high"]
    # Always true
    estimated: bool
    # From here on openings and closings of positions were seen; what was open before is laid out by assumption
    levels_since: str
    # Five tiers by two sides, nearest price first
    leverage_clusters: list[LiquidationHeatmapLeverageClustersItem]
    # Buckets that are not empty, nearest first, out to 25 %
    levels: list[LiquidationHeatmapLevelsItem]
    # How much is at risk
    risk_summary: LiquidationHeatmapRiskSummary
    # Venues that count, by name
    exchanges: dict[str, LiquidationHeatmapExchangesValue]
    # What the model had where the price went, beside what venues reported since
    calibration: LiquidationHeatmapCalibration
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 120 s
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class LiquidationHeatmapHistoryPointsItemLevelsItem(TypedDict):
    # Its middle, USD
    price: float
    # Longs that are liquidated there, USD
    long_usd: float
    # Shorts that are liquidated there, USD
    short_usd: float


class LiquidationHeatmapHistoryPointsItemExchangesValue(TypedDict):
    # The last it said in the bucket, base units of one side; null: it said nothing
    open_interest: float | None
    # Its last mark price of the bucket, USDT
    mark_price: float | None


class LiquidationHeatmapHistoryPointsItem(TypedDict):
    # Start of the bucket
    time: str
    # Median of the venues’ marks at the end of the bucket, USD; null: none is known
    price: float | None
    # Open interest of the venues then, one side, USD
    open_interest_usd: float
    # Rows that are not empty, lowest price first, out to 10 % of the price: an estimate, as that of /liquidation/heatmap
    levels: list[LiquidationHeatmapHistoryPointsItemLevelsItem]
    # The same by venue
    exchanges: dict[str, LiquidationHeatmapHistoryPointsItemExchangesValue]
    # The bucket is over, and every venue that lists the asset was heard in it
    complete: bool


LiquidationHeatmapHistoryCoverage = TypedDict(
    "LiquidationHeatmapHistoryCoverage",
    {
        "from": "str",
        "to": "str",
        "complete": "bool",
        "share": "float",
    },
)


class LiquidationHeatmapHistory(TypedDict):
    # Base asset
    symbol: str
    # Width of a bucket
    interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"]
    # A point for every bucket since the first that there is, oldest first
    points: list[LiquidationHeatmapHistoryPointsItem]
    # Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all
    next: str | None
    # What of the time asked for there is
    coverage: LiquidationHeatmapHistoryCoverage
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 120 s without word from any venue
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class LiquidationRecentEventsItem(TypedDict):
    # liq_<unix seconds>_<place in the log>
    id: str
    # As BTCUSDT
    symbol: str
    # The position, not the order
    side: Literal["long", "short"]
    # Base units
    size: float
    # USD
    price: float
    # price x size, USD
    value_usd: float
    # The venue’s time
    timestamp: str
    # Venue, upper case
    exchange: str
    # What the price is
    price_kind: Literal["unknown", "bankruptcy", "order", "average_fill"]
    # all: the venue sends every one; sampled: the largest of a symbol and second
    completeness: Literal["unknown", "all", "sampled"]


class LiquidationRecentStatsLast1h(TypedDict):
    # Liquidations
    total_events: int
    # Of longs
    long_liquidations: int
    # Of shorts
    short_liquidations: int
    # USD
    total_value_usd: float
    # From when they count; null: none was ever seen
    since: str | None


class LiquidationRecentStatsLast24h(TypedDict):
    # Liquidations
    total_events: int
    # USD
    total_value_usd: float
    # From when they count; null: none was ever seen
    since: str | None


class LiquidationRecentStats(TypedDict):
    # The last hour
    last_1h: LiquidationRecentStatsLast1h
    # The last 24 hours
    last_24h: LiquidationRecentStatsLast24h


class LiquidationRecent(TypedDict):
    # Events in this answer
    count: int
    # As BTCUSDT; null: all symbols
    symbol_filter: str | None
    # Newest first
    events: list[LiquidationRecentEventsItem]
    # Counts of the whole log, not of the events shown
    stats: LiquidationRecentStats
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 30 s without word from any venue
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class LiquidationHistoryPointsItemExchangesValue(TypedDict):
    # Worth of the long positions that were liquidated, USD; a lower bound where a venue sends samples
    long_usd: float
    # The same of short positions
    short_usd: float
    # Long positions
    long_count: int
    # Short positions
    short_count: int


class LiquidationHistoryPointsItem(TypedDict):
    # Start of the bucket
    time: str
    # Worth of the long positions that were liquidated, USD; a lower bound where a venue sends samples
    long_usd: float
    # The same of short positions
    short_usd: float
    # Long positions
    long_count: int
    # Short positions
    short_count: int
    # The same by venue
    exchanges: dict[str, LiquidationHistoryPointsItemExchangesValue]
    # The bucket is over, and every venue that lists the asset was heard in it
    complete: bool


LiquidationHistoryCoverage = TypedDict(
    "LiquidationHistoryCoverage",
    {
        "from": "str",
        "to": "str",
        "complete": "bool",
        "share": "float",
    },
)


class LiquidationHistory(TypedDict):
    # Base asset
    symbol: str
    # Width of a bucket
    interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"]
    # A point for every bucket since the first that there is, oldest first
    points: list[LiquidationHistoryPointsItem]
    # Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all
    next: str | None
    # What of the time asked for there is
    coverage: LiquidationHistoryCoverage
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 30 s without word from any venue
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class ScreenerSymbolsItem(TypedDict):
    # Base asset
    symbol: str
    # Whose running rate it is; null: none is known
    funding_exchange: Literal["binance", "bybit", "okx", None]
    # Composite price, USD; null: no venue says it now
    price: float | None
    # Its change in 24 h, percent
    change_24h_pct: float | None
    # Running rate of the venue in `funding_exchange`, percent per interval
    funding_rate_pct: float | None
    # The same by the year, percent
    funding_annualized_pct: float | None
    # Sum of the venues that were heard in the last 120 s, their marks in the last 60 s, one side, USD
    open_interest_usd: float | None
    # Change of open interest in base units, of the venues that say both, percent; null: nothing is known of then
    open_interest_change_1h_pct: float | None
    # The same in 24 hours
    open_interest_change_24h_pct: float | None
    # Taker buys minus taker sells of the last hour, USD; null: the trades of the symbol are not streamed
    cvd_1h_usd: float | None
    # The same of 24 hours, as far as the log and the venues’ past reach back
    cvd_24h_usd: float | None
    # Taker volume of 24 hours of the venues whose trades count, as far as the log and the venues’ past reach back, USD
    volume_24h_usd: float | None
    # Longs liquidated in 24 hours, as far as venues say so, USD
    long_liquidated_24h_usd: float | None
    # Shorts
    short_liquidated_24h_usd: float | None
    # Both sides in the last hour, USD
    liquidated_1h_usd: float | None
    # Both sides in 24 hours, USD
    liquidated_24h_usd: float | None


class Screener(TypedDict):
    # Symbols that venues list
    known: int
    # Those that meet the conditions
    matching: int
    # In the order that was asked for, at most `limit`
    symbols: list[ScreenerSymbolsItem]
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 120 s without word from any venue on funding
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class PriceExchangesValue(TypedDict):
    # Middle of its book in USD, or its last price; null: not known
    price: float | None
    # How long ago it last changed, milliseconds; a quiet market is not a dead one
    age_ms: int | None
    # Whether it is part of the price
    used: bool
    # live; stale: not heard for 15 s; unavailable: nothing is known; unlisted
    status: Literal["live", "stale", "unavailable", "unlisted"]


class Price(TypedDict):
    # Base asset
    symbol: str
    # USD
    price: float
    # Median of the used venues’ own changes, percent; null: none says
    change_24h: float | None
    # Lowest since the composite before, USD
    low: float
    # Highest since the composite before, USD
    high: float
    # degraded: one source only, or sources more than 1 % apart
    quality: Literal["good", "degraded", "unknown"]
    # Venues that the price is made of
    sources: list[str]
    # The chain venues
    exchanges: dict[str, PriceExchangesValue]
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 15 s
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class PricesDataValue(TypedDict):
    # USD
    price: float
    # Percent; null: the source does not say
    change_24h: float | None
    # USD, of the source; null: it does not say
    volume_24h: float | None
    # Price x last known supply, USD; null: the supply is not known
    market_cap: float | None
    # Who answered: the first of the chain that is alive, else the registry
    source: Literal["binance", "coinbase", "okx", "bybit", "kraken", "coingecko"]
    # Time of the price
    as_of: str


class PricesMeta(TypedDict):
    # Symbols in the answer
    count: int
    # Symbols asked for
    requested: int
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: exchanges 15 s, the registry 5 min; of any symbol of the answer
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class Prices(TypedDict):
    # Always true
    success: bool
    # By lower-case symbol; a symbol that nobody can price is left out
    data: dict[str, PricesDataValue]
    # About the answer
    meta: PricesMeta


class MarketData(TypedDict):
    # Registry id
    id: str
    # Lower case
    symbol: str
    # Name
    name: str
    # Composite of the chain venues, else the registry’s, USD
    price: float | None
    # Percent, of the same origin as the price
    change_24h: float | None
    # Percent
    change_7d: float | None
    # Percent
    change_30d: float | None
    # Sum over the venues that `source` names, else the registry’s, USD
    volume_24h: float | None
    # USD
    market_cap: float | None
    # 1 is the largest
    market_cap_rank: int | None
    # Tokens
    circulating_supply: float | None
    # Tokens
    total_supply: float | None
    # Highest price ever, USD
    ath: float | None
    # When
    ath_date: str | None
    # Lowest price ever, USD
    atl: float | None
    # When
    atl_date: str | None
    # The registry’s own time
    last_updated: str
    # Where price and details come from
    source: str


class Market(TypedDict):
    # Always true
    success: bool
    # The token; null: the registry does not say
    data: MarketData
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: prices 15 s, the registry 5 min
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class PriceAlertCreateChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


PriceAlertCreateQuietHours = TypedDict(
    "PriceAlertCreateQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


class PriceAlertCreate(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # What it waits for; crosses_* ring once
    condition: Literal["above", "below", "crosses_above", "crosses_below"]
    # USD
    target_price: float
    # Always active
    status: Literal["active"]
    # When it was made
    created_at: str
    # When it expires
    expires_at: str
    # Lifetime, hours
    expires_in_hours: int
    # As submitted; no other answer shows it
    webhook_url: NotRequired[str]
    # Where the events go, where that is no signed webhook
    channel: NotRequired[PriceAlertCreateChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: PriceAlertCreateQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Always 0
    trigger_count: int
    # Always 0
    delivery_attempts: int
    # What it does
    message: str
    # Bearer token that cancels and extends the alert; only here
    manage_token: str
    # What its webhooks are signed with: whsec_ and base64; only here
    webhook_secret: str


class PriceAlertChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


PriceAlertQuietHours = TypedDict(
    "PriceAlertQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


PriceAlertGapsItem = TypedDict(
    "PriceAlertGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class PriceAlert(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # What it waits for; crosses_* ring once
    condition: Literal["above", "below", "crosses_above", "crosses_below"]
    # USD
    target_price: float
    # Where the events go, where that is no signed webhook
    channel: NotRequired[PriceAlertChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: PriceAlertQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it was made
    created_at: str
    # When it expires
    expires_at: str
    # It rests: it neither rings nor tells that something is over
    paused: bool
    # When that ends by itself; null: at a word of its owner
    paused_until: str | None
    # Triggers so far
    trigger_count: int
    # Attempts to deliver them; null: ClickHouse does not say just now
    delivery_attempts: int | None
    # Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now
    gaps: list[PriceAlertGapsItem] | None


class PriceAlertsAlertsItemChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


PriceAlertsAlertsItemQuietHours = TypedDict(
    "PriceAlertsAlertsItemQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


PriceAlertsAlertsItemGapsItem = TypedDict(
    "PriceAlertsAlertsItemGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class PriceAlertsAlertsItem(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # What it waits for; crosses_* ring once
    condition: Literal["above", "below", "crosses_above", "crosses_below"]
    # USD
    target_price: float
    # Where the events go, where that is no signed webhook
    channel: NotRequired[PriceAlertsAlertsItemChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: PriceAlertsAlertsItemQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it was made
    created_at: str
    # When it expires
    expires_at: str
    # It rests: it neither rings nor tells that something is over
    paused: bool
    # When that ends by itself; null: at a word of its owner
    paused_until: str | None
    # Triggers so far
    trigger_count: int
    # Attempts to deliver them; null: ClickHouse does not say just now
    delivery_attempts: int | None
    # Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now
    gaps: list[PriceAlertsAlertsItemGapsItem] | None


class PriceAlerts(TypedDict):
    # Alerts of this page
    count: int
    # Newest first
    alerts: list[PriceAlertsAlertsItem]
    # What `cursor` the next page has; null: this is the last
    next_cursor: str | None


class PriceAlertCancel(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # Always cancelled
    status: Literal["cancelled"]
    # What that means
    message: str


class PriceAlertExtend(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it expires
    expires_at: str
    # Hours that were added
    add_hours: int
    # What that means
    message: str


class PriceAlertPauseChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


PriceAlertPauseQuietHours = TypedDict(
    "PriceAlertPauseQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


PriceAlertPauseGapsItem = TypedDict(
    "PriceAlertPauseGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class PriceAlertPause(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # What it waits for; crosses_* ring once
    condition: Literal["above", "below", "crosses_above", "crosses_below"]
    # USD
    target_price: float
    # Where the events go, where that is no signed webhook
    channel: NotRequired[PriceAlertPauseChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: PriceAlertPauseQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it was made
    created_at: str
    # When it expires
    expires_at: str
    # It rests: it neither rings nor tells that something is over
    paused: bool
    # When that ends by itself; null: at a word of its owner
    paused_until: str | None
    # Triggers so far
    trigger_count: int
    # Attempts to deliver them; null: ClickHouse does not say just now
    delivery_attempts: int | None
    # Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now
    gaps: list[PriceAlertPauseGapsItem] | None


class PriceAlertResumeChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


PriceAlertResumeQuietHours = TypedDict(
    "PriceAlertResumeQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


PriceAlertResumeGapsItem = TypedDict(
    "PriceAlertResumeGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class PriceAlertResume(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # What it waits for; crosses_* ring once
    condition: Literal["above", "below", "crosses_above", "crosses_below"]
    # USD
    target_price: float
    # Where the events go, where that is no signed webhook
    channel: NotRequired[PriceAlertResumeChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: PriceAlertResumeQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it was made
    created_at: str
    # When it expires
    expires_at: str
    # It rests: it neither rings nor tells that something is over
    paused: bool
    # When that ends by itself; null: at a word of its owner
    paused_until: str | None
    # Triggers so far
    trigger_count: int
    # Attempts to deliver them; null: ClickHouse does not say just now
    delivery_attempts: int | None
    # Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now
    gaps: list[PriceAlertResumeGapsItem] | None


class PriceAlertDeliveriesDeliveriesItem(TypedDict):
    # The same on every attempt: the webhook-id
    trigger_id: str
    # 1 for the first one of a delivery or a resending; 0: it ended without one, or waits for its digest
    attempt: int
    # What became of the trigger by it; digested: it waits for its digest
    outcome: Literal["delivered", "retry", "exhausted", "cancelled", "digested", "unknown"]
    # HTTP status, of email the reply code of SMTP; null: none came
    status: int | None
    # Why, where it is known: timeout, dns, refused, tls, gone, rejected, ...
    error: str | None
    # The digest that it is, or is to be, told in: its webhook-id; null: by itself
    digest: str | None
    # A test event
    test: bool
    # When the condition was met
    triggered_at: str
    # When the attempt began
    started_at: str
    # When it was over
    finished_at: str
    # How long it took, milliseconds
    duration_ms: int
    # For retry and digested
    next_attempt_at: str | None


class PriceAlertDeliveries(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # Attempts of this page
    count: int
    # Newest first
    deliveries: list[PriceAlertDeliveriesDeliveriesItem]
    # What `cursor` the next page has; null: this is the last
    next_cursor: str | None


class PriceAlertTest(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # What its webhook-id is
    trigger_id: str
    # Where to see what becomes of it
    message: str


class PriceAlertResend(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # What its webhook-id is
    trigger_id: str
    # Where to see what becomes of it
    message: str


class LiquidationAlertCreateChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


LiquidationAlertCreateQuietHours = TypedDict(
    "LiquidationAlertCreateQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


class LiquidationAlertCreate(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # Always cascade_risk
    condition: Literal["cascade_risk"]
    # Percent of open interest at risk within 5 % of the price
    threshold_pct: float
    # Least open interest at risk, USD
    min_value_usd: float
    # Always active
    status: Literal["active"]
    # When it was made
    created_at: str
    # When it expires
    expires_at: str
    # Lifetime, hours
    expires_in_hours: int
    # As submitted; no other answer shows it
    webhook_url: NotRequired[str]
    # Where the events go, where that is no signed webhook
    channel: NotRequired[LiquidationAlertCreateChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: LiquidationAlertCreateQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Always 0
    trigger_count: int
    # Always 0
    delivery_attempts: int
    # What it does
    message: str
    # Bearer token that cancels and extends the alert; only here
    manage_token: str
    # What its webhooks are signed with: whsec_ and base64; only here
    webhook_secret: str


class LiquidationAlertChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


LiquidationAlertQuietHours = TypedDict(
    "LiquidationAlertQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


LiquidationAlertGapsItem = TypedDict(
    "LiquidationAlertGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class LiquidationAlert(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # Always cascade_risk
    condition: Literal["cascade_risk"]
    # Percent of open interest at risk within 5 % of the price
    threshold_pct: float
    # Least open interest at risk, USD
    min_value_usd: float
    # Where the events go, where that is no signed webhook
    channel: NotRequired[LiquidationAlertChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: LiquidationAlertQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it was made
    created_at: str
    # When it expires
    expires_at: str
    # It rests: it neither rings nor tells that something is over
    paused: bool
    # When that ends by itself; null: at a word of its owner
    paused_until: str | None
    # Triggers so far
    trigger_count: int
    # Attempts to deliver them; null: ClickHouse does not say just now
    delivery_attempts: int | None
    # Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now
    gaps: list[LiquidationAlertGapsItem] | None


class LiquidationAlertsAlertsItemChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


LiquidationAlertsAlertsItemQuietHours = TypedDict(
    "LiquidationAlertsAlertsItemQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


LiquidationAlertsAlertsItemGapsItem = TypedDict(
    "LiquidationAlertsAlertsItemGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class LiquidationAlertsAlertsItem(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # Always cascade_risk
    condition: Literal["cascade_risk"]
    # Percent of open interest at risk within 5 % of the price
    threshold_pct: float
    # Least open interest at risk, USD
    min_value_usd: float
    # Where the events go, where that is no signed webhook
    channel: NotRequired[LiquidationAlertsAlertsItemChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: LiquidationAlertsAlertsItemQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it was made
    created_at: str
    # When it expires
    expires_at: str
    # It rests: it neither rings nor tells that something is over
    paused: bool
    # When that ends by itself; null: at a word of its owner
    paused_until: str | None
    # Triggers so far
    trigger_count: int
    # Attempts to deliver them; null: ClickHouse does not say just now
    delivery_attempts: int | None
    # Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now
    gaps: list[LiquidationAlertsAlertsItemGapsItem] | None


class LiquidationAlerts(TypedDict):
    # Alerts of this page
    count: int
    # Newest first
    alerts: list[LiquidationAlertsAlertsItem]
    # What `cursor` the next page has; null: this is the last
    next_cursor: str | None


class LiquidationAlertCancel(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # Always cancelled
    status: Literal["cancelled"]
    # What that means
    message: str


class LiquidationAlertExtend(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it expires
    expires_at: str
    # Hours that were added
    add_hours: int
    # What that means
    message: str


class LiquidationAlertPauseChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


LiquidationAlertPauseQuietHours = TypedDict(
    "LiquidationAlertPauseQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


LiquidationAlertPauseGapsItem = TypedDict(
    "LiquidationAlertPauseGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class LiquidationAlertPause(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # Always cascade_risk
    condition: Literal["cascade_risk"]
    # Percent of open interest at risk within 5 % of the price
    threshold_pct: float
    # Least open interest at risk, USD
    min_value_usd: float
    # Where the events go, where that is no signed webhook
    channel: NotRequired[LiquidationAlertPauseChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: LiquidationAlertPauseQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it was made
    created_at: str
    # When it expires
    expires_at: str
    # It rests: it neither rings nor tells that something is over
    paused: bool
    # When that ends by itself; null: at a word of its owner
    paused_until: str | None
    # Triggers so far
    trigger_count: int
    # Attempts to deliver them; null: ClickHouse does not say just now
    delivery_attempts: int | None
    # Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now
    gaps: list[LiquidationAlertPauseGapsItem] | None


class LiquidationAlertResumeChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


LiquidationAlertResumeQuietHours = TypedDict(
    "LiquidationAlertResumeQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


LiquidationAlertResumeGapsItem = TypedDict(
    "LiquidationAlertResumeGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class LiquidationAlertResume(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # Always cascade_risk
    condition: Literal["cascade_risk"]
    # Percent of open interest at risk within 5 % of the price
    threshold_pct: float
    # Least open interest at risk, USD
    min_value_usd: float
    # Where the events go, where that is no signed webhook
    channel: NotRequired[LiquidationAlertResumeChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: LiquidationAlertResumeQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it was made
    created_at: str
    # When it expires
    expires_at: str
    # It rests: it neither rings nor tells that something is over
    paused: bool
    # When that ends by itself; null: at a word of its owner
    paused_until: str | None
    # Triggers so far
    trigger_count: int
    # Attempts to deliver them; null: ClickHouse does not say just now
    delivery_attempts: int | None
    # Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now
    gaps: list[LiquidationAlertResumeGapsItem] | None


class LiquidationAlertDeliveriesDeliveriesItem(TypedDict):
    # The same on every attempt: the webhook-id
    trigger_id: str
    # 1 for the first one of a delivery or a resending; 0: it ended without one, or waits for its digest
    attempt: int
    # What became of the trigger by it; digested: it waits for its digest
    outcome: Literal["delivered", "retry", "exhausted", "cancelled", "digested", "unknown"]
    # HTTP status, of email the reply code of SMTP; null: none came
    status: int | None
    # Why, where it is known: timeout, dns, refused, tls, gone, rejected, ...
    error: str | None
    # The digest that it is, or is to be, told in: its webhook-id; null: by itself
    digest: str | None
    # A test event
    test: bool
    # When the condition was met
    triggered_at: str
    # When the attempt began
    started_at: str
    # When it was over
    finished_at: str
    # How long it took, milliseconds
    duration_ms: int
    # For retry and digested
    next_attempt_at: str | None


class LiquidationAlertDeliveries(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # Attempts of this page
    count: int
    # Newest first
    deliveries: list[LiquidationAlertDeliveriesDeliveriesItem]
    # What `cursor` the next page has; null: this is the last
    next_cursor: str | None


class LiquidationAlertTest(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # What its webhook-id is
    trigger_id: str
    # Where to see what becomes of it
    message: str


class LiquidationAlertResend(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # What its webhook-id is
    trigger_id: str
    # Where to see what becomes of it
    message: str


class RuleAlertCreateChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


RuleAlertCreateQuietHours = TypedDict(
    "RuleAlertCreateQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


class RuleAlertCreate(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # Of a rule for several, in place of symbol: a list, or all, those too that are listed later
    symbols: NotRequired[list[str] | Literal["all"]]
    # As submitted, with its defaults
    when: dict[str, Any]
    # How long it has to hold before it rings, such as 90s or 5m; at most 24h
    held_for: str | None
    # It rings again, once it has been over and the cooldown has passed; else once
    repeat: bool
    # Least time between two rings, 1m to 7d
    cooldown: str
    # A message tells when it is over, too
    resolved: bool
    # Stands in each message
    note: str | None
    # A name that several rules share
    group: str | None
    # What you find it by
    tags: list[str]
    # Always active
    status: Literal["active"]
    # When it was made
    created_at: str
    # When it expires; null: it has no end
    expires_at: str | None
    # Lifetime, hours
    expires_in_hours: int
    # As submitted; no other answer shows it
    webhook_url: NotRequired[str]
    # Where the events go, where that is no signed webhook
    channel: NotRequired[RuleAlertCreateChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: RuleAlertCreateQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Always 0
    trigger_count: int
    # Always 0
    delivery_attempts: int
    # What it does
    message: str
    # Bearer token that cancels and extends the alert; only here
    manage_token: str
    # What its webhooks are signed with: whsec_ and base64; only here
    webhook_secret: str


class RuleAlertBySymbolItem(TypedDict):
    # Which
    symbol: str
    # Where it is
    status: Literal["active", "triggered", "expired", "cancelled"]
    # Triggers so far
    trigger_count: int


class RuleAlertChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


RuleAlertQuietHours = TypedDict(
    "RuleAlertQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


RuleAlertGapsItem = TypedDict(
    "RuleAlertGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class RuleAlert(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # Of a rule for several, in place of symbol: a list, or all, those too that are listed later
    symbols: NotRequired[list[str] | Literal["all"]]
    # Of several: each of a list, of all those that have rung
    by_symbol: NotRequired[list[RuleAlertBySymbolItem]]
    # As submitted, with its defaults
    when: dict[str, Any]
    # How long it has to hold before it rings, such as 90s or 5m; at most 24h
    held_for: str | None
    # It rings again, once it has been over and the cooldown has passed; else once
    repeat: bool
    # Least time between two rings, 1m to 7d
    cooldown: str
    # A message tells when it is over, too
    resolved: bool
    # Stands in each message
    note: str | None
    # A name that several rules share
    group: str | None
    # What you find it by
    tags: list[str]
    # Where the events go, where that is no signed webhook
    channel: NotRequired[RuleAlertChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: RuleAlertQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it was made
    created_at: str
    # When it expires; null: it has no end
    expires_at: str | None
    # It rests: it neither rings nor tells that something is over
    paused: bool
    # When that ends by itself; null: at a word of its owner
    paused_until: str | None
    # Triggers so far
    trigger_count: int
    # Attempts to deliver them; null: ClickHouse does not say just now
    delivery_attempts: int | None
    # Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now
    gaps: list[RuleAlertGapsItem] | None


class RuleAlertsAlertsItemBySymbolItem(TypedDict):
    # Which
    symbol: str
    # Where it is
    status: Literal["active", "triggered", "expired", "cancelled"]
    # Triggers so far
    trigger_count: int


class RuleAlertsAlertsItemChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


RuleAlertsAlertsItemQuietHours = TypedDict(
    "RuleAlertsAlertsItemQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


RuleAlertsAlertsItemGapsItem = TypedDict(
    "RuleAlertsAlertsItemGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class RuleAlertsAlertsItem(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # Of a rule for several, in place of symbol: a list, or all, those too that are listed later
    symbols: NotRequired[list[str] | Literal["all"]]
    # Of several: each of a list, of all those that have rung
    by_symbol: NotRequired[list[RuleAlertsAlertsItemBySymbolItem]]
    # As submitted, with its defaults
    when: dict[str, Any]
    # How long it has to hold before it rings, such as 90s or 5m; at most 24h
    held_for: str | None
    # It rings again, once it has been over and the cooldown has passed; else once
    repeat: bool
    # Least time between two rings, 1m to 7d
    cooldown: str
    # A message tells when it is over, too
    resolved: bool
    # Stands in each message
    note: str | None
    # A name that several rules share
    group: str | None
    # What you find it by
    tags: list[str]
    # Where the events go, where that is no signed webhook
    channel: NotRequired[RuleAlertsAlertsItemChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: RuleAlertsAlertsItemQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it was made
    created_at: str
    # When it expires; null: it has no end
    expires_at: str | None
    # It rests: it neither rings nor tells that something is over
    paused: bool
    # When that ends by itself; null: at a word of its owner
    paused_until: str | None
    # Triggers so far
    trigger_count: int
    # Attempts to deliver them; null: ClickHouse does not say just now
    delivery_attempts: int | None
    # Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now
    gaps: list[RuleAlertsAlertsItemGapsItem] | None


class RuleAlerts(TypedDict):
    # Alerts of this page
    count: int
    # Newest first
    alerts: list[RuleAlertsAlertsItem]
    # What `cursor` the next page has; null: this is the last
    next_cursor: str | None


class RuleAlertCancel(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # Always cancelled
    status: Literal["cancelled"]
    # What that means
    message: str


class RuleAlertExtend(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it expires
    expires_at: str
    # Hours that were added
    add_hours: int
    # What that means
    message: str


class RuleAlertPauseBySymbolItem(TypedDict):
    # Which
    symbol: str
    # Where it is
    status: Literal["active", "triggered", "expired", "cancelled"]
    # Triggers so far
    trigger_count: int


class RuleAlertPauseChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


RuleAlertPauseQuietHours = TypedDict(
    "RuleAlertPauseQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


RuleAlertPauseGapsItem = TypedDict(
    "RuleAlertPauseGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class RuleAlertPause(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # Of a rule for several, in place of symbol: a list, or all, those too that are listed later
    symbols: NotRequired[list[str] | Literal["all"]]
    # Of several: each of a list, of all those that have rung
    by_symbol: NotRequired[list[RuleAlertPauseBySymbolItem]]
    # As submitted, with its defaults
    when: dict[str, Any]
    # How long it has to hold before it rings, such as 90s or 5m; at most 24h
    held_for: str | None
    # It rings again, once it has been over and the cooldown has passed; else once
    repeat: bool
    # Least time between two rings, 1m to 7d
    cooldown: str
    # A message tells when it is over, too
    resolved: bool
    # Stands in each message
    note: str | None
    # A name that several rules share
    group: str | None
    # What you find it by
    tags: list[str]
    # Where the events go, where that is no signed webhook
    channel: NotRequired[RuleAlertPauseChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: RuleAlertPauseQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it was made
    created_at: str
    # When it expires; null: it has no end
    expires_at: str | None
    # It rests: it neither rings nor tells that something is over
    paused: bool
    # When that ends by itself; null: at a word of its owner
    paused_until: str | None
    # Triggers so far
    trigger_count: int
    # Attempts to deliver them; null: ClickHouse does not say just now
    delivery_attempts: int | None
    # Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now
    gaps: list[RuleAlertPauseGapsItem] | None


class RuleAlertResumeBySymbolItem(TypedDict):
    # Which
    symbol: str
    # Where it is
    status: Literal["active", "triggered", "expired", "cancelled"]
    # Triggers so far
    trigger_count: int


class RuleAlertResumeChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


RuleAlertResumeQuietHours = TypedDict(
    "RuleAlertResumeQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


RuleAlertResumeGapsItem = TypedDict(
    "RuleAlertResumeGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class RuleAlertResume(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # Of a rule for several, in place of symbol: a list, or all, those too that are listed later
    symbols: NotRequired[list[str] | Literal["all"]]
    # Of several: each of a list, of all those that have rung
    by_symbol: NotRequired[list[RuleAlertResumeBySymbolItem]]
    # As submitted, with its defaults
    when: dict[str, Any]
    # How long it has to hold before it rings, such as 90s or 5m; at most 24h
    held_for: str | None
    # It rings again, once it has been over and the cooldown has passed; else once
    repeat: bool
    # Least time between two rings, 1m to 7d
    cooldown: str
    # A message tells when it is over, too
    resolved: bool
    # Stands in each message
    note: str | None
    # A name that several rules share
    group: str | None
    # What you find it by
    tags: list[str]
    # Where the events go, where that is no signed webhook
    channel: NotRequired[RuleAlertResumeChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: RuleAlertResumeQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it was made
    created_at: str
    # When it expires; null: it has no end
    expires_at: str | None
    # It rests: it neither rings nor tells that something is over
    paused: bool
    # When that ends by itself; null: at a word of its owner
    paused_until: str | None
    # Triggers so far
    trigger_count: int
    # Attempts to deliver them; null: ClickHouse does not say just now
    delivery_attempts: int | None
    # Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now
    gaps: list[RuleAlertResumeGapsItem] | None


class RuleAlertEditBySymbolItem(TypedDict):
    # Which
    symbol: str
    # Where it is
    status: Literal["active", "triggered", "expired", "cancelled"]
    # Triggers so far
    trigger_count: int


class RuleAlertEditChannel(TypedDict):
    # Which channel
    type: str
    # Where it leads, without anything secret; of a template only the creation’s answer says it
    destination: NotRequired[str]


RuleAlertEditQuietHours = TypedDict(
    "RuleAlertEditQuietHours",
    {
        "from": "str",
        "to": "str",
        "time_zone": "str",
    },
)


RuleAlertEditGapsItem = TypedDict(
    "RuleAlertEditGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


class RuleAlertEdit(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # As submitted, in upper case; of several joined by commas, or all
    symbol: str
    # Of a rule for several, in place of symbol: a list, or all, those too that are listed later
    symbols: NotRequired[list[str] | Literal["all"]]
    # Of several: each of a list, of all those that have rung
    by_symbol: NotRequired[list[RuleAlertEditBySymbolItem]]
    # As submitted, with its defaults
    when: dict[str, Any]
    # How long it has to hold before it rings, such as 90s or 5m; at most 24h
    held_for: str | None
    # It rings again, once it has been over and the cooldown has passed; else once
    repeat: bool
    # Least time between two rings, 1m to 7d
    cooldown: str
    # A message tells when it is over, too
    resolved: bool
    # Stands in each message
    note: str | None
    # A name that several rules share
    group: str | None
    # What you find it by
    tags: list[str]
    # Where the events go, where that is no signed webhook
    channel: NotRequired[RuleAlertEditChannel]
    # What rings in these hours is told in one message at their end
    quiet_hours: RuleAlertEditQuietHours | None
    # Beyond 10 messages a minute the rest is told in one
    digest: bool
    # Where it is in its life
    status: Literal["active", "triggered", "expired", "cancelled"]
    # When it was made
    created_at: str
    # When it expires; null: it has no end
    expires_at: str | None
    # It rests: it neither rings nor tells that something is over
    paused: bool
    # When that ends by itself; null: at a word of its owner
    paused_until: str | None
    # Triggers so far
    trigger_count: int
    # Attempts to deliver them; null: ClickHouse does not say just now
    delivery_attempts: int | None
    # Times in which it may have missed something, newest first, at most 50; null: ClickHouse does not say just now
    gaps: list[RuleAlertEditGapsItem] | None


class RuleAlertDeliveriesDeliveriesItem(TypedDict):
    # The same on every attempt: the webhook-id
    trigger_id: str
    # 1 for the first one of a delivery or a resending; 0: it ended without one, or waits for its digest
    attempt: int
    # What became of the trigger by it; digested: it waits for its digest
    outcome: Literal["delivered", "retry", "exhausted", "cancelled", "digested", "unknown"]
    # HTTP status, of email the reply code of SMTP; null: none came
    status: int | None
    # Why, where it is known: timeout, dns, refused, tls, gone, rejected, ...
    error: str | None
    # The digest that it is, or is to be, told in: its webhook-id; null: by itself
    digest: str | None
    # A test event
    test: bool
    # When the condition was met
    triggered_at: str
    # When the attempt began
    started_at: str
    # When it was over
    finished_at: str
    # How long it took, milliseconds
    duration_ms: int
    # For retry and digested
    next_attempt_at: str | None


class RuleAlertDeliveries(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # Attempts of this page
    count: int
    # Newest first
    deliveries: list[RuleAlertDeliveriesDeliveriesItem]
    # What `cursor` the next page has; null: this is the last
    next_cursor: str | None


class RuleAlertTest(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # What its webhook-id is
    trigger_id: str
    # Where to see what becomes of it
    message: str


class RuleAlertResend(TypedDict):
    # alert_<symbol>_<unix seconds>_<sequence>, of liquidation alerts alert_liq_...
    alert_id: str
    # What its webhook-id is
    trigger_id: str
    # Where to see what becomes of it
    message: str


class WalletMessage(TypedDict):
    # The text
    message: str
    # Until when it is taken, once
    expires_at: str


class WalletAlerts(TypedDict):
    # Alerts of this page
    count: int
    # Newest first
    alerts: list[dict[str, Any]]
    # What `cursor` the next page has; null: this is the last
    next_cursor: str | None


class EmailCode(TypedDict):
    # The address, without most of its name
    to: str
    # What to do with the code
    message: str


AlertBacktestBySymbolItemCoverageGapsItem = TypedDict(
    "AlertBacktestBySymbolItemCoverageGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


AlertBacktestBySymbolItemCoverage = TypedDict(
    "AlertBacktestBySymbolItemCoverage",
    {
        "from": "str",
        "to": "str",
        "complete": "bool",
        "own_from": "str | None",
        "days": "int",
        "stopped_by": 'Literal["rows", "seconds", None]',
        "gap_count": "int",
        "gap_seconds": "float",
        "gaps": "list[AlertBacktestBySymbolItemCoverageGapsItem]",
    },
)


class AlertBacktestBySymbolItem(TypedDict):
    # Which
    symbol: str
    # Times that it would have rung
    trigger_count: int
    # The same by days that were covered; null: less than one was
    triggers_per_day: float | None
    # Prices, or records of figures, that there were
    records: int
    # What it rests on; null: there is no history
    coverage: AlertBacktestBySymbolItemCoverage | None


class AlertBacktestTriggersItem(TypedDict):
    # For which
    symbol: str
    # When the condition was met
    time: str
    # What the webhook would have said, USD
    price: float
    # The same in words
    condition_met: str
    # degraded: one price source only, or sources over 1 % apart
    quality: Literal["good", "degraded"]
    # Told by candles after a time without any source
    late: bool
    # Who told what rings it: our own log (live), or the venues’ past, at the end of a candle
    source: Literal["live", "archive", "venue_candles", "venue_history", "mixed"]
    # The log record that rings it, for GET /records/:id; null: it is of the past, or time alone rings it
    record: str | None


class AlertBacktestNoPastItem(TypedDict):
    # Which
    metric: Literal["price", "price_change_pct", "volume", "volume_usd", "volume_spike", "cvd", "cvd_change", "cvd_change_usd", "funding_rate_pct", "predicted_funding_rate_pct", "open_interest_usd", "open_interest_change_pct", "basis_pct", "long_short_ratio", "liquidated_usd", "liquidated_long_usd", "liquidated_short_usd", "liquidation_risk_pct", "cvd_signal", "funding_signal", "sentiment", "cascade_risk"]
    # Of this venue; null: over all
    exchange: str | None
    # Over how long; null: as it is
    window: str | None
    # Why
    why: str


class AlertBacktestFiguresItemPointsItem(TypedDict):
    # When it was so
    time: str
    # A number, or a class; null: it was not known
    value: float | str | None


class AlertBacktestFiguresItem(TypedDict):
    # Which
    metric: Literal["price", "price_change_pct", "volume", "volume_usd", "volume_spike", "cvd", "cvd_change", "cvd_change_usd", "funding_rate_pct", "predicted_funding_rate_pct", "open_interest_usd", "open_interest_change_pct", "basis_pct", "long_short_ratio", "liquidated_usd", "liquidated_long_usd", "liquidated_short_usd", "liquidation_risk_pct", "cvd_signal", "funding_signal", "sentiment", "cascade_risk"]
    # Of this venue; null: over all
    exchange: str | None
    # Over how long; null: as it is
    window: str | None
    # Some 300, oldest first, and where it rang
    points: list[AlertBacktestFiguresItemPointsItem]


AlertBacktestCoverageGapsItem = TypedDict(
    "AlertBacktestCoverageGapsItem",
    {
        "from": "str",
        "to": "str",
    },
)


AlertBacktestCoverage = TypedDict(
    "AlertBacktestCoverage",
    {
        "from": "str",
        "to": "str",
        "complete": "bool",
        "own_from": "str | None",
        "days": "int",
        "stopped_by": 'Literal["rows", "seconds", None]',
        "gap_count": "int",
        "gap_seconds": "float",
        "gaps": "list[AlertBacktestCoverageGapsItem]",
    },
)


class AlertBacktest(TypedDict):
    # Any symbol of the catalogue
    symbol: NotRequired[str]
    # As of an alert; cascade_risk tries a liquidation alert out; a rule has `when` instead
    condition: NotRequired[Literal["above", "below", "crosses_above", "crosses_below", "cascade_risk"]]
    # USD; of price alerts
    target_price: NotRequired[float]
    # Percent; of liquidation alerts
    threshold_pct: NotRequired[float]
    # USD; of liquidation alerts
    min_value_usd: NotRequired[float]
    # A condition; all or any of several; of rule alerts
    when: NotRequired[dict[str, Any]]
    # How long it has to hold before it rings, such as 90s or 5m; at most 24h; of rule alerts
    held_for: NotRequired[str | None]
    # It rings again, once it has been over and the cooldown has passed; else once; of rule alerts
    repeat: NotRequired[bool]
    # Least time between two rings, 1m to 7d; of rule alerts
    cooldown: NotRequired[str]
    # A message tells when it is over, too; of rule alerts
    resolved: NotRequired[bool]
    # Stands in each message; of rule alerts
    note: NotRequired[str | None]
    # A name that several rules share; of rule alerts
    group: NotRequired[str | None]
    # What you find it by; of rule alerts
    tags: NotRequired[list[str]]
    # Those that were tried out, where the body has symbols
    symbols: NotRequired[list[str]]
    # Times that it would have rung
    trigger_count: int
    # The same by days that were covered; null: less than one was
    triggers_per_day: float | None
    # Each of them, where the body has symbols
    by_symbol: NotRequired[list[AlertBacktestBySymbolItem]]
    # The newest 100, newest first
    triggers: list[AlertBacktestTriggersItem]
    # Why no more than our own log was looked at; none: the venues’ past was, too
    no_past: list[AlertBacktestNoPastItem]
    # Where the body asks for them: one for each condition, from left to right
    figures: NotRequired[list[AlertBacktestFiguresItem]]
    # Prices, estimates of risk, or records of figures, that there were
    records: int
    # What the answer rests on; of several symbols see by_symbol
    coverage: NotRequired[AlertBacktestCoverage]
    # What is taken for granted
    assumes: str
    # Time of the newest record
    as_of: str
    # When this was answered
    timestamp: str
    # The same question was asked within a minute
    cached: bool


class Record(TypedDict):
    # As asked for
    id: str
    # Its topic
    topic: str
    # Its partition
    partition: int
    # Its offset
    offset: int
    # Kafka record timestamp
    time: str
    # What kind of record it is
    type: str
    # As it is in the log; times are microseconds since the Unix epoch
    record: dict[str, Any]


class CreditBuy(TypedDict):
    # Names the key; no secret
    key_id: str
    # A name of your own
    label: str
    # What it may do
    scopes: list[Literal["read", "alerts", "manage"]]
    # Whether it can be used
    status: Literal["active", "expired", "revoked"]
    # When it was bought
    created_at: str
    # When it ends; null: never
    expires_at: str | None
    # What was bought less what was charged
    balance_usdc: float
    # Of the balance, what is set aside for API instances: a minute at most
    held_usdc: float
    # All that was paid in
    bought_usdc: float
    # All that was charged; up to a second behind
    charged_usdc: float
    # What was charged today (UTC)
    charged_today_usdc: float
    # Most that it may spend on a day; null: no limit
    daily_max_usdc: float | None
    # How long the secret before the last rotation is taken; null: there is none
    former_secret_until: str | None
    # The key itself, mda_...: only here, and again for the same payment
    api_key: str | None
    # What was bought
    amount_usdc: float


class Key(TypedDict):
    # Names the key; no secret
    key_id: str
    # A name of your own
    label: str
    # What it may do
    scopes: list[Literal["read", "alerts", "manage"]]
    # Whether it can be used
    status: Literal["active", "expired", "revoked"]
    # When it was bought
    created_at: str
    # When it ends; null: never
    expires_at: str | None
    # What was bought less what was charged
    balance_usdc: float
    # Of the balance, what is set aside for API instances: a minute at most
    held_usdc: float
    # All that was paid in
    bought_usdc: float
    # All that was charged; up to a second behind
    charged_usdc: float
    # What was charged today (UTC)
    charged_today_usdc: float
    # Most that it may spend on a day; null: no limit
    daily_max_usdc: float | None
    # How long the secret before the last rotation is taken; null: there is none
    former_secret_until: str | None


class KeyChange(TypedDict):
    # Names the key; no secret
    key_id: str
    # A name of your own
    label: str
    # What it may do
    scopes: list[Literal["read", "alerts", "manage"]]
    # Whether it can be used
    status: Literal["active", "expired", "revoked"]
    # When it was bought
    created_at: str
    # When it ends; null: never
    expires_at: str | None
    # What was bought less what was charged
    balance_usdc: float
    # Of the balance, what is set aside for API instances: a minute at most
    held_usdc: float
    # All that was paid in
    bought_usdc: float
    # All that was charged; up to a second behind
    charged_usdc: float
    # What was charged today (UTC)
    charged_today_usdc: float
    # Most that it may spend on a day; null: no limit
    daily_max_usdc: float | None
    # How long the secret before the last rotation is taken; null: there is none
    former_secret_until: str | None


class KeyRotate(TypedDict):
    # Names the key; no secret
    key_id: str
    # A name of your own
    label: str
    # What it may do
    scopes: list[Literal["read", "alerts", "manage"]]
    # Whether it can be used
    status: Literal["active", "expired", "revoked"]
    # When it was bought
    created_at: str
    # When it ends; null: never
    expires_at: str | None
    # What was bought less what was charged
    balance_usdc: float
    # Of the balance, what is set aside for API instances: a minute at most
    held_usdc: float
    # All that was paid in
    bought_usdc: float
    # All that was charged; up to a second behind
    charged_usdc: float
    # What was charged today (UTC)
    charged_today_usdc: float
    # Most that it may spend on a day; null: no limit
    daily_max_usdc: float | None
    # How long the secret before the last rotation is taken; null: there is none
    former_secret_until: str | None
    # The key itself, mda_...: only here
    api_key: str | None


class KeyRevoke(TypedDict):
    # Names the key; no secret
    key_id: str
    # A name of your own
    label: str
    # What it may do
    scopes: list[Literal["read", "alerts", "manage"]]
    # Whether it can be used
    status: Literal["active", "expired", "revoked"]
    # When it was bought
    created_at: str
    # When it ends; null: never
    expires_at: str | None
    # What was bought less what was charged
    balance_usdc: float
    # Of the balance, what is set aside for API instances: a minute at most
    held_usdc: float
    # All that was paid in
    bought_usdc: float
    # All that was charged; up to a second behind
    charged_usdc: float
    # What was charged today (UTC)
    charged_today_usdc: float
    # Most that it may spend on a day; null: no limit
    daily_max_usdc: float | None
    # How long the secret before the last rotation is taken; null: there is none
    former_secret_until: str | None


class KeyUsageUsageItem(TypedDict):
    # UTC, 2026-11-24
    day: str
    # Method and path
    route: str
    # Answers given
    requests: int
    # What they cost together
    usdc: float


class KeyUsage(TypedDict):
    # The key
    key_id: str
    # UTC
    month: str
    # Oldest first; some seconds behind
    usage: list[KeyUsageUsageItem]


class WalletKeysKeysItem(TypedDict):
    # Names the key; no secret
    key_id: str
    # A name of your own
    label: str
    # What it may do
    scopes: list[Literal["read", "alerts", "manage"]]
    # Whether it can be used
    status: Literal["active", "expired", "revoked"]
    # When it was bought
    created_at: str
    # When it ends; null: never
    expires_at: str | None
    # What was bought less what was charged
    balance_usdc: float
    # Of the balance, what is set aside for API instances: a minute at most
    held_usdc: float
    # All that was paid in
    bought_usdc: float
    # All that was charged; up to a second behind
    charged_usdc: float
    # What was charged today (UTC)
    charged_today_usdc: float
    # Most that it may spend on a day; null: no limit
    daily_max_usdc: float | None
    # How long the secret before the last rotation is taken; null: there is none
    former_secret_until: str | None
    # Bearer token that changes, rotates and revokes the key
    manage_token: str | None


class WalletKeys(TypedDict):
    # How many
    count: int
    # Newest first
    keys: list[WalletKeysKeysItem]


class HealthzLog(TypedDict):
    # late: derived data lag; quiet: no feed writes
    status: Literal["ok", "late", "quiet", "empty"]
    # Age of the newest mark, milliseconds
    age_ms: int | None
    # How far derived data are behind, milliseconds
    lag_ms: int | None
    # The newest mark
    as_of: str | None


class HealthzVenuesValue(TypedDict):
    # live, connecting, down, unavailable, off or unknown
    state: str
    # Open WebSocket connections
    sockets: int
    # Feed processes that report it
    feeds: int
    # Since when it is in that state
    since: str | None


class HealthzChannelsValueValue(TypedDict):
    # live, connecting, down, unavailable, off or unknown
    state: str
    # Open WebSocket connections
    sockets: int
    # Feed processes that report it
    feeds: int
    # Since when it is in that state
    since: str | None


class HealthzTopicsValue(TypedDict):
    # Its newest mark
    as_of: str
    # How old that is, milliseconds
    age_ms: int


class HealthzDeadLettersNewest(TypedDict):
    # Who set it aside
    processor: str
    # Its topic
    topic: str
    # Its partition
    partition: int
    # Its offset
    offset: int
    # Its record time
    time: str
    # undecodable, unknown_schema, failed or held
    reason: str
    # What was wrong, as a code
    code: str
    # Line of code that threw; null: it is not known
    at: str | None


class HealthzDeadLetters(TypedDict):
    # How many there are; SELECT * FROM dead_letters has them all
    count: int
    # The newest by its record time
    newest: HealthzDeadLettersNewest | None


HealthzLogGapsNewest = TypedDict(
    "HealthzLogGapsNewest",
    {
        "reader": "str",
        "topic": "str",
        "partition": "int",
        "reason": "str",
        "from": "str",
        "to": "str",
        "missing": "int | None",
        "time": "str",
    },
)


class HealthzLogGaps(TypedDict):
    # How many gaps there are; SELECT * FROM log_gaps has them all
    count: int
    # The one that was found last
    newest: HealthzLogGapsNewest | None


class HealthzUnreadNewest(TypedDict):
    # Its topic
    topic: str
    # Its partition
    partition: int
    # Its offset
    offset: int


class HealthzUnread(TypedDict):
    # How many
    count: int
    # The newest
    newest: HealthzUnreadNewest | None


class HealthzBackfill(TypedDict):
    # starting: it is not known yet what the log has; paused: the disk has too little room for it
    state: Literal["off", "starting", "running", "paused", "done"]
    # Rows that are wanted: candles, rates, open interest, marks, ratios
    wanted: int
    # Those that are not in the log yet
    missing: int
    # Disk that those will take, log and ClickHouse; estimated
    bytes_left: int
    # Until the slowest venue has all; null: one has no pace yet
    seconds_left: int | None


class HealthzAuditValue(TypedDict):
    # Minutes and instruments compared
    compared: int
    # Those that differ by more than a billionth
    different: int
    # Those that no recorded gap or subscription explains
    unexplained: int
    # Worst of the unexplained ones, fraction of their volume; null: there is none
    worst_volume_difference: float | None
    # The same of buys minus sells; null: there is none, or the venue says nothing
    worst_delta_difference: float | None
    # venue:market:symbol of the worst
    worst_instrument: str | None
    # Its minute
    worst_minute: str | None


class Healthz(TypedDict):
    # degraded: a part or the log is not ok, or no venue is live, for trades or for another topic; unavailable: the log has not been read yet
    status: Literal["ok", "degraded", "unavailable"]
    # Where the market comes from
    mode: Literal["demo", "live", "tape"]
    # Version of the service
    version: str
    # off: every route is free for everyone
    payments: Literal["off", "play-money", "on"]
    # Parts by name
    parts: dict[str, str]
    # unavailable: ClickHouse cannot be read; answers about now do not need it
    ranges: Literal["available", "unavailable"]
    # How far the log is
    log: NotRequired[HealthzLog]
    # Open WebSocket connections of the venues’ trade streams
    active_ws_connections: NotRequired[int]
    # Trade streams by venue
    venues: NotRequired[dict[str, HealthzVenuesValue]]
    # Channels and polls, by the topic that they feed
    channels: NotRequired[dict[str, dict[str, HealthzChannelsValueValue]]]
    # Topics by name
    topics: NotRequired[dict[str, HealthzTopicsValue]]
    # Gaps that are being repaired
    open_gaps: NotRequired[int]
    # Records that a processor, the dispatcher or the payments have set aside
    dead_letters: NotRequired[HealthzDeadLetters]
    # What readers of the log could not read, or found to be lost of what they wrote
    log_gaps: NotRequired[HealthzLogGaps]
    # Records of followed topics that this instance of the API passed over since its start
    unread: NotRequired[HealthzUnread]
    # Age of the oldest undelivered trigger, no receiver excluded; 0: all are delivered
    oldest_undelivered_ms: NotRequired[int]
    # How far the venues’ past is read back
    backfill: NotRequired[HealthzBackfill]
    # Self-audit by venue
    audit: NotRequired[dict[str, HealthzAuditValue]]
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class Readyz(TypedDict):
    # Whether it can
    status: Literal["ready", "unavailable"]
    # Why not
    reason: NotRequired[str]
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class PricingPay(TypedDict):
    # x402, whose versions 1 and 2 are taken
    protocol: str
    # exact
    scheme: str
    # CAIP-2 name of the network
    network: str
    # Token contract
    asset: str
    # Name in its EIP-712 domain
    asset_name: str
    # Who is paid
    pay_to: str


class PricingRoutesItem(TypedDict):
    # HTTP method
    method: str
    # Path, parameters in braces
    path: str
    # What it is
    says: str
    # USDC for one request; 0: free
    price_usdc: float


class Pricing(TypedDict):
    # off: every route is free
    payments: Literal["off", "play-money", "on"]
    # What prices are in
    currency: str
    # How it is paid; not there while payments are off
    pay: NotRequired[PricingPay]
    # All routes
    routes: list[PricingRoutesItem]


class WellKnownX402(TypedDict):
    # Of this document: 1
    version: int
    # Newest version of the protocol that is spoken
    x402Version: int
    # An example of each route that is paid for
    resources: list[str]
    # Address of the OpenAPI document
    openapi: str


class StreamCvdExchangesValue(TypedDict):
    # Running total of taker buys minus taker sells since `since`, base units
    cvd: float
    # As cvd, in USD
    cvd_usd: float
    # Taker buys minus taker sells of the period, base units
    period_cvd: float
    # Taker buys of the period, base units
    buy_volume: float
    # Taker sells of the period, base units
    sell_volume: float
    # As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close
    period_cvd_usd: float
    # As buy_volume, in USD
    buy_volume_usd: float
    # As sell_volume, in USD
    sell_volume_usd: float
    # trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time. Of a period hours count that lie wholly within it. Null: nothing is known; candles of Bybit and Coinbase do not say what takers bought
    source: Literal["trades", "archive", "venue_candles", "mixed", None]
    # live: streaming; gap: trades of the period are missing; stale: not heard for 30 s; unavailable: it refuses us or is switched off; unlisted: it has no such market
    status: Literal["live", "gap", "stale", "unavailable", "unlisted"]


class StreamCvdMarketsValue(TypedDict):
    # Running total of taker buys minus taker sells since `since`, base units
    cvd: float
    # As cvd, in USD
    cvd_usd: float
    # Taker buys minus taker sells of the period, base units
    period_cvd: float
    # Taker buys of the period, base units
    buy_volume: float
    # Taker sells of the period, base units
    sell_volume: float
    # As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close
    period_cvd_usd: float
    # As buy_volume, in USD
    buy_volume_usd: float
    # As sell_volume, in USD
    sell_volume_usd: float


class StreamCvdSourcesValue(TypedDict):
    # Taker buys minus taker sells of the period, base units
    period_cvd: float
    # Taker buys of the period, base units
    buy_volume: float
    # Taker sells of the period, base units
    sell_volume: float
    # As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close
    period_cvd_usd: float
    # As buy_volume, in USD
    buy_volume_usd: float
    # As sell_volume, in USD
    sell_volume_usd: float
    # How much of the period it tells: the mean over the instruments, 0 to 1
    share: float


StreamCvdCoverageGapsItem = TypedDict(
    "StreamCvdCoverageGapsItem",
    {
        "exchange": "str",
        "state": 'Literal["opened", "unfillable", "lost", "unknown"]',
        "from": "str",
        "to": "str",
        "missing": "int | None",
        "past": 'Literal["archive", "venue_candles", "mixed", None]',
    },
)


StreamCvdCoverage = TypedDict(
    "StreamCvdCoverage",
    {
        "from": "str",
        "to": "str",
        "complete": "bool",
        "share": "float",
        "gaps": "list[StreamCvdCoverageGapsItem]",
    },
)


class StreamCvd(TypedDict):
    # Base asset
    symbol: str
    # Running total of taker buys minus taker sells since `since`, base units
    cvd: float
    # As cvd, in USD
    cvd_usd: float
    # Taker buys minus taker sells of the period, base units
    period_cvd: float
    # Taker buys of the period, base units
    buy_volume: float
    # Taker sells of the period, base units
    sell_volume: float
    # As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close
    period_cvd_usd: float
    # As buy_volume, in USD
    buy_volume_usd: float
    # As sell_volume, in USD
    sell_volume_usd: float
    # period_cvd over period volume: beyond 15 % strong, beyond 5 % plain, else neutral; insufficient_data where our own trades hold less than a quarter of the period, or nothing traded
    signal: Literal["strong_bullish_pressure", "bullish_pressure", "neutral", "bearish_pressure", "strong_bearish_pressure", "insufficient_data"]
    # The rolling period, ending now
    period: Literal["1h", "4h", "24h", "7d"]
    # Open WebSocket connections of the venues’ trade streams
    active_ws_connections: int
    # The figures by venue; they add up to the totals
    exchanges: dict[str, StreamCvdExchangesValue]
    # The figures by market type
    markets: dict[str, StreamCvdMarketsValue]
    # trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time. Of a period hours count that lie wholly within it. Null: nothing is known; candles of Bybit and Coinbase do not say what takers bought
    source: Literal["trades", "archive", "venue_candles", "mixed", None]
    # The figures of the period by source: each hour of a venue is in one of them alone, and they add up to the totals
    sources: dict[str, StreamCvdSourcesValue]
    # What of the time asked for the log really has
    coverage: StreamCvdCoverage
    # From when cvd counts: the first trade in the log; null: none yet
    since: str | None
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 30 s
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class StreamCvdEvent(TypedDict):
    name: Literal["cvd"]
    id: str
    data: StreamCvd


class StreamPriceExchangesValue(TypedDict):
    # Middle of its book in USD, or its last price; null: not known
    price: float | None
    # How long ago it last changed, milliseconds; a quiet market is not a dead one
    age_ms: int | None
    # Whether it is part of the price
    used: bool
    # live; stale: not heard for 15 s; unavailable: nothing is known; unlisted
    status: Literal["live", "stale", "unavailable", "unlisted"]


class StreamPrice(TypedDict):
    # Base asset
    symbol: str
    # USD
    price: float
    # Median of the used venues’ own changes, percent; null: none says
    change_24h: float | None
    # Lowest since the composite before, USD
    low: float
    # Highest since the composite before, USD
    high: float
    # degraded: one source only, or sources more than 1 % apart
    quality: Literal["good", "degraded", "unknown"]
    # Venues that the price is made of
    sources: list[str]
    # The chain venues
    exchanges: dict[str, StreamPriceExchangesValue]
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: 15 s
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class StreamPriceEvent(TypedDict):
    name: Literal["price"]
    id: str
    data: StreamPrice


class StreamFunding(TypedDict):
    # Perpetual, as BTCUSDT
    symbol: str
    # Whose perpetual: Binance, else Bybit, else OKX
    exchange: Literal["binance", "bybit", "okx"]
    # Running rate for next_funding_time, fraction per interval; positive: longs pay shorts
    funding_rate: float
    # funding_rate x (24 / interval_hours) x 365, fraction
    funding_rate_annualized: float
    # Hours between two settlements of this perpetual
    interval_hours: float
    # When that rate is settled
    next_funding_time: str
    # By the size of the rate in percent: beyond 0.05 extreme, 0.01 plain, 0.003 slight, else neutral; positive: bullish
    signal: Literal["extreme_bullish", "bullish", "slightly_bullish", "neutral", "slightly_bearish", "bearish", "extreme_bearish"]
    # The signal in words
    signal_label: str
    # Mark price, USDT
    mark_price: float
    # Index price, USDT
    index_price: float
    # Newest settled rate, fraction
    last_settled_rate: float | None
    # The same, percent
    last_settled_pct: float | None
    # When it was settled
    last_settled_time: str | None
    # Time of the newest input
    as_of: str
    # How old that is, milliseconds
    age_ms: int
    # Whether it is older than it may be: rates 120 s, marks 60 s
    stale: bool
    # When the answer was given
    timestamp: str
    # Whether it came from the cache
    cached: bool


class StreamFundingEvent(TypedDict):
    name: Literal["funding"]
    id: str
    data: StreamFunding


class StreamLiquidations(TypedDict):
    # liq_<unix seconds>_<place in the log>
    id: str
    # As BTCUSDT
    symbol: str
    # The position, not the order
    side: Literal["long", "short"]
    # Base units
    size: float
    # USD
    price: float
    # price x size, USD
    value_usd: float
    # The venue’s time
    timestamp: str
    # Venue, upper case
    exchange: str
    # What the price is
    price_kind: Literal["unknown", "bankruptcy", "order", "average_fill"]
    # all: the venue sends every one; sampled: the largest of a symbol and second
    completeness: Literal["unknown", "all", "sampled"]
    # When we had it
    as_of: str


class StreamLiquidationsEvent(TypedDict):
    name: Literal["liquidations"]
    id: str
    data: StreamLiquidations


StreamSignals = TypedDict(
    "StreamSignals",
    {
        "symbol": "str",
        "kind": "str",
        "period": "str",
        "exchange": "str | None",
        "from": "str",
        "to": "str",
        "value": "float",
        "as_of": "str",
    },
)


class StreamSignalsEvent(TypedDict):
    name: Literal["signals"]
    id: str
    data: StreamSignals


class StreamReady(TypedDict):
    # Whether it goes on where Last-Event-ID was; else all that is known was told
    resumed: bool


class StreamReadyEvent(TypedDict):
    name: Literal["ready"]
    id: str
    data: StreamReady


StreamMissed = TypedDict(
    "StreamMissed",
    {
        "reason": 'Literal["slow", "not_held"]',
        "from": "str | None",
        "to": "str",
        "counts": "dict[str, float]",
    },
)


class StreamMissedEvent(TypedDict):
    name: Literal["missed"]
    id: str
    data: StreamMissed


class StreamEnd(TypedDict):
    # Why it ends
    reason: Literal["time_over", "replaced", "restarting"]
    # How to go on
    message: str


class StreamEndEvent(TypedDict):
    name: Literal["end"]
    id: str
    data: StreamEnd


StreamEvent = StreamCvdEvent | StreamPriceEvent | StreamFundingEvent | StreamLiquidationsEvent | StreamSignalsEvent | StreamReadyEvent | StreamMissedEvent | StreamEndEvent


class Null(Enum):
    """Null, which takes away what was set, where None leaves a field as it is."""

    NULL = "null"


NULL = Null.NULL


class Operation(NamedTuple):
    method: str
    path: str
    query: tuple[str, ...]
    body: tuple[str, ...]
    is_owners: bool
    is_keyed: bool
    is_question: bool
    price_usdc: float


OPERATIONS: dict[str, Operation] = {
    "cvd": Operation("GET", "/cvd/{symbol}", ("period",), (), False, False, True, 0.02),
    "cvd_history": Operation("GET", "/cvd/history/{symbol}", ("interval", "since", "start", "end", "limit",), (), False, False, True, 0.02),
    "ohlcv": Operation("GET", "/ohlcv/{symbol}", ("interval", "exchange", "start", "end", "limit",), (), False, False, True, 0.02),
    "funding_extreme": Operation("GET", "/funding-rate/extreme", ("threshold",), (), False, False, True, 0.02),
    "funding_history": Operation("GET", "/funding-rate/history/{symbol}", ("exchange", "start", "end", "limit",), (), False, False, True, 0.02),
    "funding_rate": Operation("GET", "/funding-rate/{symbol}", (), (), False, False, True, 0.02),
    "funding_compare": Operation("GET", "/futures/funding-compare/{symbol}", (), (), False, False, True, 0.03),
    "predicted_funding": Operation("GET", "/futures/predicted-funding/{symbol}", (), (), False, False, True, 0.02),
    "basis": Operation("GET", "/futures/basis/{symbol}", (), (), False, False, True, 0.02),
    "basis_history": Operation("GET", "/futures/basis/history/{symbol}", ("interval", "start", "end", "limit",), (), False, False, True, 0.02),
    "open_interest": Operation("GET", "/futures/open-interest/{symbol}", (), (), False, False, True, 0.02),
    "open_interest_history": Operation("GET", "/futures/open-interest/history/{symbol}", ("interval", "start", "end", "limit",), (), False, False, True, 0.02),
    "long_short": Operation("GET", "/futures/long-short/{symbol}", (), (), False, False, True, 0.02),
    "long_short_history": Operation("GET", "/futures/long-short/history/{symbol}", ("interval", "start", "end", "limit",), (), False, False, True, 0.02),
    "liquidation_heatmap": Operation("GET", "/liquidation/heatmap/{symbol}", (), (), False, False, True, 0.05),
    "liquidation_heatmap_history": Operation("GET", "/liquidation/heatmap/history/{symbol}", ("interval", "start", "end", "limit",), (), False, False, True, 0.05),
    "liquidation_recent": Operation("GET", "/liquidation/recent", ("limit", "symbol",), (), False, False, True, 0.03),
    "liquidation_history": Operation("GET", "/liquidation/history/{symbol}", ("interval", "start", "end", "limit",), (), False, False, True, 0.03),
    "screener": Operation("GET", "/screener", ("sort", "order", "where", "limit",), (), False, False, True, 0.05),
    "price": Operation("GET", "/price/{symbol}", (), (), False, False, True, 0.005),
    "prices": Operation("GET", "/api/v1/prices", ("symbols",), (), False, False, True, 0.005),
    "market": Operation("GET", "/api/v1/market/{id}", (), (), False, False, True, 0.005),
    "price_alert_create": Operation("POST", "/price-alert", (), ("symbol", "condition", "target_price", "webhook_url", "channel", "quiet_hours", "digest", "agent_wallet", "expires_in_hours",), False, True, False, 0.04),
    "price_alert": Operation("GET", "/price-alert/{id}", (), (), False, False, True, 0),
    "price_alerts": Operation("GET", "/price-alerts", ("wallet", "symbol", "limit", "cursor",), (), False, False, True, 0),
    "price_alert_cancel": Operation("DELETE", "/price-alert/{id}", (), (), True, False, False, 0),
    "price_alert_extend": Operation("POST", "/price-alert/{id}/extend", (), ("add_hours",), True, True, False, 0.02),
    "price_alert_pause": Operation("POST", "/price-alert/{id}/pause", (), ("until",), True, False, False, 0),
    "price_alert_resume": Operation("POST", "/price-alert/{id}/resume", (), (), True, False, False, 0),
    "price_alert_deliveries": Operation("GET", "/price-alert/{id}/deliveries", ("limit", "cursor",), (), True, False, True, 0),
    "price_alert_test": Operation("POST", "/price-alert/{id}/test", (), (), True, False, False, 0),
    "price_alert_resend": Operation("POST", "/price-alert/{id}/deliveries/{trigger_id}/resend", (), (), True, False, False, 0),
    "liquidation_alert_create": Operation("POST", "/liquidation/alert", (), ("symbol", "condition", "threshold_pct", "min_value_usd", "webhook_url", "channel", "quiet_hours", "digest", "agent_wallet", "expires_in_hours",), False, True, False, 0.06),
    "liquidation_alert": Operation("GET", "/liquidation/alert/{id}", (), (), False, False, True, 0),
    "liquidation_alerts": Operation("GET", "/liquidation/alerts", ("wallet", "symbol", "limit", "cursor",), (), False, False, True, 0),
    "liquidation_alert_cancel": Operation("DELETE", "/liquidation/alert/{id}", (), (), True, False, False, 0),
    "liquidation_alert_extend": Operation("POST", "/liquidation/alert/{id}/extend", (), ("add_hours",), True, True, False, 0.03),
    "liquidation_alert_pause": Operation("POST", "/liquidation/alert/{id}/pause", (), ("until",), True, False, False, 0),
    "liquidation_alert_resume": Operation("POST", "/liquidation/alert/{id}/resume", (), (), True, False, False, 0),
    "liquidation_alert_deliveries": Operation("GET", "/liquidation/alert/{id}/deliveries", ("limit", "cursor",), (), True, False, True, 0),
    "liquidation_alert_test": Operation("POST", "/liquidation/alert/{id}/test", (), (), True, False, False, 0),
    "liquidation_alert_resend": Operation("POST", "/liquidation/alert/{id}/deliveries/{trigger_id}/resend", (), (), True, False, False, 0),
    "rule_alert_create": Operation("POST", "/alerts", (), ("symbol", "symbols", "when", "held_for", "repeat", "cooldown", "resolved", "note", "group", "tags", "webhook_url", "channel", "quiet_hours", "digest", "agent_wallet", "expires_in_hours",), False, True, False, 0.06),
    "rule_alert": Operation("GET", "/alerts/{id}", (), (), False, False, True, 0),
    "rule_alerts": Operation("GET", "/alerts", ("wallet", "symbol", "limit", "cursor",), (), False, False, True, 0),
    "rule_alert_cancel": Operation("DELETE", "/alerts/{id}", (), (), True, False, False, 0),
    "rule_alert_extend": Operation("POST", "/alerts/{id}/extend", (), ("add_hours",), True, True, False, 0.03),
    "rule_alert_pause": Operation("POST", "/alerts/{id}/pause", (), ("until",), True, False, False, 0),
    "rule_alert_resume": Operation("POST", "/alerts/{id}/resume", (), (), True, False, False, 0),
    "rule_alert_edit": Operation("PATCH", "/alerts/{id}", (), ("when", "held_for", "repeat", "cooldown", "resolved", "note", "group", "tags", "quiet_hours", "digest",), True, False, False, 0),
    "rule_alert_deliveries": Operation("GET", "/alerts/{id}/deliveries", ("limit", "cursor",), (), True, False, True, 0),
    "rule_alert_test": Operation("POST", "/alerts/{id}/test", (), (), True, False, False, 0),
    "rule_alert_resend": Operation("POST", "/alerts/{id}/deliveries/{trigger_id}/resend", (), (), True, False, False, 0),
    "wallet_message": Operation("GET", "/wallet/message", ("address",), (), False, False, True, 0),
    "wallet_alerts": Operation("POST", "/wallet/alerts", (), ("message", "signature", "cursor", "state", "group", "tag", "limit",), False, False, False, 0),
    "email_code": Operation("POST", "/email-codes", (), ("to",), False, False, False, 0),
    "alert_backtest": Operation("POST", "/alerts/backtest", (), ("symbol", "condition", "target_price", "threshold_pct", "min_value_usd", "when", "held_for", "repeat", "cooldown", "resolved", "note", "group", "tags", "webhook_url", "channel", "quiet_hours", "digest", "agent_wallet", "expires_in_hours", "symbols", "days", "figures",), False, False, True, 0),
    "record": Operation("GET", "/records/{id}", (), (), False, False, True, 0),
    "credit_buy": Operation("POST", "/credit", (), ("amount_usdc", "key_id", "label", "scopes", "expires_in_days", "daily_max_usdc",), False, True, False, 1),
    "key": Operation("GET", "/keys/{key_id}", (), (), True, False, True, 0),
    "key_change": Operation("PATCH", "/keys/{key_id}", (), ("label", "scopes", "expires_in_days", "daily_max_usdc",), True, False, False, 0),
    "key_rotate": Operation("POST", "/keys/{key_id}/rotate", (), ("grace_hours",), True, False, False, 0),
    "key_revoke": Operation("DELETE", "/keys/{key_id}", (), (), True, False, False, 0),
    "key_usage": Operation("GET", "/keys/{key_id}/usage", ("month",), (), True, False, True, 0),
    "wallet_keys": Operation("POST", "/wallet/keys", (), ("message", "signature",), False, False, False, 0),
    "healthz": Operation("GET", "/healthz", (), (), False, False, True, 0),
    "readyz": Operation("GET", "/readyz", (), (), False, False, True, 0),
    "pricing": Operation("GET", "/pricing", (), (), False, False, True, 0),
    "well_known_x402": Operation("GET", "/.well-known/x402", (), (), False, False, True, 0),
}


STREAMS: dict[str, Operation] = {
    "stream": Operation("GET", "/stream", ("symbols", "channels", "period", "seconds",), (), False, False, True, 0.1),
}


class Api:
    """Every operation as a method; how it is sent is the client's."""

    def send(self, name: str, given: Mapping[str, Any]) -> Any:
        raise NotImplementedError

    def listen(self, name: str, given: Mapping[str, Any]) -> Iterator[Any]:
        raise NotImplementedError

    def cvd(self, symbol: str, *, period: Literal["1h", "4h", "24h", "7d"] | None = None, payment: Payment | None = None) -> Cvd:
        """Cumulative volume delta over four venues. GET /cvd/{symbol}. 0.02 USDC."""
        answer: Cvd = self.send("cvd", {"symbol": symbol, "period": period, "payment": payment})
        return answer

    def cvd_history(self, symbol: str, *, interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"] | None = None, since: str | int | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> History[CvdHistory, CvdHistoryPointsItem]:
        """Volume delta by bucket, with its running total. GET /cvd/history/{symbol}. 0.02 USDC a page."""
        return History(self.send, "cvd_history", ranged({"symbol": symbol, "interval": interval, "since": since, "start": start, "end": end, "limit": limit, "payment": payment}, days), rows="points", row=CvdHistoryPointsItem)

    def ohlcv(self, symbol: str, *, interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"] | None = None, exchange: Literal["binance", "bybit", "okx", "coinbase", "kraken", "gate", "binance_spot", "bitget", "hyperliquid", "all"] | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> History[Ohlcv, OhlcvCandlesItem]:
        """Candles from our own trade log. GET /ohlcv/{symbol}. 0.02 USDC a page."""
        return History(self.send, "ohlcv", ranged({"symbol": symbol, "interval": interval, "exchange": exchange, "start": start, "end": end, "limit": limit, "payment": payment}, days), rows="candles", row=OhlcvCandlesItem)

    def funding_extreme(self, *, threshold: float | None = None, payment: Payment | None = None) -> FundingExtreme:
        """Perpetuals whose funding is out of the ordinary. GET /funding-rate/extreme. 0.02 USDC."""
        answer: FundingExtreme = self.send("funding_extreme", {"threshold": threshold, "payment": payment})
        return answer

    def funding_history(self, symbol: str, *, exchange: Literal["binance", "bybit", "okx", "gate", "bitget", "hyperliquid"] | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> History[FundingHistory, FundingHistoryHistoryItem]:
        """Settled funding rates. GET /funding-rate/history/{symbol}. 0.02 USDC a page."""
        return History(self.send, "funding_history", ranged({"symbol": symbol, "exchange": exchange, "start": start, "end": end, "limit": limit, "payment": payment}, days), rows="history", row=FundingHistoryHistoryItem)

    def funding_rate(self, symbol: str, *, payment: Payment | None = None) -> FundingRate:
        """Running funding rate of a perpetual. GET /funding-rate/{symbol}. 0.02 USDC."""
        answer: FundingRate = self.send("funding_rate", {"symbol": symbol, "payment": payment})
        return answer

    def funding_compare(self, symbol: str, *, payment: Payment | None = None) -> FundingCompare:
        """Funding of three venues side by side. GET /futures/funding-compare/{symbol}. 0.03 USDC."""
        answer: FundingCompare = self.send("funding_compare", {"symbol": symbol, "payment": payment})
        return answer

    def predicted_funding(self, symbol: str, *, payment: Payment | None = None) -> PredictedFunding:
        """Predicted rate of the next settlement. GET /futures/predicted-funding/{symbol}. 0.02 USDC."""
        answer: PredictedFunding = self.send("predicted_funding", {"symbol": symbol, "payment": payment})
        return answer

    def basis(self, symbol: str, *, payment: Payment | None = None) -> Basis:
        """Perpetuals against spot. GET /futures/basis/{symbol}. 0.02 USDC."""
        answer: Basis = self.send("basis", {"symbol": symbol, "payment": payment})
        return answer

    def basis_history(self, symbol: str, *, interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"] | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> History[BasisHistory, BasisHistoryPointsItem]:
        """Basis by bucket: the last mark price of each perpetual against the last spot price, or where none is known against the venue’s own index. GET /futures/basis/history/{symbol}. 0.02 USDC a page."""
        return History(self.send, "basis_history", ranged({"symbol": symbol, "interval": interval, "start": start, "end": end, "limit": limit, "payment": payment}, days), rows="points", row=BasisHistoryPointsItem)

    def open_interest(self, symbol: str, *, payment: Payment | None = None) -> OpenInterest:
        """Open interest of perpetuals, by venue and in sum. GET /futures/open-interest/{symbol}. 0.02 USDC."""
        answer: OpenInterest = self.send("open_interest", {"symbol": symbol, "payment": payment})
        return answer

    def open_interest_history(self, symbol: str, *, interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"] | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> History[OpenInterestHistory, OpenInterestHistoryPointsItem]:
        """Open interest by bucket: the last that each venue said in it. GET /futures/open-interest/history/{symbol}. 0.02 USDC a page."""
        return History(self.send, "open_interest_history", ranged({"symbol": symbol, "interval": interval, "start": start, "end": end, "limit": limit, "payment": payment}, days), rows="points", row=OpenInterestHistoryPointsItem)

    def long_short(self, symbol: str, *, payment: Payment | None = None) -> LongShort:
        """Top traders’ long/short ratio. GET /futures/long-short/{symbol}. 0.02 USDC."""
        answer: LongShort = self.send("long_short", {"symbol": symbol, "payment": payment})
        return answer

    def long_short_history(self, symbol: str, *, interval: Literal["5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"] | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> History[LongShortHistory, LongShortHistoryPointsItem]:
        """Top traders’ long/short ratio by bucket: the last period of each venue in it. GET /futures/long-short/history/{symbol}. 0.02 USDC a page."""
        return History(self.send, "long_short_history", ranged({"symbol": symbol, "interval": interval, "start": start, "end": end, "limit": limit, "payment": payment}, days), rows="points", row=LongShortHistoryPointsItem)

    def liquidation_heatmap(self, symbol: str, *, payment: Payment | None = None) -> LiquidationHeatmap:
        """Estimated liquidation levels and cascade risk. GET /liquidation/heatmap/{symbol}. 0.05 USDC."""
        answer: LiquidationHeatmap = self.send("liquidation_heatmap", {"symbol": symbol, "payment": payment})
        return answer

    def liquidation_heatmap_history(self, symbol: str, *, interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"] | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> History[LiquidationHeatmapHistory, LiquidationHeatmapHistoryPointsItem]:
        """Estimated liquidation levels by time and price: the model, replayed over open interest and marks. GET /liquidation/heatmap/history/{symbol}. 0.05 USDC a page."""
        return History(self.send, "liquidation_heatmap_history", ranged({"symbol": symbol, "interval": interval, "start": start, "end": end, "limit": limit, "payment": payment}, days), rows="points", row=LiquidationHeatmapHistoryPointsItem)

    def liquidation_recent(self, *, limit: int | None = None, symbol: str | None = None, payment: Payment | None = None) -> LiquidationRecent:
        """Newest liquidations and their statistics. GET /liquidation/recent. 0.03 USDC."""
        answer: LiquidationRecent = self.send("liquidation_recent", {"limit": limit, "symbol": symbol, "payment": payment})
        return answer

    def liquidation_history(self, symbol: str, *, interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"] | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> History[LiquidationHistory, LiquidationHistoryPointsItem]:
        """Liquidations by bucket and side. GET /liquidation/history/{symbol}. 0.03 USDC a page."""
        return History(self.send, "liquidation_history", ranged({"symbol": symbol, "interval": interval, "start": start, "end": end, "limit": limit, "payment": payment}, days), rows="points", row=LiquidationHistoryPointsItem)

    def screener(self, *, sort: Literal["symbol", "price", "change_24h_pct", "funding_rate_pct", "funding_annualized_pct", "open_interest_usd", "open_interest_change_1h_pct", "open_interest_change_24h_pct", "cvd_1h_usd", "cvd_24h_usd", "volume_24h_usd", "long_liquidated_24h_usd", "short_liquidated_24h_usd", "liquidated_1h_usd", "liquidated_24h_usd"] | None = None, order: Literal["desc", "asc"] | None = None, where: str | None = None, limit: int | None = None, payment: Payment | None = None) -> Screener:
        """Funding, CVD, open interest and liquidations of all symbols, sorted and filtered. GET /screener. 0.05 USDC."""
        answer: Screener = self.send("screener", {"sort": sort, "order": order, "where": where, "limit": limit, "payment": payment})
        return answer

    def price(self, symbol: str, *, payment: Payment | None = None) -> Price:
        """Composite price of five exchanges. GET /price/{symbol}. 0.005 USDC."""
        answer: Price = self.send("price", {"symbol": symbol, "payment": payment})
        return answer

    def prices(self, *, symbols: Sequence[str], payment: Payment | None = None) -> Prices:
        """Prices of up to 20 symbols. GET /api/v1/prices. 0.005 USDC."""
        answer: Prices = self.send("prices", {"symbols": symbols, "payment": payment})
        return answer

    def market(self, id: str, *, payment: Payment | None = None) -> Market:
        """Details of a token. GET /api/v1/market/{id}. 0.005 USDC."""
        answer: Market = self.send("market", {"id": id, "payment": payment})
        return answer

    def price_alert_create(self, *, symbol: str, condition: Literal["above", "below", "crosses_above", "crosses_below"], target_price: float, webhook_url: str | None = None, channel: Mapping[str, Any] | None = None, quiet_hours: Mapping[str, Any] | Null | None = None, digest: bool | None = None, agent_wallet: str | None = None, expires_in_hours: int | None = None, idempotency_key: str | None = None, payment: Payment | None = None) -> PriceAlertCreate:
        """Create a price alert. POST /price-alert. 0.04 USDC."""
        answer: PriceAlertCreate = self.send("price_alert_create", {"symbol": symbol, "condition": condition, "target_price": target_price, "webhook_url": webhook_url, "channel": channel, "quiet_hours": quiet_hours, "digest": digest, "agent_wallet": agent_wallet, "expires_in_hours": expires_in_hours, "idempotency_key": idempotency_key, "payment": payment})
        return answer

    def price_alert(self, id: str) -> PriceAlert:
        """Status of a price alert. GET /price-alert/{id}. Free."""
        answer: PriceAlert = self.send("price_alert", {"id": id})
        return answer

    def price_alerts(self, *, wallet: str | None = None, symbol: str | None = None, limit: int | None = None, cursor: str | None = None) -> PriceAlerts:
        """Active price alerts. GET /price-alerts. Free."""
        answer: PriceAlerts = self.send("price_alerts", {"wallet": wallet, "symbol": symbol, "limit": limit, "cursor": cursor})
        return answer

    def price_alert_cancel(self, id: str, *, manage_token: str | None = None) -> PriceAlertCancel:
        """Cancel a price alert. DELETE /price-alert/{id}. Free."""
        answer: PriceAlertCancel = self.send("price_alert_cancel", {"id": id, "manage_token": manage_token})
        return answer

    def price_alert_extend(self, id: str, *, add_hours: int | None = None, manage_token: str | None = None, idempotency_key: str | None = None, payment: Payment | None = None) -> PriceAlertExtend:
        """Extend a price alert. POST /price-alert/{id}/extend. 0.02 USDC."""
        answer: PriceAlertExtend = self.send("price_alert_extend", {"id": id, "add_hours": add_hours, "manage_token": manage_token, "idempotency_key": idempotency_key, "payment": payment})
        return answer

    def price_alert_pause(self, id: str, *, until: str | Null | None = None, manage_token: str | None = None) -> PriceAlertPause:
        """Pause a price alert, until a time or until it is resumed. POST /price-alert/{id}/pause. Free."""
        answer: PriceAlertPause = self.send("price_alert_pause", {"id": id, "until": until, "manage_token": manage_token})
        return answer

    def price_alert_resume(self, id: str, *, manage_token: str | None = None) -> PriceAlertResume:
        """Resume a price alert. POST /price-alert/{id}/resume. Free."""
        answer: PriceAlertResume = self.send("price_alert_resume", {"id": id, "manage_token": manage_token})
        return answer

    def price_alert_deliveries(self, id: str, *, limit: int | None = None, cursor: str | None = None, manage_token: str | None = None) -> PriceAlertDeliveries:
        """Deliveries of a price alert. GET /price-alert/{id}/deliveries. Free."""
        answer: PriceAlertDeliveries = self.send("price_alert_deliveries", {"id": id, "limit": limit, "cursor": cursor, "manage_token": manage_token})
        return answer

    def price_alert_test(self, id: str, *, manage_token: str | None = None) -> PriceAlertTest:
        """Send a test event of a price alert. POST /price-alert/{id}/test. Free."""
        answer: PriceAlertTest = self.send("price_alert_test", {"id": id, "manage_token": manage_token})
        return answer

    def price_alert_resend(self, id: str, trigger_id: str, *, manage_token: str | None = None) -> PriceAlertResend:
        """Send a delivery of a price alert again. POST /price-alert/{id}/deliveries/{trigger_id}/resend. Free."""
        answer: PriceAlertResend = self.send("price_alert_resend", {"id": id, "trigger_id": trigger_id, "manage_token": manage_token})
        return answer

    def liquidation_alert_create(self, *, symbol: str, condition: Literal["cascade_risk"] | None = None, threshold_pct: float | None = None, min_value_usd: float | None = None, webhook_url: str | None = None, channel: Mapping[str, Any] | None = None, quiet_hours: Mapping[str, Any] | Null | None = None, digest: bool | None = None, agent_wallet: str | None = None, expires_in_hours: int | None = None, idempotency_key: str | None = None, payment: Payment | None = None) -> LiquidationAlertCreate:
        """Create a liquidation alert. POST /liquidation/alert. 0.06 USDC."""
        answer: LiquidationAlertCreate = self.send("liquidation_alert_create", {"symbol": symbol, "condition": condition, "threshold_pct": threshold_pct, "min_value_usd": min_value_usd, "webhook_url": webhook_url, "channel": channel, "quiet_hours": quiet_hours, "digest": digest, "agent_wallet": agent_wallet, "expires_in_hours": expires_in_hours, "idempotency_key": idempotency_key, "payment": payment})
        return answer

    def liquidation_alert(self, id: str) -> LiquidationAlert:
        """Status of a liquidation alert. GET /liquidation/alert/{id}. Free."""
        answer: LiquidationAlert = self.send("liquidation_alert", {"id": id})
        return answer

    def liquidation_alerts(self, *, wallet: str | None = None, symbol: str | None = None, limit: int | None = None, cursor: str | None = None) -> LiquidationAlerts:
        """Active liquidation alerts. GET /liquidation/alerts. Free."""
        answer: LiquidationAlerts = self.send("liquidation_alerts", {"wallet": wallet, "symbol": symbol, "limit": limit, "cursor": cursor})
        return answer

    def liquidation_alert_cancel(self, id: str, *, manage_token: str | None = None) -> LiquidationAlertCancel:
        """Cancel a liquidation alert. DELETE /liquidation/alert/{id}. Free."""
        answer: LiquidationAlertCancel = self.send("liquidation_alert_cancel", {"id": id, "manage_token": manage_token})
        return answer

    def liquidation_alert_extend(self, id: str, *, add_hours: int | None = None, manage_token: str | None = None, idempotency_key: str | None = None, payment: Payment | None = None) -> LiquidationAlertExtend:
        """Extend a liquidation alert. POST /liquidation/alert/{id}/extend. 0.03 USDC."""
        answer: LiquidationAlertExtend = self.send("liquidation_alert_extend", {"id": id, "add_hours": add_hours, "manage_token": manage_token, "idempotency_key": idempotency_key, "payment": payment})
        return answer

    def liquidation_alert_pause(self, id: str, *, until: str | Null | None = None, manage_token: str | None = None) -> LiquidationAlertPause:
        """Pause a liquidation alert, until a time or until it is resumed. POST /liquidation/alert/{id}/pause. Free."""
        answer: LiquidationAlertPause = self.send("liquidation_alert_pause", {"id": id, "until": until, "manage_token": manage_token})
        return answer

    def liquidation_alert_resume(self, id: str, *, manage_token: str | None = None) -> LiquidationAlertResume:
        """Resume a liquidation alert. POST /liquidation/alert/{id}/resume. Free."""
        answer: LiquidationAlertResume = self.send("liquidation_alert_resume", {"id": id, "manage_token": manage_token})
        return answer

    def liquidation_alert_deliveries(self, id: str, *, limit: int | None = None, cursor: str | None = None, manage_token: str | None = None) -> LiquidationAlertDeliveries:
        """Deliveries of a liquidation alert. GET /liquidation/alert/{id}/deliveries. Free."""
        answer: LiquidationAlertDeliveries = self.send("liquidation_alert_deliveries", {"id": id, "limit": limit, "cursor": cursor, "manage_token": manage_token})
        return answer

    def liquidation_alert_test(self, id: str, *, manage_token: str | None = None) -> LiquidationAlertTest:
        """Send a test event of a liquidation alert. POST /liquidation/alert/{id}/test. Free."""
        answer: LiquidationAlertTest = self.send("liquidation_alert_test", {"id": id, "manage_token": manage_token})
        return answer

    def liquidation_alert_resend(self, id: str, trigger_id: str, *, manage_token: str | None = None) -> LiquidationAlertResend:
        """Send a delivery of a liquidation alert again. POST /liquidation/alert/{id}/deliveries/{trigger_id}/resend. Free."""
        answer: LiquidationAlertResend = self.send("liquidation_alert_resend", {"id": id, "trigger_id": trigger_id, "manage_token": manage_token})
        return answer

    def rule_alert_create(self, *, when: Mapping[str, Any], symbol: str | None = None, symbols: Sequence[str] | Literal["all"] | None = None, held_for: str | Null | None = None, repeat: bool | None = None, cooldown: str | None = None, resolved: bool | None = None, note: str | Null | None = None, group: str | Null | None = None, tags: Sequence[str] | None = None, webhook_url: str | None = None, channel: Mapping[str, Any] | None = None, quiet_hours: Mapping[str, Any] | Null | None = None, digest: bool | None = None, agent_wallet: str | None = None, expires_in_hours: int | None = None, idempotency_key: str | None = None, payment: Payment | None = None) -> RuleAlertCreate:
        """Create a rule. POST /alerts. 0.06 USDC."""
        answer: RuleAlertCreate = self.send("rule_alert_create", {"symbol": symbol, "symbols": symbols, "when": when, "held_for": held_for, "repeat": repeat, "cooldown": cooldown, "resolved": resolved, "note": note, "group": group, "tags": tags, "webhook_url": webhook_url, "channel": channel, "quiet_hours": quiet_hours, "digest": digest, "agent_wallet": agent_wallet, "expires_in_hours": expires_in_hours, "idempotency_key": idempotency_key, "payment": payment})
        return answer

    def rule_alert(self, id: str) -> RuleAlert:
        """Status of a rule. GET /alerts/{id}. Free."""
        answer: RuleAlert = self.send("rule_alert", {"id": id})
        return answer

    def rule_alerts(self, *, wallet: str | None = None, symbol: str | None = None, limit: int | None = None, cursor: str | None = None) -> RuleAlerts:
        """Active rule alerts. GET /alerts. Free."""
        answer: RuleAlerts = self.send("rule_alerts", {"wallet": wallet, "symbol": symbol, "limit": limit, "cursor": cursor})
        return answer

    def rule_alert_cancel(self, id: str, *, manage_token: str | None = None) -> RuleAlertCancel:
        """Cancel a rule. DELETE /alerts/{id}. Free."""
        answer: RuleAlertCancel = self.send("rule_alert_cancel", {"id": id, "manage_token": manage_token})
        return answer

    def rule_alert_extend(self, id: str, *, add_hours: int | None = None, manage_token: str | None = None, idempotency_key: str | None = None, payment: Payment | None = None) -> RuleAlertExtend:
        """Extend a rule. POST /alerts/{id}/extend. 0.03 USDC."""
        answer: RuleAlertExtend = self.send("rule_alert_extend", {"id": id, "add_hours": add_hours, "manage_token": manage_token, "idempotency_key": idempotency_key, "payment": payment})
        return answer

    def rule_alert_pause(self, id: str, *, until: str | Null | None = None, manage_token: str | None = None) -> RuleAlertPause:
        """Pause a rule, until a time or until it is resumed. POST /alerts/{id}/pause. Free."""
        answer: RuleAlertPause = self.send("rule_alert_pause", {"id": id, "until": until, "manage_token": manage_token})
        return answer

    def rule_alert_resume(self, id: str, *, manage_token: str | None = None) -> RuleAlertResume:
        """Resume a rule. POST /alerts/{id}/resume. Free."""
        answer: RuleAlertResume = self.send("rule_alert_resume", {"id": id, "manage_token": manage_token})
        return answer

    def rule_alert_edit(self, id: str, *, when: Mapping[str, Any], held_for: str | Null | None = None, repeat: bool | None = None, cooldown: str | None = None, resolved: bool | None = None, note: str | Null | None = None, group: str | Null | None = None, tags: Sequence[str] | None = None, quiet_hours: Mapping[str, Any] | Null | None = None, digest: bool | None = None, manage_token: str | None = None) -> RuleAlertEdit:
        """Change a rule. PATCH /alerts/{id}. Free."""
        answer: RuleAlertEdit = self.send("rule_alert_edit", {"id": id, "when": when, "held_for": held_for, "repeat": repeat, "cooldown": cooldown, "resolved": resolved, "note": note, "group": group, "tags": tags, "quiet_hours": quiet_hours, "digest": digest, "manage_token": manage_token})
        return answer

    def rule_alert_deliveries(self, id: str, *, limit: int | None = None, cursor: str | None = None, manage_token: str | None = None) -> RuleAlertDeliveries:
        """Deliveries of a rule. GET /alerts/{id}/deliveries. Free."""
        answer: RuleAlertDeliveries = self.send("rule_alert_deliveries", {"id": id, "limit": limit, "cursor": cursor, "manage_token": manage_token})
        return answer

    def rule_alert_test(self, id: str, *, manage_token: str | None = None) -> RuleAlertTest:
        """Send a test event of a rule. POST /alerts/{id}/test. Free."""
        answer: RuleAlertTest = self.send("rule_alert_test", {"id": id, "manage_token": manage_token})
        return answer

    def rule_alert_resend(self, id: str, trigger_id: str, *, manage_token: str | None = None) -> RuleAlertResend:
        """Send a delivery of a rule again. POST /alerts/{id}/deliveries/{trigger_id}/resend. Free."""
        answer: RuleAlertResend = self.send("rule_alert_resend", {"id": id, "trigger_id": trigger_id, "manage_token": manage_token})
        return answer

    def wallet_message(self, *, address: str) -> WalletMessage:
        """What a wallet signs to see its alerts. GET /wallet/message. Free."""
        answer: WalletMessage = self.send("wallet_message", {"address": address})
        return answer

    def wallet_alerts(self, *, message: str | None = None, signature: str | None = None, cursor: str | None = None, state: Literal["active", "triggered", "expired", "cancelled", "paused"] | None = None, group: str | None = None, tag: str | None = None, limit: int | None = None) -> WalletAlerts:
        """The alerts that a wallet paid for, with their tokens. POST /wallet/alerts. Free."""
        answer: WalletAlerts = self.send("wallet_alerts", {"message": message, "signature": signature, "cursor": cursor, "state": state, "group": group, "tag": tag, "limit": limit})
        return answer

    def email_code(self, *, to: str) -> EmailCode:
        """Mail an address the code that alerts to it are made with. POST /email-codes. Free."""
        answer: EmailCode = self.send("email_code", {"to": to})
        return answer

    def alert_backtest(self, *, symbol: str | None = None, condition: Literal["above", "below", "crosses_above", "crosses_below", "cascade_risk"] | None = None, target_price: float | None = None, threshold_pct: float | None = None, min_value_usd: float | None = None, when: Mapping[str, Any] | None = None, held_for: str | Null | None = None, repeat: bool | None = None, cooldown: str | None = None, resolved: bool | None = None, note: str | Null | None = None, group: str | Null | None = None, tags: Sequence[str] | None = None, webhook_url: str | None = None, channel: Mapping[str, Any] | None = None, quiet_hours: Mapping[str, Any] | Null | None = None, digest: bool | None = None, agent_wallet: str | None = None, expires_in_hours: int | None = None, symbols: Sequence[str] | Literal["all"] | None = None, days: int | None = None, figures: bool | None = None) -> AlertBacktest:
        """How often an alert would have rung in the last 30 days, before buying it. POST /alerts/backtest. Free."""
        answer: AlertBacktest = self.send("alert_backtest", {"symbol": symbol, "condition": condition, "target_price": target_price, "threshold_pct": threshold_pct, "min_value_usd": min_value_usd, "when": when, "held_for": held_for, "repeat": repeat, "cooldown": cooldown, "resolved": resolved, "note": note, "group": group, "tags": tags, "webhook_url": webhook_url, "channel": channel, "quiet_hours": quiet_hours, "digest": digest, "agent_wallet": agent_wallet, "expires_in_hours": expires_in_hours, "symbols": symbols, "days": days, "figures": figures})
        return answer

    def record(self, id: str) -> Record:
        """The log record that a trigger names, to check it against. GET /records/{id}. Free."""
        answer: Record = self.send("record", {"id": id})
        return answer

    def credit_buy(self, *, amount_usdc: float | None = None, key_id: str | None = None, label: str | None = None, scopes: Sequence[str] | None = None, expires_in_days: int | Null | None = None, daily_max_usdc: float | Null | None = None, idempotency_key: str | None = None, payment: Payment | None = None) -> CreditBuy:
        """Buy credit: a new API key, or more for one. POST /credit. 1 USDC."""
        answer: CreditBuy = self.send("credit_buy", {"amount_usdc": amount_usdc, "key_id": key_id, "label": label, "scopes": scopes, "expires_in_days": expires_in_days, "daily_max_usdc": daily_max_usdc, "idempotency_key": idempotency_key, "payment": payment})
        return answer

    def key(self, key_id: str, *, manage_token: str | None = None) -> Key:
        """An API key with its balance. GET /keys/{key_id}. Free."""
        answer: Key = self.send("key", {"key_id": key_id, "manage_token": manage_token})
        return answer

    def key_change(self, key_id: str, *, label: str | None = None, scopes: Sequence[str] | None = None, expires_in_days: int | Null | None = None, daily_max_usdc: float | Null | None = None, manage_token: str | None = None) -> KeyChange:
        """Change what an API key may do. PATCH /keys/{key_id}. Free."""
        answer: KeyChange = self.send("key_change", {"key_id": key_id, "label": label, "scopes": scopes, "expires_in_days": expires_in_days, "daily_max_usdc": daily_max_usdc, "manage_token": manage_token})
        return answer

    def key_rotate(self, key_id: str, *, grace_hours: float | None = None, manage_token: str | None = None) -> KeyRotate:
        """Give an API key another secret. POST /keys/{key_id}/rotate. Free."""
        answer: KeyRotate = self.send("key_rotate", {"key_id": key_id, "grace_hours": grace_hours, "manage_token": manage_token})
        return answer

    def key_revoke(self, key_id: str, *, manage_token: str | None = None) -> KeyRevoke:
        """End an API key for good. DELETE /keys/{key_id}. Free."""
        answer: KeyRevoke = self.send("key_revoke", {"key_id": key_id, "manage_token": manage_token})
        return answer

    def key_usage(self, key_id: str, *, month: str | None = None, manage_token: str | None = None) -> KeyUsage:
        """What an API key was charged, by day and route. GET /keys/{key_id}/usage. Free."""
        answer: KeyUsage = self.send("key_usage", {"key_id": key_id, "month": month, "manage_token": manage_token})
        return answer

    def wallet_keys(self, *, message: str, signature: str) -> WalletKeys:
        """The API keys that a wallet bought. POST /wallet/keys. Free."""
        answer: WalletKeys = self.send("wallet_keys", {"message": message, "signature": signature})
        return answer

    def healthz(self) -> Healthz:
        """How the system is: parts, venues, gaps, lag. GET /healthz. Free."""
        answer: Healthz = self.send("healthz", {})
        return answer

    def readyz(self) -> Readyz:
        """Whether this instance can answer. GET /readyz. Free."""
        answer: Readyz = self.send("readyz", {})
        return answer

    def pricing(self) -> Pricing:
        """Every route with its price, and how it is paid. GET /pricing. Free."""
        answer: Pricing = self.send("pricing", {})
        return answer

    def well_known_x402(self) -> WellKnownX402:
        """What can be bought, for clients that discover it. GET /.well-known/x402. Free."""
        answer: WellKnownX402 = self.send("well_known_x402", {})
        return answer

    def stream(self, *, symbols: Sequence[str], channels: Sequence[str] | None = None, period: Literal["1h", "4h", "24h", "7d"] | None = None, seconds: int | None = None, last_event_id: str | None = None, payment: Payment | None = None) -> Iterator[StreamEvent]:
        """What changes, as it changes: server-sent events for an hour. GET /stream. 0.1 USDC."""
        answer: Iterator[StreamEvent] = self.listen("stream", {"symbols": symbols, "channels": channels, "period": period, "seconds": seconds, "last_event_id": last_event_id, "payment": payment})
        return answer


class AsyncApi:
    """The methods of Api, to be awaited; how they are run beside the loop is the client's."""

    async def run(self, work: Callable[[Api], T]) -> T:
        raise NotImplementedError

    def hear(self, work: Callable[[Api], Iterator[T]]) -> AsyncIterator[T]:
        raise NotImplementedError

    async def cvd(self, symbol: str, *, period: Literal["1h", "4h", "24h", "7d"] | None = None, payment: Payment | None = None) -> Cvd:
        """Cumulative volume delta over four venues. GET /cvd/{symbol}. 0.02 USDC."""
        return await self.run(lambda api: api.cvd(symbol=symbol, period=period, payment=payment))

    def cvd_history(self, symbol: str, *, interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"] | None = None, since: str | int | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> AsyncHistory[CvdHistory, CvdHistoryPointsItem]:
        """Volume delta by bucket, with its running total. GET /cvd/history/{symbol}. 0.02 USDC a page."""
        return AsyncHistory(self.run, lambda api: api.cvd_history(symbol=symbol, interval=interval, since=since, start=start, end=end, limit=limit, payment=payment, days=days))

    def ohlcv(self, symbol: str, *, interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"] | None = None, exchange: Literal["binance", "bybit", "okx", "coinbase", "kraken", "gate", "binance_spot", "bitget", "hyperliquid", "all"] | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> AsyncHistory[Ohlcv, OhlcvCandlesItem]:
        """Candles from our own trade log. GET /ohlcv/{symbol}. 0.02 USDC a page."""
        return AsyncHistory(self.run, lambda api: api.ohlcv(symbol=symbol, interval=interval, exchange=exchange, start=start, end=end, limit=limit, payment=payment, days=days))

    async def funding_extreme(self, *, threshold: float | None = None, payment: Payment | None = None) -> FundingExtreme:
        """Perpetuals whose funding is out of the ordinary. GET /funding-rate/extreme. 0.02 USDC."""
        return await self.run(lambda api: api.funding_extreme(threshold=threshold, payment=payment))

    def funding_history(self, symbol: str, *, exchange: Literal["binance", "bybit", "okx", "gate", "bitget", "hyperliquid"] | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> AsyncHistory[FundingHistory, FundingHistoryHistoryItem]:
        """Settled funding rates. GET /funding-rate/history/{symbol}. 0.02 USDC a page."""
        return AsyncHistory(self.run, lambda api: api.funding_history(symbol=symbol, exchange=exchange, start=start, end=end, limit=limit, payment=payment, days=days))

    async def funding_rate(self, symbol: str, *, payment: Payment | None = None) -> FundingRate:
        """Running funding rate of a perpetual. GET /funding-rate/{symbol}. 0.02 USDC."""
        return await self.run(lambda api: api.funding_rate(symbol=symbol, payment=payment))

    async def funding_compare(self, symbol: str, *, payment: Payment | None = None) -> FundingCompare:
        """Funding of three venues side by side. GET /futures/funding-compare/{symbol}. 0.03 USDC."""
        return await self.run(lambda api: api.funding_compare(symbol=symbol, payment=payment))

    async def predicted_funding(self, symbol: str, *, payment: Payment | None = None) -> PredictedFunding:
        """Predicted rate of the next settlement. GET /futures/predicted-funding/{symbol}. 0.02 USDC."""
        return await self.run(lambda api: api.predicted_funding(symbol=symbol, payment=payment))

    async def basis(self, symbol: str, *, payment: Payment | None = None) -> Basis:
        """Perpetuals against spot. GET /futures/basis/{symbol}. 0.02 USDC."""
        return await self.run(lambda api: api.basis(symbol=symbol, payment=payment))

    def basis_history(self, symbol: str, *, interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"] | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> AsyncHistory[BasisHistory, BasisHistoryPointsItem]:
        """Basis by bucket: the last mark price of each perpetual against the last spot price, or where none is known against the venue’s own index. GET /futures/basis/history/{symbol}. 0.02 USDC a page."""
        return AsyncHistory(self.run, lambda api: api.basis_history(symbol=symbol, interval=interval, start=start, end=end, limit=limit, payment=payment, days=days))

    async def open_interest(self, symbol: str, *, payment: Payment | None = None) -> OpenInterest:
        """Open interest of perpetuals, by venue and in sum. GET /futures/open-interest/{symbol}. 0.02 USDC."""
        return await self.run(lambda api: api.open_interest(symbol=symbol, payment=payment))

    def open_interest_history(self, symbol: str, *, interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"] | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> AsyncHistory[OpenInterestHistory, OpenInterestHistoryPointsItem]:
        """Open interest by bucket: the last that each venue said in it. GET /futures/open-interest/history/{symbol}. 0.02 USDC a page."""
        return AsyncHistory(self.run, lambda api: api.open_interest_history(symbol=symbol, interval=interval, start=start, end=end, limit=limit, payment=payment, days=days))

    async def long_short(self, symbol: str, *, payment: Payment | None = None) -> LongShort:
        """Top traders’ long/short ratio. GET /futures/long-short/{symbol}. 0.02 USDC."""
        return await self.run(lambda api: api.long_short(symbol=symbol, payment=payment))

    def long_short_history(self, symbol: str, *, interval: Literal["5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"] | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> AsyncHistory[LongShortHistory, LongShortHistoryPointsItem]:
        """Top traders’ long/short ratio by bucket: the last period of each venue in it. GET /futures/long-short/history/{symbol}. 0.02 USDC a page."""
        return AsyncHistory(self.run, lambda api: api.long_short_history(symbol=symbol, interval=interval, start=start, end=end, limit=limit, payment=payment, days=days))

    async def liquidation_heatmap(self, symbol: str, *, payment: Payment | None = None) -> LiquidationHeatmap:
        """Estimated liquidation levels and cascade risk. GET /liquidation/heatmap/{symbol}. 0.05 USDC."""
        return await self.run(lambda api: api.liquidation_heatmap(symbol=symbol, payment=payment))

    def liquidation_heatmap_history(self, symbol: str, *, interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"] | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> AsyncHistory[LiquidationHeatmapHistory, LiquidationHeatmapHistoryPointsItem]:
        """Estimated liquidation levels by time and price: the model, replayed over open interest and marks. GET /liquidation/heatmap/history/{symbol}. 0.05 USDC a page."""
        return AsyncHistory(self.run, lambda api: api.liquidation_heatmap_history(symbol=symbol, interval=interval, start=start, end=end, limit=limit, payment=payment, days=days))

    async def liquidation_recent(self, *, limit: int | None = None, symbol: str | None = None, payment: Payment | None = None) -> LiquidationRecent:
        """Newest liquidations and their statistics. GET /liquidation/recent. 0.03 USDC."""
        return await self.run(lambda api: api.liquidation_recent(limit=limit, symbol=symbol, payment=payment))

    def liquidation_history(self, symbol: str, *, interval: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "1w"] | None = None, start: str | int | None = None, end: str | int | None = None, limit: int | None = None, payment: Payment | None = None, days: float | None = None) -> AsyncHistory[LiquidationHistory, LiquidationHistoryPointsItem]:
        """Liquidations by bucket and side. GET /liquidation/history/{symbol}. 0.03 USDC a page."""
        return AsyncHistory(self.run, lambda api: api.liquidation_history(symbol=symbol, interval=interval, start=start, end=end, limit=limit, payment=payment, days=days))

    async def screener(self, *, sort: Literal["symbol", "price", "change_24h_pct", "funding_rate_pct", "funding_annualized_pct", "open_interest_usd", "open_interest_change_1h_pct", "open_interest_change_24h_pct", "cvd_1h_usd", "cvd_24h_usd", "volume_24h_usd", "long_liquidated_24h_usd", "short_liquidated_24h_usd", "liquidated_1h_usd", "liquidated_24h_usd"] | None = None, order: Literal["desc", "asc"] | None = None, where: str | None = None, limit: int | None = None, payment: Payment | None = None) -> Screener:
        """Funding, CVD, open interest and liquidations of all symbols, sorted and filtered. GET /screener. 0.05 USDC."""
        return await self.run(lambda api: api.screener(sort=sort, order=order, where=where, limit=limit, payment=payment))

    async def price(self, symbol: str, *, payment: Payment | None = None) -> Price:
        """Composite price of five exchanges. GET /price/{symbol}. 0.005 USDC."""
        return await self.run(lambda api: api.price(symbol=symbol, payment=payment))

    async def prices(self, *, symbols: Sequence[str], payment: Payment | None = None) -> Prices:
        """Prices of up to 20 symbols. GET /api/v1/prices. 0.005 USDC."""
        return await self.run(lambda api: api.prices(symbols=symbols, payment=payment))

    async def market(self, id: str, *, payment: Payment | None = None) -> Market:
        """Details of a token. GET /api/v1/market/{id}. 0.005 USDC."""
        return await self.run(lambda api: api.market(id=id, payment=payment))

    async def price_alert_create(self, *, symbol: str, condition: Literal["above", "below", "crosses_above", "crosses_below"], target_price: float, webhook_url: str | None = None, channel: Mapping[str, Any] | None = None, quiet_hours: Mapping[str, Any] | Null | None = None, digest: bool | None = None, agent_wallet: str | None = None, expires_in_hours: int | None = None, idempotency_key: str | None = None, payment: Payment | None = None) -> PriceAlertCreate:
        """Create a price alert. POST /price-alert. 0.04 USDC."""
        return await self.run(lambda api: api.price_alert_create(symbol=symbol, condition=condition, target_price=target_price, webhook_url=webhook_url, channel=channel, quiet_hours=quiet_hours, digest=digest, agent_wallet=agent_wallet, expires_in_hours=expires_in_hours, idempotency_key=idempotency_key, payment=payment))

    async def price_alert(self, id: str) -> PriceAlert:
        """Status of a price alert. GET /price-alert/{id}. Free."""
        return await self.run(lambda api: api.price_alert(id=id))

    async def price_alerts(self, *, wallet: str | None = None, symbol: str | None = None, limit: int | None = None, cursor: str | None = None) -> PriceAlerts:
        """Active price alerts. GET /price-alerts. Free."""
        return await self.run(lambda api: api.price_alerts(wallet=wallet, symbol=symbol, limit=limit, cursor=cursor))

    async def price_alert_cancel(self, id: str, *, manage_token: str | None = None) -> PriceAlertCancel:
        """Cancel a price alert. DELETE /price-alert/{id}. Free."""
        return await self.run(lambda api: api.price_alert_cancel(id=id, manage_token=manage_token))

    async def price_alert_extend(self, id: str, *, add_hours: int | None = None, manage_token: str | None = None, idempotency_key: str | None = None, payment: Payment | None = None) -> PriceAlertExtend:
        """Extend a price alert. POST /price-alert/{id}/extend. 0.02 USDC."""
        return await self.run(lambda api: api.price_alert_extend(id=id, add_hours=add_hours, manage_token=manage_token, idempotency_key=idempotency_key, payment=payment))

    async def price_alert_pause(self, id: str, *, until: str | Null | None = None, manage_token: str | None = None) -> PriceAlertPause:
        """Pause a price alert, until a time or until it is resumed. POST /price-alert/{id}/pause. Free."""
        return await self.run(lambda api: api.price_alert_pause(id=id, until=until, manage_token=manage_token))

    async def price_alert_resume(self, id: str, *, manage_token: str | None = None) -> PriceAlertResume:
        """Resume a price alert. POST /price-alert/{id}/resume. Free."""
        return await self.run(lambda api: api.price_alert_resume(id=id, manage_token=manage_token))

    async def price_alert_deliveries(self, id: str, *, limit: int | None = None, cursor: str | None = None, manage_token: str | None = None) -> PriceAlertDeliveries:
        """Deliveries of a price alert. GET /price-alert/{id}/deliveries. Free."""
        return await self.run(lambda api: api.price_alert_deliveries(id=id, limit=limit, cursor=cursor, manage_token=manage_token))

    async def price_alert_test(self, id: str, *, manage_token: str | None = None) -> PriceAlertTest:
        """Send a test event of a price alert. POST /price-alert/{id}/test. Free."""
        return await self.run(lambda api: api.price_alert_test(id=id, manage_token=manage_token))

    async def price_alert_resend(self, id: str, trigger_id: str, *, manage_token: str | None = None) -> PriceAlertResend:
        """Send a delivery of a price alert again. POST /price-alert/{id}/deliveries/{trigger_id}/resend. Free."""
        return await self.run(lambda api: api.price_alert_resend(id=id, trigger_id=trigger_id, manage_token=manage_token))

    async def liquidation_alert_create(self, *, symbol: str, condition: Literal["cascade_risk"] | None = None, threshold_pct: float | None = None, min_value_usd: float | None = None, webhook_url: str | None = None, channel: Mapping[str, Any] | None = None, quiet_hours: Mapping[str, Any] | Null | None = None, digest: bool | None = None, agent_wallet: str | None = None, expires_in_hours: int | None = None, idempotency_key: str | None = None, payment: Payment | None = None) -> LiquidationAlertCreate:
        """Create a liquidation alert. POST /liquidation/alert. 0.06 USDC."""
        return await self.run(lambda api: api.liquidation_alert_create(symbol=symbol, condition=condition, threshold_pct=threshold_pct, min_value_usd=min_value_usd, webhook_url=webhook_url, channel=channel, quiet_hours=quiet_hours, digest=digest, agent_wallet=agent_wallet, expires_in_hours=expires_in_hours, idempotency_key=idempotency_key, payment=payment))

    async def liquidation_alert(self, id: str) -> LiquidationAlert:
        """Status of a liquidation alert. GET /liquidation/alert/{id}. Free."""
        return await self.run(lambda api: api.liquidation_alert(id=id))

    async def liquidation_alerts(self, *, wallet: str | None = None, symbol: str | None = None, limit: int | None = None, cursor: str | None = None) -> LiquidationAlerts:
        """Active liquidation alerts. GET /liquidation/alerts. Free."""
        return await self.run(lambda api: api.liquidation_alerts(wallet=wallet, symbol=symbol, limit=limit, cursor=cursor))

    async def liquidation_alert_cancel(self, id: str, *, manage_token: str | None = None) -> LiquidationAlertCancel:
        """Cancel a liquidation alert. DELETE /liquidation/alert/{id}. Free."""
        return await self.run(lambda api: api.liquidation_alert_cancel(id=id, manage_token=manage_token))

    async def liquidation_alert_extend(self, id: str, *, add_hours: int | None = None, manage_token: str | None = None, idempotency_key: str | None = None, payment: Payment | None = None) -> LiquidationAlertExtend:
        """Extend a liquidation alert. POST /liquidation/alert/{id}/extend. 0.03 USDC."""
        return await self.run(lambda api: api.liquidation_alert_extend(id=id, add_hours=add_hours, manage_token=manage_token, idempotency_key=idempotency_key, payment=payment))

    async def liquidation_alert_pause(self, id: str, *, until: str | Null | None = None, manage_token: str | None = None) -> LiquidationAlertPause:
        """Pause a liquidation alert, until a time or until it is resumed. POST /liquidation/alert/{id}/pause. Free."""
        return await self.run(lambda api: api.liquidation_alert_pause(id=id, until=until, manage_token=manage_token))

    async def liquidation_alert_resume(self, id: str, *, manage_token: str | None = None) -> LiquidationAlertResume:
        """Resume a liquidation alert. POST /liquidation/alert/{id}/resume. Free."""
        return await self.run(lambda api: api.liquidation_alert_resume(id=id, manage_token=manage_token))

    async def liquidation_alert_deliveries(self, id: str, *, limit: int | None = None, cursor: str | None = None, manage_token: str | None = None) -> LiquidationAlertDeliveries:
        """Deliveries of a liquidation alert. GET /liquidation/alert/{id}/deliveries. Free."""
        return await self.run(lambda api: api.liquidation_alert_deliveries(id=id, limit=limit, cursor=cursor, manage_token=manage_token))

    async def liquidation_alert_test(self, id: str, *, manage_token: str | None = None) -> LiquidationAlertTest:
        """Send a test event of a liquidation alert. POST /liquidation/alert/{id}/test. Free."""
        return await self.run(lambda api: api.liquidation_alert_test(id=id, manage_token=manage_token))

    async def liquidation_alert_resend(self, id: str, trigger_id: str, *, manage_token: str | None = None) -> LiquidationAlertResend:
        """Send a delivery of a liquidation alert again. POST /liquidation/alert/{id}/deliveries/{trigger_id}/resend. Free."""
        return await self.run(lambda api: api.liquidation_alert_resend(id=id, trigger_id=trigger_id, manage_token=manage_token))

    async def rule_alert_create(self, *, when: Mapping[str, Any], symbol: str | None = None, symbols: Sequence[str] | Literal["all"] | None = None, held_for: str | Null | None = None, repeat: bool | None = None, cooldown: str | None = None, resolved: bool | None = None, note: str | Null | None = None, group: str | Null | None = None, tags: Sequence[str] | None = None, webhook_url: str | None = None, channel: Mapping[str, Any] | None = None, quiet_hours: Mapping[str, Any] | Null | None = None, digest: bool | None = None, agent_wallet: str | None = None, expires_in_hours: int | None = None, idempotency_key: str | None = None, payment: Payment | None = None) -> RuleAlertCreate:
        """Create a rule. POST /alerts. 0.06 USDC."""
        return await self.run(lambda api: api.rule_alert_create(symbol=symbol, symbols=symbols, when=when, held_for=held_for, repeat=repeat, cooldown=cooldown, resolved=resolved, note=note, group=group, tags=tags, webhook_url=webhook_url, channel=channel, quiet_hours=quiet_hours, digest=digest, agent_wallet=agent_wallet, expires_in_hours=expires_in_hours, idempotency_key=idempotency_key, payment=payment))

    async def rule_alert(self, id: str) -> RuleAlert:
        """Status of a rule. GET /alerts/{id}. Free."""
        return await self.run(lambda api: api.rule_alert(id=id))

    async def rule_alerts(self, *, wallet: str | None = None, symbol: str | None = None, limit: int | None = None, cursor: str | None = None) -> RuleAlerts:
        """Active rule alerts. GET /alerts. Free."""
        return await self.run(lambda api: api.rule_alerts(wallet=wallet, symbol=symbol, limit=limit, cursor=cursor))

    async def rule_alert_cancel(self, id: str, *, manage_token: str | None = None) -> RuleAlertCancel:
        """Cancel a rule. DELETE /alerts/{id}. Free."""
        return await self.run(lambda api: api.rule_alert_cancel(id=id, manage_token=manage_token))

    async def rule_alert_extend(self, id: str, *, add_hours: int | None = None, manage_token: str | None = None, idempotency_key: str | None = None, payment: Payment | None = None) -> RuleAlertExtend:
        """Extend a rule. POST /alerts/{id}/extend. 0.03 USDC."""
        return await self.run(lambda api: api.rule_alert_extend(id=id, add_hours=add_hours, manage_token=manage_token, idempotency_key=idempotency_key, payment=payment))

    async def rule_alert_pause(self, id: str, *, until: str | Null | None = None, manage_token: str | None = None) -> RuleAlertPause:
        """Pause a rule, until a time or until it is resumed. POST /alerts/{id}/pause. Free."""
        return await self.run(lambda api: api.rule_alert_pause(id=id, until=until, manage_token=manage_token))

    async def rule_alert_resume(self, id: str, *, manage_token: str | None = None) -> RuleAlertResume:
        """Resume a rule. POST /alerts/{id}/resume. Free."""
        return await self.run(lambda api: api.rule_alert_resume(id=id, manage_token=manage_token))

    async def rule_alert_edit(self, id: str, *, when: Mapping[str, Any], held_for: str | Null | None = None, repeat: bool | None = None, cooldown: str | None = None, resolved: bool | None = None, note: str | Null | None = None, group: str | Null | None = None, tags: Sequence[str] | None = None, quiet_hours: Mapping[str, Any] | Null | None = None, digest: bool | None = None, manage_token: str | None = None) -> RuleAlertEdit:
        """Change a rule. PATCH /alerts/{id}. Free."""
        return await self.run(lambda api: api.rule_alert_edit(id=id, when=when, held_for=held_for, repeat=repeat, cooldown=cooldown, resolved=resolved, note=note, group=group, tags=tags, quiet_hours=quiet_hours, digest=digest, manage_token=manage_token))

    async def rule_alert_deliveries(self, id: str, *, limit: int | None = None, cursor: str | None = None, manage_token: str | None = None) -> RuleAlertDeliveries:
        """Deliveries of a rule. GET /alerts/{id}/deliveries. Free."""
        return await self.run(lambda api: api.rule_alert_deliveries(id=id, limit=limit, cursor=cursor, manage_token=manage_token))

    async def rule_alert_test(self, id: str, *, manage_token: str | None = None) -> RuleAlertTest:
        """Send a test event of a rule. POST /alerts/{id}/test. Free."""
        return await self.run(lambda api: api.rule_alert_test(id=id, manage_token=manage_token))

    async def rule_alert_resend(self, id: str, trigger_id: str, *, manage_token: str | None = None) -> RuleAlertResend:
        """Send a delivery of a rule again. POST /alerts/{id}/deliveries/{trigger_id}/resend. Free."""
        return await self.run(lambda api: api.rule_alert_resend(id=id, trigger_id=trigger_id, manage_token=manage_token))

    async def wallet_message(self, *, address: str) -> WalletMessage:
        """What a wallet signs to see its alerts. GET /wallet/message. Free."""
        return await self.run(lambda api: api.wallet_message(address=address))

    async def wallet_alerts(self, *, message: str | None = None, signature: str | None = None, cursor: str | None = None, state: Literal["active", "triggered", "expired", "cancelled", "paused"] | None = None, group: str | None = None, tag: str | None = None, limit: int | None = None) -> WalletAlerts:
        """The alerts that a wallet paid for, with their tokens. POST /wallet/alerts. Free."""
        return await self.run(lambda api: api.wallet_alerts(message=message, signature=signature, cursor=cursor, state=state, group=group, tag=tag, limit=limit))

    async def email_code(self, *, to: str) -> EmailCode:
        """Mail an address the code that alerts to it are made with. POST /email-codes. Free."""
        return await self.run(lambda api: api.email_code(to=to))

    async def alert_backtest(self, *, symbol: str | None = None, condition: Literal["above", "below", "crosses_above", "crosses_below", "cascade_risk"] | None = None, target_price: float | None = None, threshold_pct: float | None = None, min_value_usd: float | None = None, when: Mapping[str, Any] | None = None, held_for: str | Null | None = None, repeat: bool | None = None, cooldown: str | None = None, resolved: bool | None = None, note: str | Null | None = None, group: str | Null | None = None, tags: Sequence[str] | None = None, webhook_url: str | None = None, channel: Mapping[str, Any] | None = None, quiet_hours: Mapping[str, Any] | Null | None = None, digest: bool | None = None, agent_wallet: str | None = None, expires_in_hours: int | None = None, symbols: Sequence[str] | Literal["all"] | None = None, days: int | None = None, figures: bool | None = None) -> AlertBacktest:
        """How often an alert would have rung in the last 30 days, before buying it. POST /alerts/backtest. Free."""
        return await self.run(lambda api: api.alert_backtest(symbol=symbol, condition=condition, target_price=target_price, threshold_pct=threshold_pct, min_value_usd=min_value_usd, when=when, held_for=held_for, repeat=repeat, cooldown=cooldown, resolved=resolved, note=note, group=group, tags=tags, webhook_url=webhook_url, channel=channel, quiet_hours=quiet_hours, digest=digest, agent_wallet=agent_wallet, expires_in_hours=expires_in_hours, symbols=symbols, days=days, figures=figures))

    async def record(self, id: str) -> Record:
        """The log record that a trigger names, to check it against. GET /records/{id}. Free."""
        return await self.run(lambda api: api.record(id=id))

    async def credit_buy(self, *, amount_usdc: float | None = None, key_id: str | None = None, label: str | None = None, scopes: Sequence[str] | None = None, expires_in_days: int | Null | None = None, daily_max_usdc: float | Null | None = None, idempotency_key: str | None = None, payment: Payment | None = None) -> CreditBuy:
        """Buy credit: a new API key, or more for one. POST /credit. 1 USDC."""
        return await self.run(lambda api: api.credit_buy(amount_usdc=amount_usdc, key_id=key_id, label=label, scopes=scopes, expires_in_days=expires_in_days, daily_max_usdc=daily_max_usdc, idempotency_key=idempotency_key, payment=payment))

    async def key(self, key_id: str, *, manage_token: str | None = None) -> Key:
        """An API key with its balance. GET /keys/{key_id}. Free."""
        return await self.run(lambda api: api.key(key_id=key_id, manage_token=manage_token))

    async def key_change(self, key_id: str, *, label: str | None = None, scopes: Sequence[str] | None = None, expires_in_days: int | Null | None = None, daily_max_usdc: float | Null | None = None, manage_token: str | None = None) -> KeyChange:
        """Change what an API key may do. PATCH /keys/{key_id}. Free."""
        return await self.run(lambda api: api.key_change(key_id=key_id, label=label, scopes=scopes, expires_in_days=expires_in_days, daily_max_usdc=daily_max_usdc, manage_token=manage_token))

    async def key_rotate(self, key_id: str, *, grace_hours: float | None = None, manage_token: str | None = None) -> KeyRotate:
        """Give an API key another secret. POST /keys/{key_id}/rotate. Free."""
        return await self.run(lambda api: api.key_rotate(key_id=key_id, grace_hours=grace_hours, manage_token=manage_token))

    async def key_revoke(self, key_id: str, *, manage_token: str | None = None) -> KeyRevoke:
        """End an API key for good. DELETE /keys/{key_id}. Free."""
        return await self.run(lambda api: api.key_revoke(key_id=key_id, manage_token=manage_token))

    async def key_usage(self, key_id: str, *, month: str | None = None, manage_token: str | None = None) -> KeyUsage:
        """What an API key was charged, by day and route. GET /keys/{key_id}/usage. Free."""
        return await self.run(lambda api: api.key_usage(key_id=key_id, month=month, manage_token=manage_token))

    async def wallet_keys(self, *, message: str, signature: str) -> WalletKeys:
        """The API keys that a wallet bought. POST /wallet/keys. Free."""
        return await self.run(lambda api: api.wallet_keys(message=message, signature=signature))

    async def healthz(self) -> Healthz:
        """How the system is: parts, venues, gaps, lag. GET /healthz. Free."""
        return await self.run(lambda api: api.healthz())

    async def readyz(self) -> Readyz:
        """Whether this instance can answer. GET /readyz. Free."""
        return await self.run(lambda api: api.readyz())

    async def pricing(self) -> Pricing:
        """Every route with its price, and how it is paid. GET /pricing. Free."""
        return await self.run(lambda api: api.pricing())

    async def well_known_x402(self) -> WellKnownX402:
        """What can be bought, for clients that discover it. GET /.well-known/x402. Free."""
        return await self.run(lambda api: api.well_known_x402())

    def stream(self, *, symbols: Sequence[str], channels: Sequence[str] | None = None, period: Literal["1h", "4h", "24h", "7d"] | None = None, seconds: int | None = None, last_event_id: str | None = None, payment: Payment | None = None) -> AsyncIterator[StreamEvent]:
        """What changes, as it changes: server-sent events for an hour. GET /stream. 0.1 USDC."""
        return self.hear(lambda api: api.stream(symbols=symbols, channels=channels, period=period, seconds=seconds, last_event_id=last_event_id, payment=payment))
