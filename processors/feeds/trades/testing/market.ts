import { localCodec } from '../../../../schemas/codec.ts'
import type { Gap, Mark, Message, Micros, Trade } from '../../../../schemas/records.ts'
import { listed } from '../../../../schemas/testing/instrument.ts'
import type { RepairOptions, RepairReport, TradeLog } from '../id-repair.ts'
import type { VenueTrade } from '../../venues/events.ts'
import type { Rest, RestCall, RestOutcome, TradeStream } from '../../venues/venue.ts'
import { trades as okx } from '../../venues/okx/trades.ts'

/** A market in memory for the tests of the repair: trades 1, 2, 3 ... of one instrument, a REST that pages, and a log. */
export const second = 1_000_000
export const start = 1_700_000_000 * second

export const instrument = listed('okx:perp:BTC-USDT-SWAP')

/** Trade number `id`, one a second. */
export function tradeAt(id: number): VenueTrade {
  const { symbol } = instrument
  return { symbol, id, count: 1, sequence: null, price: '2', size: '3', taker: 'buy', time: start + id * second }
}

/** OKX's, Binance's or Kraken's way of paging over the ids that `served` has. */
export function pagingVenue(
  direction: 'forward' | 'since' | 'backward',
  pageSize: number,
  ids: TradeStream['ids'] = 'contiguous',
): TradeStream {
  return {
    ...okx,
    ids,
    backfill: {
      direction,
      pageSize,
      page: (_symbol, from, to, since): RestCall => ({
        path: direction === 'since' ? `${Math.max(1, Math.ceil((since - start) / second))}:` : `${from}:${to}`,
        cost: 1,
      }),
      newest: (): RestCall => ({ path: 'newest', cost: 1 }),
      parse: (_symbol, body) => ({ kind: 'rows', rows: body as VenueTrade[] }),
    },
  }
}

export type Answer = 'rows' | Exclude<RestOutcome<never>, { kind: 'rows' }>

/** A REST over the trades that `has` says; `answer` decides what each call comes to. */
export function memoryRest(
  venue: TradeStream,
  has: (id: number) => boolean,
  newest: () => number,
  answer: (call: number) => Answer = () => 'rows',
): Rest & { readonly calls: number } {
  let calls = 0
  return {
    get calls() {
      return calls
    },
    async get(call, parse) {
      const outcome = answer(calls++)
      if (outcome !== 'rows') return outcome
      const rows: VenueTrade[] = []
      const { direction, pageSize } = venue.backfill
      const isNewest = call.path === 'newest'
      const [from = 0, to = 0] = isNewest ? [0, Infinity] : call.path.split(':').map(Number)
      const step = direction === 'backward' || isNewest ? -1 : 1
      for (let id = step > 0 ? from : Math.min(to, newest()); rows.length < pageSize && id > 0; id += step) {
        if (id > newest()) break
        if (has(id)) rows.push(tradeAt(id))
      }
      const parsed = parse(rows)
      return parsed.kind === 'rows' ? parsed : { kind: 'failed', message: 'unexpected' }
    },
  }
}

/** A log in memory, with what it holds decoded. */
export class MemoryFeedLog implements TradeLog {
  readonly #codec = localCodec()
  readonly messages: { message: Message; time: number }[] = []

  trade(trade: Trade): void {
    this.#keep(this.#codec.encode('market.trades', 'trade', trade), trade.received)
  }

  gap(gap: Gap): void {
    this.#keep(this.#codec.encode('market.trades', 'gap', gap), gap.time)
  }

  mark(_partition: number, mark: Mark): void {
    this.#keep(this.#codec.encode('market.trades', 'mark', mark), mark.time)
  }

  #keep(value: Buffer, time: Micros): void {
    this.messages.push({ message: this.#codec.decode(value), time: Math.floor(time / 1_000) })
  }

  get trades(): Trade[] {
    return this.messages.flatMap(({ message }) => (message.type === 'trade' ? [message.value] : []))
  }

  /** The newest state of each gap. */
  get gaps(): Gap[] {
    return [...new Map(this.gapRecords.map((gap) => [gap.gap_id, gap])).values()]
  }

  /** All records of gaps, in the log's order. */
  get gapRecords(): Gap[] {
    return this.messages.flatMap(({ message }) => (message.type === 'gap' ? [message.value] : []))
  }
}

const silentReport: RepairReport = {
  gap: () => undefined,
  anew: () => undefined,
  backfilled: () => undefined,
  refused: () => undefined,
  trouble: () => undefined,
}

/** Repair options whose time stands still but for the waits, which cost none. */
export function repairOptions(venue: TradeStream, rest: Rest, log: MemoryFeedLog, now: { ms: number }): RepairOptions {
  return {
    backfill: venue.backfill,
    rest,
    log,
    clock: { now: () => now.ms * 1_000, see: () => undefined },
    feed: 'test',
    wait: async (ms) => {
      now.ms += ms
    },
    ticks: () => now.ms,
    random: () => 0.5,
    room: async () => undefined,
    report: silentReport,
  }
}

/** Lets everything that is waiting for a promise go on until nothing changes any more. */
export async function settled(pending: () => number): Promise<void> {
  for (let turn = 0; turn < 100_000 && pending() > 0; turn++) await Promise.resolve()
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
}
