import { setTimeout as delay } from 'node:timers/promises'
import { Follower, positionsAt } from '../../../infra/kafka/follower.ts'
import type { Log, LogReader, Position } from '../../../infra/kafka/seam.ts'
import type { Logger } from '../../../infra/log.ts'
import type { Message, Micros, Subscription } from '../../../schemas/records.ts'
import { knownAsset, knownAssets } from '../../../schemas/catalogue.ts'
import { otherLogFrom } from '../../kernel/position-check.ts'
import type { PastOrders } from '../facts/past-orders.ts'
import { Readback, type ReadbackPorts } from './readback.ts'

const WANTS = { topic: 'control.subscriptions', partitions: 1 } as const
const ORDERS = { topic: 'control.backfill', partitions: 1 } as const
const GAPS = 'control.gaps'

interface ControlOptions {
  readonly kafka: Pick<Log, 'reader'>
  readonly readback: ReadbackPorts
  readonly partitions: number
  readonly log: Logger
  readonly wants: Wants
  readonly orders: PastOrders
  /** Somebody found that `market.trades` lost its tail. */
  readonly lost: () => void
}

/**
 * Follows what others say to feeds: which assets are wanted, from the start of `control.subscriptions`; which past was
 * ordered, from the start of `control.backfill`; and from now on,
 * in `control.gaps`, that trades which were written are gone. A feed process finds that itself where the lost ones were its
 * own; those of another process may lie under what it wrote since. Resolves when all wants and orders of the call were heard.
 */
export async function followControl(options: ControlOptions): Promise<{ close(): Promise<void> }> {
  const { kafka, readback, partitions, log, wants, lost } = options
  const asking = kafka.reader()
  const startOf = (topic: string): Promise<Position[]> =>
    positionsAt(asking, topic === ORDERS.topic ? ORDERS : WANTS, 'start')
  const readers = new Map<string, Readback>(
    ([WANTS.topic, ORDERS.topic, GAPS] as const).map((topic) => [topic, new Readback(topic, readback)]),
  )
  const follower = new Follower({
    reader: kafka.reader(),
    log,
    take: async (record, { topic }) => {
      for (const { message } of (await readers.get(topic)?.read([record])) ?? []) {
        if (topic === ORDERS.topic) takeOrder(options, keyOf(record), message)
        else if (topic === WANTS.topic)
          wants.apply(keyOf(record), message?.type === 'subscription' ? message.value : null)
        else if (
          message?.type === 'log_gap' &&
          message.value.topic === 'market.trades' &&
          message.value.reason === 'cut'
        )
          lost()
      }
    },
    differsAt: otherLogFrom(asking, delay),
    onMissed: async ({ topic, partition }) => {
      // One that was taken back meanwhile lapses by itself.
      if (topic !== GAPS) return startOf(topic)
      lost()
      return endOf(asking, { topic, partition })
    },
  })
  const ends = [...(await positionsAt(asking, WANTS, 'end')), ...(await positionsAt(asking, ORDERS, 'end'))]
  const gaps = await positionsAt(asking, { topic: GAPS, partitions }, 'end')
  follower.start([...(await startOf(WANTS.topic)), ...(await startOf(ORDERS.topic)), ...gaps])
  await follower.reach(ends)
  return {
    close: async () => {
      await follower.close()
      await asking.close()
    },
  }
}

/** The topic also holds how far the past is, which whoever reads it back looks at by itself. */
function takeOrder({ orders, log }: ControlOptions, key: string, message: Message | null): void {
  if (!key.startsWith('order|')) return
  const isTaken = orders.apply(key, message?.type === 'backfill_order' ? message.value : null)
  const mend = 'take some back: npm run backfill -- --symbols A,B --cancel'
  if (!isTaken) log.error({ order: key, mend }, 'too many orders of the past: one is left out')
}

async function endOf(
  reader: LogReader,
  { topic, partition }: { readonly topic: string; readonly partition: number },
): Promise<Position[]> {
  const offset = (await reader.offsets(topic, [partition], 'end')).get(partition) ?? 0
  return [{ topic, partition, offset }]
}

function keyOf({ key }: { readonly key: Buffer | null }): string {
  return key?.toString('utf8') ?? ''
}

/** Wants kept at once; beyond it new ones are not taken, so that nobody can make us subscribe without end. */
export const maxWants = 20_000

/** Which assets are wanted: the pre-subscribed ones, and what stands in `control.subscriptions` and has not lapsed. */
export class Wants {
  readonly #always: readonly string[]
  readonly #wants = new Map<string, Subscription>()

  constructor(always: readonly string[]) {
    this.#always = always
  }

  /** Takes one record of the topic; null: the want was taken back. */
  apply(key: string, want: Subscription | null): void {
    if (want === null) this.#wants.delete(key)
    else if (this.#wants.has(key) || this.#wants.size < maxWants) this.#wants.set(key, want)
  }

  /** The assets that are wanted at `now`; lapsed wants are forgotten. */
  assets(now: Micros): Set<string> {
    const assets = new Set(this.#always)
    for (const [key, { asset, until }] of this.#wants) {
      if (until <= now) this.#wants.delete(key)
      else assets.add(asset)
    }
    return assets
  }
}

/** The assets that are streamed from the start: those of `symbols`, or the catalogue's own eight where it is empty. */
export function streamedAssets(symbols: readonly string[]): string[] {
  if (symbols.length === 0) return knownAssets.flatMap(({ id, streamed }) => (streamed === true ? [id] : []))
  return symbols.map((symbol) => knownAsset(symbol.toUpperCase())?.id ?? symbol.toLowerCase())
}
