import { hash, mark, SECOND, T0, trade } from '../../../processors/cvd/testing/records.ts'
import { premium, rate, ratio, says, settlement, terms } from '../../../processors/funding/testing/records.ts'
import { range as priceRange, ticker, markets } from '../../../processors/prices/testing/records.ts'
import type { Codec } from '../../../schemas/codec.ts'
import type { Message, RecordType } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import { priceVenues } from '../../../schemas/venues.ts'
import type { OutRecord } from '../../../infra/kafka/seam.ts'

/** Twenty minutes of BTC for the tests of backtests: every record type that the processors read, at times of its own. */

export const SECONDS = 1_200
export { T0 }

/** A wave of 2 % within ten minutes, with noise. */
export function priceAt(second: number): number {
  return 60_000 * (1 + 0.02 * Math.sin((second / 600) * 2 * Math.PI)) + (hash(second) % 100) / 10
}

interface Told {
  readonly topic: TopicName
  /** Record time, milliseconds. */
  readonly time: number
  readonly message: Message
}

function* history(): Generator<Told> {
  const start = T0 / 1000
  yield {
    topic: 'market.funding',
    time: start,
    message: terms({
      max_leverage: 125,
      margin_tiers: [
        { up_to: 50_000, rate: 0.004, deduction: 0 },
        { up_to: null, rate: 0.01, deduction: 300 },
      ],
    }),
  }
  for (let second = 0; second < SECONDS; second++) {
    const time = start + second * 1_000
    for (const message of tradesOf(second)) yield { topic: 'market.trades', time: time + 100, message }
    for (const message of tickersOf(second)) yield { topic: 'market.tickers', time: time + 200, message }
    for (const message of fundingOf(second)) yield { topic: 'market.funding', time: time + 300, message }
    for (const topic of ['market.trades', 'market.tickers', 'market.funding'] as const) {
      yield { topic, time: time + 900, message: markAt(second) }
    }
  }
}

function markAt(second: number): Message<'mark'> {
  const { value } = mark(T0 + second * SECOND + 900_000)
  const since = T0
  const changes =
    second === 5 ? [{ instrument: 'binance:perp:BTCUSDT', asset: 'btc', state: 'acknowledged', time: T0 } as const] : []
  return {
    type: 'mark',
    value: { ...value, venues: [{ venue: 'binance', state: 'live', sockets: 2, since }], changes },
  }
}

/** Three trades a second; of one second in a hundred a gap that is filled a minute later. */
function tradesOf(second: number): Message<'trade'>[] {
  const isLost = (at: number): boolean => at % 100 === 50
  const of = (at: number, origin: 'stream' | 'backfill'): Message<'trade'>[] =>
    [0, 1, 2].map((place) => {
      const seed = hash(at * 3 + place)
      const time = T0 + at * SECOND + place * 1_000
      return trade({
        instrument: place === 2 ? 'bybit:perp:BTCUSDT' : 'binance:perp:BTCUSDT',
        first_id: place === 2 ? seed : at * 2 + place + 1,
        time,
        received: T0 + second * SECOND + 100_000,
        price: priceAt(at),
        size: (1 + (seed % 999)) / 1000,
        taker: (seed >> 3) % 5 < (at % 600 < 300 ? 3 : 2) ? 'buy' : 'sell',
        origin,
        gap_id: origin === 'backfill' ? at * 2 + 1 : null,
      })
    })
  const late = second >= 60 && isLost(second - 60) ? of(second - 60, 'backfill') : []
  return isLost(second) ? late : [...late, ...of(second, 'stream')]
}

function tickersOf(second: number): Message<'spot_ticker' | 'price_range'>[] {
  const received = T0 + second * SECOND + 200_000
  const ranges = second === 700 ? [priceRange('binance', 600, 660, 59_000, 61_000)] : []
  const tickers = priceVenues.map((venue, index) =>
    ticker({
      instrument: markets[venue],
      price: priceAt(second) + index,
      change_24h: index === 0 ? -0.5 : null,
      received,
    }),
  )
  return [...ranges, ...tickers]
}

function fundingOf(second: number): Message[] {
  const after = second * SECOND + 300_000
  const price = priceAt(second)
  const received = T0 + after
  const groups = { mark: price, index: price - 3, mark_time: received, received }
  const told: Message[] = [
    says({ ...groups, open_interest: 50_000 + (hash(second) % 900), open_interest_time: received }),
  ]
  if (second % 5 === 0) told.push(rate(0.0001 + (hash(second) % 50) / 1e6, after))
  if (second % 60 === 59) told.push(premium((hash(second) % 100) / 1e6, Math.floor(second / 60)))
  if (second === 30) told.push(settlement(0.0001, 0), settlement(0.0001, 0), ratio('binance', 1.4, after))
  return told
}

/** The history as records of each topic, in order; a record type stands under its own topic's id. */
export function recordsOf(codec: Codec): Map<TopicName, OutRecord[]> {
  const records = new Map<TopicName, OutRecord[]>()
  for (const { topic, time, message } of history()) {
    const value = codec.encode<RecordType>(topic, message.type, message.value)
    const known = records.get(topic) ?? []
    records.set(topic, known)
    known.push({ key: 'btc', value, time })
  }
  return records
}
