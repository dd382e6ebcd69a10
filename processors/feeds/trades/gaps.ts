import type { Gap, Instrument, Micros } from '../../../schemas/records.ts'
import { backoffMs, type BackoffRules } from '../time/backoff.ts'
import type { PageRow, VenueTrade } from '../venues/events.ts'
import type { RestOutcome } from '../venues/venue.ts'
import type { Interval } from './intervals.ts'

/** Why a gap opened or could not be filled: the codes of the gap record. */
export type GapReason =
  'missing_ids' | 'restart' | 'reconnect' | 'page_short' | 'too_old' | 'refused' | 'lost_page' | 'ids_anew'

/** What is said of a gap. Its identity is its first missing id, or where ids have no order, where it begins. */
interface GapState {
  readonly gapId: number
  readonly state: 'opened' | 'filled' | 'unfillable'
  readonly reason: GapReason
  readonly missing: number | null
}

/** A gap's record. Where ids have no order, all that is known of it is its time. */
export function gapOf(
  { instrument, asset }: Instrument,
  { gapId, state, reason, missing }: GapState,
  { from, to, fromTime, toTime }: { readonly fromTime: Micros; readonly toTime: Micros } & Partial<Interval>,
  origin: Pick<Gap, 'feed' | 'time'>,
): Gap {
  return {
    instrument,
    asset,
    gap_id: gapId,
    state,
    reason,
    from_id: from ?? null,
    to_id: to ?? null,
    from_time: fromTime,
    to_time: toTime,
    missing,
    ...origin,
  }
}

/** The trades of a page; `refused` hears why a row is none. */
export function tradesOf(rows: readonly PageRow[], refused: (reason: string) => void = () => undefined): VenueTrade[] {
  return rows.flatMap((row) => {
    if (!('refused' in row)) return [row]
    refused(row.refused)
    return []
  })
}

/** An answer that brought no rows. */
export type NoRows = Exclude<RestOutcome<unknown>, { kind: 'rows' }>

/** What a log says of it. */
export function troubleOf(outcome: NoRows): string {
  return outcome.kind === 'error' ? `error ${outcome.code}` : outcome.kind
}

/** How long to wait before REST is asked again: as long as it says, else longer with each failure, of which `failed` tells. */
export function waitAfter(outcome: NoRows, failed: () => number, random: number, rules: BackoffRules): number {
  const isTold = outcome.kind === 'limited' || outcome.kind === 'unavailable'
  return isTold ? outcome.waitMs : backoffMs(failed(), random, rules)
}
