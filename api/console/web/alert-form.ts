import { ConditionGroup, type Vocabulary } from './alert-conditions.ts'
import { DestinationFields, fieldsOf, readFields, type Field } from './alert-fields.ts'
import { symbolFieldsOf, faultWords, namesOf, type Condition, type Metric, type Schema } from './alert-words.ts'
import type { Asked } from './ask.ts'
import { at, clearFaults, line, showFault } from './controls.ts'
import { el, say } from './dom.ts'

/** What a form is made of, as `/view/rules` tells it: the API's own tables. */
export interface Tables {
  readonly kinds: readonly Kind[]
  readonly metrics: readonly Metric[]
  readonly closes: readonly string[]
}

/** A kind of alert. */
interface Kind {
  readonly kind: string
  /** `a rule`. */
  readonly named: string
  readonly path: string
  readonly isEditable: boolean
  /** Fields that say what it waits for. */
  readonly terms: readonly string[]
  /** Fields that say how its messages come; changed with the terms. */
  readonly delivery: readonly string[]
  /** Of the body of a creation. */
  readonly schema: Schema
}

/** What the form says now, as a body of the API. */
export interface Wanted {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
}

/** What an alert waits for: conditions where its kind has them, and the other fields of its kind. */
class TermFields {
  readonly element = el('div', { class: 'terms' })
  #group: ConditionGroup | undefined
  #names: readonly string[] = []
  #fields: ReadonlyMap<string, Field> = new Map()
  /** What was said before of which no field knows: it stays. */
  #rest: Readonly<Record<string, unknown>> = {}

  shape({ terms, schema }: Kind, words: Vocabulary, changed: () => void): void {
    const hasConditions = terms.includes('when')
    this.#group = hasConditions ? new ConditionGroup(words, changed) : undefined
    this.#names = terms
    this.#fields = fieldsOf(
      schema,
      terms.filter((name) => name !== 'when'),
    )
    const names = [...this.#fields.keys()].map((name) => name.replaceAll('_', ' ')).join(', ')
    const fields = el('div', { class: 'fields' }, ...[...this.#fields.values()].map(({ element }) => element))
    const rest = hasConditions ? el('details', {}, el('summary', {}, `How it rings: ${names}`), fields) : fields
    this.element.replaceChildren(...(this.#group === undefined ? [] : [this.#group.element]), rest)
  }

  /** The words of the conditions, as of another symbol. */
  spell(): void {
    this.#group?.shape()
  }

  fill(terms: Readonly<Record<string, unknown>>): void {
    // What the API answers as `when` is a condition as it takes it.
    this.#group?.fill(terms['when'] as Condition)
    for (const [name, field] of this.#fields) field.fill(terms[name])
    const others = this.#names.filter((name) => name !== 'when' && !this.#fields.has(name) && name in terms)
    this.#rest = Object.fromEntries(others.map((name) => [name, terms[name]]))
  }

  read(): Record<string, unknown> {
    const when = this.#group === undefined ? {} : { when: this.#group.read('/when') }
    return { ...this.#rest, ...when, ...readFields(this.#fields, '') }
  }
}

/** An alert as the API answers it. */
export type Shown = Readonly<Record<string, unknown>> & {
  readonly symbol?: string | null
  readonly symbols?: readonly string[] | 'all'
}

export interface FormOptions {
  readonly tables: Tables
  /** Ids of the page's list of symbols. */
  readonly symbolsId: string
  /** Called whenever something of it has changed. */
  readonly changed: () => void
  /** What is to be changed; left out: a new alert. */
  readonly alert?: { readonly kind: string; readonly shown: Shown }
  /** Stands beside the terms; on a narrow page below them. */
  readonly beside: HTMLElement
}

/** Fields of a creation that have controls of their own, or need none: an operator pays nothing and asks for no wallet. */
const elsewhere = new Set(['symbol', 'symbols', 'webhook_url', 'channel', 'agent_wallet'])

/** The form that makes an alert, or changes the terms of one. */
export class AlertForm {
  readonly element = document.createElement('form')
  readonly #options: FormOptions
  readonly #symbol = line('input', { 'aria-label': 'Symbol', required: '', value: 'BTC', size: '9' })
  readonly #now = el('span', { class: 'hint', id: 'now' })
  readonly #terms = new TermFields()
  readonly #said = el('p', { class: 'said', role: 'status' })
  #kind: Kind
  #destination: DestinationFields | undefined
  #others: ReadonlyMap<string, Field> = new Map()

  /** `actions`: what stands below it: buttons that send it. */
  constructor(options: FormOptions, actions: readonly HTMLElement[]) {
    this.#options = options
    const { tables, alert, changed } = options
    const first = tables.kinds.find(({ kind, isEditable }) => (alert === undefined ? isEditable : kind === alert.kind))
    if (first === undefined) throw new Error('the API names no kind of alert that a form can be made of')
    this.#kind = first
    this.element.className = 'alert-form'
    const below = el('div', { class: 'below' })
    if (alert === undefined) this.element.append(this.#kinds(below), this.#symbolRow())
    this.element.append(this.#terms.element, options.beside, below, el('div', { class: 'row' }, ...actions), this.#said)
    this.#shape(below)
    if (alert !== undefined) {
      const { symbol, symbols } = alert.shown
      this.#symbol.value = symbol ?? (typeof symbols === 'object' ? symbols.join(', ') : (symbols ?? ''))
      this.#terms.fill(alert.shown)
      this.#terms.spell()
      for (const [name, field] of this.#others) field.fill(alert.shown[name])
    }
    for (const name of ['input', 'change'])
      this.element.addEventListener(name, () => {
        clearFaults(this.element)
        changed()
      })
  }

  /** The first that it is about; where it is about all, one of them. */
  get symbol(): string {
    const [first = ''] = namesOf(this.#symbol.value.toUpperCase())
    return first === 'ALL' ? 'BTC' : first
  }

  /** All that it is about, where that is more than `symbol`. */
  get symbols(): readonly string[] | 'all' | undefined {
    const symbolFields = symbolFieldsOf(this.#symbol.value, this.#kind.schema)
    return 'symbols' in symbolFields ? symbolFields.symbols : undefined
  }

  /** Says what the symbol's figure is just now. */
  tellNow(words: string): void {
    say(this.#now, words)
  }

  /** What it says, as the API takes it; whether it is whole says `isWhole`. */
  read(): Wanted {
    const { path } = this.#kind
    const symbolFields = symbolFieldsOf(this.#symbol.value, this.#kind.schema)
    at(this.#symbol, 'symbol' in symbolFields ? '/symbol' : '/symbols')
    const terms = { ...symbolFields, ...this.#terms.read() }
    if (this.#destination === undefined) return { path, body: terms }
    return { path, body: { ...terms, channel: this.#destination.read('/channel'), ...readFields(this.#others, '') } }
  }

  /** What it waits for, without where it tells. */
  get terms(): Readonly<Record<string, unknown>> {
    return this.#terms.read()
  }

  /** All that can be changed of an alert, whole: what is left out has its default again. */
  get changes(): Readonly<Record<string, unknown>> {
    return { ...this.terms, ...readFields(this.#others, '') }
  }

  /** The conditions are all there; where an alert tells may still be missing. */
  get isWhole(): boolean {
    const inputs = this.#terms.element.querySelectorAll('input')
    return this.symbol !== '' && [...inputs].every((input) => input.disabled || input.checkValidity())
  }

  /** Says what became of it: an error beside the field concerned, all else below. */
  tell<Body>(answer: Asked<Body>, done: (body: Body) => string): void {
    clearFaults(this.element)
    this.#said.dataset['kind'] = answer.is === 'ok' ? 'good' : 'bad'
    if (answer.is === 'ok') return say(this.#said, done(answer.body))
    const words = faultWords(answer.message, answer.allowed)
    const pointer = answer.pointer ?? `/${(answer.field ?? '').replaceAll('.', '/')}`
    const isShown = pointer !== '/' && showFault(this.element, pointer, words)
    say(this.#said, isShown ? 'Not done: see above.' : words)
  }

  /** While a request is under way nothing is sent twice. */
  set isBusy(isBusy: boolean) {
    for (const button of this.element.querySelectorAll<HTMLButtonElement>('button[type="submit"]'))
      button.disabled = isBusy
  }

  #kinds(below: HTMLElement): HTMLElement {
    const kinds = this.#options.tables.kinds.toSorted((a, b) => Number(b.isEditable) - Number(a.isEditable))
    const radios = kinds.map((kind) => {
      const choose = (): void => {
        this.#kind = kind
        this.#shape(below)
      }
      const checked = kind === this.#kind ? { checked: '' } : {}
      const radio = el('input', { type: 'radio', name: 'kind', value: kind.kind, ...checked, change: choose })
      return el('label', {}, radio, kind.named)
    })
    return el('fieldset', { class: 'row' }, el('legend', { class: 'unseen' }, 'What to make'), ...radios)
  }

  #symbolRow(): HTMLElement {
    this.#symbol.setAttribute('list', this.#options.symbolsId)
    this.#symbol.addEventListener('change', () => this.#terms.spell())
    const more =
      'symbols' in (this.#kind.schema.properties ?? {})
        ? [el('span', { class: 'hint' }, 'A rule takes several: BTC, ETH. Or every symbol: all.')]
        : []
    return el('div', { class: 'field' }, el('div', { class: 'row' }, 'Ring for ', this.#symbol, this.#now), ...more)
  }

  /** The fields of the kind that is chosen, and no others. */
  #shape(below: HTMLElement): void {
    const { tables, changed, alert } = this.#options
    const { metrics, closes } = tables
    this.#terms.shape(this.#kind, { metrics, closes, symbol: () => this.symbol }, changed)
    const { terms, delivery, schema } = this.#kind
    const { properties = {} } = schema
    if (alert === undefined) this.#destination ??= new DestinationFields(properties['channel'] ?? {})
    const isOther = (name: string): boolean =>
      alert === undefined ? !terms.includes(name) && !elsewhere.has(name) : delivery.includes(name)
    this.#others = fieldsOf(schema, Object.keys(properties).filter(isOther))
    const fields = [...this.#others.values()].map(({ element }) => element)
    const destination = this.#destination === undefined ? [] : [this.#destination.element]
    below.replaceChildren(...destination, el('div', { class: 'fields' }, ...fields))
  }
}
