import { mapHash } from '../../schemas/catalogue.ts'
import { isCompacted, topicOf, type TopicName } from '../../schemas/topics.ts'
import { TAPE_VERSION, type Format, type TapeHeader } from './folder.ts'
import { TapeError, type Span, type Tape } from './tape.ts'

/**
 * A topic that several processors write has their records side by side, each with the time of the input that it follows
 * from: where one lags behind another by less, all that follows from a range stands before this much later, milliseconds.
 */
export const LAG_MS = 3_600_000

interface Wanted {
  readonly format: Format
  /** Record times, milliseconds; null: all that is there. */
  readonly from: number
  readonly to: number | null
}

/** What an export of these topics is to hold. Throws `TapeError` where that is nothing. */
export async function planExport(tape: Tape, names: readonly TopicName[], wanted: Wanted): Promise<TapeHeader> {
  const { format, from } = wanted
  // A tape of a range that is written in another format stays one.
  const to = wanted.to ?? tape.until ?? null
  const spans: Span[] = []
  for (const topic of names) {
    const count = topicOf(topic).partitions === 'one' ? 1 : tape.partitions
    for (let partition = 0; partition < count; partition++) {
      spans.push(await tape.span(topic, partition, { from, to: endOf(topic, to ?? Infinity) }))
    }
  }
  if (spans.every((span) => span.from >= span.to))
    throw new TapeError('no-data', `${tape.name} has no records of ${names.join(', ')} in that range`)
  const { partitions, name } = tape
  return { version: TAPE_VERSION[format], format, partitions, map: mapHash(), source: name, range: { from, to }, spans }
}

/** Of compacted topics all is taken: what came later has replaced what lay in the range. */
function endOf(topic: TopicName, to: number): number {
  if (isCompacted(topic)) return Infinity
  return topic.startsWith('market.') ? to : to + LAG_MS
}
