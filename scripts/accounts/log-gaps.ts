import type { LogReader } from '../../infra/kafka/seam.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { LogGap } from '../../schemas/records.ts'
import type { Stretch } from './totals.ts'

/** So much earlier than its receipt a trade can have been; and a host's clock is a little off. */
const LATE_MICROS = 5_000_000
/** The processor whose numbers are judged. */
const COUNTS = 'cvd'
const BUCKET_MICROS = 10_000_000

/** All that the journal tells of what the log lost. */
export async function readLogGaps(reader: LogReader, codec: Codec, partitions: number): Promise<LogGap[]> {
  const gaps: LogGap[] = []
  for (let partition = 0; partition < partitions; partition++) {
    for await (const records of reader.toEnd('control.gaps', partition)) {
      for (const { value } of records) {
        const message = value === null ? undefined : codec.decode(value)
        if (message?.type === 'log_gap') gaps.push(message.value)
      }
    }
  }
  return gaps
}

/** Times of which a partition of `market.trades` has lost something that derived numbers are made of: whole buckets. */
export function lostTimes(gaps: readonly LogGap[], partition: number): Stretch[] {
  const ours = gaps.filter(
    (gap) => gap.reader === COUNTS && gap.topic === 'market.trades' && gap.partition === partition,
  )
  return ours.map(({ from_time, to_time }) => ({
    from: Math.floor((from_time - LATE_MICROS) / BUCKET_MICROS) * BUCKET_MICROS,
    to: Math.ceil((to_time + 1) / BUCKET_MICROS) * BUCKET_MICROS - 1,
  }))
}
