import {
  isLeaf,
  numberOf,
  operatorWords,
  partsOf,
  unitOf,
  type Condition,
  type Joint,
  type Leaf,
  type Metric,
} from './alert-words.ts'
import { at, chooser, line, offer, type Choice } from './controls.ts'
import { el, say } from './dom.ts'

/** What conditions are made of, as the API says it. */
export interface Vocabulary {
  readonly metrics: readonly Metric[]
  readonly closes: readonly string[]
  readonly symbol: () => string
}

/** A condition on the page; `read` also notes where in the body each control stands. */
export interface Part {
  readonly element: HTMLElement
  read(pointer: string): Condition
  /** The words of the sentence anew, as of another symbol. */
  shape(): void
}

const named = (value: string): Choice => [value, value.replaceAll('_', ' ')]
const joints: readonly Choice[] = [
  ['all', 'all of these hold'],
  ['any', 'any of these holds'],
]
/** As deep as the API takes them. */
const DEPTH_MAX = 3

/** One condition as a sentence: a metric, where, over how long, and its bound. */
export class ConditionRow implements Part {
  readonly element: HTMLElement
  readonly #words: Vocabulary
  readonly #metric: HTMLSelectElement
  readonly #window = chooser('Over how long')
  readonly #venue = chooser('On which venue')
  readonly #operator = chooser('Comparison')
  readonly #value = line('input', { 'aria-label': 'Value', inputmode: 'decimal', required: '' })
  readonly #upper = line('input', { 'aria-label': 'Upper value', inputmode: 'decimal', required: '' })
  readonly #class = chooser('Class')
  readonly #unit = el('span', { class: 'unit' })
  readonly #close: HTMLSelectElement
  readonly #slack = line('input', { 'aria-label': 'Hysteresis', inputmode: 'decimal', placeholder: '0' })
  readonly #finer: HTMLElement

  constructor(words: Vocabulary, remove: () => void) {
    this.#words = words
    this.#metric = chooser('Metric')
    this.#close = chooser('Looked at', [
      ['', 'at once'],
      ...words.closes.map((close): Choice => [close, `at the close of ${close}`]),
    ])
    this.#finer = el(
      'details',
      { class: 'finer' },
      el('summary', {}, 'At a candle’s close, hysteresis'),
      el('label', {}, 'Looked at ', this.#close),
      el('label', {}, 'Over when behind by ', this.#slack),
    )
    const quiet = { type: 'button', class: 'quiet remove', 'aria-label': 'Remove this condition', click: remove }
    const sentence = [
      this.#metric,
      this.#window,
      this.#venue,
      this.#operator,
      this.#value,
      this.#upper,
      this.#class,
      this.#unit,
    ]
    const button = el('button', quiet, '×')
    this.element = el('div', { class: 'condition' }, el('div', { class: 'row' }, ...sentence, button), this.#finer)
    for (const control of [this.#metric, this.#operator]) control.addEventListener('change', () => this.shape())
    this.shape()
  }

  /** Offers what can be asked of the metric, and nothing else. */
  shape(): void {
    const symbol = this.#words.symbol()
    const metricChoice = ({ name, says, ...unit }: Metric): Choice => [
      name,
      [says, unitOf(unit, symbol)].filter(Boolean).join(', '),
    ]
    offer(this.#metric, this.#words.metrics.map(metricChoice))
    const metric = this.#words.metrics.find(({ name }) => name === this.#metric.value)
    if (metric === undefined) return
    const { operators, exchanges, classes } = metric
    offer(
      this.#operator,
      operators.map(({ operator }) => [operator, operatorWords(operator)]),
    )
    const windows = operators.find(({ operator }) => operator === this.#operator.value)?.windows ?? []
    offer(
      this.#window,
      windows.map((window): Choice => [window, `over ${window}`]),
    )
    offer(this.#venue, [['', 'on all venues'], ...exchanges.map((venue): Choice => [venue, `on ${venue}`])])
    offer(this.#class, classes.map(named))
    const isClass = classes.length > 0
    const isBetween = this.#operator.value === 'between'
    this.#window.hidden = windows.length === 0
    this.#venue.hidden = exchanges.length === 0
    this.#class.hidden = !isClass
    this.#value.hidden = this.#value.disabled = isClass
    this.#upper.hidden = this.#upper.disabled = !isBetween
    this.#slack.parentElement?.toggleAttribute('hidden', isClass)
    say(this.#unit, isClass ? '' : unitOf(metric, symbol))
  }

  fill(leaf: Leaf): void {
    const { value } = leaf
    this.#metric.value = leaf.metric
    this.shape()
    this.#operator.value = leaf.operator
    this.shape()
    this.#window.value = leaf.window ?? ''
    this.#venue.value = leaf.exchange ?? ''
    this.#close.value = leaf.close ?? ''
    const [low, high = ''] = typeof value === 'object' ? value : [value]
    this.#value.value = this.#class.value = String(low)
    this.#upper.value = String(high)
    this.#slack.value = leaf.hysteresis === undefined || leaf.hysteresis === 0 ? '' : String(leaf.hysteresis)
    if (this.#close.value !== '' || this.#slack.value !== '') this.#finer.setAttribute('open', '')
  }

  read(pointer: string): Leaf {
    const of = (control: HTMLInputElement | HTMLSelectElement, name: string): string =>
      at(control, `${pointer}/${name}`).value
    const [low, high] = [of(this.#value, 'value'), of(this.#upper, 'value/1')].map(numberOf)
    const bound = this.#upper.hidden ? (low ?? '') : [low ?? '', high ?? '']
    const [exchange, close, slack] = [
      of(this.#venue, 'exchange'),
      of(this.#close, 'close'),
      of(this.#slack, 'hysteresis'),
    ]
    const window = of(this.#window, 'window')
    return {
      metric: of(this.#metric, 'metric'),
      operator: of(this.#operator, 'operator'),
      value: this.#class.hidden ? bound : at(this.#class, `${pointer}/value`).value,
      ...(window !== '' && { window }),
      ...(exchange !== '' && { exchange }),
      ...(close !== '' && { close }),
      ...(slack !== '' && this.#class.hidden && { hysteresis: numberOf(slack) }),
    }
  }
}

/** Conditions that all, or any, have to hold; they may hold groups again. */
export class ConditionGroup implements Part {
  readonly element: HTMLElement
  readonly #words: Vocabulary
  readonly #depth: number
  readonly #changed: () => void
  readonly #joint = chooser('Joined', joints)
  readonly #place = el('div', { class: 'stack' })
  #parts: Part[] = []

  constructor(words: Vocabulary, changed: () => void, depth = 1, remove?: () => void) {
    this.#words = words
    this.#depth = depth
    this.#changed = changed
    const button = (text: string, click: () => void): HTMLElement =>
      el('button', { type: 'button', class: 'quiet', click }, text)
    const more = [button('Add condition', () => this.#grow(this.#row()))]
    if (depth < DEPTH_MAX) more.push(button('Add group', () => this.#grow(this.#group())))
    if (remove !== undefined) more.push(button('Remove group', remove))
    this.element = el(
      'fieldset',
      { class: 'group' },
      el('legend', { class: depth === 1 ? 'unseen' : '' }, depth === 1 ? 'Conditions' : 'Group'),
      el('label', { class: 'joint' }, depth === 1 ? 'when ' : '', this.#joint),
      this.#place,
      el('div', { class: 'row' }, ...more),
    )
    // A group in a group that were joined alike would be none.
    this.#joint.value = depth % 2 === 1 ? 'all' : 'any'
    this.#add(this.#row())
  }

  shape(): void {
    for (const part of this.#parts) part.shape()
  }

  fill(condition: Condition): void {
    const { joint, parts } = partsOf(condition)
    this.#joint.value = joint
    this.#parts = []
    this.#place.replaceChildren()
    for (const part of parts) {
      if (isLeaf(part)) this.#add(this.#row()).fill(part)
      else this.#add(this.#group()).fill(part)
    }
  }

  /** One condition alone needs no group around it. */
  read(pointer: string): Condition {
    const [first] = this.#parts
    at(this.#joint, pointer)
    if (first !== undefined && this.#parts.length === 1) return first.read(pointer)
    const joint: Joint = this.#joint.value === 'any' ? 'any' : 'all'
    return { [joint]: this.#parts.map((part, index) => part.read(`${pointer}/${joint}/${index}`)) }
  }

  #row(): ConditionRow {
    const row = new ConditionRow(this.#words, () => this.#remove(row))
    return row
  }

  #group(): ConditionGroup {
    const group = new ConditionGroup(this.#words, this.#changed, this.#depth + 1, () => this.#remove(group))
    return group
  }

  #add<One extends Part>(part: One): One {
    this.#parts.push(part)
    this.#place.append(part.element)
    this.#count()
    return part
  }

  #grow(part: Part): void {
    this.#add(part).element.querySelector('select')?.focus()
    this.#changed()
  }

  #remove(part: Part): void {
    this.#parts = this.#parts.filter((one) => one !== part)
    part.element.remove()
    this.#count()
    this.#place.querySelector('select')?.focus()
    this.#changed()
  }

  /** The last condition stays; how conditions are joined matters where there are several. */
  #count(): void {
    const isAlone = this.#parts.length < 2
    this.#joint.parentElement?.toggleAttribute('hidden', isAlone)
    this.element.classList.toggle('alone', isAlone)
  }
}
