// Generated from records/*.avsc: npm run generate

/** Microseconds since the Unix epoch. */
export type Micros = number

/** An alert as it is now. */
export interface Alert {
  /** alert_<symbol>_<unix seconds>_<sequence>, or alert_liq_... */
  readonly alert_id: string
  /** What it watches; rule: the condition says what */
  readonly kind: 'unknown' | 'price' | 'liquidation' | 'rule'
  /** Asset id of the catalogue */
  readonly asset: string
  /** As submitted */
  readonly symbol: string
  /** above, below, crosses_above, crosses_below; cascade_risk; of a rule its terms as JSON, their kind named in it */
  readonly condition: string
  /** USD; null for liquidation alerts */
  readonly target_price: number | null
  /** Percent of open interest at risk; null for price alerts */
  readonly threshold_pct: number | null
  /** Least open interest at risk, USD; null for price alerts */
  readonly min_value_usd: number | null
  /** Where it is in its life */
  readonly status: 'unknown' | 'active' | 'triggered' | 'expired' | 'cancelled'
  /** microseconds since the Unix epoch */
  readonly created_at: Micros
  /** microseconds since the Unix epoch */
  readonly expires_at: Micros
  /** As asked for */
  readonly expires_in_hours: number
  /** When it expired, was cancelled, or (crosses) triggered for good; 0: not yet, microseconds since the Unix epoch */
  readonly ended_at: Micros
  /** Triggers so far */
  readonly trigger_count: number
  /** 0: never, microseconds since the Unix epoch */
  readonly last_triggered: Micros
  /** Crossings: the price has been on or before the target. Triggered levels: it has been back since the trigger */
  readonly armed: boolean
  /** agent_wallet and payer: what the wallet filter finds it by */
  readonly wallets: readonly string[]
  /** Host and port of the webhook, in clear; of another channel its type, what may be shown of it, and a keyed digest */
  readonly receiver: string
  /** The webhook URL, or another channel’s destination as JSON, AES-256-GCM, base64: nonce, text, tag; the key follows from SERVICE_SECRET and the alert id */
  readonly webhook: string
  /** Version of SERVICE_SECRET that it was made under */
  readonly key_version: number
  /** SHA-256 of the scope and Idempotency-Key; null: none */
  readonly idempotency: string | null
  /** SHA-256 of the creation’s body */
  readonly body_hash: string | null
  /** Place in the order of creations: when the log took this one, microseconds since the Unix epoch, rising in a partition; 0: made before there was this field */
  readonly taken: Micros
  /** Address that paid for it, lower case: who signs with it has its token again; never shown. Null: nobody paid */
  readonly owner: string | null
  /** How its messages come, as JSON: quiet_hours (22:00-07:00 Europe/Berlin), digest (true, false); null: each at once */
  readonly delivery: string | null
  /** It rests until then; 0: it does not; 2^53-2: until it is resumed, microseconds since the Unix epoch */
  readonly paused_until: Micros
  /** Partition time of the change, microseconds since the Unix epoch */
  readonly time: Micros
  /** Version: generation times 2^44 plus the source offset it follows from */
  readonly v: number
}

/** The alert after it */
export interface AlertState {
  /** alert_<symbol>_<unix seconds>_<sequence>, or alert_liq_... */
  readonly alert_id: string
  /** What it watches; rule: the condition says what */
  readonly kind: 'unknown' | 'price' | 'liquidation' | 'rule'
  /** Asset id of the catalogue */
  readonly asset: string
  /** As submitted */
  readonly symbol: string
  /** above, below, crosses_above, crosses_below; cascade_risk; of a rule its terms as JSON, their kind named in it */
  readonly condition: string
  /** USD; null for liquidation alerts */
  readonly target_price: number | null
  /** Percent of open interest at risk; null for price alerts */
  readonly threshold_pct: number | null
  /** Least open interest at risk, USD; null for price alerts */
  readonly min_value_usd: number | null
  /** Where it is in its life */
  readonly status: 'unknown' | 'active' | 'triggered' | 'expired' | 'cancelled'
  /** microseconds since the Unix epoch */
  readonly created_at: Micros
  /** microseconds since the Unix epoch */
  readonly expires_at: Micros
  /** As asked for */
  readonly expires_in_hours: number
  /** When it expired, was cancelled, or (crosses) triggered for good; 0: not yet, microseconds since the Unix epoch */
  readonly ended_at: Micros
  /** Triggers so far */
  readonly trigger_count: number
  /** 0: never, microseconds since the Unix epoch */
  readonly last_triggered: Micros
  /** Crossings: the price has been on or before the target. Triggered levels: it has been back since the trigger */
  readonly armed: boolean
  /** agent_wallet and payer: what the wallet filter finds it by */
  readonly wallets: readonly string[]
  /** Host and port of the webhook, in clear */
  readonly receiver: string
  /** The webhook URL, AES-256-GCM, base64: nonce, text, tag; the key follows from SERVICE_SECRET and the alert id */
  readonly webhook: string
  /** Version of SERVICE_SECRET that it was made under */
  readonly key_version: number
  /** SHA-256 of the scope and Idempotency-Key; null: none */
  readonly idempotency: string | null
  /** SHA-256 of the creation’s body */
  readonly body_hash: string | null
  /** Place in the order of creations: when the log took this one, microseconds since the Unix epoch, rising in a partition; 0: made before there was this field */
  readonly taken: Micros
  /** Address that paid for it, lower case: who signs with it has its token again; never shown. Null: nobody paid */
  readonly owner: string | null
  /** How its messages come, as JSON: quiet_hours (22:00-07:00 Europe/Berlin), digest (true, false); null: each at once */
  readonly delivery: string | null
  /** It rests until then; 0: it does not; 2^53-2: until it is resumed, microseconds since the Unix epoch */
  readonly paused_until: Micros
}

/** What happened to an alert, with its whole state after it. */
export interface AlertEvent {
  /** What happened */
  readonly event:
    | 'unknown'
    | 'created'
    | 'triggered'
    | 'rearmed'
    | 'repeated'
    | 'extended'
    | 'cancelled'
    | 'expired'
    | 'tested'
    | 'resent'
    | 'rejected'
    | 'edited'
    | 'paused'
    | 'resumed'
    | 'warmed'
  /** The alert */
  readonly alert_id: string
  /** The command that it follows from; null: a price or the time */
  readonly request_id: string | null
  /** For rejected: the error identifier */
  readonly error: string | null
  /** For rejected: how to mend it */
  readonly message: string | null
  /** For triggered, tested and resent */
  readonly trigger_id: string | null
  /** Null: there is no such alert */
  readonly alert: AlertState | null
  /** When, by the record that it follows from, microseconds since the Unix epoch */
  readonly time: Micros
  /** Version: generation times 2^44 plus the source offset it follows from */
  readonly v: number
}

/** What one API instance answered between two times, health checks and scrapes included. Times without a record of any instance are times in which none was there. */
export interface AnswerCount {
  /** Host name and port */
  readonly instance: string
  /** A multiple of ten seconds, or when the instance began, microseconds since the Unix epoch */
  readonly from_time: Micros
  /** A multiple of ten seconds, or when the instance ended, microseconds since the Unix epoch */
  readonly to_time: Micros
  /** Answers given */
  readonly answers: number
  /** Of them with a status from 500 on */
  readonly failed: number
  /** Of them after more than 1 s, where they are paid for after more than 5 s */
  readonly slow: number
}

export interface KeySecret {
  /** Number of the secret: what it is derived from, with the key’s id */
  readonly n: number
  /** Version of SERVICE_SECRET that it is derived from */
  readonly version: number
  /** It is taken until then, microseconds since the Unix epoch; null: no end */
  readonly until: Micros | null
}

export interface CreditLease {
  /** Its id */
  readonly lease: string
  /** What was set aside, atomic units of the payments’ asset (millionths of a USDC) */
  readonly amount: number
  /** What of it was charged, atomic units of the payments’ asset (millionths of a USDC) */
  readonly charged: number
  /** It is given back then, microseconds since the Unix epoch */
  readonly until: Micros
}

/** An API key as it is now. Its secret is derived from its id, and stands nowhere. */
export interface ApiKey {
  /** Id of the API key: also the Kafka key */
  readonly key_id: string
  /** Who bought it, lower-case hex */
  readonly owner: string
  /** The customer’s own name of it */
  readonly label: string
  /** What it may do */
  readonly scopes: readonly string[]
  /** microseconds since the Unix epoch */
  readonly created: Micros
  /** microseconds since the Unix epoch; null: never */
  readonly expires: Micros | null
  /** microseconds since the Unix epoch; null: it is not */
  readonly revoked: Micros | null
  /** The newest first; empty: its buyer has not been answered yet */
  readonly secrets: readonly KeySecret[]
  /** All that was paid in, atomic units of the payments’ asset (millionths of a USDC) */
  readonly bought: number
  /** All that was charged, atomic units of the payments’ asset (millionths of a USDC) */
  readonly charged: number
  /** Most that it may spend on a day (UTC), atomic units of the payments’ asset (millionths of a USDC); null: no limit */
  readonly daily_max: number | null
  /** Day of the last charge, days since the Unix epoch */
  readonly charged_day: number
  /** What was charged on that day, atomic units of the payments’ asset (millionths of a USDC) */
  readonly charged_today: number
  /** Credit that is set aside for API instances: nobody else can spend it */
  readonly leases: readonly CreditLease[]
  /** The command that it follows from; null: time has passed */
  readonly request_id: string | null
  /** What became of that command; no_credit: too little is there that is not set aside; daily_max: it has spent what it may today; ended: the key has expired, was revoked or is not there */
  readonly outcome: 'unknown' | 'done' | 'no_credit' | 'daily_max' | 'ended'
  /** Time of the log of keys, microseconds since the Unix epoch */
  readonly time: Micros
  /** Version: generation and offset in payments.credit */
  readonly v: number
}

/** One attempt to deliver a trigger. */
export interface Attempt {
  /** The trigger */
  readonly trigger_id: string
  /** The alert */
  readonly alert_id: string
  /** As in the alert */
  readonly receiver: string
  /** 1 for the first attempt of a delivery, or of a resending; 0: none was made, the trigger ended without one, or waits for its digest */
  readonly number: number
  /** What became of the trigger by it */
  readonly outcome: 'unknown' | 'delivered' | 'retry' | 'exhausted' | 'cancelled' | 'digested'
  /** HTTP status, of email the reply code of SMTP; null: none came */
  readonly status: number | null
  /** Code where no answer came or it was refused: timeout, dns, private_address, refused, reset, tls, protocol, redirect, status, gone, rejected, stopped, backlog, ... With outcome delivered: body_too_large, the rest of the answer was not read */
  readonly error: string | null
  /** microseconds since the Unix epoch */
  readonly started: Micros
  /** microseconds since the Unix epoch */
  readonly finished: Micros
  /** The next attempt, for retry; for digested when the digest is sent, microseconds since the Unix epoch */
  readonly due: Micros | null
  /** A test event */
  readonly test: boolean
  /** When the condition was met, microseconds since the Unix epoch */
  readonly triggered: Micros
  /** The digest that it is, or is to be, told in; null: by itself */
  readonly digest: string | null
}

/** Our figures of one instrument and minute beside the venue’s own candle. */
export interface Audit {
  /** venue:market:native symbol */
  readonly instrument: string
  /** Asset id of the catalogue */
  readonly asset: string
  /** Start of the minute, microseconds since the Unix epoch */
  readonly minute: Micros
  /** Base units, from derived.flow */
  readonly ours_volume: number
  /** Base units, from the venue’s candle */
  readonly theirs_volume: number
  /** (ours - theirs) / theirs, fraction; 0 where both are 0, 1 where only theirs is */
  readonly volume_difference: number
  /** Taker buys minus taker sells, base units */
  readonly ours_delta: number
  /** The same from the venue’s taker volume; null: it does not publish one */
  readonly theirs_delta: number | null
  /** (ours - theirs) / their volume, fraction; null where theirs is */
  readonly delta_difference: number | null
  /** Trade records */
  readonly ours_trades: number
  /** Fills by the venue’s count; null: not said */
  readonly theirs_trades: number | null
  /** equal: within a billionth of the volume */
  readonly state: 'unknown' | 'equal' | 'different'
  /** Partition time of the comparison, microseconds since the Unix epoch */
  readonly time: Micros
  /** Version: generation times 2^44 plus the source offset it follows from */
  readonly v: number
}

/** How far the past of one instrument is in the log: it is not asked for again. The newest of a key stands. */
export interface Backfill {
  /** venue:market:native symbol */
  readonly instrument: string
  /** What is read back: candles_1h, candles_1m, settlements, open_interest, marks, top_traders, all_accounts, takers; archive_2026-03-01: the archive of trades of that day */
  readonly series: string
  /** All that the venue has from here on is in the log, microseconds since the Unix epoch */
  readonly covered_from: Micros
  /** Up to here, microseconds since the Unix epoch */
  readonly covered_to: Micros
  /** Records written so far */
  readonly rows: number
  /** When the newest of them was written, microseconds since the Unix epoch */
  readonly time: Micros
}

/** Somebody wants the past of an asset. It stands: what it names is read back as long as it is not in the log. */
export interface BackfillOrder {
  /** Asset id of the catalogue */
  readonly asset: string
  /** Start of the first day, microseconds since the Unix epoch */
  readonly from: Micros
  /** End of the last day of archives; candles are read up to now. Microseconds since the Unix epoch */
  readonly to: Micros
  /** The venues’ archives of trades too, and not their hourly candles alone */
  readonly archives: boolean
  /** When it was ordered, microseconds since the Unix epoch */
  readonly time: Micros
}

/** A closed one-minute candle as the venue publishes it, for the audit. */
export interface Candle {
  /** venue:market:native symbol */
  readonly instrument: string
  /** Asset id of the catalogue */
  readonly asset: string
  /** Start of the minute, microseconds since the Unix epoch */
  readonly minute: Micros
  /** Quote units */
  readonly open: number
  /** Quote units */
  readonly high: number
  /** Quote units */
  readonly low: number
  /** Quote units */
  readonly close: number
  /** Base units */
  readonly volume: number
  /** Part of the volume that takers bought, base units; null: the venue does not say */
  readonly taker_buy: number | null
  /** Fills; null: the venue does not say */
  readonly trades: number | null
  /** When our feed had it, microseconds since the Unix epoch */
  readonly received: Micros
}

/** A new alert as asked for */
export interface NewAlert {
  /** What it watches; rule: the condition says what */
  readonly kind: 'unknown' | 'price' | 'liquidation' | 'rule'
  /** As submitted */
  readonly symbol: string
  /** above, below, crosses_above, crosses_below; cascade_risk; of a rule its terms as JSON, their kind named in it */
  readonly condition: string
  /** USD; null for liquidation alerts */
  readonly target_price: number | null
  /** Percent of open interest at risk; null for price alerts */
  readonly threshold_pct: number | null
  /** Least open interest at risk, USD; null for price alerts */
  readonly min_value_usd: number | null
  /** As asked for */
  readonly expires_in_hours: number
  /** agent_wallet and payer: what the wallet filter finds it by */
  readonly wallets: readonly string[]
  /** Host and port of the webhook, in clear; of another channel its type, what may be shown of it, and a keyed digest */
  readonly receiver: string
  /** The webhook URL, or another channel’s destination as JSON, AES-256-GCM, base64: nonce, text, tag; the key follows from SERVICE_SECRET and the alert id */
  readonly webhook: string
  /** Version of SERVICE_SECRET that it was made under */
  readonly key_version: number
  /** SHA-256 of the scope and Idempotency-Key; null: none */
  readonly idempotency: string | null
  /** SHA-256 of the creation’s body */
  readonly body_hash: string | null
  /** Address that paid for it, lower case: who signs with it has its token again; never shown. Null: nobody paid */
  readonly owner: string | null
  /** How its messages come, as JSON: quiet_hours (22:00-07:00 Europe/Berlin), digest (true, false); null: each at once */
  readonly delivery: string | null
}

/** What a caller asks of an alert. The alerts processor decides; the event of the same request_id says how. */
export interface Command {
  /** Of the API; the event repeats it */
  readonly request_id: string
  /** What is asked */
  readonly action: 'unknown' | 'create' | 'extend' | 'cancel' | 'test' | 'resend' | 'edit' | 'pause' | 'resume' | 'warm'
  /** Asset id of the catalogue */
  readonly asset: string
  /** The alert; for create the id that it gets */
  readonly alert_id: string
  /** For create and edit */
  readonly alert: NewAlert | null
  /** For extend */
  readonly add_hours: number | null
  /** For resend */
  readonly trigger_id: string | null
  /** For resend: where alerts.triggers has it */
  readonly trigger_partition: number | null
  /** For resend: where alerts.triggers has it */
  readonly trigger_offset: number | null
  /** Identity of the payment that it was bought with: chain, asset, payer, nonce; null: none */
  readonly payment: string | null
  /** For pause: it rests until then; null: until it is resumed, microseconds since the Unix epoch */
  readonly until: Micros | null
  /** For warm: what the series of a new rule saw before it, as JSON: since, and by name what a snapshot holds of each */
  readonly past: string | null
  /** Host’s clock of the API, microseconds since the Unix epoch */
  readonly created: Micros
}

/** One venue’s spot price */
export interface PriceSource {
  /** Venue name */
  readonly exchange: string
  /** venue:market:native symbol */
  readonly instrument: string
  /** USD */
  readonly price: number
  /** Lowest of its last ticker, where that came in the time that the record looks back on: since the venue that it follows from spoke before, at most 5 s; USD */
  readonly low: number
  /** Highest of its last ticker, likewise, USD */
  readonly high: number
  /** Venue time of its ticker, microseconds since the Unix epoch */
  readonly time: Micros
}

/** Median spot price of an asset in USD; one for each input that it follows from. */
export interface CompositePrice {
  /** Asset id of the catalogue */
  readonly asset: string
  /** Median of the sources, USD */
  readonly price: number
  /** Median of the sources’ lows in the time that the record looks back on, USD */
  readonly low: number
  /** Median of the sources’ highs in the time that the record looks back on, USD */
  readonly high: number
  /** Median of the sources’ own changes over 24 h, percent */
  readonly change_24h: number | null
  /** Venues that count, in the chain’s order */
  readonly sources: readonly PriceSource[]
  /** degraded: one source only, or sources more than 1 % apart */
  readonly quality: 'unknown' | 'good' | 'degraded'
  /** It tells of a time that has passed: low and high are from candles of a gap */
  readonly late: boolean
  /** When the price was so: receive time of the newest input, microseconds since the Unix epoch */
  readonly time: Micros
  /** Version: generation times 2^44 plus the source offset it follows from */
  readonly v: number
}

/** Maintenance margin of a position up to a notional */
export interface MarginTier {
  /** Largest notional, quote units; null: no limit */
  readonly up_to: number | null
  /** Maintenance margin rate, fraction */
  readonly rate: number
  /** Taken off the margin, quote units */
  readonly deduction: number
}

/** What the funding and margin formulas need of a perpetual; at start and on change. */
export interface ContractTerms {
  /** venue:market:native symbol */
  readonly instrument: string
  /** Asset id of the catalogue */
  readonly asset: string
  /** Hours between two settlements; 8 where the venue does not say */
  readonly interval_hours: number
  /** Highest rate of an interval, fraction */
  readonly rate_cap: number | null
  /** Lowest rate of an interval, fraction */
  readonly rate_floor: number | null
  /** Interest term, fraction per day; null: the venue’s usual 0.0003 */
  readonly interest_daily: number | null
  /** Highest leverage that the venue allows */
  readonly max_leverage: number | null
  /** Ascending; empty: not known */
  readonly margin_tiers: readonly MarginTier[]
  /** When our feed had it, microseconds since the Unix epoch */
  readonly received: Micros
}

export interface CreditUse {
  /** Method and path as the route table has them */
  readonly route: string
  /** Answers given */
  readonly requests: number
  /** What they cost, atomic units of the payments’ asset (millionths of a USDC) */
  readonly amount: number
}

export interface KeyTerms {
  /** The customer’s own name of it */
  readonly label: string
  /** What it may do */
  readonly scopes: readonly string[]
  /** microseconds since the Unix epoch; null: never */
  readonly expires: Micros | null
  /** Most that it may spend on a day (UTC), atomic units of the payments’ asset (millionths of a USDC); null: no limit */
  readonly daily_max: number | null
}

/** What an API key is asked for: credit bought, leased, spent, terms. The order of the log decides. */
export interface CreditCommand {
  /** Id of the API key: also the Kafka key */
  readonly key_id: string
  /** bought: a payment for it has settled, which makes the key where there is none; terms: what it may do from now on; rotate: a new secret; revoke: its end; lease: credit set aside for one API instance; spend: what that instance has charged to its lease so far */
  readonly op: 'unknown' | 'bought' | 'terms' | 'rotate' | 'revoke' | 'lease' | 'spend'
  /** Names the command in what follows from it */
  readonly request_id: string
  /** Clock of who wrote it, microseconds since the Unix epoch */
  readonly time: Micros
  /** Of bought what was paid, of lease the least that is of use, atomic units of the payments’ asset (millionths of a USDC); of others 0 */
  readonly amount: number
  /** Of bought: the payment, counted once */
  readonly payment_id: string | null
  /** Of bought: who paid, lower-case hex */
  readonly payer: string | null
  /** Of lease and spend: its id */
  readonly lease: string | null
  /** Of spend: everything that was charged to the lease since its begin, by route */
  readonly uses: readonly CreditUse[]
  /** Of spend: the lease is given back */
  readonly ends: boolean
  /** Of terms: all of them */
  readonly terms: KeyTerms | null
  /** Of terms of a key without a secret, and of rotate: the version of SERVICE_SECRET that its secret is derived from */
  readonly version: number | null
  /** Of rotate: how long the secret before it is taken, microseconds since the Unix epoch */
  readonly until: Micros | null
}

/** A movement of a key’s credit: what was bought less what was charged is its balance. */
export interface CreditEntry {
  /** Id of the API key: also the Kafka key */
  readonly key_id: string
  /** bought: a payment came in; charged: answers were given */
  readonly kind: 'unknown' | 'bought' | 'charged'
  /** Method and path as the route table has them */
  readonly route: string
  /** Answers given; of bought 1 */
  readonly requests: number
  /** Above zero, atomic units of the payments’ asset (millionths of a USDC) */
  readonly amount: number
  /** Who bought the key, lower-case hex */
  readonly payer: string
  /** Of bought: the payment */
  readonly payment_id: string | null
  /** Time of the log of keys, microseconds since the Unix epoch */
  readonly time: Micros
  /** Version: generation and offset in payments.credit */
  readonly v: number
}

/** Taker volume of the closed buckets of one period */
export interface PeriodVolume {
  /** all: since the first trade; first: of the hour of the first trade; 1h, 4h, 24h or 7d */
  readonly period: string
  /** Where the period ends: on a bound of its own buckets, its open one included, microseconds since the Unix epoch */
  readonly to: Micros
  /** Taker buys, base units */
  readonly buy: number
  /** Taker sells, base units */
  readonly sell: number
  /** Taker buys, quote units */
  readonly buy_quote: number
  /** Taker sells, quote units */
  readonly sell_quote: number
}

/** A time in which nobody was subscribed */
export interface Unsubscribed {
  /** When it began, microseconds since the Unix epoch */
  readonly from: Micros
  /** The first trade behind it, microseconds since the Unix epoch; null: it has not ended */
  readonly to: Micros | null
}

/** One instrument with a trade in a closed bucket */
export interface InstrumentVolume {
  /** venue:market:native symbol */
  readonly instrument: string
  /** Venue time of the first trade that is counted, microseconds since the Unix epoch */
  readonly since: Micros
  /** Venue time of the newest trade that is counted, microseconds since the Unix epoch */
  readonly newest: Micros
  /** All, first, then each period as it ends before the next bucket closes: twice where it moves on meanwhile */
  readonly volumes: readonly PeriodVolume[]
  /** Of the last eight days */
  readonly unsubscribed: readonly Unsubscribed[]
}

/** Taker volume of each instrument of an asset: of all of its closed 10 s buckets, and of those in each rolling period. With the rows of the buckets that have not closed it is the present of the asset. Absolute values: a later record of the same key replaces an earlier one. */
export interface Cvd {
  /** Asset id of the catalogue */
  readonly asset: string
  /** Buckets that begin before it have closed and are counted, microseconds since the Unix epoch */
  readonly closed: Micros
  /** By name */
  readonly instruments: readonly InstrumentVolume[]
  /** Version: generation times 2^44 plus the source offset it follows from; the highest of a key stands */
  readonly v: number
}

/** A record that a reader has set aside, with its place and why: it had no effect, and what came behind it went on. */
export interface DeadLetter {
  /** Who set it aside: a name of the topology, webhooks, payments or feeds */
  readonly processor: string
  /** Topic of the record, without its namespace */
  readonly topic: string
  /** Its partition */
  readonly partition: number
  /** Its offset in that partition */
  readonly offset: number
  /** Its Kafka record time, microseconds since the Unix epoch */
  readonly time: Micros
  /** undecodable: its bytes are no record; unknown_schema: the registry did not know its schema id, although it was waited for; failed: the processor's code threw, each time that it was tried; held: not tried, since too many of its asset and type had failed within 10 s of record time */
  readonly reason: 'unknown' | 'undecodable' | 'unknown_schema' | 'failed' | 'held'
  /** not-wire-format, bad-body, unknown-schema, held, or the code or the class of the error that was thrown */
  readonly code: string
  /** The error's text, its first 1000 characters */
  readonly message: string
  /** Of failed: the line of code that threw, file:line:column; null where it is not known */
  readonly at: string | null
  /** How often it was tried before it was set aside; of held 0 */
  readonly attempts: number
  /** Its Kafka key */
  readonly key: Buffer | null
  /** Bytes of its value */
  readonly size: number
  /** Its value as it lies in the topic, at most the first 65536 bytes; of held none */
  readonly value: Buffer
}

/** A word to the dispatcher about deliveries that exist. */
export interface DeliveryOrder {
  /** stop: no further attempt for the alert; resend: the trigger once more, now */
  readonly order: 'unknown' | 'stop' | 'resend'
  /** The alert */
  readonly alert_id: string
  /** Host and port of the webhook */
  readonly receiver: string
  /** For resend */
  readonly trigger_id: string | null
  /** For resend */
  readonly trigger_partition: number | null
  /** For resend */
  readonly trigger_offset: number | null
  /** The command */
  readonly request_id: string | null
  /** microseconds since the Unix epoch */
  readonly time: Micros
  /** Version: generation times 2^44 plus the source offset it follows from */
  readonly v: number
}

/** What a venue says of one perpetual, in four groups, each with its own venue time. Null where the message did not say; a group that is not newer than the one known is to be ignored. */
export interface DerivativeTicker {
  /** venue:market:native symbol */
  readonly instrument: string
  /** Asset id of the catalogue */
  readonly asset: string
  /** The venue’s channel or call that said it: mark-price, tickers, open-interest */
  readonly channel: string
  /** Running funding rate for next_settlement, fraction per interval */
  readonly rate: number | null
  /** When that rate is settled, microseconds since the Unix epoch */
  readonly next_settlement: Micros | null
  /** Venue time of the rate, microseconds since the Unix epoch */
  readonly rate_time: Micros | null
  /** Mark price, quote units for one base unit */
  readonly mark: number | null
  /** Index price, quote units for one base unit */
  readonly index: number | null
  /** Venue time of mark and index, microseconds since the Unix epoch */
  readonly mark_time: Micros | null
  /** Premium index, fraction: the close of the minute that begins at premium_time */
  readonly premium: number | null
  /** Start of the minute, microseconds since the Unix epoch */
  readonly premium_time: Micros | null
  /** Open interest, base units, one side only */
  readonly open_interest: number | null
  /** Venue time of the open interest, microseconds since the Unix epoch */
  readonly open_interest_time: Micros | null
  /** When our feed had it, microseconds since the Unix epoch */
  readonly received: Micros
}

/** Taker flow of one instrument in one 10 s bucket and one part. Absolute values: a later record of the same key replaces an earlier one; readers sum the parts. */
export interface Flow {
  /** Asset id of the catalogue */
  readonly asset: string
  /** venue:market:native symbol */
  readonly instrument: string
  /** Start of the 10 s bucket by venue time, microseconds since the Unix epoch; the bucket is half open */
  readonly bucket: Micros
  /** 0: the stream; over 0: the backfill of the gap with this id; below 0: one trade that came after its bucket had left the state, -1 minus its offset */
  readonly part: number
  /** Taker buys, base units */
  readonly buy: number
  /** Taker sells, base units */
  readonly sell: number
  /** Taker buys, quote units */
  readonly buy_quote: number
  /** Taker sells, quote units */
  readonly sell_quote: number
  /** Trade records with a buying taker */
  readonly buy_count: number
  /** Trade records with a selling taker */
  readonly sell_count: number
  /** Price of the first trade by venue time, log order among equals */
  readonly open: number
  /** Highest price */
  readonly high: number
  /** Lowest price */
  readonly low: number
  /** Price of the last trade by venue time, log order among equals */
  readonly close: number
  /** Venue time of the open, microseconds since the Unix epoch */
  readonly open_time: Micros
  /** Venue time of the close, microseconds since the Unix epoch */
  readonly close_time: Micros
  /** Lowest venue id in the part */
  readonly first_id: number
  /** Highest venue id in the part */
  readonly last_id: number
  /** The bucket's window has closed (2 s behind partition time) */
  readonly final: boolean
  /** Version: generation times 2^44 plus the source offset it follows from; the highest of a key stands */
  readonly v: number
}

/** Taker flow of one instrument in one hour, of those of its 10 s buckets that have closed. Absolute values: a later record of the same key replaces an earlier one; readers sum the parts. Not before its last bucket has closed is it the whole hour (final). */
export interface FlowHour {
  /** Asset id of the catalogue */
  readonly asset: string
  /** venue:market:native symbol */
  readonly instrument: string
  /** Start of the hour by venue time, microseconds since the Unix epoch; the hour is half open */
  readonly hour: Micros
  /** 0: the stream and all backfills; below 0: one trade that came after its bucket had left the state, -1 minus its offset */
  readonly part: number
  /** Taker buys, base units */
  readonly buy: number
  /** Taker sells, base units */
  readonly sell: number
  /** Taker buys, quote units */
  readonly buy_quote: number
  /** Taker sells, quote units */
  readonly sell_quote: number
  /** Trade records with a buying taker */
  readonly buy_count: number
  /** Trade records with a selling taker */
  readonly sell_count: number
  /** Price of the first trade by venue time */
  readonly open: number
  /** Highest price */
  readonly high: number
  /** Lowest price */
  readonly low: number
  /** Price of the last trade by venue time */
  readonly close: number
  /** Venue time of the open, microseconds since the Unix epoch */
  readonly open_time: Micros
  /** Venue time of the close, microseconds since the Unix epoch */
  readonly close_time: Micros
  /** Lowest venue id of the part of a bucket that has the open: orders opens of equal times */
  readonly first_id: number
  /** Highest venue id of the part of a bucket that has the close: orders closes of equal times */
  readonly last_id: number
  /** The hour's last bucket has closed (2 s behind partition time) */
  readonly final: boolean
  /** Version: generation times 2^44 plus the source offset it follows from; the highest of a key stands */
  readonly v: number
}

/** One venue’s perpetual */
export interface FundingView {
  /** Venue name */
  readonly exchange: string
  /** venue:market:native symbol */
  readonly instrument: string
  /** Running rate, fraction per interval */
  readonly rate: number | null
  /** Its venue time, microseconds since the Unix epoch */
  readonly rate_time: Micros | null
  /** Microseconds since the Unix epoch */
  readonly next_settlement: Micros | null
  /** Hours between two settlements */
  readonly interval_hours: number
  /** Quote units */
  readonly mark: number | null
  /** Quote units */
  readonly index: number | null
  /** Their venue time, microseconds since the Unix epoch */
  readonly mark_time: Micros | null
  /** Newest premium index, fraction */
  readonly premium: number | null
  /** Start of its minute, microseconds since the Unix epoch */
  readonly premium_time: Micros | null
  /** Time-weighted mean since the last settlement, fraction */
  readonly average_premium: number | null
  /** Minutes that it rests on */
  readonly samples: number
  /** Minutes since the last settlement */
  readonly expected: number
  /** Our model’s rate of the next settlement, fraction per interval */
  readonly predicted: number | null
  /** Newest settled rate, fraction */
  readonly settled_rate: number | null
  /** When it was settled, microseconds since the Unix epoch */
  readonly settled_time: Micros | null
  /** Base units, one side */
  readonly open_interest: number | null
  /** Its venue time, microseconds since the Unix epoch */
  readonly open_interest_time: Micros | null
}

/** Funding of one asset over its venues, with the predicted rate. The highest v of an asset stands. */
export interface Funding {
  /** Asset id of the catalogue */
  readonly asset: string
  /** Venues that list the asset, in the order Binance, Bybit, OKX */
  readonly exchanges: readonly FundingView[]
  /** Partition time, microseconds since the Unix epoch */
  readonly time: Micros
  /** Version: generation times 2^44 plus the source offset it follows from */
  readonly v: number
}

/** What a feed knows of trades that did not come by the stream. Several records of one gap_id tell its life; the latest stands. */
export interface Gap {
  /** venue:market:native symbol */
  readonly instrument: string
  /** Asset id of the catalogue */
  readonly asset: string
  /** Identity within the instrument. Where ids are contiguous: the first missing id; else from_time */
  readonly gap_id: number
  /** opened: seen and being repaired; filled: all of it is in the log; unfillable: the venue no longer serves it */
  readonly state: 'unknown' | 'opened' | 'filled' | 'unfillable'
  /** Why it opened or could not be filled, as a code: missing_ids, restart, reconnect, page_short, too_old, refused, lost_page, not_imported */
  readonly reason: string
  /** First missing id; null where ids are not contiguous */
  readonly from_id: number | null
  /** Last missing id; null where ids are not contiguous */
  readonly to_id: number | null
  /** Venue time of the last trade before the gap, microseconds since the Unix epoch */
  readonly from_time: Micros
  /** Venue time of the first trade after the gap, microseconds since the Unix epoch */
  readonly to_time: Micros
  /** Records still missing, where ids tell; null: not known */
  readonly missing: number | null
  /** The feed process that says so */
  readonly feed: string
  /** When it says so, feed's clock, microseconds since the Unix epoch */
  readonly time: Micros
}

/** One market of one venue as the venue described it at a time */
export interface Instrument {
  /** venue:market:native symbol, for example okx:perp:BTC-USDT-SWAP */
  readonly instrument: string
  /** Asset id of the catalogue */
  readonly asset: string
  /** Venue name */
  readonly venue: string
  /** perp or spot */
  readonly market: string
  /** The venue's own symbol */
  readonly symbol: string
  /** Base currency as the venue names it, without a multiplier */
  readonly base: string
  /** Quote currency */
  readonly quote: string
  /** Settlement currency; the quote currency for spot */
  readonly settle: string
  /** Base units in one unit of the venue's size field */
  readonly size_factor: number
  /** Base units that the venue's price field is for */
  readonly price_factor: number
  /** Smallest price step in the venue's own price units; null: not said */
  readonly tick: number | null
  /** live: it trades */
  readonly status: 'unknown' | 'live' | 'closed'
  /** venue: its instrument list; seed: our checked-in table, because the list could not be had */
  readonly source: string
  /** When we learned it, microseconds since the Unix epoch */
  readonly valid_from: Micros
}

/** What a log was created with; a start that differs is refused */
export interface Layout {
  /** Id of the log, made at its creation */
  readonly log: string
  /** Version of the layout; a newer one than the code knows is refused */
  readonly version: number
  /** Partitions of every partitioned topic */
  readonly partitions: number
  /** Hash of the asset-to-partition map */
  readonly map: string
  /** Microseconds since the Unix epoch */
  readonly created: Micros
}

/** A position that the venue closed by force. */
export interface Liquidation {
  /** venue:market:native symbol */
  readonly instrument: string
  /** Asset id of the catalogue */
  readonly asset: string
  /** Identity within the instrument: Bybit message time and index; OKX time, side, price, size, n-th among equals; Binance second */
  readonly id: string
  /** The position that was liquidated, not the order’s side */
  readonly side: 'unknown' | 'long' | 'short'
  /** Base units */
  readonly size: number
  /** Quote units for one base unit */
  readonly price: number
  /** What the price is */
  readonly price_kind: 'unknown' | 'bankruptcy' | 'order' | 'average_fill'
  /** price times size, quote units, taken for USD */
  readonly value: number
  /** all: the venue sends every one; sampled: a lower bound */
  readonly completeness: 'unknown' | 'all' | 'sampled'
  /** Venue time, microseconds since the Unix epoch */
  readonly time: Micros
  /** When our feed had it, microseconds since the Unix epoch */
  readonly received: Micros
}

/** One venue’s part */
export interface RiskExchange {
  /** Venue name */
  readonly exchange: string
  /** One side, USD */
  readonly open_interest_usd: number
  /** Mark price, USD */
  readonly mark: number
  /** Venue time of the older of the two, microseconds since the Unix epoch */
  readonly time: Micros
}

/** Liquidations expected in one bucket of price */
export interface RiskLevel {
  /** Middle of the bucket, USD */
  readonly price: number
  /** Longs, USD */
  readonly long_usd: number
  /** Shorts, USD */
  readonly short_usd: number
}

/** Live levels of one leverage tier and side */
export interface LeverageCluster {
  /** 5, 10, 25, 50, 100 */
  readonly leverage: number
  /** Position side */
  readonly side: 'unknown' | 'long' | 'short'
  /** Mean of the live levels weighted by size, USD; the current price where there are none */
  readonly price: number
  /** Their sum, USD */
  readonly usd: number
}

/** Estimated liquidation levels of an asset: a model of positions whose entries are not public. */
export interface LiquidationRisk {
  /** Asset id of the catalogue */
  readonly asset: string
  /** Median of the marks, USD */
  readonly price: number
  /** Sum over the venues, USD, one side */
  readonly open_interest_usd: number
  /** Venues that count */
  readonly exchanges: readonly RiskExchange[]
  /** Buckets of 0.25 % of the price that are not empty, nearest first, out to 25 % */
  readonly levels: readonly RiskLevel[]
  /** Five tiers by two sides, nearest price first */
  readonly clusters: readonly LeverageCluster[]
  /** Sum of levels within 5 % of the price, USD */
  readonly at_risk_5_usd: number
  /** The same, percent of the open interest */
  readonly at_risk_5_pct: number
  /** Sum of levels within 10 % of the price, USD */
  readonly at_risk_10_usd: number
  /** The same, percent of the open interest */
  readonly at_risk_10_pct: number
  /** high: over 10 % within 5 %; else medium: 5 % or more within 10 %; else low */
  readonly cascade_risk: 'unknown' | 'low' | 'medium' | 'high'
  /** Long levels that the price has crossed since `since`, USD: to be compared with observed liquidations */
  readonly swept_long_usd: number
  /** Short levels that the price has crossed since `since`, USD */
  readonly swept_short_usd: number
  /** Since when the model counts, microseconds since the Unix epoch */
  readonly since: Micros
  /** Partition time, microseconds since the Unix epoch */
  readonly time: Micros
  /** Version: generation times 2^44 plus the source offset it follows from */
  readonly v: number
}

/** What a reader of the log could not read, or found to be lost of what it wrote. Written by the reader itself before it goes on; a replay takes it in at the same place. */
export interface LogGap {
  /** Processor or service */
  readonly reader: string
  /** Whose partition it is about */
  readonly topic: string
  /** Its number */
  readonly partition: number
  /** retention: deleted before it was read; cut: the log lost its tail, which this reader had read up to its position; replaced: it is another log than the one that was read; output_cut: the log lost the tail of what this reader wrote */
  readonly reason: 'unknown' | 'retention' | 'cut' | 'replaced' | 'output_cut'
  /** Offset that it would have read, or written, next */
  readonly position: number
  /** Offset at which it goes on */
  readonly next: number
  /** Added to offsets from next on where a version is made of one, so that versions go on rising */
  readonly shift: number
  /** Offsets that were never read; null: not known */
  readonly missing: number | null
  /** Kafka time of the last record before it, of retention a minute earlier: what came late was among it; microseconds since the Unix epoch */
  readonly from_time: Micros
  /** Kafka time of the first record after it, or when it was found where there was none yet; of the last that was read of it, where that is later; microseconds since the Unix epoch */
  readonly to_time: Micros
  /** When it was found, host clock of the reader, microseconds since the Unix epoch */
  readonly time: Micros
}

/** How a cohort of a venue’s traders is positioned. */
export interface LongShortRatio {
  /** venue:market:native symbol */
  readonly instrument: string
  /** Asset id of the catalogue */
  readonly asset: string
  /** Whose: the venue’s top traders, or everybody */
  readonly cohort: 'unknown' | 'top_traders' | 'all'
  /** What is counted: the size of positions, or heads */
  readonly basis: 'unknown' | 'positions' | 'accounts'
  /** Long share, 0 to 1 */
  readonly long_ratio: number
  /** Short share, 0 to 1; the two add up to 1 */
  readonly short_ratio: number
  /** Long over short */
  readonly ls_ratio: number
  /** Start of the venue’s period, microseconds since the Unix epoch */
  readonly time: Micros
  /** When our feed had it, microseconds since the Unix epoch */
  readonly received: Micros
}

/** What one feed process has of one venue */
export interface VenueState {
  /** Venue name */
  readonly venue: string
  /** live: data or the venue's heartbeat within its limit; down: being reconnected; unavailable: the venue refuses us (403, 451) */
  readonly state: 'unknown' | 'off' | 'connecting' | 'live' | 'down' | 'unavailable'
  /** Open WebSocket connections */
  readonly sockets: number
  /** When the state began, microseconds since the Unix epoch */
  readonly since: Micros
}

/** A subscription that was asked for, acknowledged, ended or refused since the writer's previous mark, for assets of this partition */
export interface SubscriptionChange {
  /** venue:market:native symbol; for unlisted, venue:market: and the asset id */
  readonly instrument: string
  /** Asset id of the catalogue */
  readonly asset: string
  /** unlisted: the venue has no such market; asked: the venue is asked for it as soon as the log has this */
  readonly state: 'unknown' | 'acknowledged' | 'ended' | 'refused' | 'unlisted' | 'asked'
  /** When it happened, microseconds since the Unix epoch */
  readonly time: Micros
}

/** How far the log has an instrument's trades: all up to there came before this mark, or are told by a gap that was given up */
export interface TradePosition {
  /** venue:market:native symbol */
  readonly instrument: string
  /** The venue's trade id; null: its ids have no order, or none is known of this instrument yet */
  readonly last_id: number | null
  /** Venue time, microseconds since the Unix epoch */
  readonly time: Micros
}

/** Time in a partition's log. Feeds write one a second to each partition of each of their topics; processors forward them to their outputs. */
export interface Mark {
  /** The feed process or the processor that wrote it */
  readonly writer: string
  /** When that feed process started, microseconds since the Unix epoch; 0 from a processor */
  readonly run: Micros
  /** Partition time: the writer's clock (on a tape the tape's), microseconds since the Unix epoch */
  readonly time: Micros
  /** All venues of the feed process; empty from a processor */
  readonly venues: readonly VenueState[]
  /** A feed's first mark in a partition lists every subscription it has */
  readonly changes: readonly SubscriptionChange[]
  /** What the time is by the venues' own times, as the feed process has them, microseconds since the Unix epoch; null: it cannot tell, or a processor wrote the mark */
  readonly venue_time: Micros | null
  /** For who repairs trades after a restart: of instruments of this partition whose own records retention may have taken, and of each now and then */
  readonly positions: readonly TradePosition[]
}

/** One figure */
export interface Figure {
  /** What it is; its unit stands in processors/alerts/metrics.ts */
  readonly figure: string
  /** Venue that it is of; null: of the asset */
  readonly exchange: string | null
  /** In the unit of the figure; of a class its place in the list of classes */
  readonly value: number
}

/** Derived figures of an asset as one processor knows them: what rules of alerts are decided by. Of each time of a processor and asset there is one. */
export interface Metric {
  /** Asset id of the catalogue */
  readonly asset: string
  /** The processor that tells it: cvd, funding or liquidated */
  readonly core: string
  /** By figure, then venue; one that is stale is left out */
  readonly figures: readonly Figure[]
  /** Partition time at which they were so, microseconds since the Unix epoch */
  readonly time: Micros
  /** Version: generation times 2^44 plus the source offset it follows from */
  readonly v: number
}

/** The answer that a settled payment bought, without secrets; the first of a payment counts. */
export interface PaymentAnswer {
  /** <chain id>:<asset>:<payer>:<nonce of the authorization>, all lower case: also the key */
  readonly payment_id: string
  /** The intent’s */
  readonly fingerprint: string
  /** HTTP status */
  readonly status: number
  /** Content type */
  readonly type: string
  /** Compressed by gzip, at most 256 KB */
  readonly body: Buffer
  /** microseconds since the Unix epoch */
  readonly time: Micros
}

export interface Stood {
  /** Offset of a record */
  readonly offset: number
  /** Epoch of the leader that took it in; -1: not known */
  readonly epoch: number
  /** 48 bits of a hash over its time, key and value */
  readonly print: number
  /** Its Kafka time, milliseconds since the Unix epoch */
  readonly time: number
}

/** What became of a payment. */
export interface PaymentEvent {
  /** <chain id>:<asset>:<payer>:<nonce of the authorization>, all lower case: also the key */
  readonly payment_id: string
  /** broadcast: a transaction is signed and about to be sent; pending: no outcome within the deadline, it is still watched; settled: the money has arrived; failed: it has not and will not by what was sent; conflict: another request came with a payment that is in use, the payment itself is unchanged; reserved: no payment, the purchase is kept for a request that is charged to an API key. A payment is settled once, whatever request brought it; a failure is said to each request that brought it, by its id */
  readonly event: 'unknown' | 'broadcast' | 'pending' | 'settled' | 'failed' | 'conflict' | 'reserved'
  /** The request whose intent it follows from; of a conflict, the refused one */
  readonly request_id: string
  /** HTTP method */
  readonly method: string
  /** Path of the route as the route table has it */
  readonly route: string
  /** The intent’s */
  readonly fingerprint: string
  /** Lower-case hex */
  readonly payer: string
  /** Atomic units of the asset, decimal digits */
  readonly amount: string
  /** Transaction hash; null: none is known */
  readonly tx: string | null
  /** Block of the transaction; null: not in one */
  readonly block: number | null
  /** Reason code of x402, for failed, pending and conflict */
  readonly reason: string | null
  /** Who submitted the authorization; other: someone else did, it was found on chain */
  readonly by: 'unknown' | 'us' | 'facilitator' | 'other'
  /** The authorization’s, seconds since the Unix epoch, as signed */
  readonly valid_before: number
  /** Of broadcast: the signed transaction, hex, to be sent again after a restart */
  readonly raw: string | null
  /** microseconds since the Unix epoch */
  readonly time: Micros
  /** Offset in payments.intents of the intent that it follows from, plus what a lost tail took from the offsets: a failure says nothing of later ones */
  readonly v: number
  /** The intent’s */
  readonly purchase: string | null
  /** The last record of payments.intents that had been read, by topic and partition (topic/partition) */
  readonly stood: Readonly<Record<string, Stood>>
}

/** A checked payment, with the request that it is for: to be settled. */
export interface PaymentIntent {
  /** <chain id>:<asset>:<payer>:<nonce of the authorization>, all lower case, or credit:<purchase>: also the key */
  readonly payment_id: string
  /** The request that brought it */
  readonly request_id: string
  /** HTTP method */
  readonly method: string
  /** Path of the route as the route table has it */
  readonly route: string
  /** SHA-256, hex, over method, path and query as matched, and body: what the payment is for */
  readonly fingerprint: string
  /** The route’s price, atomic units of the asset, decimal digits */
  readonly price: string
  /** Version of the payment protocol: 1 or 2; 0: no payment, the request is charged to an API key and asks for its purchase to be reserved */
  readonly version: number
  /** EVM chain */
  readonly chain_id: number
  /** Token contract, lower-case hex */
  readonly asset: string
  /** Receiver of the money, lower-case hex */
  readonly pay_to: string
  /** Payer, lower-case hex */
  readonly from: string
  /** Signed amount, atomic units of the asset, decimal digits */
  readonly value: string
  /** seconds since the Unix epoch, as signed */
  readonly valid_after: number
  /** seconds since the Unix epoch, as signed */
  readonly valid_before: number
  /** 32 bytes, lower-case hex */
  readonly nonce: string
  /** The payer’s signature, hex; a bearer instrument until it is settled */
  readonly signature: string
  /** When the API wrote it, microseconds since the Unix epoch */
  readonly created: Micros
  /** SHA-256, hex, over route, payer and Idempotency-Key: of several payments with the same one only one is taken; null: the request had no key */
  readonly purchase: string | null
  /** API key that it buys credit for; null: none */
  readonly credit: string | null
}

/** A delivery that is not finished, or was so a short while ago; an alert whose receiver is gone; how far alerts.triggers was taken in. */
export interface Pending {
  /** The trigger; empty in position, and in stopped where it concerns the alert */
  readonly trigger_id: string
  /** The alert; empty in position */
  readonly alert_id: string
  /** Host and port; empty in stopped and position */
  readonly receiver: string
  /** due: an attempt is to come; finished: kept an hour so that a repeated trigger is known; stopped: with a trigger: it was ended while an attempt was under way; without one: the receiver said 410, so the alert’s deliveries have ended; position: everything before trigger_offset was taken in */
  readonly state: 'unknown' | 'due' | 'finished' | 'stopped' | 'position'
  /** Made so far */
  readonly attempts: number
  /** Next attempt, microseconds since the Unix epoch */
  readonly due: Micros
  /** Where alerts.triggers has it */
  readonly trigger_partition: number | null
  /** Where alerts.triggers has it */
  readonly trigger_offset: number | null
  /** When the condition was met, microseconds since the Unix epoch; 0 in stopped and position */
  readonly triggered: Micros
  /** A test event */
  readonly test: boolean
  /** The digest that it is told in; null: by itself */
  readonly digest: string | null
  /** Until then its destination wants to be left alone, as it answered the last attempt, microseconds since the Unix epoch; null: it does not say so */
  readonly left_alone_until: Micros | null
  /** microseconds since the Unix epoch */
  readonly time: Micros
  /** Position only: the last record of alerts.triggers that was taken in, and the last one of webhooks.attempts that was written before it, by topic and partition (topic/partition) */
  readonly stood: Readonly<Record<string, Stood>>
}

/** Lowest and highest price of an instrument in a time without tickers, from the venue’s own candles. */
export interface PriceRange {
  /** venue:market:native symbol */
  readonly instrument: string
  /** Asset id of the catalogue */
  readonly asset: string
  /** Start of the time, microseconds since the Unix epoch */
  readonly from: Micros
  /** End of the time, exclusive, microseconds since the Unix epoch */
  readonly to: Micros
  /** Lowest price, quote units */
  readonly low: number
  /** Highest price, quote units */
  readonly high: number
  /** Ticker of the quote currency */
  readonly quote: string
  /** What a unit of the quote is worth in USD */
  readonly quote_usd: number
  /** When our feed had it, microseconds since the Unix epoch */
  readonly received: Micros
}

/** A settled funding rate. */
export interface Settlement {
  /** venue:market:native symbol */
  readonly instrument: string
  /** Asset id of the catalogue */
  readonly asset: string
  /** Fraction of the position that changed hands; positive: longs paid shorts */
  readonly settled_rate: number
  /** Mark price at the settlement, quote units */
  readonly mark: number | null
  /** Settlement time, rounded to its minute, microseconds since the Unix epoch */
  readonly time: Micros
  /** When our feed had it, microseconds since the Unix epoch */
  readonly received: Micros
}

/** A change of a signal's class. Identity: asset, kind, period and time. */
export interface Signal {
  /** Asset id of the catalogue */
  readonly asset: string
  /** What it is a signal of: cvd */
  readonly kind: string
  /** The window it looks at: 1h, 4h, 24h, 7d */
  readonly period: string
  /** The class it had */
  readonly from: string
  /** The class it has */
  readonly to: string
  /** What was classified; for cvd: period delta over period volume, a fraction */
  readonly value: number
  /** The figures behind the value; for cvd: buy and sell of the period, base units */
  readonly evidence: Readonly<Record<string, number>>
  /** End of the window that was looked at, microseconds since the Unix epoch */
  readonly time: Micros
  /** Version: generation times 2^44 plus the source offset it follows from */
  readonly v: number
  /** Venue that the signal is about; null: all of them */
  readonly exchange: string | null
}

/** Records that failed in one window of record time, 10 s long */
export interface FailedLane {
  /** topic|record type|asset */
  readonly lane: string
  /** Number of the window: record time, milliseconds, divided by its length */
  readonly window: number
  /** Records that failed in it */
  readonly count: number
}

/** How far the feeds' marks of one input topic have come */
export interface TopicClock {
  /** The largest mark that was followed, microseconds since the Unix epoch */
  readonly time: Micros
  /** The last mark, where it was too far ahead to be followed, microseconds since the Unix epoch; else 0 */
  readonly waiting: Micros
}

/** One keyed part of a processor's state in one partition. All parts that changed go out in one Kafka batch, the position among them, so state and position are one write. */
export interface Snapshot {
  /** Name in the topology */
  readonly processor: string
  /** Generation of the code that wrote it */
  readonly generation: number
  /** Position only: the last offset applied of each input topic */
  readonly applied: Readonly<Record<string, number>>
  /** Partition time when it was written, microseconds since the Unix epoch */
  readonly time: Micros
  /** The processor's own form of the part; empty for the position */
  readonly state: Buffer
  /** Position only: what has failed lately, so that a next owner holds back the same records */
  readonly failures: readonly FailedLane[]
  /** Position only: the last record read of each input, and the last one written of each output, by topic and partition (topic/partition) */
  readonly stood: Readonly<Record<string, Stood>>
  /** Position only: offset in control.gaps of the last gap of ours that the state has taken in */
  readonly told: number
  /** Position only, by input topic: those that feeds mark */
  readonly clocks: Readonly<Record<string, TopicClock>>
}

/** Price and 24 h figures of one spot market; at most one a second per instrument. */
export interface SpotTicker {
  /** venue:market:native symbol */
  readonly instrument: string
  /** Asset id of the catalogue */
  readonly asset: string
  /** Best bid, quote units for one base unit; null: the venue’s channel has none */
  readonly bid: number | null
  /** Best ask, quote units for one base unit; null: the venue’s channel has none */
  readonly ask: number | null
  /** Price of the last trade, quote units */
  readonly last: number
  /** Middle of bid and ask, or the last price where a venue gives no book top, quote units */
  readonly price: number
  /** Lowest price since the previous record of the instrument, this one’s included, quote units */
  readonly low: number
  /** Highest price since the previous record of the instrument, this one’s included, quote units */
  readonly high: number
  /** Change of the last price over 24 h, percent */
  readonly change_24h: number | null
  /** Volume of 24 h, base units */
  readonly volume_24h: number | null
  /** Volume of 24 h, quote units */
  readonly quote_volume_24h: number | null
  /** Ticker of the quote currency: USD, USDT, USDC */
  readonly quote: string
  /** What a unit of the quote is worth in USD, as the feed last saw it; 1 for USD and before anything was seen */
  readonly quote_usd: number
  /** The venue’s time of the message, or ours where it says none, microseconds since the Unix epoch */
  readonly time: Micros
  /** When our feed had it, microseconds since the Unix epoch */
  readonly received: Micros
}

/** Who wants an asset's trades streamed and until when; keyed by asset and wanter, ended by a tombstone or by its time */
export interface Subscription {
  /** Asset id of the catalogue */
  readonly asset: string
  /** api, or alert: and its id */
  readonly wanter: string
  /** When it was asked for, microseconds since the Unix epoch */
  readonly asked: Micros
  /** When the want lapses, microseconds since the Unix epoch */
  readonly until: Micros
}

/** What the token registry says of a token. */
export interface Token {
  /** Registry id: bitcoin, avalanche-2 */
  readonly id: string
  /** Asset id of the catalogue; null: none of ours */
  readonly asset: string | null
  /** Lower-case ticker */
  readonly symbol: string
  /** Display name */
  readonly name: string
  /** USD */
  readonly price: number | null
  /** Percent */
  readonly change_24h: number | null
  /** Percent */
  readonly change_7d: number | null
  /** Percent */
  readonly change_30d: number | null
  /** USD */
  readonly volume_24h: number | null
  /** USD */
  readonly market_cap: number | null
  /** 1 is the largest */
  readonly market_cap_rank: number | null
  /** Tokens */
  readonly circulating_supply: number | null
  /** Tokens; null: not limited or not known */
  readonly total_supply: number | null
  /** Highest price ever, USD */
  readonly ath: number | null
  /** When, microseconds since the Unix epoch */
  readonly ath_date: Micros | null
  /** Lowest price ever, USD */
  readonly atl: number | null
  /** When, microseconds since the Unix epoch */
  readonly atl_date: Micros | null
  /** The registry’s own time, microseconds since the Unix epoch */
  readonly last_updated: Micros
  /** When our feed had it, microseconds since the Unix epoch */
  readonly received: Micros
}

/** One record of a venue's public trade stream, normalised. Its identity is the instrument and its range of venue ids; a range already covered is a duplicate. */
export interface Trade {
  /** venue:market:native symbol, for example binance:perp:BTCUSDT */
  readonly instrument: string
  /** Stable lower-case id of the base asset in the catalogue, for example btc */
  readonly asset: string
  /** First venue id that the record covers. Binance: aggregate id; OKX: trade id; Coinbase: trade id; Bybit, whose ids are UUIDs: the first 52 bits of the UUID's random part */
  readonly first_id: number
  /** Last venue id that the record covers; equal to first_id where a record is one id */
  readonly last_id: number
  /** Fills that the venue merged into the record, 1 or more */
  readonly count: number
  /** The venue's own ordering number beside the id, where it has one (Bybit: cross sequence, Coinbase: book sequence); not contiguous; null: not said */
  readonly sequence: number | null
  /** Quote units for one base unit, multiplier already taken out */
  readonly price: number
  /** Base units, contract size and multiplier already applied */
  readonly size: number
  /** price times size, quote units */
  readonly quote: number
  /** Base units in one unit of the venue's size field (OKX contract value, 1000 for 1000PEPEUSDT, else 1) */
  readonly size_factor: number
  /** Base units that the venue's price field is for (1000 for 1000PEPEUSDT, else 1); price is the venue's price divided by it */
  readonly price_factor: number
  /** The aggressor's side */
  readonly taker: 'unknown' | 'buy' | 'sell'
  /** The venue's trade time, microseconds since the Unix epoch; never more than 5 s ahead of received */
  readonly time: Micros
  /** When our feed had the message, microseconds since the Unix epoch */
  readonly received: Micros
  /** How the record came: by the venue's stream, by REST to close a gap, or from an archive */
  readonly origin: 'unknown' | 'stream' | 'backfill' | 'import'
  /** The gap that a backfilled record belongs to; null otherwise */
  readonly gap_id: number | null
}

/** What the decision rests on */
export interface TriggerSource {
  /** Venue */
  readonly exchange: string
  /** USD */
  readonly price: number | null
  /** USD */
  readonly open_interest_usd: number | null
  /** microseconds since the Unix epoch */
  readonly time: Micros
}

/** One delivery to be made, complete enough to send. Its id stays the same over all attempts. */
export interface Trigger {
  /** alert id and trigger count; of a test the request id */
  readonly trigger_id: string
  /** The alert */
  readonly alert_id: string
  /** Which payload; rule: the condition says which */
  readonly kind: 'unknown' | 'price' | 'liquidation' | 'rule'
  /** Asset id of the catalogue */
  readonly asset: string
  /** As submitted */
  readonly symbol: string
  /** Host and port of the webhook; of another channel as in the alert */
  readonly receiver: string
  /** The webhook URL or the channel’s destination, encrypted as in the alert */
  readonly webhook: string
  /** Version of SERVICE_SECRET */
  readonly key_version: number
  /** low, medium, high */
  readonly severity: string
  /** Asked for by the owner; nothing was triggered */
  readonly test: boolean
  /** USD */
  readonly current_price: number
  /** USD */
  readonly target_price: number | null
  /** Of the alert; of a rule with the figures that met it */
  readonly condition: string
  /** For people */
  readonly condition_met: string
  /** USD */
  readonly oi_at_risk_usd: number | null
  /** Percent */
  readonly oi_at_risk_pct: number | null
  /** low, medium, high */
  readonly cascade_risk: string | null
  /** Percent */
  readonly threshold_pct: number | null
  /** Venues that count */
  readonly sources: readonly TriggerSource[]
  /** good or degraded */
  readonly quality: string
  /** It happened while no source was there */
  readonly late: boolean
  /** Triggers so far, this one included */
  readonly trigger_count: number
  /** Id of the log record that caused it, for GET /records/:id */
  readonly record: string
  /** As in the alert */
  readonly delivery: string | null
  /** When the condition was met, microseconds since the Unix epoch */
  readonly time: Micros
  /** Version: generation times 2^44 plus the source offset it follows from */
  readonly v: number
}

/** A closed candle of a venue’s past, read back: for the time of which the log holds no trades. The venue’s own, or what our fold of its archive of trades gives. Nothing is derived of it; what is told of a period up to now has it in front of trades. */
export interface VenueCandle {
  /** venue:market:native symbol */
  readonly instrument: string
  /** Asset id of the catalogue */
  readonly asset: string
  /** Start of the candle, microseconds since the Unix epoch */
  readonly start: Micros
  /** Length of the candle, seconds: 3600 or 60 */
  readonly seconds: number
  /** Quote units */
  readonly open: number
  /** Quote units */
  readonly high: number
  /** Quote units */
  readonly low: number
  /** Quote units */
  readonly close: number
  /** Base units */
  readonly volume: number
  /** Part of the volume that takers bought, base units; null: the venue does not say */
  readonly taker_buy: number | null
  /** Worth of the volume, quote units; null: the source does not say */
  readonly quote: number | null
  /** Part of it that takers bought, quote units; null: the source does not say */
  readonly taker_buy_quote: number | null
  /** Fills; of an archive its rows; null: the venue does not say */
  readonly trades: number | null
  /** Where it is from: the venue’s own candles, or its archive of trades */
  readonly source: 'unknown' | 'venue_candles' | 'archive'
  /** When our feed had it, microseconds since the Unix epoch */
  readonly received: Micros
}

/** Record type name, as in the subject and the .avsc file's name, to its shape. */
export interface Records {
  alert: Alert
  alert_event: AlertEvent
  answer_count: AnswerCount
  api_key: ApiKey
  attempt: Attempt
  audit: Audit
  backfill: Backfill
  backfill_order: BackfillOrder
  candle: Candle
  command: Command
  composite_price: CompositePrice
  contract_terms: ContractTerms
  credit_command: CreditCommand
  credit_entry: CreditEntry
  cvd: Cvd
  dead_letter: DeadLetter
  delivery_order: DeliveryOrder
  derivative_ticker: DerivativeTicker
  flow: Flow
  flow_hour: FlowHour
  funding: Funding
  gap: Gap
  instrument: Instrument
  layout: Layout
  liquidation: Liquidation
  liquidation_risk: LiquidationRisk
  log_gap: LogGap
  long_short_ratio: LongShortRatio
  mark: Mark
  metric: Metric
  payment_answer: PaymentAnswer
  payment_event: PaymentEvent
  payment_intent: PaymentIntent
  pending: Pending
  price_range: PriceRange
  settlement: Settlement
  signal: Signal
  snapshot: Snapshot
  spot_ticker: SpotTicker
  subscription: Subscription
  token: Token
  trade: Trade
  trigger: Trigger
  venue_candle: VenueCandle
}
