import type { LogReader } from '../../../infra/kafka/seam.ts'
import type { CoveredPast, PastProgress } from '../facts/backfill-plan.ts'
import { type MarketLog, pastKey } from './market-log.ts'
import { ticks } from './process-clock.ts'
import { Readback, type ReadbackPorts } from './readback.ts'

const TOPIC = 'control.backfill'
/** What could not be had is asked for again after this long, milliseconds. */
export const RETRY_MS = 5_000
/** A log that has not taken a step for so long is told of, milliseconds. */
const WRITE_MS = 10_000

/** What the log has of the past, by `instrument|series`; `time`: when it was told, microseconds. */
export type KnownPast = ReadonlyMap<string, CoveredPast & { readonly time: number }>

/** Reads what the log has of the past. */
export async function readKnownPast(reader: LogReader, ports: ReadbackPorts): Promise<KnownPast> {
  const known = new Map<string, CoveredPast & { time: number }>()
  const readback = new Readback(TOPIC, ports)
  for await (const records of reader.toEnd(TOPIC, 0)) {
    for (const { message } of await readback.read(records)) {
      if (message?.type !== 'backfill') continue
      const { covered_from: from, covered_to: to, rows, time } = message.value
      known.set(pastKey(message.value), { from, to, rows, time })
    }
  }
  return known
}

/** Hears how it goes. */
export interface PastReport {
  /** A page is in the log. */
  readonly written: (rows: number) => void
  /** A row says nothing for us. */
  readonly refused: (reason: string, count?: number) => void
  readonly trouble: (what: string, details: Readonly<Record<string, unknown>>) => void
}

/** What every part of the past needs. */
export interface PastParts {
  readonly log: MarketLog
  /** What the log has; rejects where it cannot be read now. */
  readonly known: () => Promise<KnownPast>
  readonly report: PastReport
}

/** Says which step is next. */
interface Plan<Step> {
  next(now: number, ticks: number): Step | undefined
  progress(now: number, ticks: number): PastProgress
  /** What was written is gone. */
  forget(): void
}

/**
 * A part of a venue's past that is read back, a step at each `tick`, one at a time, so that nothing piles up; first of all
 * it learns what the log has (`Known`, by key of `control.backfill`). A step is in the log before the log is told that it
 * has it: a kill in between brings a step twice, which readers take once. Times are the host's, milliseconds.
 */
export abstract class PastJob<Step = unknown, Known = unknown> {
  /** Kept up with what is written; undefined: it is not known yet. */
  protected known: Map<string, Known> | undefined
  protected readonly stopped = new AbortController()
  protected abstract readonly plan: Plan<Step>
  readonly #parts: PastParts
  #underWay = false
  #notBefore = 0

  constructor(parts: PastParts) {
    this.#parts = parts
  }

  /** What this part makes of what the log has. */
  protected abstract knownOf(all: KnownPast): Map<string, Known>
  /** Gives the plan what is wanted. */
  protected abstract updatePlan(): void
  protected abstract take(step: Step): Promise<void>

  /** Whether it has learned what the log has. */
  get isKnown(): boolean {
    return this.known !== undefined
  }

  /** There is nothing to ask for now. */
  isIdle(now: number): boolean {
    return !this.#underWay && this.plan.next(now, ticks()) === undefined
  }

  /** Undefined: it is not known yet what the log has. */
  progress(now: number): PastProgress | undefined {
    return this.isKnown ? this.plan.progress(now, ticks()) : undefined
  }

  /** Called often. */
  tick(now: number): void {
    if (this.#underWay || this.isStopped || ticks() < this.#notBefore) return
    if (this.#parts.log.of('market.history').full) return
    const step = this.isKnown ? this.plan.next(now, ticks()) : undefined
    if (this.isKnown && step === undefined) return
    this.#underWay = true
    void (step === undefined ? this.#begin() : this.take(step)).finally(() => {
      this.#underWay = false
    })
  }

  /** The log lost what it had. */
  lost(): void {
    this.known = new Map()
    this.plan.forget()
  }

  stop(): void {
    this.stopped.abort()
  }

  protected get isStopped(): boolean {
    return this.stopped.signal.aborted
  }

  protected later(ms: number): void {
    this.#notBefore = ticks() + ms
  }

  /** Nothing more is asked for before the broker has what there is: it waits for a disk that is full. */
  protected async drained(details: Readonly<Record<string, unknown>>): Promise<void> {
    const waits = setTimeout(() => {
      const mend = 'see whether its disk is full and the broker runs; nothing is lost, it goes on when there is room'
      this.#parts.report.trouble('the log does not take the past', { ...details, mend })
    }, WRITE_MS)
    await this.#parts.log.of('market.history').drained()
    clearTimeout(waits)
  }

  async #begin(): Promise<void> {
    try {
      this.known = this.knownOf(await this.#parts.known())
      this.updatePlan()
    } catch (error) {
      this.later(RETRY_MS)
      if (!this.isStopped) this.#parts.report.trouble('cannot read how far the past is', { err: error })
    }
  }
}
