import type { LogReader } from '../../infra/kafka/seam.ts'
import type { LogGap } from '../../schemas/records.ts'
import type { DeadLetters } from './dead-letters.ts'
import type { Decoder } from './decoder.ts'

export const GAPS = 'control.gaps' as const

/** A gap as the journal has it. */
export interface JournaledGap {
  /** Its place in `control.gaps`. */
  readonly offset: number
  readonly gap: LogGap
}

/** Every gap that the journal tells of one reader in one partition; what cannot be read of it is set aside. */
export async function readGaps(
  reader: LogReader,
  decoder: Decoder,
  name: string,
  partition: number,
  dead: DeadLetters,
): Promise<readonly JournaledGap[]> {
  const told: JournaledGap[] = []
  for await (const records of reader.toEnd(GAPS, partition)) {
    for (const record of records) {
      if (record.key?.toString() !== name) continue
      const message = await dead.read(decoder, GAPS, record)
      if (message?.type === 'log_gap') told.push({ offset: record.offset, gap: message.value })
    }
  }
  return told
}

/**
 * The gaps of one input as the log is now, in the order of their offsets: a log that was cut once more holds nothing of
 * what came behind that place.
 */
export class InputGaps {
  #told: JournaledGap[] = []
  /** Versions are made of offsets below this, whatever the log lost since. */
  #top = 0

  /** The next one of the journal. */
  add(told: JournaledGap): void {
    const { next, shift } = told.gap
    this.#told = [...this.#told.filter(({ gap }) => gap.next < next), told]
    this.#top = Math.max(this.#top, next + shift)
  }

  /** Where what was read last of other logs in its place ends, as far as this one has it. */
  get replacedUpTo(): number {
    return this.#told.findLast(({ gap }) => gap.reason === 'replaced')?.gap.next ?? 0
  }

  /** What is added to an offset before a version is made of it. */
  shiftAt(offset: number): number {
    return this.#told.findLast(({ gap }) => gap.next <= offset)?.gap.shift ?? 0
  }

  /** The shift behind a gap, so that all that follows from there has a higher version than what was ever written. */
  shiftBehind(position: number, next: number): number {
    const before = this.shiftAt(position)
    return Math.max(before, Math.max(position + before, this.#top) + 1 - next)
  }

  /** Whether it is told already that whoever stands at `position` goes on at `next`. */
  knows(position: number, next: number): boolean {
    return this.#told.some(({ gap }) => {
      if (gap.next !== next) return false
      return gap.reason === 'cut' ? gap.position >= position : gap.position <= position
    })
  }

  /** Whether the record at `offset` was never read, although a copy of the log may have it. */
  skips(offset: number): boolean {
    return this.#told.some(({ gap }) => gap.position <= offset && offset < gap.next)
  }

  /** Those that a state which knows them up to `told` has to take in before the record at `offset`. */
  before(offset: number, told: number): readonly JournaledGap[] {
    return this.#told.filter((each) => each.offset > told && each.gap.next <= offset)
  }
}
