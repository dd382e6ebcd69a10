import { setTimeout as delay } from 'node:timers/promises'
import { Follower, positionsAt } from '../../../infra/kafka/follower.ts'
import type { Log, LogReader, Position } from '../../../infra/kafka/seam.ts'
import type { Logger } from '../../../infra/log.ts'
import { otherLogFrom } from '../../kernel/position-check.ts'
import { Readback, type ReadbackPorts } from './readback.ts'
import type { Wants } from './wants.ts'

const WANTS = { topic: 'control.subscriptions', partitions: 1 } as const
const GAPS = 'control.gaps'

export interface ControlOptions {
  readonly kafka: Pick<Log, 'reader'>
  readonly readback: ReadbackPorts
  readonly partitions: number
  readonly log: Logger
  readonly wants: Wants
  /** Somebody found that `market.trades` lost its tail. */
  readonly lost: () => void
}

/**
 * Follows what others say to feeds: which assets are wanted, from the start of `control.subscriptions`; and from now on,
 * in `control.gaps`, that trades which were written are gone. A feed process finds that itself where the lost ones were its
 * own; those of another process may lie under what it wrote since. Resolves when all wants of the call were heard.
 */
export async function followControl(options: ControlOptions): Promise<{ close(): Promise<void> }> {
  const { kafka, readback, partitions, log, wants, lost } = options
  const asking = kafka.reader()
  const wantsStart = (): Promise<Position[]> => positionsAt(asking, WANTS, 'start')
  const readers = { [WANTS.topic]: new Readback(WANTS.topic, readback), [GAPS]: new Readback(GAPS, readback) }
  const follower = new Follower({
    reader: kafka.reader(),
    log,
    take: async (record, { topic }) => {
      const read = topic === GAPS ? readers[GAPS] : readers[WANTS.topic]
      for (const { message } of await read.read([record])) {
        if (topic === WANTS.topic) wants.apply(keyOf(record), message?.type === 'subscription' ? message.value : null)
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
      if (topic === WANTS.topic) return wantsStart() // one that was taken back meanwhile lapses by itself
      lost()
      return endOf(asking, { topic, partition })
    },
  })
  const ends = await positionsAt(asking, WANTS, 'end')
  const gaps = await positionsAt(asking, { topic: GAPS, partitions }, 'end')
  follower.start([...(await wantsStart()), ...gaps])
  await follower.reach(ends)
  return {
    close: async () => {
      await follower.close()
      await asking.close()
    },
  }
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
