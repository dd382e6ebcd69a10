import type { LogGap } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'

/** What an accident took from a partition of the log: its last records, or its first. */
export interface Accident {
  readonly kind: 'cut' | 'trim'
  readonly topic: TopicName
  readonly partition: number
  /** Offsets that the log had no more after it: `from` up to, not with, `to`; a trim's from the log's start. */
  readonly from: number
  readonly to: number
  /** Of a cut: behind the last record that is left; between it and `from` lies what nobody reads. */
  readonly behind?: number
  /** Host's milliseconds. */
  readonly time: number
}

const TOLD_SLACK_MS = 2_000

/** What is wrong with the journal of gaps: a gap that no accident of ours explains. */
export function unexplainedGaps(gaps: readonly LogGap[], accidents: readonly Accident[]): string[] {
  return gaps.flatMap((gap) => (causeOf(gap, accidents) === undefined ? [gapText(gap)] : []))
}

/** The accident that a gap tells of: the last of its partition before it was found, if it tells that one rightly. */
export function causeOf(gap: LogGap, accidents: readonly Accident[]): Accident | undefined {
  const before = accidents.filter(({ topic, partition, time }) => {
    return topic === gap.topic && partition === gap.partition && time - TOLD_SLACK_MS <= gap.time / 1_000
  })
  return before.findLast((accident) => tells(gap, accident))
}

function tells({ reason, position, next }: LogGap, { kind, from, to, behind = from }: Accident): boolean {
  switch (reason) {
    case 'cut':
      return kind === 'cut' && next >= behind && next <= from && position > from && position <= to
    case 'output_cut':
      return kind === 'cut' && next >= from && position > from && position <= to
    case 'retention':
      return kind === 'trim' && next === to && position < to
    case 'replaced':
    case 'unknown':
      return false
  }
}

function gapText({ reader, topic, partition, reason, position, next, missing }: LogGap): string {
  const lost = missing === null ? '' : `, ${missing} offsets never read`
  return `${reader} tells of ${topic}-${partition} (${reason}): ${position} to ${next}${lost}`
}
