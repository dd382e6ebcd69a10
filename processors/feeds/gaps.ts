import type { Gap, Instrument, Micros } from '../../schemas/records.ts'
import { sizeOf } from './intervals.ts'
import type { Hole } from './id-tracker.ts'

/** Why a gap opened or could not be filled: the codes of the gap record. */
export type GapReason = 'missing_ids' | 'restart' | 'reconnect' | 'page_short' | 'too_old' | 'refused' | 'lost_page'

interface Said {
  readonly feed: string
  readonly time: Micros
}

/** A gap of contiguous ids; its identity is the first missing id unless it goes on under an older one. */
export function idGap(
  { instrument, asset }: Instrument,
  state: Gap['state'],
  reason: GapReason,
  hole: Hole,
  { feed, time }: Said,
  gapId: number = hole.from,
): Gap {
  return {
    instrument,
    asset,
    gap_id: gapId,
    state,
    reason,
    from_id: hole.from,
    to_id: hole.to,
    from_time: hole.fromTime,
    to_time: hole.toTime,
    missing: state === 'filled' ? 0 : sizeOf([hole]),
    feed,
    time,
  }
}

/** A gap of a venue without ordered ids: all that is known of it is its time; its identity is where it begins. */
export function timeGap(
  { instrument, asset }: Instrument,
  state: Gap['state'],
  reason: GapReason,
  { fromTime, toTime }: { readonly fromTime: Micros; readonly toTime: Micros },
  { feed, time }: Said,
  missing: number | null,
): Gap {
  return {
    instrument,
    asset,
    gap_id: fromTime,
    state,
    reason,
    from_id: null,
    to_id: null,
    from_time: fromTime,
    to_time: toTime,
    missing,
    feed,
    time,
  }
}
