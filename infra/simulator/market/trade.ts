import type { Market } from './markets.ts'
import type { Random } from './random.ts'

/** Microseconds since 1970. */
export type Micros = number

/** What happens on a market, before the venue gives it an id. Prices and sizes in the market's whole units. */
export interface Fill {
  readonly time: Micros
  readonly price: number
  readonly size: number
  /** The taker bought. */
  readonly buy: boolean
  /** Orders that were filled at this price in one go. */
  readonly fills: number
  /** Bybit: a block trade, arranged off the book. It is no taker flow, so it never enters the ledger. */
  readonly block: boolean
  /** Filled by a retail price improvement order. */
  readonly rpi: boolean
}

/** One record of a venue's trade stream. */
export interface Trade {
  readonly time: Micros
  readonly price: number
  readonly size: number
  readonly buy: boolean
  readonly block: boolean
  readonly rpi: boolean
  /** Binance `a`, OKX `tradeId`, Coinbase and Kraken `trade_id`: up by one. Bybit: its cross sequence, which has holes. */
  readonly id: number
  /** Binance: the raw trade ids merged into this one. Coinbase: maker and taker order numbers. Otherwise 0. */
  readonly first: number
  readonly last: number
  /** Coinbase `sequence`, OKX `seqId`; 0 elsewhere. */
  readonly sequence: number
  /** Bybit: 128 bits of its UUID as four unsigned numbers; otherwise undefined. */
  readonly uuid: readonly [number, number, number, number] | undefined
  /** Bybit `L`: whether the price went up (2), stayed after a rise (1), stayed after a fall (-1) or fell (-2). */
  readonly direction: number
}

/** Gives fills their venue's ids, going on from the market's last trade. */
export function numberedAfter(
  last: Trade | undefined,
  market: Market,
  fills: readonly Fill[],
  random: Random,
): Trade[] {
  let previous = last
  return fills.map((fill) => {
    previous = numbered(previous, market, fill, random)
    return previous
  })
}

function numbered(previous: Trade | undefined, market: Market, fill: Fill, random: Random): Trade {
  const { time, price, size, buy, block, rpi } = fill
  const common = { time, price, size, buy, block, rpi, direction: directionOf(previous, price) }
  const none = { first: 0, last: 0, sequence: 0, uuid: undefined }
  const next = (previous?.id ?? market.firstId) + 1
  switch (market.venue) {
    case 'binance': {
      // Fills of the insurance fund and ADL take raw ids but are in no aggregate: `f` skips now and then.
      const first = (previous?.last ?? 8_154_045_700) + (random.chance(0.002) ? 1 + random.below(3) : 0) + 1
      return { ...common, ...none, id: next, first, last: first + fill.fills - 1 }
    }
    case 'bybit': {
      // One taker order's trades share a cross sequence; it counts more than trades, so it jumps.
      const together = previous !== undefined && previous.time === time && previous.buy === buy
      const id = together ? previous.id : (previous?.id ?? market.firstId) + 1 + random.below(500)
      return { ...common, ...none, id, uuid: randomUuid(random) }
    }
    case 'okx':
      return { ...common, ...none, id: next, sequence: (previous?.sequence ?? 81_625_379_835) + 1 + random.below(40) }
    case 'coinbase': {
      const sequence = (previous?.sequence ?? 134_905_859_981) + 1 + random.below(200)
      const same = previous !== undefined && previous.time === time && previous.buy === buy
      return { ...common, ...none, id: next, sequence, first: next, last: same ? previous.last : next }
    }
    case 'binance_spot': {
      const first = (previous?.last ?? 745_522_876) + 1
      return { ...common, ...none, id: next, first, last: first + fill.fills - 1 }
    }
    default:
      return { ...common, ...none, id: market.idStep === undefined ? next : next + random.below(market.idStep) }
  }
}

function directionOf(previous: Trade | undefined, price: number): number {
  if (previous === undefined || price > previous.price) return 2
  if (price < previous.price) return -2
  return previous.direction > 0 ? 1 : -1
}

/** Version 5, as Bybit's are. */
function randomUuid(random: Random): readonly [number, number, number, number] {
  const second = ((random.bits() & 0xffff0fff) | 0x5000) >>> 0
  const third = ((random.bits() & 0x3fffffff) | 0x80000000) >>> 0
  return [random.bits(), second, third, random.bits()]
}
