import type {
  AlertState,
  CompositePrice,
  Message,
  Micros,
  Records,
  Trigger,
  TriggerSource,
} from '../../../schemas/records.ts'

/** What an alert waits for: `kind` tells which of the table's kinds it is, and with it which fields it has. */
export interface Terms {
  readonly kind: string
}

/** The fields of the log that say what an alert waits for. */
export type WireTerms = Pick<AlertState, 'kind' | 'condition' | 'target_price' | 'threshold_pct' | 'min_value_usd'>

/** The records of `alerts.inputs` that decide about alerts. */
const inputs = ['composite_price', 'liquidation_risk', 'metric'] as const
export type Input = Message<(typeof inputs)[number]>

/** What a record, or time, has changed of an asset's figures. */
export interface Readings {
  readonly asset: string
  readonly time: Micros
  /** The series that have a new value, by name, and what they were before; undefined: not known, or not for sure. */
  readonly before: ReadonlyMap<string, number | undefined>
  readonly sight: Sight
}

/** The figures of an asset as they are now; a series gives undefined where it does not know. */
export interface Sight {
  readonly series: ReadonlyMap<string, { at(now: Micros): number | undefined }>
  readonly price: CompositePrice | undefined
}

/** Where a rule stands: at a level of a series, `>`, `>=`, `<`, `<=` or `*` (each new value). */
export interface Stand {
  readonly name: string
  readonly at: number
}

/** What alerts are looked at by: a record of the asset, or what of its figures has changed. */
export interface Looked extends Pick<Records, 'composite_price' | 'liquidation_risk'> {
  readonly readings: Readings
}

export function isInput(message: Message): message is Input {
  return inputs.some((type) => type === message.type)
}

/** An alert as the state store has it: its terms in the shape of their kind, and what only its evaluation needs. */
export interface StoredAlert<T extends Terms = Terms> extends Omit<AlertState, keyof WireTerms> {
  readonly terms: T
  /** Since when records count for what it waits for now: its creation, its trigger, its arming, its return. */
  readonly since: Micros
  /** Since when its condition has held that has to hold for a while; 0: it does not, or does not have to. */
  readonly held: Micros
  /** Its terms were changed while it cools down: what has to be seen first is to be seen when that is over. */
  readonly anew: boolean
  /** Where it stands among the levels of figures; it follows from the rest. */
  stands: readonly string[]
}

/** Why an alert rang, in figures. A kind adds those of its own. */
export interface Cause {
  /** The price that met the condition; for other figures the price of the time. */
  readonly price: number
  readonly sources: readonly TriggerSource[]
  readonly quality: string
  readonly late: boolean
  readonly time: Micros
  /** Tells the causes of one record apart where their price does not. */
  readonly key?: string
  /** Not that it rings is told, but that what rang is over. */
  readonly isOver?: boolean
  /** It is over since its terms were changed. */
  readonly isChanged?: boolean
}

/** A level of one figure of a record, at which alerts wait. */
export interface Level<Record> {
  /** How the figure passes it: upward or downward, beyond it or as soon as it is on it. */
  readonly passes: '>' | '>=' | '<' | '<='
  figure(record: Record): number
  /** An alert that waits at the named level may stand here instead: both have to be passed for it. */
  readonly insteadOf?: string
}

/** Where an alert waits that has to look at every record. */
export const EVERY_RECORD = 'every record'

/** What a record does to an alert that it may concern. */
export type Verdict<C extends Cause = Cause> =
  /** Nothing; `at`: the level at which it stands from now on, where that is not the one that it waits at. */
  | { readonly is: 'waiting'; readonly at?: string }
  /** Its condition is met. `isBack`: the record ends on the other side again, so that the return has been seen. */
  | { readonly is: 'met'; readonly cause: C; readonly isBack: boolean }
  /** What rang has been back; `cause`: the figures of it, for a kind that tells so. */
  | { readonly is: 'back'; readonly cause?: C }
  /** It has seen what has to come first, and waits for its condition from now on. */
  | { readonly is: 'armed' }
  /** Its condition is met, and has to hold for a while; or does not hold any more. */
  | { readonly is: 'held'; readonly cause: C }
  | { readonly is: 'released' }

export const WAITING: Verdict<never> = { is: 'waiting' }

/** The fields of a trigger in which kinds differ. */
export type Evidence = Pick<Trigger, 'severity' | 'oi_at_risk_usd' | 'oi_at_risk_pct' | 'cascade_risk'> &
  Partial<Pick<Trigger, 'condition'>>

/** A kind of alert: all that tells it from others. */
export interface AlertKind<T extends Terms = Terms, I extends keyof Looked = keyof Looked, C extends Cause = Cause> {
  readonly kind: T['kind']
  /** What decides about it. */
  readonly input: I
  /** What decides comes only for assets that somebody wants: living alerts of it want theirs. */
  needsSubscription(terms: T): boolean

  /** The terms in the fields of the log, `rule`: what `condition` has as JSON; undefined where they are not whole: the log is anyone’s input. */
  read(wire: WireTerms, rule: Rule): T | undefined
  write(terms: T): WireTerms
  /** It rings once and ends so. */
  ringsOnce(this: void, terms: T): boolean
  /** A trial tells how often one is met that rings once: created again each time. */
  readonly isTriedAgain?: boolean
  /** After a trigger it does not ring for this long; left out: for a minute. */
  cooldown?(terms: T): Micros
  /** So long its condition has to hold before it rings; left out: not at all. */
  holds?(terms: T): Micros
  /** It has to be seen not met before it rings; once it was, or has rung and been back, it was. */
  isEdge?(terms: T): boolean
  /** It tells when what rang is over. */
  resolves?(terms: T): boolean
  /** Of a kind that does: its figures as they are at a time. */
  causeNow?(this: void, terms: T, sight: Sight, time: Micros): C
  /** It may be made without an end. */
  readonly mayLastForever?: boolean

  /** At which levels alerts wait. Alerts are looked at in the order of the levels, by level; those that may stand at several, by id. */
  readonly levels: Readonly<Record<string, Level<Looked[I]>>>
  /** The level at which it waits now, active or triggered and not back yet; or `EVERY_RECORD`. */
  wait(alert: StoredAlert<T>): string
  /** Where that level lies for these terms. */
  at(terms: T, level: string): number
  /** Of a kind that is looked at by figures: which series it looks at, and where among their levels it stands now. */
  series?(terms: T): readonly string[]
  /** `sight` undefined: all levels at which it may stand, whatever the figures are. */
  stand?(this: void, alert: StoredAlert<T>, sight: Sight | undefined, now: Micros): readonly Stand[]
  /** `from`: since when the record's bounds may be, where it has bounds. */
  evaluate(alert: StoredAlert<T>, record: Looked[I], from: Micros): Verdict<C>

  /** What it waits for, for people: stands behind the symbol. */
  describe(terms: T): string
  /** What met it, for people. */
  describeCause(terms: T, symbol: string, cause: C): string
  /** The trigger's fields of its kind; without a cause those of a test event. */
  evidence(terms: T, cause: C | undefined): Evidence

  /** `event` of the webhook. */
  readonly event: string
  /** The webhook's `data` of its kind, behind `triggered` and `current_price`. */
  payload(trigger: Trigger): object
  /** The figure that the webhook shows of each source. */
  readonly sourceFigure: 'price' | 'open_interest_usd'
}

/** The table of kinds, by name. */
export class Kinds<T extends Terms = Terms> {
  readonly #kinds: ReadonlyMap<string, AlertKind<T>>

  constructor(kinds: readonly AlertKind<T>[]) {
    this.#kinds = new Map(kinds.map((kind) => [kind.kind, kind]))
  }

  [Symbol.iterator](): Iterator<AlertKind<T>> {
    return this.#kinds.values()
  }

  of({ kind }: Terms): AlertKind<T> {
    const known = this.#kinds.get(kind)
    if (known === undefined) throw new Error(`this version does not know alerts of the kind ${kind}`)
    return known
  }

  /** The kind that a record of the log is of; undefined: of none that this version knows. */
  ofWire(wire: Pick<WireTerms, 'kind' | 'condition'>, rule = ruleOf(wire)): AlertKind<T> | undefined {
    return this.#kinds.get(wire.kind === 'rule' ? String(rule?.['kind']) : wire.kind)
  }

  read(wire: WireTerms): T | undefined {
    const rule = ruleOf(wire)
    return this.ofWire(wire, rule)?.read(wire, rule)
  }
}

/** The terms of a kind that has no fields of its own in the log: they stand in `condition`, as JSON. */
export function writeRule(terms: Terms): WireTerms {
  return {
    kind: 'rule',
    condition: JSON.stringify(terms),
    target_price: null,
    threshold_pct: null,
    min_value_usd: null,
  }
}

type Rule = Readonly<Record<string, unknown>> | undefined

function ruleOf(wire: Pick<WireTerms, 'kind' | 'condition'>): Rule {
  return wire.kind === 'rule' ? readRule(wire) : undefined
}

/** What `writeRule` wrote, to be checked by the kind; undefined where it is no object. */
export function readRule({ condition }: Pick<WireTerms, 'condition'>): Rule {
  try {
    const value = JSON.parse(condition) as Readonly<Record<string, unknown>> | null
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined // the log is anyone's input: it is refused as every other condition that nobody knows
  }
}

/** A figure that a condition can rest on. */
export function isFigure(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
