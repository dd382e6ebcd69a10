import { drawFigures, type Drawn } from './alert-chart.ts'
import {
  leavesOf,
  severalWords,
  trialWords,
  type Condition,
  type Metric,
  type SeveralTrial,
  type Trial,
} from './alert-words.ts'
import { ask } from './ask.ts'
import { el, say } from './dom.ts'

/** A trial takes its time on a busy machine, and waits for those of others. */
const DEADLINE_MS = 30_000
/** So long nothing may have changed before it is asked for. */
const CALM_MS = 500
/** After a failure that is not the rule's. */
const AGAIN_MS = 4_000

/** What is to be tried out; undefined: the form is not whole yet. */
export type Tried =
  | {
      readonly body: Readonly<Record<string, unknown>>
      /** The symbols that it is about where they are several: that of `body` is drawn, of the others it is told how often. */
      readonly symbols?: readonly string[] | 'all'
    }
  | undefined

/** Says, while one edits, how often the alert would have rung, and draws what it rests on. */
export class Preview {
  readonly element: HTMLElement
  readonly #metrics: readonly Metric[]
  readonly #wanted: () => Tried
  readonly #words = el('p', { class: 'tried', role: 'status' })
  readonly #last = el('p', { class: 'hint' })
  readonly #place = el('div', { class: 'tried-chart' })
  #timer: ReturnType<typeof setTimeout> | undefined
  #asked = new AbortController()
  #shown = ''
  #clear: (() => void) | undefined

  /** `wanted`: what the form says. */
  constructor(metrics: readonly Metric[], wanted: () => Tried) {
    this.#metrics = metrics
    this.#wanted = wanted
    this.element = el('div', { class: 'preview' }, el('h3', {}, 'Preview'), this.#words, this.#place, this.#last)
    this.changed()
  }

  /** The form says something else: what was asked for is not needed any more. */
  changed(afterMs = CALM_MS): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#try(), afterMs)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#asked.abort()
    this.#clear?.()
    this.#clear = undefined
  }

  async #try(): Promise<void> {
    const wanted = this.#wanted()
    const text = JSON.stringify(wanted)
    if (text === this.#shown) return
    this.#asked.abort()
    if (wanted === undefined) return this.#none('Say what it waits for, to see how often it would have rung.')
    this.#asked = new AbortController()
    const { signal } = this.#asked
    say(this.#words, 'Trying it out …')
    const body = { ...wanted.body, figures: true }
    const answer = await ask<Trial>('/api/alerts/backtest', { method: 'POST', body, signal, deadlineMs: DEADLINE_MS })
    if (signal.aborted) return
    if (answer.is === 'ok') {
      this.#shown = text
      this.#draw(answer.body, wanted)
      return this.#tryAll(wanted, signal)
    }
    this.#none(`No preview: ${answer.message}`)
    if (answer.status === 0 || answer.status === 429 || answer.status >= 500) this.changed(AGAIN_MS)
  }

  async #tryAll({ body, symbols }: NonNullable<Tried>, signal: AbortSignal): Promise<void> {
    if (symbols === undefined) return
    const sent = {
      method: 'POST',
      body: { ...body, symbol: undefined, symbols },
      signal,
      deadlineMs: DEADLINE_MS,
    } as const
    const answer = await ask<SeveralTrial>('/api/alerts/backtest', sent)
    if (signal.aborted) return
    say(this.#last, answer.is === 'ok' ? severalWords(answer.body) : `The others are not known: ${answer.message}`)
  }

  #none(words: string): void {
    this.#shown = ''
    say(this.#words, words)
    say(this.#last, '')
    this.#clear?.()
    this.#clear = undefined
  }

  #draw(trial: Trial, { body, symbols }: NonNullable<Tried>): void {
    const words = `${symbols === undefined ? '' : `${String(body['symbol'])}: `}${trialWords(trial)}`
    say(this.#words, words)
    const [newest] = trial.triggers
    say(this.#last, newest === undefined ? '' : `The last time: ${newest.condition_met}.`)
    this.#clear?.()
    const bounds = boundsOf(body)
    const drawn = trial.figures.map((figure, index): Drawn => {
      const metric = this.#metrics.find(({ name }) => name === figure.metric)
      return { figure, metric, bounds: bounds[index] ?? [] }
    })
    this.#clear = drawFigures(
      this.#place,
      drawn,
      trial.triggers.map(({ time }) => time),
    )
    this.#place.setAttribute('role', 'img')
    this.#place.setAttribute('aria-label', `Chart. ${words}`)
  }
}

/** The bounds of each condition, from left to right. */
function boundsOf({ when, target_price, threshold_pct }: Readonly<Record<string, unknown>>): (number | string)[][] {
  if (when === undefined) return [[target_price ?? threshold_pct].filter((bound) => typeof bound === 'number')]
  // What the form says is a condition.
  return leavesOf(when as Condition).map(({ value }) => (typeof value === 'object' ? [...value] : [value]))
}
