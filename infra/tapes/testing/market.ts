import type { Trade } from '../../../schemas/records.ts'
import type { LogRecord } from '../../kafka/seam.ts'
import { codec, FIRST_OFFSET } from './tapes.ts'

/** Bytes of the venues' frames that a trade takes on the wire, as recorded of the four trade venues. */
const FRAME_BYTES = 162
/** What a trade may take in a file with every column whole: an eighth of its frame. */
export const BYTES_MAX = FRAME_BYTES / 8

interface Market {
  readonly instrument: string
  readonly asset: string
  readonly tick: number
  /** Decimals of a size. */
  readonly decimals: number
  readonly price: number
}

const assets = [
  { asset: 'btc', price: 84_000, tick: 0.1 },
  { asset: 'eth', price: 2_690, tick: 0.01 },
] as const

const markets: readonly Market[] = assets.flatMap(({ asset, price, tick }) =>
  ['binance:perp', 'bybit:perp', 'okx:perp', 'coinbase:spot'].map((venue) => ({
    instrument: `${venue}:${asset.toUpperCase()}`,
    asset,
    price,
    tick,
    decimals: venue === 'coinbase:spot' ? 8 : 3,
  })),
)

/**
 * Trades of a partition as venues send them, the same for the same count: an order that takes several others at once makes
 * several trades of one time, times are whole milliseconds but at Coinbase, ids rise by one but at Bybit, where they are
 * random numbers of 52 bits, half of the sizes are a few lots.
 */
export function marketRecords(count: number): LogRecord[] {
  const random = randomOf(42)
  const state: State[] = markets.map((market) => ({
    market,
    ticks: Math.round(market.price / market.tick),
    id: 1_062_993_416,
    sequence: 753_844_070_492,
  }))
  const records: LogRecord[] = []
  let time = 1_795_296_000_000_000
  while (records.length < count) {
    const own = state[Math.floor(random() * state.length)]
    if (own === undefined) break
    time += Math.floor(-Math.log(1 - random()) * 35) * 1000
    own.ticks += Math.round((random() - 0.5) * 90)
    const at = own.market.decimals === 8 ? time + Math.floor(random() * 1000) : time
    const order = {
      taker: random() < 0.5 ? 'buy' : 'sell',
      time: at,
      received: at + 2000 + Math.floor(random() * 12) * 1000,
    } as const
    for (let left = 1 + Math.floor(random() ** 3 * 4); left > 0; left--) {
      if (random() < 0.4) own.ticks += order.taker === 'buy' ? 1 : -1
      own.id += 1
      own.sequence += 1 + Math.floor(random() ** 2 * 30)
      records.push(recordOf(FIRST_OFFSET + records.length, tradeOf(own, order, random)))
    }
  }
  return records.slice(0, count)
}

interface State {
  readonly market: Market
  ticks: number
  id: number
  sequence: number
}
type Order = Pick<Trade, 'taker' | 'time' | 'received'>

function tradeOf({ market, ticks, id, sequence }: State, order: Order, random: () => number): Trade {
  const { instrument, asset, tick, decimals } = market
  const first = instrument.startsWith('bybit') ? Math.floor(random() * 2 ** 52) : id
  const isSmall = decimals === 3 && random() < 0.5
  const price = Number((ticks * tick).toFixed(2))
  const lots = isSmall ? 1 + Math.floor(random() * 5) : Math.ceil(Math.exp(random() * 4 - 3) * 10 ** decimals)
  const size = Number((lots / 10 ** decimals).toFixed(decimals))
  return {
    instrument,
    asset,
    first_id: first,
    last_id: first,
    count: instrument.startsWith('binance') && random() < 0.3 ? 2 + Math.floor(random() * 4) : 1,
    sequence: instrument.startsWith('okx') || instrument.startsWith('binance') ? null : sequence,
    price,
    size,
    quote: price * size,
    size_factor: 1,
    price_factor: 1,
    origin: 'stream',
    gap_id: null,
    ...order,
  }
}

function recordOf(offset: number, trade: Trade): LogRecord {
  const value = codec.encode('market.trades', 'trade', trade)
  return { offset, time: Math.floor(trade.received / 1000), key: Buffer.from(trade.asset), value }
}

/** Numbers from 0 to below 1 that look random (mulberry32, public domain, by T. Ettinger). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    const mixed = Math.imul(state ^ (state >>> 15), state | 1)
    const more = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61))
    return ((more ^ (more >>> 14)) >>> 0) / 2 ** 32
  }
}
