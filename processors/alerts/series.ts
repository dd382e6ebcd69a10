import type { CompositePrice, LiquidationRisk, Metric as MetricRecord, Micros } from '../../schemas/records.ts'
import { BUCKET } from '../cvd/bucket.ts'
import { MISSED_FROM, MISSED_TO } from '../cvd/metrics.ts'
import { LATENESS } from '../cvd/state.ts'
import { cascadeRisks } from '../liquidations/cascade.ts'
import { asDecimal, asRatio, decimalDifference, decimalMean, percentChange } from '../prices/decimal.ts'
import type { Input } from './kinds/kind.ts'
import { addsUp, durationOf, metricOf, type Metric, type MetricInput, type MetricName } from './metrics.ts'

/** What one part of a rule looks at: a metric, of a venue or over all, over a window, as it is or at a candle's close. */
export interface SeriesSpec {
  readonly metric: MetricName
  readonly exchange: string | null
  readonly window: string | null
  /** How far the value is from where it was a window ago, whichever way. */
  readonly isMove: boolean
  readonly close: string | null
}

/** All rules that look at the same share one series. */
export function seriesName({ metric, exchange, window, isMove, close }: SeriesSpec): string {
  return `${metric}|${exchange ?? ''}|${window ?? ''}|${isMove ? 'move' : ''}|${close ?? ''}`
}

/** What tells the figures of a series. */
export function inputOf(name: string): MetricInput {
  return metricOf(name.slice(0, name.indexOf('|')) as MetricName).input
}

/** Whether it is the price of a single venue. */
export function isOfVenue(name: string): boolean {
  return inputOf(name) === 'composite_price' && name.split('|')[1] !== ''
}

/** A series keeps one sample of so long. */
export function slotOf(name: string): Micros {
  const [metric, , window] = name.split('|')
  const { periods } = metricOf(metric as MetricName)
  return periods === undefined ? (durationOf(window) ?? 0) / SLOTS : 0
}

/** How far back a series looks; 0: at no past. */
export function lookBackOf(name: string): Micros {
  const [metric, , window, move] = name.split('|')
  const { make, periods } = metricOf(metric as MetricName)
  if (periods !== undefined || (make === 'value' && move !== 'move')) return 0
  return (durationOf(window) ?? 0) * (make === 'spike' ? SPIKE_WINDOWS + 1 : 1)
}

/** A window has so many slots; a spike is compared with so many windows before it, each of which has fewer. */
const SLOTS = 60
const SPIKE_SLOTS = 4
const SPIKE_WINDOWS = 24
/** Fewer windows than this make no mean. */
const SPIKE_WINDOWS_MIN = 5
/** A spike's newest window is known while less than this share of it is missing. */
const MISSING_MAX = 0.1
/** Times of missed trades that a spike keeps; beyond it the oldest two count as one. */
export const MISSED_MAX = 100
/** A value that was told longer ago says nothing of now. */
const LIFETIME: Micros = 900_000_000
/**
 * What was traded up to a time is told behind it: when its bucket has closed, with the next mark, by a core that may be
 * behind the others; liquidations with the next mark. What nobody has told so much later was not there, unless who tells it
 * has not come so far.
 */
const TOLD_WITHIN: Micros = LATENESS + 8_000_000
/** Figures of different processors come at most this much out of the order of their times. */
export const DISORDER: Micros = 120_000_000

const SECOND: Micros = 1_000_000

/** When a figure was so, and what it was: of a sum, what came up to then since the begin of its slot. */
type Sample = [time: Micros, value: number]

/** A time in which trades were missed, half open. */
type Missed = readonly [from: Micros, to: Micros]

/** What of a series a snapshot holds; all of it, since the rest follows. */
export interface SavedSeries {
  readonly since: Micros
  readonly samples: readonly Sample[]
  readonly value: number | null
  readonly time: Micros
  readonly venues: string
  readonly raw: Sample | null
  /** Venues came or went: what was before says nothing of its changes. */
  readonly anew?: boolean
  /** The alert with which it began. */
  readonly maker?: string
  /** Of a spike: when trades were missed, ascending and apart. */
  readonly missed?: readonly Missed[]
  /** Of a spike over all venues, while some are away: that of the others since then. `venues`: those that are away. */
  readonly others?: SavedSeries
}

/** What the passing of time did to a series. */
interface Passed {
  /** There is a value of then. */
  readonly isTold: boolean
  /** More than how far it is. */
  readonly isChanged: boolean
}

/**
 * One series of an asset, from the first rule that looks at it on. Bounded: 62 samples, of a spike 160, and as many of the
 * others while venues are away. What it cannot know yet, as a change over a window that it has not seen, it has no value for.
 */
export class Series {
  readonly name: string
  readonly input: MetricInput
  /** Rules that look at it. */
  watchers = 0
  #value: number | null
  #time: Micros
  readonly #metric: Metric
  readonly #spec: Omit<SeriesSpec, 'window' | 'close'>
  readonly #figures: readonly (readonly [figure: string, sign: number])[]
  readonly #window: Micros
  readonly #slot: Micros
  readonly #close: Micros
  #since: Micros
  #samples: Sample[]
  #venues: string
  /** The newest figure, where only a candle's close counts. */
  #raw: Sample | null
  #anew: boolean
  #missed: readonly Missed[]
  #others: Series | undefined
  /** The alert with which it began; undefined: another, or a record. */
  readonly maker: string | undefined

  constructor(name: string, saved: SavedSeries) {
    const [metric = '', exchange, window, move, close] = name.split('|')
    const spec = { metric: metric as MetricName, exchange: exchange === '' ? null : (exchange ?? null) }
    this.name = name
    this.#spec = { ...spec, isMove: move === 'move' }
    this.#metric = metricOf(spec.metric)
    this.input = this.#metric.input
    const { periods, figures } = this.#metric
    this.#figures = Object.entries(figures).map(([figure, sign]) => [
      periods === undefined ? figure : `${figure}_${window}`,
      sign,
    ])
    this.#window = periods === undefined ? (durationOf(window) ?? 0) : 0
    this.#slot = slotOf(name)
    this.#close = durationOf(close) ?? 0
    this.#since = saved.since
    this.#samples = saved.samples.map(([time, value]) => [time, value])
    this.#value = saved.value
    this.#time = saved.time
    this.#venues = saved.venues
    this.#raw = saved.raw
    this.#anew = saved.anew ?? false
    this.maker = saved.maker
    this.#missed = saved.missed ?? none
    this.#others = saved.others && new Series(name, saved.others)
  }

  /** Its value at a time; undefined: it is not known, or not any more. */
  at(now: Micros): number | undefined {
    return this.#value === null || now - this.#time > Math.max(LIFETIME, this.#close) ? undefined : this.#value
  }

  /** Its value before a record of a time; undefined where that is not known for all records since. */
  before(time: Micros): number | undefined {
    return time - this.#time > Math.max(LIFETIME, this.#close) - DISORDER ? undefined : this.at(time)
  }

  saved(): SavedSeries {
    const { name: _, ...rest } = { name: this.name, since: this.#since, samples: this.#samples, venues: this.#venues }
    return {
      ...rest,
      value: this.#value,
      time: this.#time,
      raw: this.#raw,
      ...(this.#anew && { anew: true }),
      ...(this.maker !== undefined && { maker: this.maker }),
      ...(this.#missed.length > 0 && { missed: this.#missed }),
      ...(this.#others !== undefined && { others: this.#others.saved() }),
    }
  }

  /** From when it has seen what was told. */
  get since(): Micros {
    return this.#since
  }

  /**
   * Puts what one of the same name saw up to its begin before what it has seen itself: from its next figure, or candle, on
   * it is as if it had begun as early.
   */
  warm(past: SavedSeries): void {
    if (past.since >= this.#since) return
    const before = new Series(this.name, past)
    for (const missed of this.#missed) before.#leaveOut(missed)
    this.#missed = before.#missed
    const isOfOthers = this.#venues !== '' && past.venues !== '' && past.venues !== this.#venues
    const isBroken = !this.#isFlow && (this.#anew || isOfOthers)
    if (!isBroken) this.#samples = this.#joined(before.#samples)
    this.#since = past.since
    this.#time = Math.max(this.#time, past.time)
    if (this.#venues === '') this.#venues = past.venues
    if (this.#others !== undefined && past.others?.venues === this.#others.#venues) this.#others.warm(past.others)
  }

  /** Both may have a sample of the slot in which it began: of a sum both count, else the first. */
  #joined(past: readonly Sample[]): Sample[] {
    const before = [...past]
    const last = before.at(-1)
    const [first, ...rest] = this.#samples
    if (last === undefined || first === undefined || this.#slotOf(last[0]) !== this.#slotOf(first[0]))
      return [...before, ...this.#samples]
    if (this.#isFlow) addTo(last, first)
    return [...before, ...rest]
  }

  /** What is told at a time came before it: at the end of a slot it is of that slot. */
  #slotOf(time: Micros, slot = this.#slot): number {
    return Math.floor((this.#isFlow ? time - 1 : time) / slot)
  }

  /** So much behind time it is known what there was up to then. */
  get #behind(): Micros {
    return this.#isFlow ? TOLD_WITHIN : 0
  }

  get #isFlow(): boolean {
    return addsUp(this.#metric)
  }

  /** Takes in what a record tells; whether there is a new value of it. */
  take(told: InputFigures): boolean {
    const figure = this.#figureOf(told)
    if (figure === undefined) return false
    if (this.#metric.make === 'spike') this.#leaveOutOf(told)
    if (this.#close === 0) return this.#set(this.#made(told.time, figure), told.time)
    if (this.#isFlow) return this.#addToCandle(told.time, figure)
    const isClosed = this.#closes(told.time)
    const made = this.#made(told.time, figure)
    this.#raw = made === undefined ? null : [told.time, made]
    return isClosed
  }

  /** What came up to a candle's end is of the candle, which it closes. */
  #addToCandle(time: Micros, figure: number): boolean {
    const isClosed = this.#closes(time - 1)
    this.#made(time, figure)
    return this.#closes(time) || isClosed
  }

  /**
   * Lets time pass: what leaves a window, and candles that close. `told`: up to when what is added up has been told; nothing
   * of later is known.
   */
  advance(now: Micros, told = Infinity): Passed {
    const [value, samples, missed] = [this.#value, this.#samples.length, this.#missed.length]
    const isTold = this.#passes(now, told)
    const isAsBefore = this.#value === value && this.#samples.length === samples && this.#missed.length === missed
    const isMovedOnly = isAsBefore && this.#others === undefined && !(isTold && this.#close > 0)
    return { isTold, isChanged: !isMovedOnly }
  }

  #passes(now: Micros, told: Micros): boolean {
    if (this.#close > 0) return this.#closes(this.#upTo(now, told))
    if (!this.#isFlow) return false
    const end = this.#endAt(now, told)
    return this.#set(this.#made(end, 0), end)
  }

  /** It is again where `advance` moved it, when that changed nothing else. */
  moveTo(now: Micros, told = Infinity): void {
    if (this.#close === 0 && this.#isFlow && this.#value !== null) this.#time = this.#endAt(now, told)
  }

  #upTo(now: Micros, told: Micros): Micros {
    return Math.min(now - this.#behind, this.#isFlow ? told : now)
  }

  /** Marks may be behind what was told. */
  #endAt(now: Micros, told: Micros): Micros {
    return Math.max(this.#upTo(now, told), this.#time)
  }

  /** When time alone gives it another value next, where nothing more is told; it may be earlier. */
  movesAt(now: Micros): Micros {
    const time = now - this.#behind
    if (this.#close > 0) return (Math.floor(time / this.#close) + 1) * this.#close + this.#behind
    const { make } = this.#metric
    if (make !== 'sum' || this.#value === null) return this.#isFlow ? now : Infinity
    const [first] = this.#samples
    return first === undefined ? Infinity : this.#beginOf(first[0]) + this.#window + this.#behind
  }

  /** What was so before a candle's end becomes the value of the candle. */
  #closes(time: Micros): boolean {
    const end = Math.floor(time / this.#close) * this.#close
    if (this.#time >= end || this.#since >= end) return false
    if (this.#isFlow) return this.#set(this.#made(end, 0), end)
    if (this.#raw === null || this.#raw[0] >= end) return false
    const [told, value] = this.#raw
    return this.#set(end - told > LIFETIME ? undefined : value, end)
  }

  #set(value: number | undefined, time: Micros): boolean {
    if (value === undefined && this.#value === null) return false
    this.#value = value ?? null
    this.#time = time
    return true
  }

  #figureOf(told: InputFigures): number | undefined {
    const { exchange } = this.#spec
    const { over, exchanges } = this.#metric
    if (exchange !== null || over === 'own')
      return told.sumOf(this.#figures, exchange) ?? (this.#isFlow ? 0 : undefined)
    const known = exchanges.flatMap((venue) => told.sumOf(this.#figures, venue) ?? [])
    if (this.#isFlow) return known.reduce((sum, value) => sum + value, 0)
    if (known.length === 0) return undefined
    const venues = exchanges.filter((venue) => told.sumOf(this.#figures, venue) !== undefined)
    this.#sameVenues(over === 'first' ? (venues[0] ?? '') : venues.join())
    if (over === 'first') return known[0]
    return over === 'mean' ? decimalMean(known) : asDecimal(known.reduce((sum, value) => sum + value, 0))
  }

  /** Where a venue comes or goes, a change is none of the market: it is looked at anew. A state of before may not say whose it is. */
  #sameVenues(venues: string): void {
    if (this.#venues !== '' && venues !== this.#venues) {
      this.#samples = []
      this.#anew = true
    }
    this.#venues = venues
  }

  #made(time: Micros, figure: number): number | undefined {
    const { make, classes, classOf } = this.#metric
    switch (make) {
      case 'value':
        return this.#spec.isMove
          ? this.#changed(time, figure, (then) => Math.abs(decimalDifference(figure, then)))
          : figure
      case 'change_pct':
        return this.#changed(time, figure, (then) => (then === 0 ? undefined : percentChange(then, figure)))
      case 'class':
        return classOf === undefined ? figure : classes?.indexOf(classOf(figure))
      case 'sum':
        return this.#sum(time, figure)
      case 'spike':
        return this.#spikeOf(time, figure)
    }
  }

  /** Not known where nothing was told a window ago, nor shortly before. */
  #changed(time: Micros, figure: number, made: (then: number) => number | undefined): number | undefined {
    const samples = this.#samples
    const last = samples.at(-1)
    if (last === undefined || this.#slotOf(last[0]) !== this.#slotOf(time)) samples.push([time, figure])
    while ((samples[1]?.[0] ?? Infinity) <= time - this.#window) samples.shift()
    const [then] = samples
    const from = time - this.#window
    const isOf = then !== undefined && then[0] <= from && then[0] >= from - LIFETIME - this.#slot
    return isOf ? made(then[1]) : undefined
  }

  #sum(time: Micros, figure: number): number | undefined {
    this.#add(time, figure, this.#window)
    if (time - this.#since < this.#window) return undefined
    const from = time - this.#window
    return asDecimal(this.#samples.reduce((sum, [at, value]) => sum + value * this.#shareSince(from, at), 0))
  }

  /** While venues are away nothing is known of all: it is that of the others, once enough is. */
  #spikeOf(time: Micros, figure: number): number | undefined {
    const ofAll = this.#spike(time, figure)
    const others = this.#others
    if (others === undefined) return ofAll
    const ofOthers = others.#spike(time, figure)
    others.#time = time
    return ofAll ?? ofOthers
  }

  /** The newest window's sum by the mean of the windows before it, both of the time alone of which trades are known. */
  #spike(time: Micros, figure: number): number | undefined {
    const [newest, oldest] = [time - this.#window, time - this.#window * (SPIKE_WINDOWS + 1)]
    this.#add(time, figure * (1 - this.#missing(time - BUCKET, time) / BUCKET), time - oldest)
    this.#shorten(newest)
    this.#missed = this.#missed.filter(([, to]) => to > oldest)
    const known = 1 - this.#missing(newest, time) / this.#window
    const begin = Math.max(oldest, this.#since)
    const seen = (newest - begin - this.#missing(begin, newest)) / this.#window
    if (known <= 1 - MISSING_MAX || seen < SPIKE_WINDOWS_MIN) return undefined
    let [now, before] = [0, 0]
    for (const [at, value] of this.#samples) {
      const share = this.#shareSince(newest, at)
      now += value * share
      before += value * (this.#shareSince(oldest, at, this.#longSlot) - share)
    }
    return before > 0 ? asRatio(now / known / (before / seen)) : undefined
  }

  /** How much of a time trades were missed in. */
  #missing(from: Micros, to: Micros): Micros {
    return this.#missed.reduce((sum, [begin, end]) => sum + Math.max(0, Math.min(end, to) - Math.max(begin, from)), 0)
  }

  #leaveOutOf(told: InputFigures): void {
    const { exchange } = this.#spec
    const away: string[] = []
    const ofOthers: Missed[] = []
    for (const venue of exchange === null ? this.#metric.exchanges : [exchange]) {
      const [from, to] = [MISSED_FROM, MISSED_TO].map((figure) => told.sumOf([[figure, 1]], venue))
      if (from === undefined || to === undefined) continue
      this.#leaveOut([from, to])
      if (to >= told.time && told.sumOf(this.#figures, venue) === undefined) away.push(venue)
      else ofOthers.push([from, to])
    }
    if (exchange === null) this.#goOnWithout(away.join(), told.time)
    if (this.#others !== undefined) for (const missed of ofOthers) this.#others.#leaveOut(missed)
  }

  /** The others are looked at by themselves from when these venues are away up to when they are not, or others are. */
  #goOnWithout(venues: string, since: Micros): void {
    if (venues === (this.#others === undefined ? '' : this.#others.#venues)) return
    const begun = { since, samples: [], value: null, time: since, venues, raw: null }
    const missed = [[since - BUCKET, since]] as const // in the first bucket those that are away may have traded
    this.#others = venues === '' ? undefined : new Series(this.name, { ...begun, missed })
  }

  /** Of a time in which trades of one venue were missed, those of the others count no more either. */
  #leaveOut(missed: Missed): void {
    const newest = this.#time - this.#window
    const more = without(missed, this.#missed)
    for (const sample of this.#samples) {
      const slotBegin = this.#beginOf(sample[0], sample[0] <= newest ? this.#longSlot : this.#slot)
      const begin = Math.min(slotBegin, sample[0] - BUCKET) // what a bucket holds is told at its end
      for (const [from, to] of more)
        sample[1] *= 1 - Math.max(0, Math.min(to, sample[0]) - Math.max(from, begin)) / (sample[0] - begin)
    }
    this.#missed = joined([...this.#missed, missed])
    const [[begin] = [0], [, end] = [0, 0]] = this.#missed
    if (this.#missed.length > MISSED_MAX) this.#leaveOut([begin, end])
  }

  #add(time: Micros, figure: number, kept: Micros): void {
    const samples = this.#samples
    const last = samples.at(-1)
    if (figure !== 0) {
      if (last !== undefined && this.#slotOf(last[0]) === this.#slotOf(time)) addTo(last, [time, figure])
      else samples.push([time, figure])
    }
    while ((samples[0]?.[0] ?? Infinity) <= time - kept) samples.shift()
  }

  /** How much of a sample came after a time, in whole seconds, as they are told: all, nothing, or a part of its slot. */
  #shareSince(from: Micros, at: Micros, slot = this.#slot): number {
    const begin = this.#beginOf(at, slot)
    const since = Math.floor(from / SECOND) * SECOND
    return Math.min(1, Math.max(0, (at - since) / (at - begin)))
  }

  /** When what a sample holds began to come: with its slot, or, of several buckets of trades, with the first of them. */
  #beginOf(at: Micros, slot = this.#slot): Micros {
    const begin = this.#slotOf(at, slot) * slot
    return this.input === 'cvd' && slot > BUCKET ? Math.floor(begin / BUCKET) * BUCKET : begin
  }

  /** Of a spike's windows before the newest. */
  get #longSlot(): Micros {
    return this.#window / SPIKE_SLOTS
  }

  /** What has left a spike's newest window goes into longer slots. */
  #shorten(until: Micros): void {
    const kept: Sample[] = []
    for (const sample of this.#samples) {
      const last = kept.at(-1)
      const isOfLast =
        last !== undefined && this.#slotOf(last[0], this.#longSlot) === this.#slotOf(sample[0], this.#longSlot)
      if (isOfLast && sample[0] <= until) addTo(last, sample)
      else kept.push(sample)
    }
    this.#samples = kept
  }
}

const none: readonly Missed[] = []

/** What of a time others, ascending and apart, do not have. */
function without([from, to]: Missed, others: readonly Missed[]): Missed[] {
  const ends = [from, ...others.map(([, end]) => Math.max(end, from))]
  const begins = [...others.map(([begin]) => Math.min(begin, to)), to]
  return ends.flatMap((end, at) => ((begins[at] ?? to) > end ? [[end, begins[at] ?? to] as const] : []))
}

/** Ascending, and apart. */
function joined(all: readonly Missed[]): Missed[] {
  const apart: Missed[] = []
  for (const [from, to] of all.toSorted(([a], [b]) => a - b)) {
    const last = apart.at(-1)
    if (last !== undefined && from <= last[1]) apart[apart.length - 1] = [last[0], Math.max(last[1], to)]
    else apart.push([from, to])
  }
  return apart
}

function addTo(sample: Sample, [time, figure]: Sample): void {
  sample[0] = time
  sample[1] += figure
}

/** The figures of one record. */
export class InputFigures {
  readonly input: MetricInput
  readonly time: Micros
  readonly #figures = new Map<string, number>()

  constructor({ type, value }: Input) {
    this.time = value.time
    this.input = type === 'metric' ? inputOfCore(value) : type
    if (type === 'composite_price') this.#price(value)
    else if (type === 'liquidation_risk') this.#risk(value)
    else for (const { figure, exchange, value: told } of value.figures) this.#put(figure, exchange, told)
  }

  /** Figures of one venue, or of the asset, with their signs; undefined: none of them is told. */
  sumOf(figures: readonly (readonly [figure: string, sign: number])[], exchange: string | null): number | undefined {
    let sum: number | undefined
    for (const [figure, sign] of figures) {
      const value = this.#figures.get(`${figure}|${exchange ?? ''}`)
      if (value !== undefined) sum = (sum ?? 0) + sign * value
    }
    return sum
  }

  #put(figure: string, exchange: string | null, value: number): void {
    if (Number.isFinite(value)) this.#figures.set(`${figure}|${exchange ?? ''}`, value)
  }

  #price({ price, sources }: CompositePrice): void {
    this.#put('price', null, price)
    for (const source of sources) this.#put('price', source.exchange, source.price)
  }

  #risk({ at_risk_5_pct: pct, cascade_risk: risk }: LiquidationRisk): void {
    this.#put('at_risk', null, pct)
    const index = cascadeRisks.findIndex((name) => name === risk)
    if (index >= 0) this.#put('cascade_class', null, index)
  }
}

function inputOfCore({ core }: MetricRecord): MetricInput {
  return core === 'cvd' || core === 'funding' ? core : 'liquidated' // who else tells something has no line in the table of metrics
}
