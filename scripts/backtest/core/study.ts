import { ringOf } from '../../../processors/alerts/parts.ts'
import { symbolOf } from '../../../schemas/catalogue.ts'
import type { RecordPosition } from '../../../schemas/record-id.ts'
import type { Micros, Signal, Trigger } from '../../../schemas/records.ts'
import { meets, sideOf, Standing, type Rule, type Side } from './rules.ts'
import { summarise, type Summary } from './stats.ts'

/** A signal that fired, what it rests on, and what the price did after it. */
export interface SignalResult {
  readonly symbol: string
  readonly kind: string
  readonly period: string
  readonly exchange: string | null
  readonly from: string
  readonly to: string
  readonly value: number
  readonly evidence: Readonly<Record<string, number>>
  /** End of the window that was looked at. */
  readonly time: Micros
  /** Partition time of the decision. */
  readonly decided: Micros
  readonly record: RecordPosition
  /** null: no direction, or both by its rules. */
  readonly side: Side | null
  readonly rules: readonly string[]
  /** First price at or after the decision and the latency; null: none came in time. */
  fill: Fill | null
  /** By horizon: price at or after fill and horizon over the fill's, less one; null: none came in time. */
  readonly returns: (number | null)[]
}

/** An alert that rang. */
export interface TriggerResult {
  readonly trigger_id: string
  readonly alert_id: string
  readonly symbol: string
  readonly condition: string
  readonly condition_met: string
  readonly price: number
  readonly trigger_count: number
  readonly quality: string
  readonly late: boolean
  readonly time: Micros
  readonly decided: Micros
  /** The record of the tape that brought it about. */
  readonly record: RecordPosition
}

/** Forward returns of one group of signals after one horizon, each in the direction that it bets on. */
export interface GroupSummary extends Summary {
  readonly group: string
  readonly side: Side | null
  readonly horizonMs: number
}

export interface StudyOptions {
  readonly latencyMs: number
  readonly horizonsMs: readonly number[]
  /** Empty: every class that says a direction is a group of its own. */
  readonly rules: readonly Rule[]
}

/** Collects what fired and waits for what came after. Results are bounded: beyond it a backtest is asked too much of. */
const RESULTS_MAX = 2_000_000
/** A price may be as much late as the larger of both: one of weeks later is not the price of a minute later. */
const LATE_MS_LEAST = 60_000
const LATE_OF_WAIT = 0.1

export class Study {
  readonly signals: SignalResult[] = []
  readonly triggers: TriggerResult[] = []
  readonly #options: StudyOptions
  readonly #fills = new Fills()
  readonly #standing = new Standing()

  constructor(options: StudyOptions) {
    this.#options = options
  }

  /** A change of class; one of the lead-in is only remembered. */
  signal(signal: Signal, decided: Micros, record: RecordPosition, isReported: boolean): void {
    this.#standing.note(signal)
    if (!isReported) return
    this.#bound()
    const { asset, kind, period, exchange, from, to, value, evidence, time } = signal
    const rules = this.#options.rules.filter((rule) => this.#applies(rule, signal))
    const side = this.#options.rules.length > 0 ? commonSide(rules) : sideOf(signal)
    const { horizonsMs } = this.#options
    const result: SignalResult = {
      symbol: symbolOf(asset),
      kind,
      period,
      exchange,
      from,
      to,
      value,
      evidence,
      time,
      decided,
      record,
      side,
      rules: rules.map(({ name }) => name),
      fill: null,
      returns: horizonsMs.map(() => null),
    }
    this.signals.push(result)
    this.#follow(asset, result)
  }

  /** What tells that a ring is over is none. */
  trigger(trigger: Trigger, decided: Micros, record: RecordPosition): void {
    if (ringOf(trigger.trigger_id) !== undefined) return
    this.#bound()
    const { trigger_id, alert_id, symbol, condition, condition_met, trigger_count, quality, late, time } = trigger
    const said = { trigger_id, alert_id, symbol, condition, condition_met, trigger_count, quality, late, time }
    this.triggers.push({ ...said, price: trigger.current_price, decided, record })
  }

  price(asset: string, fill: Fill): void {
    this.#fills.price(asset, fill)
  }

  /** Takes over what another study found of other assets. */
  absorb({ signals, triggers }: Pick<Study, 'signals' | 'triggers'>): void {
    for (const signal of signals) {
      this.#bound()
      this.signals.push(signal)
    }
    for (const trigger of triggers) {
      this.#bound()
      this.triggers.push(trigger)
    }
  }

  /** Returns of each group at each horizon. */
  summaries(): GroupSummary[] {
    const sides = new Map(this.#options.rules.map(({ name, side }) => [name, side]))
    const groups = Map.groupBy(
      this.signals.flatMap((signal) => groupsOf(signal).map((group) => ({ group, signal }))),
      ({ group }) => group,
    )
    return [...groups]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([group, members]) => {
        const signals = members.map(({ signal }) => signal)
        const side = sides.get(group) ?? signals[0]?.side ?? null
        return this.#options.horizonsMs.map((horizonMs, at) => {
          return { group, side, horizonMs, ...summaryOf(signals, side, at, horizonMs * 1000) }
        })
      })
  }

  #applies({ when, and = [], symbols }: Rule, signal: Signal): boolean {
    if (symbols !== undefined && !symbols.includes(symbolOf(signal.asset))) return false
    return meets(signal, when) && and.every((condition) => this.#standing.holds(signal.asset, condition))
  }

  #follow(asset: string, result: SignalResult): void {
    const { latencyMs, horizonsMs } = this.#options
    this.#waitFor(asset, result.decided, latencyMs, (fill) => {
      result.fill = fill
      for (const [at, horizonMs] of horizonsMs.entries()) {
        this.#waitFor(asset, fill.time, horizonMs, ({ price }) => {
          result.returns[at] = price / fill.price - 1
        })
      }
    })
  }

  #waitFor(asset: string, from: Micros, lengthMs: number, take: Wait['take']): void {
    const due = from + lengthMs * 1000
    const lateMs = Math.max(LATE_MS_LEAST, lengthMs * LATE_OF_WAIT)
    this.#fills.waitFor(asset, { due, latest: due + lateMs * 1000, take })
  }

  #bound(): void {
    if (this.signals.length + this.triggers.length >= RESULTS_MAX)
      throw new Error(`over ${RESULTS_MAX} signals and triggers: ask for a shorter range or fewer symbols`)
  }
}

/** The groups that a signal counts in: its rules, or its kind, period and class. */
function groupsOf({ rules, side, kind, period, to }: SignalResult): readonly string[] {
  if (rules.length > 0) return rules
  return side === null ? [] : [[kind, period, to].filter((part) => part !== '').join(' ')]
}

/** What all of the rules bet on. */
function commonSide([first, ...others]: readonly Rule[]): Side | null {
  return first !== undefined && others.every(({ side }) => side === first.side) ? first.side : null
}

/** One bet is one return, however many signals made it: two of a symbol that are filled by one price are one. */
function summaryOf(signals: readonly SignalResult[], side: Side | null, at: number, horizon: Micros): Summary {
  const returns: number[] = []
  /** Where the last window that counts as independent ends, by symbol. */
  const ends = new Map<string, Micros>()
  const bets = new Set<string>()
  let independent = 0
  for (const { symbol, fill, returns: own } of signals) {
    const value = own[at]
    if (value === undefined || value === null || fill === null) continue
    const bet = `${symbol} ${fill.time}`
    if (bets.has(bet)) continue
    bets.add(bet)
    returns.push(side === 'short' ? -value : value)
    if (fill.time < (ends.get(symbol) ?? 0)) continue
    ends.set(symbol, fill.time + horizon)
    independent += 1
  }
  return summarise(returns, independent)
}

/** A price that was there to be had. */
export interface Fill {
  readonly price: number
  /** When it was so. */
  readonly time: Micros
  /** The record of the tape that says so. */
  readonly place: RecordPosition
}

interface Wait {
  readonly due: Micros
  /** A price behind it is none of this time any more. */
  readonly latest: Micros
  readonly take: (fill: Fill) => void
}

/**
 * Who waits for an asset's first price at or after a time. So a decision is never filled at a price that was known when
 * it was made: the wait begins a latency later, and only a price that comes then ends it.
 */
export class Fills {
  /** By asset, those with the latest due first. */
  readonly #waits = new Map<string, Wait[]>()

  /** Calls `take` with the first price of `asset` whose time is `due` or later, if that is no later than `latest`. */
  waitFor(asset: string, wait: Wait): void {
    const waits = this.#waits.get(asset) ?? []
    this.#waits.set(asset, waits)
    let at = waits.length
    while (at > 0 && (waits[at - 1]?.due ?? Infinity) < wait.due) at -= 1
    waits.splice(at, 0, wait)
  }

  price(asset: string, fill: Fill): void {
    const waits = this.#waits.get(asset)
    for (let next = waits?.at(-1); next !== undefined && next.due <= fill.time; next = waits?.at(-1)) {
      waits?.pop()
      if (fill.time <= next.latest) next.take(fill)
    }
  }
}
