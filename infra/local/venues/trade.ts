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
  /** Binance `a`, OKX `tradeId`, Coinbase `trade_id`: up by one. Bybit: its cross sequence, which has holes. */
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
