import path from 'node:path'
import type { Gap, Micros } from '../../schemas/records.ts'
import type { ArchiveFile, FileTrade } from './archive.ts'

/** A month or a day (UTC) that a file's name says, half open, milliseconds. */
interface Named {
  readonly from: number
  readonly to: number
}

/**
 * Finds the time of an instrument that no file holds: between two files of it that do not adjoin. Those whose names say a
 * day or a month hold all of it, so that a market may be quiet over midnight; of others only the trades tell.
 */
export class MissingTime {
  readonly #named: readonly (Named | undefined)[]
  readonly #quiet: Micros
  /** By instrument: its latest trade, and the file of that. */
  readonly #latest = new Map<string, { time: Micros; file: number }>()

  /** `quiet`: files whose names do not say it adjoin up to here. */
  constructor(files: readonly ArchiveFile[], quiet: Micros) {
    this.#named = files.map(({ file }) => namedIn(path.basename(file)))
    this.#quiet = quiet
  }

  /** The gap that ends with the next trade. */
  before({ trade, file }: FileTrade): Gap | undefined {
    const { instrument, asset, time } = trade
    const latest = this.#latest.get(instrument)
    if (latest === undefined) {
      this.#latest.set(instrument, { time, file })
      return undefined
    }
    const from = latest.time
    const isMissing = latest.file !== file && time - from > this.#quiet && !this.#adjoin(latest.file, file)
    if (time >= from) {
      latest.time = time
      latest.file = file
    }
    if (!isMissing) return undefined
    const ids = { from_id: null, to_id: null, missing: null }
    const said = { state: 'unfillable', reason: 'not_imported', feed: 'import', time: from } as const
    return { instrument, asset, gap_id: from, ...said, ...ids, from_time: from, to_time: time }
  }

  #adjoin(file: number, next: number): boolean {
    const [one, other] = [this.#named[file], this.#named[next]]
    return one !== undefined && other !== undefined && other.from <= one.to
  }
}

/** `BTCUSDT-aggTrades-2024-08-01.csv`, `BTCUSDT2024-08-01.csv.gz`, `BTCUSDT-aggTrades-2024-08.zip`. */
function namedIn(name: string): Named | undefined {
  const [, year, month, day] = /(\d{4})-(\d{2})(?:-(\d{2}))?(?!\d)/.exec(name) ?? []
  if (year === undefined || month === undefined) return undefined
  const at = [Number(year), Number(month) - 1] as const
  if (day === undefined) return { from: Date.UTC(...at), to: Date.UTC(at[0], at[1] + 1) }
  return { from: Date.UTC(...at, Number(day)), to: Date.UTC(...at, Number(day) + 1) }
}
