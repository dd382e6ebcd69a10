const S = 1_000_000
const lengths: Readonly<Record<string, number>> = { '1m': 60 * S, '5m': 300 * S, '10s': 10 * S, '30s': 30 * S }

/** A rule as the generator of logs writes it; what it leaves out has its default. */
export interface ModelRule {
  readonly when: ModelCondition
  readonly held_for?: string
  readonly repeat?: boolean
  readonly resolved?: boolean
}

export type ModelCondition =
  { readonly all: readonly ModelCondition[] } | { readonly any: readonly ModelCondition[] } | ModelLeaf

interface ModelLeaf {
  readonly metric: 'cvd' | 'cvd_change' | 'open_interest_change_pct' | 'price' | 'cvd_signal'
  readonly operator: string
  readonly value: number | readonly [number, number] | string
  readonly window?: string
  readonly exchange?: string | undefined
  readonly close?: string | undefined
  readonly hysteresis?: number
}

interface Seen {
  readonly since: number
  /** All that was told since, newest last. */
  readonly told: (readonly [time: number, figure: number, venues: string])[]
  value: number | undefined
  time: number
}

const classes = ['strong_bullish_pressure', 'bullish_pressure', 'neutral', 'bearish_pressure']
const inputs = { cvd: 'cvd', cvd_change: 'cvd', open_interest_change_pct: 'funding', price: 'price', cvd_signal: 'cvd' }

/** The figures that rules look at once more, plain: each is made of all that was ever told of it. */
export class FiguresModel {
  readonly #seen = new Map<string, Seen>()

  /** Of these rules alone: what nobody looks at is forgotten, and begins anew. */
  keep(asset: string, rules: readonly ModelRule[], now: number): void {
    const wanted = new Set(rules.flatMap(leaves).map((leaf) => `${asset} ${name(leaf)}`))
    for (const key of this.#seen.keys()) if (key.startsWith(`${asset} `) && !wanted.has(key)) this.#seen.delete(key)
    for (const key of wanted)
      if (!this.#seen.has(key)) this.#seen.set(key, { since: now, told: [], value: undefined, time: 0 })
  }

  /** Whether something of it is looked at. */
  has(asset: string): boolean {
    return [...this.#seen.keys()].some((key) => key.startsWith(`${asset} `))
  }

  /** Takes in what was told; gives the conditions that have a new value, by name. */
  tell(asset: string, input: string, time: number, figures: ReadonlyMap<string, number>): Set<string> {
    const changed = new Set<string>()
    for (const [key, seen] of this.#seen) {
      const leaf = leafOf(key)
      if (!key.startsWith(`${asset} `) || inputs[leaf.metric] !== input) continue
      // What came at a candle's end is of the candle where it is added up.
      if (leaf.close !== undefined && close(leaf, seen, isSum(leaf) ? time - 1 : time)) changed.add(name(leaf))
      const figure = figureOf(leaf, figures)
      if (figure === undefined) continue
      seen.told.push([time, figure[0], figure[1]])
      if (leaf.close === undefined ? settle(leaf, seen, time) : isSum(leaf) && close(leaf, seen, time))
        changed.add(name(leaf))
    }
    return changed
  }

  /** What time alone changes: of sums, what was told up to 10 s before it, or up to where who tells it has come. */
  pass(asset: string, time: number, toldTo: number): Set<string> {
    const changed = new Set<string>()
    for (const [key, seen] of this.#seen) {
      const leaf = leafOf(key)
      if (!key.startsWith(`${asset} `)) continue
      const told = isSum(leaf) ? Math.min(time - 10 * S, toldTo) : time
      const isNew =
        leaf.close === undefined
          ? isSum(leaf) && settle(leaf, seen, Math.max(told, seen.time))
          : close(leaf, seen, told)
      if (isNew) changed.add(name(leaf))
    }
    return changed
  }

  isMet(asset: string, condition: ModelCondition, now: number, isWide: boolean): boolean | undefined {
    if ('all' in condition)
      return joined(
        condition.all.map((part) => this.isMet(asset, part, now, isWide)),
        false,
      )
    if ('any' in condition)
      return joined(
        condition.any.map((part) => this.isMet(asset, part, now, isWide)),
        true,
      )
    const seen = this.#seen.get(`${asset} ${name(condition)}`)
    if (seen?.value === undefined || now - seen.time > 900 * S) return undefined
    return isBeyond(condition, seen.value, isWide ? (condition.hysteresis ?? 0) : 0)
  }
}

/** The names of the figures that a rule looks at. */
export function figuresOf(rule: ModelRule): string[] {
  return leaves(rule).map(name)
}

export function isModelEdge(rule: ModelRule): boolean {
  return leaves(rule).some(({ operator }) => operator.startsWith('crosses') || operator === 'becomes')
}

export function holdsFor({ held_for: held }: ModelRule): number {
  return held === undefined ? 0 : (lengths[held] ?? NaN)
}

function leaves({ when }: { readonly when: ModelCondition }): ModelLeaf[] {
  if ('all' in when) return when.all.flatMap((part) => leaves({ when: part }))
  return 'any' in when ? when.any.flatMap((part) => leaves({ when: part })) : [when]
}

function name({ metric, exchange, window, close: candle }: ModelLeaf): string {
  return [metric, exchange ?? '', window ?? '', candle ?? ''].join(',')
}

function leafOf(key: string): ModelLeaf {
  const [metric, exchange = '', window = '', candle = ''] = key.slice(key.indexOf(' ') + 1).split(',')
  const more = { ...(exchange && { exchange }), ...(window && { window }), ...(candle && { close: candle }) }
  return { metric: metric as ModelLeaf['metric'], operator: '', value: 0, ...more }
}

function joined(parts: readonly (boolean | undefined)[], decides: boolean): boolean | undefined {
  if (parts.includes(decides)) return decides
  return parts.includes(undefined) ? undefined : !decides
}

function isBeyond({ operator, value }: ModelLeaf, figure: number, slack: number): boolean {
  if (typeof value === 'string') return classes[figure] === value
  if (typeof value === 'object') return figure >= value[0] - slack && figure <= value[1] + slack
  return operator.endsWith('above') ? figure > value - slack : figure < value + slack
}

function figureOf(leaf: ModelLeaf, figures: ReadonlyMap<string, number>): readonly [number, string] | undefined {
  const get = (figure: string, venue: string): number | undefined =>
    figures.get(venue === '' ? figure : `${figure}@${venue}`)
  if (leaf.metric === 'price') return lone(get('price', leaf.exchange ?? ''))
  if (leaf.metric === 'cvd_signal') return lone(get(`cvd_class_${leaf.window}`, ''))
  const venues = leaf.exchange === undefined ? ['binance', 'okx'] : [leaf.exchange]
  if (leaf.metric === 'cvd_change')
    return [venues.reduce((sum, venue) => sum + (get('buy', venue) ?? 0) - (get('sell', venue) ?? 0), 0), '']
  const told = venues.filter((venue) => get(leaf.metric === 'cvd' ? 'cvd' : 'open_interest', venue) !== undefined)
  if (told.length === 0) return undefined
  const figure = leaf.metric === 'cvd' ? 'cvd' : 'open_interest'
  return [told.reduce((sum, venue) => sum + (get(figure, venue) ?? 0), 0), told.join()]
}

function lone(figure: number | undefined): readonly [number, string] | undefined {
  return figure === undefined ? undefined : [figure, '']
}

function isSum({ metric }: ModelLeaf): boolean {
  return metric === 'cvd_change'
}

/** What the figure is made to; whether there is, or was, one. */
function settle(leaf: ModelLeaf, seen: Seen, time: number): boolean {
  const value = made(leaf, seen, time)
  if (value === undefined && seen.value === undefined) return false
  Object.assign(seen, { value, time })
  return true
}

function close(leaf: ModelLeaf, seen: Seen, time: number): boolean {
  const length = lengths[leaf.close ?? ''] ?? NaN
  const end = Math.floor(time / length) * length
  if (seen.time >= end || seen.since >= end) return false
  if (isSum(leaf)) return settle(leaf, seen, end)
  const last = seen.told.at(-1)
  if (last === undefined || last[0] >= end) return false
  const value = made(leaf, seen, last[0])
  if (value === undefined) return false
  const isKnown = end - last[0] <= 900 * S
  if (!isKnown && seen.value === undefined) return false
  Object.assign(seen, { value: isKnown ? value : undefined, time: end })
  return true
}

function made(leaf: ModelLeaf, { told, since }: Seen, now: number): number | undefined {
  const window = lengths[leaf.window ?? ''] ?? 0
  const newest = told.at(-1)
  if (isSum(leaf)) {
    if (now - since < window) return undefined
    return told.reduce((sum, [time, figure]) => (time > now - window ? sum + figure : sum), 0)
  }
  if (newest === undefined) return undefined
  if (leaf.metric !== 'open_interest_change_pct') return newest[1]
  const anew = told.findLastIndex(([, , venues]) => venues !== newest[2]) + 1
  const then = told.slice(anew).findLast(([time]) => time <= now - window)
  return then === undefined || then[1] === 0 || then[0] < now - window - 900 * S - window / 60
    ? undefined
    : ((newest[1] - then[1]) * 100) / then[1]
}
