import { emptyFields } from '../../schemas/codec.ts'
import type { FlowHour, Micros, Trade } from '../../schemas/records.ts'
import { BUCKET, type Part } from './bucket.ts'
import { cvd } from './cvd.ts'
import { addPrices, addVolume } from './hours.ts'
import { emptyState } from './state.ts'

const MINUTE: Micros = 60_000_000
const HOUR: Micros = 3_600_000_000

/** What the core says of one minute or hour: the fields that add up. */
type FlowSums = Omit<FlowHour, 'asset' | 'instrument' | 'hour' | 'part' | 'final' | 'v'>

/** A minute or an hour of an instrument's past trades. */
export interface PastFlow extends FlowSums {
  readonly start: Micros
  /** 60 or 3600. */
  readonly seconds: number
}

/**
 * The flow of an instrument's past trades: the core that counts live trades, on a state of its own. The trades are what
 * moves its time, so that it holds two hours of them at most. One instrument, trades nearly in order of time.
 */
export class ArchiveFold {
  readonly #state = emptyState()
  /** By the core's own keys: a later row replaces an earlier one. */
  readonly #buckets = new Map<string, FlowSums & { readonly bucket: Micros }>()
  readonly #hours = new Map<string, FlowHour>()
  #offset = 0
  #markedAt = 0

  add(trade: Trade): void {
    this.#apply({ type: 'trade', value: trade })
    if (trade.time >= this.#markedAt + BUCKET) this.#mark(trade.time)
  }

  /** Why trades were not counted, and how many. */
  get refused(): Readonly<Record<string, number>> {
    return this.#state.refused
  }

  /** All of it, oldest first; nothing is added after this. */
  end(): PastFlow[] {
    this.#mark(this.#state.time + 2 * HOUR)
    const minutes = [...Map.groupBy(this.#buckets.values(), ({ bucket }) => Math.floor(bucket / MINUTE) * MINUTE)]
    const hours = [...Map.groupBy(this.#hours.values(), ({ hour }) => hour)]
    return [
      ...minutes.map(([start, rows]) => ({ start, seconds: 60, ...sumOf(rows) })),
      ...hours.map(([start, rows]) => ({ start, seconds: 3_600, ...sumOf(rows) })),
    ].sort((a, b) => a.seconds - b.seconds || a.start - b.start)
  }

  #mark(time: Micros): void {
    this.#markedAt = time
    const mark = { ...emptyFields('mark'), writer: 'archive', run: 0, time }
    this.#apply({ type: 'mark', value: mark })
  }

  #apply(message: Parameters<typeof cvd.apply>[1]['message']): void {
    const offset = this.#offset++
    const entry = { topic: 'market.trades', offset, time: 0, message } as const
    cvd.apply(this.#state, entry, { partition: 0, v: offset, partitionTime: this.#state.time }, (output) => {
      if (output.topic !== 'derived.flow') return
      const { type, value } = output.message
      if (type === 'flow') this.#buckets.set(output.key, value)
      else if (type === 'flow_hour') this.#hours.set(output.key, value)
    })
    cvd.forget?.(this.#state)
  }
}

/** Of rows of one time, one at least. */
function sumOf(rows: readonly FlowSums[]): FlowSums {
  const parts = rows.map((row): Part => ({ ...told(row), part: 0, v: 0, isHeldBack: false }))
  const [sum, ...rest] = parts
  if (sum === undefined) throw new Error('a time without a row')
  for (const part of rest) {
    addVolume(sum, part)
    addPrices(sum, part)
  }
  return told(sum)
}

function told(row: FlowSums): FlowSums {
  const { buy, sell, buy_quote, sell_quote, buy_count, sell_count, open, high, low, close } = row
  const { open_time, close_time, first_id, last_id } = row
  const volumes = { buy, sell, buy_quote, sell_quote, buy_count, sell_count }
  return { ...volumes, open, high, low, close, open_time, close_time, first_id, last_id }
}
