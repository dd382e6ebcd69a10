import { ChangedParts, savedIn } from '../kernel/parts.ts'
import { emptyState, type AuditState, type Entry, type KnownCandle, type Row } from './state.ts'

/** Parts of the saved state, JSON since it writes doubles exactly: the clock, and each minute that is held. */
type Saved =
  | ({ readonly kind: 'clock' } & Pick<AuditState, 'flowTime' | 'candleTime' | 'forwarded' | 'gone' | 'counts'>)
  | { readonly kind: 'minute'; readonly minute: number; readonly entries: readonly (readonly [string, SavedEntry])[] }

type SavedEntry =
  | Exclude<Entry, { readonly kind: 'open' }>
  | { readonly kind: 'open'; readonly rows: readonly Row[]; readonly candle: KnownCandle | null }

/** What changed since the last call. */
export function saveState(state: AuditState): ChangedParts<Saved> {
  const { flowTime, candleTime, forwarded, gone, counts } = state
  const changes = new ChangedParts<Saved>()
  changes.put('clock', { kind: 'clock', flowTime, candleTime, forwarded, gone, counts })
  for (const minute of state.changed) {
    const entries = state.minutes.get(minute)
    if (entries === undefined) changes.set(`minute|${minute}`, null)
    else changes.put(`minute|${minute}`, savedMinute(minute, entries))
  }
  state.changed.clear()
  return changes
}

function savedMinute(minute: number, entries: ReadonlyMap<string, Entry>): Saved {
  return { kind: 'minute', minute, entries: [...entries].map(([name, entry]) => [name, savedEntry(entry)]) }
}

function savedEntry(entry: Entry): SavedEntry {
  if (entry.kind !== 'open') return entry
  return { kind: 'open', rows: [...entry.rows.values()], candle: entry.candle ?? null }
}

/** The state made of the latest text of each part. */
export function loadState(parts: ReadonlyMap<string, Buffer>): AuditState {
  const state = emptyState()
  for (const saved of savedIn<Saved>(parts)) {
    if (saved.kind === 'minute') {
      state.minutes.set(saved.minute, new Map(saved.entries.map(([name, entry]) => [name, loadedEntry(entry)])))
    } else {
      const { flowTime, candleTime, forwarded, gone, counts } = saved
      Object.assign(state, { flowTime, candleTime, forwarded, gone })
      Object.assign(state.counts, counts)
    }
  }
  return state
}

function loadedEntry(entry: SavedEntry): Entry {
  if (entry.kind !== 'open') return entry
  const rows = new Map(entry.rows.map((row) => [`${row.bucket}|${row.part}`, row]))
  return { kind: 'open', rows, candle: entry.candle ?? undefined }
}
