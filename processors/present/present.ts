import type {
  ContractTerms,
  Cvd,
  Flow,
  Funding,
  Gap,
  Instrument,
  Liquidation,
  LiquidationRisk,
  LogGap,
  LongShortRatio,
  Mark,
  Message,
  Micros,
  RecordType,
  Settlement,
  SpotTicker,
  VenueCandle,
} from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { Entry, Output, Processor, ProcessorRow } from '../kernel/processor.ts'
import { generationOf } from '../kernel/version.ts'
import { sumsOf } from './liquidation-sums.ts'
import {
  COUNTED,
  LIQUIDATIONS_MAX,
  drop,
  emptyPresent,
  isHeldAgainst,
  loadPresent,
  put,
  savePresent,
  type Held,
  type HeldKind,
  type PastHour,
  STRETCH,
  type PresentState,
} from './state.ts'

/** What it reads of its inputs; the rest is not decoded. */
export const presentReads: readonly RecordType[] = [
  'mark',
  'gap',
  'spot_ticker',
  'composite_price',
  'liquidation_risk',
  'settlement',
  'long_short_ratio',
  'contract_terms',
  'liquidation',
  'funding',
  'flow',
  'cvd',
  'log_gap',
  'venue_candle',
]

const MINUTE: Micros = 60_000_000
const DAY: Micros = 24 * 60 * MINUTE
/** Tickers that are held behind the one at the newest funding, where no further funding is told; the earlier go. */
const AGAINST_MAX = 120
/** Settled rates of a perpetual that are held. */
const SETTLED_MAX = 12
/** Gaps that a partition holds; beyond, those that ended first go early. */
const GAPS_MAX = 20_000
/** A gap that has been closed is held so long. */
const GAP_KEPT: Micros = 8 * DAY
/** Hours of a venue’s past are held so long behind its newest. */
const PAST_KEPT: Micros = 8 * DAY
/** Rows of closed buckets are held so long behind the last that has closed: until ClickHouse has them. */
const FLOW_KEPT: Micros = 30_000_000
/** They go by five minutes: what lies before is told by sums of these. */
const FIVE: Micros = 300_000_000
/** Rows of buckets that a partition holds; beyond, those of the earliest go, which happens where none ever closes. */
const OPEN_MAX = 200_000
/** Candles of a venue’s past that are held are of an hour, seconds. */
const PAST_SECONDS = 3_600
/** Times of lost trades that a partition holds; beyond, those that ended first go early. */
const LOST_MAX = 1_000

/**
 * The newest values of everything that an answer about now is made of: a table by key. Its state, written like each
 * processor's, is what others begin from who hold the same table by the same fold: the API and the console.
 */
const present: Processor<PresentState, Output> = {
  empty: emptyPresent,
  apply: (state, entry) => takeIn(state, entry),
  save: savePresent,
  forget: ({ changed }) => changed.clear(),
  load: loadPresent,
  counts: (state) => ({ markets: state.ticker.size, liquidations: heldLiquidations(state), gaps: state.gap.size }),
}

/** Its row in the topology. Nobody waits for its state: whoever answers holds what came behind that too. */
export const presentRow: ProcessorRow = {
  name: 'present',
  inputs: [
    'market.trades',
    'market.tickers',
    'market.funding',
    'market.liquidations',
    'alerts.inputs',
    'derived.flow',
    'derived.funding',
    'market.candles',
    'derived.signals',
    'derived.audit',
    'alerts.events',
    'control.gaps',
    'market.history',
  ],
  outputs: [],
  state: 'state.present',
  reads: presentReads,
  paceMs: 1_000,
  generation: 4,
  reason: 'the flow of the five minutes that run is held too',
  core: present,
}

type Taken = Pick<Entry, 'topic' | 'offset' | 'message'>

/** Folds one record in; of a kind that no present answer needs it changes nothing. */
export function takeIn(state: PresentState, { topic, offset, message }: Taken): void {
  if (topic === 'market.history') {
    if (message.type === 'venue_candle') applyPast(state, message.value)
    return
  }
  switch (message.type) {
    case 'mark':
      return applyMark(state, topic, message.value)
    case 'liquidation':
      return applyLiquidation(state, message.value, offset)
    case 'liquidation_risk':
      return applyRisk(state, message.value)
    case 'log_gap':
      return applyLogGap(state, offset, message.value)
    default:
      return applyNewest(state, message)
  }
}

/** What only replaces an older value of its key. */
function applyNewest(state: PresentState, message: Message): void {
  switch (message.type) {
    case 'spot_ticker':
      return applyTicker(state, message.value)
    case 'composite_price': {
      const { asset, time } = message.value
      if (time >= (state.price.get(asset)?.time ?? 0)) put(state, 'price', asset, message.value)
      return
    }
    case 'funding':
      return applyFunding(state, message.value)
    case 'settlement':
      return applySettlement(state, message.value)
    case 'long_short_ratio':
      return applyRatio(state, message.value)
    case 'contract_terms':
      return applyTerms(state, message.value)
    case 'gap':
      return applyGap(state, message.value)
    case 'flow':
      return applyFlow(state, message.value)
    case 'cvd':
      return applyCvd(state, message.value)
    case 'token':
      return put(state, 'token', message.value.id, message.value)
    case 'instrument':
      return applyInstrument(state, message.value)
    default:
  }
}

/** The higher version stands; but a higher generation that is not as far yet says nothing about the present. */
function isOlder<Value extends { readonly v: number }>(
  known: Value | undefined,
  value: Value,
  timeOf: (value: Value) => Micros,
): boolean {
  if (known === undefined) return false
  if (value.v < known.v) return true
  return generationOf(value.v) > generationOf(known.v) && timeOf(value) < timeOf(known)
}

function applyTicker(state: PresentState, ticker: SpotTicker): void {
  const { asset, instrument, received } = ticker
  const known = state.ticker.get(instrument)
  if (known !== undefined && known.received > received) return
  put(state, 'ticker', instrument, ticker)
  if (isHeldAgainst(ticker)) holdAgainst(state, asset, [...(state.against.get(asset) ?? []), ticker])
}

/** Of the tickers that perpetuals are held against, oldest first: the one at the newest funding, and those after it. */
function holdAgainst(state: PresentState, asset: string, tickers: readonly SpotTicker[]): void {
  const told = state.funding.get(asset)?.time ?? 0
  const [first, ...since] = tickers.slice(
    Math.max(
      0,
      tickers.findLastIndex(({ received }) => received <= told),
    ),
  )
  if (first !== undefined) put(state, 'against', asset, [first, ...since.slice(-AGAINST_MAX)])
}

function applyFunding(state: PresentState, funding: Funding): void {
  const { asset } = funding
  if (isOlder(state.funding.get(asset), funding, ({ time }) => time)) return
  put(state, 'funding', asset, funding)
  const tickers = state.against.get(asset)
  if (tickers?.[1] !== undefined && tickers[1].received <= funding.time) holdAgainst(state, asset, tickers)
}

function applySettlement(state: PresentState, { instrument, asset, settled_rate: rate, time }: Settlement): void {
  const others = (state.settled.get(instrument)?.rates ?? []).filter((known) => known.time !== time)
  const rates = [...others, { rate, time }].toSorted((a, b) => b.time - a.time).slice(0, SETTLED_MAX)
  put(state, 'settled', instrument, { asset, instrument, rates })
}

function applyRatio(state: PresentState, row: LongShortRatio): void {
  if (row.cohort !== 'top_traders' || row.basis !== 'positions') return
  if (row.time >= (state.ratio.get(row.instrument)?.time ?? 0)) put(state, 'ratio', row.instrument, row)
}

function applyTerms(state: PresentState, { instrument, interest_daily, received }: ContractTerms): void {
  if (received < (state.interest.get(instrument)?.received ?? 0)) return
  put(state, 'interest', instrument, { interest_daily, received })
}

function applyFlow(state: PresentState, row: Flow): void {
  applyOpen(state, row)
  const { asset, instrument, open_time, close_time } = row
  const known = state.traded.get(instrument)
  const first = Math.min(known?.first ?? open_time, open_time)
  const newest = Math.max(known?.newest ?? close_time, close_time)
  if (known?.first === first && known.newest === newest && known.asset === asset) return
  put(state, 'traded', instrument, { asset, instrument, first, newest })
}

function applyInstrument(state: PresentState, value: Instrument): void {
  const known = state.instrument.get(value.instrument)
  if (value.valid_from >= (known?.valid_from ?? 0)) put(state, 'instrument', value.instrument, value)
}

/** Rows of the buckets that are open, and of those that closed a moment ago. */
function applyOpen(state: PresentState, row: Flow): void {
  const { asset, instrument, bucket, part } = row
  const key = `${asset}|${instrument}|${bucket}|${part}`
  const isBehind = isOlder(state.open.get(key), row, ({ close_time }) => close_time)
  if (bucket < flowHeldFrom(state, asset) || isBehind) return
  put(state, 'open', key, row)
  leaveFirst(state, 'open', OPEN_MAX, (open) => open.bucket)
}

function applyCvd(state: PresentState, cvd: Cvd): void {
  const { asset } = cvd
  if (isOlder(state.cvd.get(asset), cvd, ({ closed }) => closed)) return
  const before = flowHeldFrom(state, asset)
  put(state, 'cvd', asset, cvd)
  const from = flowHeldFrom(state, asset)
  if (from === before) return
  for (const [key, row] of state.byAsset.open.get(asset) ?? []) if (row.bucket < from) drop(state, 'open', key)
}

/** Of an hour the archive stands, else the candle that was first in the log. */
function applyPast(state: PresentState, { asset, instrument, start, seconds, ...candle }: VenueCandle): void {
  const { source, volume, taker_buy: buy, quote, taker_buy_quote } = candle
  if (seconds !== PAST_SECONDS || buy === null || source === 'unknown') return
  const held = state.past.get(instrument) ?? { asset, instrument, hours: [] }
  const { hours } = held
  const oldest = Math.max(start, hours.at(-1)?.start ?? 0) - PAST_KEPT
  if (start < oldest) return
  const at = hours.findLastIndex((hour) => hour.start < start) + 1
  const known = hours[at]?.start === start ? hours[at] : undefined
  if (known?.source === 'archive' || known?.source === source) return
  // Where the source does not say what it is worth: at the mean of high, low and close.
  const price = (candle.high + candle.low + candle.close) / 3
  const buy_quote = taker_buy_quote ?? buy * price
  const sell_quote = quote === null || taker_buy_quote === null ? (volume - buy) * price : quote - taker_buy_quote
  const made: PastHour = { start, buy, sell: volume - buy, buy_quote, sell_quote, source }
  hours.splice(at, known === undefined ? 0 : 1, made)
  while ((hours[0]?.start ?? start) < oldest) hours.shift()
  put(state, 'past', instrument, held)
}

/** From where on all rows of an asset's buckets are held, a whole five minutes; 0: none of its buckets has closed. */
export function flowHeldFrom({ cvd }: PresentState, asset: string): Micros {
  const from = (cvd.get(asset)?.closed ?? FLOW_KEPT) - FLOW_KEPT
  return from - (from % FIVE)
}

/** Trades that were never counted; not what others could not read of the log, nor what was lost of what cvd wrote. */
function applyLogGap(state: PresentState, offset: number, { reader, topic, reason, from_time, to_time }: LogGap): void {
  if (reader !== 'cvd' || topic !== 'market.trades' || reason === 'output_cut') return
  put(state, 'lost', String(offset), { from: from_time, to: to_time })
  leaveFirst(state, 'lost', LOST_MAX, ({ to }) => to)
}

/** The newest word on a gap stands. */
function applyGap(state: PresentState, gap: Gap): void {
  const key = `${gap.instrument}|${gap.gap_id}`
  if (gap.time < (state.gap.get(key)?.time ?? 0)) return
  put(state, 'gap', key, gap)
  leaveFirst(state, 'gap', GAPS_MAX, ({ to_time }) => to_time)
}

/** Beyond `max` those of the earliest times go, a hundredth of all at once, so that not each further one looks through all. */
function leaveFirst<Kind extends HeldKind>(
  state: PresentState,
  kind: Kind,
  max: number,
  timeOf: (value: Held[Kind]) => Micros,
): void {
  const table = state[kind] as Map<string, Held[Kind]>
  if (table.size <= max) return
  const inOrder = [...table].sort(([, a], [, b]) => timeOf(a) - timeOf(b))
  for (const [key] of inOrder.slice(0, table.size - max + max / 100)) drop(state, kind, key)
}

function applyLiquidation(state: PresentState, value: Liquidation, offset: number): void {
  const newest = state.time.get('market.liquidations') ?? 0
  const key = stretchOf(value)
  const known = state.liquidations.get(key) ?? []
  if (known.some(({ id, instrument }) => id === value.id && instrument === value.instrument)) return
  if (!state.begun.has('')) put(state, 'begun', COUNTED, 0)
  if (value.received < (state.begun.get('') ?? Infinity)) put(state, 'begun', '', value.received)
  // a venue may tell an old one again, of a stretch that has left with its sums
  if (isOver(key, newest) || state.early.has(key)) return
  put(state, 'liquidations', key, [...known, { ...value, offset }])
  while (heldLiquidations(state) > LIQUIDATIONS_MAX && state.liquidations.size > 1) leaveEarly(state, oldestOf(state))
}

/**
 * Whether a liquidation that was folded in is held as the record at `offset`: not one that a venue told again, nor one of
 * before the window.
 */
export function isHeld(state: PresentState, value: Liquidation, offset: number): boolean {
  return state.liquidations.get(stretchOf(value))?.some((held) => held.offset === offset) === true
}

function stretchOf({ time }: Liquidation): string {
  return String(Math.floor(time / STRETCH))
}

/** The model counts anew where its start is another: what is held of before it does not count then. */
function applyRisk(state: PresentState, risk: LiquidationRisk): void {
  const { asset, since } = risk
  if (isOlder(state.risk.get(asset), risk, ({ time }) => time)) return
  put(state, 'risk', asset, risk)
  if (state.observed.get(asset)?.since !== since) put(state, 'observed', asset, { since, longUsd: 0, shortUsd: 0 })
}

function applyMark(state: PresentState, topic: TopicName, mark: Mark): void {
  const before = state.time.get(topic) ?? 0
  const time = Math.max(mark.time, before)
  put(state, 'time', topic, time)
  if (mark.run === 0) put(state, 'derived', mark.writer, Math.max(mark.time, state.derived.get(mark.writer) ?? 0))
  if (mark.venues.length > 0 || mark.changes.length > 0) applyFeed(state, topic, mark)
  if (topic === 'market.liquidations') leaveOld(state, time)
  if (Math.floor(time / MINUTE) > Math.floor(before / MINUTE)) leaveSilent(state, topic, time)
}

/** What a feed process says; of an earlier run of the same nothing counts any more. */
function applyFeed(state: PresentState, topic: TopicName, { writer, run, time, venues, changes }: Mark): void {
  const key = `${topic}|${writer}`
  const known = state.channels.get(key)
  if (known !== undefined && run < known.run) return
  if (known === undefined || run > known.run || time >= known.time)
    put(state, 'channels', key, { topic, writer, run, time, venues })
  if (topic !== 'market.trades') return
  if (known !== undefined && run > known.run) leaveWriter(state, writer)
  for (const change of changes) {
    const name = `${writer}|${change.instrument}`
    if (change.time >= (state.subscription.get(name)?.time ?? 0))
      put(state, 'subscription', name, { ...change, writer })
  }
}

function leaveWriter(state: PresentState, writer: string): void {
  for (const [key, held] of state.subscription) if (held.writer === writer) drop(state, 'subscription', key)
}

/** Once a minute: feed processes that said nothing on a topic for a day of it, and gaps that nobody asks for any more. */
function leaveSilent(state: PresentState, topic: TopicName, now: Micros): void {
  for (const [key, held] of state.channels) {
    if (held.topic !== topic || held.time >= now - DAY) continue
    drop(state, 'channels', key)
    if (topic === 'market.trades') leaveWriter(state, held.writer)
  }
  if (topic !== 'market.trades') return
  for (const [key, { to_time, state: is }] of state.gap)
    if (is !== 'opened' && to_time < now - GAP_KEPT) drop(state, 'gap', key)
}

function leaveOld(state: PresentState, now: Micros): void {
  for (const key of state.liquidations.keys()) if (isOver(key, now)) leave(state, key)
  for (const key of state.early.keys()) if (isOver(key, now)) drop(state, 'early', key)
}

function leaveEarly(state: PresentState, key: string): void {
  put(state, 'early', key, sumsOf(state.liquidations.get(key) ?? []))
  leave(state, key)
}

/** Whether a stretch is no longer held at `now`. */
function isOver(key: string, now: Micros): boolean {
  return (Number(key) + 2) * STRETCH < now - DAY
}

/** A stretch leaves the window: what the model still counts of it is kept as sums. */
function leave(state: PresentState, key: string): void {
  for (const { asset, side, value, time } of state.liquidations.get(key) ?? []) {
    const known = state.observed.get(asset)
    if (known === undefined || time < known.since) continue
    const longUsd = known.longUsd + (side === 'long' ? value : 0)
    const shortUsd = known.shortUsd + (side === 'short' ? value : 0)
    put(state, 'observed', asset, { ...known, longUsd, shortUsd })
  }
  drop(state, 'liquidations', key)
}

function oldestOf({ liquidations }: PresentState): string {
  let oldest = Infinity
  for (const key of liquidations.keys()) oldest = Math.min(oldest, Number(key))
  return String(oldest)
}

function heldLiquidations({ liquidations }: PresentState): number {
  let count = 0
  for (const stretch of liquidations.values()) count += stretch.length
  return count
}
