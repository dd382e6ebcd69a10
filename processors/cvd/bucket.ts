import type { Flow, Micros, Trade } from '../../schemas/records.ts'

/** Width of a bucket, microseconds. */
export const BUCKET: Micros = 10_000_000

/**
 * Trades of one instrument in one 10 s bucket that came the same way: the stream (part 0) or one gap's backfill.
 * Absolute figures, in the fields of the record that is made of them.
 */
export interface Part {
  readonly part: number
  buy: number
  sell: number
  buy_quote: number
  sell_quote: number
  buy_count: number
  sell_count: number
  open: number
  high: number
  low: number
  close: number
  open_time: Micros
  close_time: Micros
  first_id: number
  last_id: number
  v: number
  /** It changed since it was last emitted. */
  isHeldBack: boolean
}

/** The bucket that a venue time falls into, in buckets since the Unix epoch. */
export function bucketIndex(time: Micros): number {
  return Math.floor(time / BUCKET)
}

export function newPart(part: number, { price, time, first_id, last_id }: Trade): Part {
  return {
    part,
    buy: 0,
    sell: 0,
    buy_quote: 0,
    sell_quote: 0,
    buy_count: 0,
    sell_count: 0,
    open: price,
    high: price,
    low: price,
    close: price,
    open_time: time,
    close_time: time,
    first_id,
    last_id,
    v: 0,
    isHeldBack: false,
  }
}

/** Adds a trade. Trades come in log order, so of equal venue times the first opens and the last closes. */
export function fold(part: Part, trade: Trade, v: number): void {
  if (trade.taker === 'buy') {
    part.buy += trade.size
    part.buy_quote += trade.quote
    part.buy_count += 1
  } else {
    part.sell += trade.size
    part.sell_quote += trade.quote
    part.sell_count += 1
  }
  foldPrice(part, trade.price, trade.time)
  if (trade.first_id < part.first_id) part.first_id = trade.first_id
  if (trade.last_id > part.last_id) part.last_id = trade.last_id
  part.v = v
}

function foldPrice(part: Part, price: number, time: Micros): void {
  if (price > part.high) part.high = price
  if (price < part.low) part.low = price
  if (time < part.open_time) {
    part.open = price
    part.open_time = time
  }
  if (time >= part.close_time) {
    part.close = price
    part.close_time = time
  }
}

/** The record of a part as it stands. Field by field: a rest of the part would cost several times as much. */
export function flowOf(owner: Pick<Flow, 'asset' | 'instrument'>, index: number, part: Part, final: boolean): Flow {
  return {
    asset: owner.asset,
    instrument: owner.instrument,
    bucket: index * BUCKET,
    part: part.part,
    buy: part.buy,
    sell: part.sell,
    buy_quote: part.buy_quote,
    sell_quote: part.sell_quote,
    buy_count: part.buy_count,
    sell_count: part.sell_count,
    open: part.open,
    high: part.high,
    low: part.low,
    close: part.close,
    open_time: part.open_time,
    close_time: part.close_time,
    first_id: part.first_id,
    last_id: part.last_id,
    final,
    v: part.v,
  }
}

/** Kafka key of a flow record. */
export function flowKey({ asset, instrument, bucket, part }: Flow): string {
  return `${asset}|${instrument}|${bucket}|${part}`
}
