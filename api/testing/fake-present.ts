import { takeIn } from '../../processors/present/present.ts'
import { emptyPresent, put, type Channels, type PresentState } from '../../processors/present/state.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import type { Message, RecordType, Records } from '../../schemas/records.ts'
import { listed } from '../../schemas/testing/instrument.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { Present } from '../present/present.ts'
import type { PresentSource } from '../present/present-table.ts'
import { instrumentOf, type FakeCandle, type FakeDatabase, type FakeFlow } from './fake-database.ts'
import { plainCvd } from './plain-cvd.ts'

/** The present that follows from the facts that a test has put into the views in memory, as they are at each look. */
export function fakePresent(fake: FakeDatabase, partitions: number): PresentSource {
  return {
    asked: () => undefined,
    get now() {
      const states = Array.from({ length: partitions }, emptyPresent)
      const common = emptyPresent()
      fillMarket(fake, states, common)
      fillTrades(fake, states)
      fillWorld(fake, states)
      for (const row of fake.instruments.map(listingOf)) put(common, 'instrument', row.instrument, row)
      const position = new Map([
        ['derived.flow', [7, 9]],
        ['market.tokens', [3]],
      ])
      return new Present(() => states, common, position)
    },
  }
}

type Listing = FakeDatabase['instruments'][number]

function listingOf({ asset, venue, market, base, live }: Listing): Records['instrument'] {
  return listed(`${venue}:${market}:${base}`, { asset, base, status: live ? 'live' : 'closed' })
}

function fillMarket({ market }: FakeDatabase, states: readonly PresentState[], common: PresentState): void {
  const take = <Type extends RecordType>(topic: TopicName, type: Type, rows: readonly Records[Type][]): void => {
    for (const [index, value] of rows.entries()) {
      const asset = 'asset' in value && typeof value.asset === 'string' ? value.asset : ''
      const state = states[partitionOf(asset, states.length)] ?? common
      const message = { type, value } as Message // the two belong together
      takeIn(state, { topic, offset: 'offset' in value ? value.offset : index, message })
    }
  }
  take('market.tickers', 'spot_ticker', market.tickers)
  take('alerts.inputs', 'composite_price', market.prices)
  take('alerts.inputs', 'liquidation_risk', market.risks)
  take('derived.funding', 'funding', market.funding)
  take('market.funding', 'settlement', market.settlements)
  take('market.funding', 'long_short_ratio', market.ratios)
  take('market.liquidations', 'liquidation', market.liquidations)
  for (const { instrument, interest_daily } of market.terms)
    for (const state of states) put(state, 'interest', instrument, { interest_daily, received: 0 })
  for (const token of market.tokens) put(common, 'token', token.id, token)
}

function fillTrades(
  { flows, pasts, gaps, times, unsubscribed, logGaps }: FakeDatabase,
  states: readonly PresentState[],
): void {
  for (const [asset, own] of Map.groupBy(flows, (row) => row.asset)) {
    const partition = partitionOf(asset, states.length)
    const state = states[partition]
    if (state === undefined) continue
    const told = times.find((row) => row.topic === 'derived.flow' && row.partition === partition)
    const take = (message: Message): void => takeIn(state, { topic: 'derived.flow', offset: 0, message })
    const rows = own.map(rowOf)
    const ended = unsubscribed.map(({ from, next, ...row }) => ({ instrument: instrumentOf(row), from, to: next }))
    if (told !== undefined) take({ type: 'cvd', value: plainCvd(asset, rows, { now: told.time, unsubscribed: ended }) })
    for (const value of rows) take({ type: 'flow', value })
  }
  for (const [offset, value] of pasts.map(candleOf).entries()) {
    const state = states[partitionOf(value.asset, states.length)]
    const message = { type: 'venue_candle', value } as const
    if (state !== undefined) takeIn(state, { topic: 'market.history', offset, message })
  }
  for (const [offset, { from, to, reason, ...gap }] of logGaps.entries()) {
    const value = { ...gap, position: 0, next: 0, shift: 0, from_time: from, to_time: to }
    const message = { type: 'log_gap', value: { ...value, reason: reason as Records['log_gap']['reason'] } } as const
    const state = states[gap.partition]
    if (state !== undefined) takeIn(state, { topic: 'control.gaps', offset, message })
  }
  for (const [index, gap] of gaps.entries()) {
    const state = states[partitionOf(gap.asset, states.length)]
    if (state === undefined) continue
    const ids = { gap_id: index, from_id: null, to_id: null, missing: gap.missing }
    const times = { from_time: gap.from, to_time: gap.to, time: gap.to }
    const is = gap.state as Records['gap']['state'] // the facts have the log's words
    put(state, 'gap', `${index}`, {
      instrument: instrumentOf(gap),
      asset: gap.asset,
      state: is,
      reason: 'missing_ids',
      feed: 'feeds',
      ...ids,
      ...times,
    })
  }
}

/** The row of a fact: one price, and taker buys only counted. */
export function rowOf({ venue, price, ...row }: FakeFlow): Records['flow'] {
  const prices = { open: price, high: price, low: price, close: price, buy_quote: row.buy * price }
  const ids = { buy_count: 1, sell_count: 0, first_id: 1, last_id: 2, final: true, v: 1 }
  return { ...row, ...prices, ...ids, sell_quote: row.sell * price, instrument: instrumentOf({ ...row, venue }) }
}

/** The record of a fact: what it is worth is not said. */
export function candleOf({ takerBuy, isArchive, venue, ...candle }: FakeCandle): Records['venue_candle'] {
  const { asset, start, seconds, open, close, volume } = candle
  const prices = { open, close, high: Math.max(open, close), low: Math.min(open, close) }
  const source = isArchive === true ? ('archive' as const) : ('venue_candles' as const)
  const unsaid = { quote: null, taker_buy_quote: null, trades: takerBuy === null ? null : 1 }
  const fields = { instrument: instrumentOf({ asset, venue }), asset, start, seconds, source, received: start }
  return { ...fields, ...prices, ...unsaid, volume, taker_buy: takerBuy }
}

/** What marks say, each in the partition that it is of. */
function fillWorld(
  { times, derived, channels, reports, subscriptions }: FakeDatabase,
  states: readonly PresentState[],
): void {
  const [first] = states
  if (first === undefined) return
  for (const { topic, partition, time } of times) {
    const state = states[partition]
    if (state !== undefined) put(state, 'time', topic, time)
  }
  for (const { processor, time } of derived) for (const state of states) put(state, 'derived', processor, time)
  const trades = reports.map((row) => ({ ...row, topic: 'market.trades' }))
  const rows = [...channels.filter(({ topic }) => topic !== 'market.trades'), ...trades]
  for (const [key, rowsOfWriter] of Map.groupBy(rows, ({ topic, writer }) => `${topic}|${writer}`)) {
    const [row] = rowsOfWriter
    if (row === undefined) continue
    const { topic, writer } = row
    const venues = rowsOfWriter.map(({ venue, state, sockets, since }) => ({ venue, state, sockets, since }))
    const time = Math.max(...rowsOfWriter.map((each) => each.time))
    put(first, 'channels', key, { topic, writer, run: 0, time, venues } as Channels) // the facts have the log's words
  }
  for (const { writer, instrument, asset, state: is, since } of subscriptions) {
    const state = states[partitionOf(asset, states.length)]
    const change = { writer, instrument, asset, state: is, time: since } as Parameters<typeof put<'subscription'>>[3]
    if (state !== undefined) put(state, 'subscription', `${writer}|${instrument}`, change)
  }
}
