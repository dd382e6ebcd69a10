import { namesOf, nameWords, numberOf, type Schema } from './alert-words.ts'
import { at, chooser, line, offer, type Choice } from './controls.ts'
import { el } from './dom.ts'

/** A field of a body, made from its schema. */
export interface Field {
  readonly element: HTMLElement
  /** undefined: left out. `pointer`: where in the body it stands. */
  read(pointer: string): unknown
  fill(value: unknown): void
}

/** Begins as the browser's own, and says nothing alone. */
const ZONE = 'time_zone'
/** Longer texts have more room. */
const LINE_MAX = 100
/** What is longer still, and no address, has an area. */
const AREA_OVER = 300

/** What one writes or chooses for a field; undefined: of a shape that no control here has. */
function fieldOf(name: string, schema: Schema, isNeeded: boolean): Field | undefined {
  const { type = '', description = '' } = schema
  const label = nameWords(name)
  if (schema.properties !== undefined) return fieldsetOf(label, schema)
  if (type === 'boolean' && schema.default !== undefined) return tickOf(label, schema)
  if (type === 'boolean') {
    // Left out is neither.
    const field = fieldOf(name, { ...schema, type: 'string', enum: ['yes', 'no'] }, isNeeded)
    return (
      field && {
        ...field,
        read: (pointer) => yesOrNo(field.read(pointer)),
        fill: (value) => field.fill(value === undefined ? '' : value === true ? 'yes' : 'no'),
      }
    )
  }
  const isNumber = type === 'number' || type === 'integer' || (Array.isArray(type) && type.includes('number'))
  const isText = type === 'string' || (Array.isArray(type) && type.includes('string'))
  const isList = type === 'array' && schema.items?.type === 'string'
  if (!isNumber && !isText && !isList) return undefined
  const control = schema.enum === undefined ? writtenOf(schema, isNumber) : chosenOf(label, schema, isNeeded)
  if (name === ZONE) control.value = Intl.DateTimeFormat().resolvedOptions().timeZone
  control.required = isNeeded
  const [id, hint] = [`field-${crypto.randomUUID()}`, `hint-${crypto.randomUUID()}`]
  control.id = id
  control.setAttribute('aria-describedby', hint)
  control.removeAttribute('aria-label')
  const isLong = control instanceof HTMLTextAreaElement || (schema.maxLength ?? 0) > LINE_MAX
  return {
    element: el(
      'div',
      { class: isLong ? 'field long' : 'field' },
      el('label', { for: id }, label),
      control,
      el('span', { class: 'hint', id: hint }, description),
    ),
    read(pointer) {
      const { value } = at(control, pointer)
      if (value.trim() === '') return undefined
      if (isList) return namesOf(value)
      return isNumber ? numberOf(value) : value
    },
    fill(value) {
      control.value = textOf(value)
    },
  }
}

/** The fields of an object in their order, but for those that have a control of their own. */
export function fieldsOf(schema: Schema, names: readonly string[]): ReadonlyMap<string, Field> {
  const { properties = {}, required = [] } = schema
  const found = names.flatMap((name): [string, Field][] => {
    const field = fieldOf(name, properties[name] ?? {}, required.includes(name))
    return field === undefined ? [] : [[name, field]]
  })
  return new Map(found)
}

function yesOrNo(value: unknown): boolean | undefined {
  return value === undefined ? undefined : value === 'yes'
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** What the fields say, without what is left out. */
export function readFields(fields: ReadonlyMap<string, Field>, pointer: string): Record<string, unknown> {
  const all = [...fields].map(([name, field]) => [name, field.read(`${pointer}/${name}`)] as const)
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}

function writtenOf(
  { maxLength = 0, default: usual, examples: [example] = [] }: Schema,
  isNumber: boolean,
): HTMLInputElement {
  const shown = usual ?? example
  const placeholder = shown === undefined ? {} : { placeholder: textOf(shown) }
  const isArea = maxLength > AREA_OVER && !textOf(example).startsWith('https:')
  const control = line(isArea ? 'textarea' : 'input', { ...placeholder, ...(isNumber && { inputmode: 'decimal' }) })
  if (maxLength > 0) control.maxLength = maxLength
  return control
}

/** Where it may be left out there is an empty choice, unless one is usual. */
function chosenOf(label: string, { enum: values = [], default: usual }: Schema, isNeeded: boolean): HTMLSelectElement {
  const given = values.filter((value) => value !== null)
  const none: readonly Choice[] = isNeeded || usual !== undefined ? [] : [['', '–']]
  const select = chooser(label)
  offer(select, [...none, ...given.map((value): Choice => [value, value.replaceAll('_', ' ')])])
  if (typeof usual === 'string') select.value = usual
  return select
}

function tickOf(label: string, { description = '', default: usual }: Schema): Field {
  const box = line('input', { type: 'checkbox' })
  box.checked = usual === true
  return {
    element: el(
      'div',
      { class: 'field' },
      el('label', { class: 'tick' }, box, label),
      el('span', { class: 'hint' }, description),
    ),
    read: (pointer) => at(box, pointer).checked,
    fill(value) {
      box.checked = value === true
    },
  }
}

/** An object that may be left out whole: it is, where none of its fields says anything. */
function fieldsetOf(label: string, schema: Schema): Field {
  const fields = fieldsOf({ ...schema, required: [] }, Object.keys(schema.properties ?? {}))
  const parts = [...fields.values()].map(({ element }) => element)
  return {
    element: el('fieldset', { class: 'field long' }, el('legend', {}, label), el('div', { class: 'fields' }, ...parts)),
    read(pointer) {
      const fieldsRead = readFields(fields, pointer)
      return Object.keys(fieldsRead).every((name) => name === ZONE) ? undefined : fieldsRead
    },
    fill(value) {
      if (value === undefined || value === null) return
      const given = { ...value }
      for (const [name, field] of fields) field.fill(given[name as keyof typeof given])
    },
  }
}

/** Where an alert tells: the type of a channel, and the fields of that. */
export class DestinationFields {
  readonly element: HTMLElement
  readonly #type: HTMLSelectElement
  readonly #place = el('div', { class: 'fields' })
  readonly #channels: ReadonlyMap<string, Schema>
  #fields: ReadonlyMap<string, Field> = new Map()

  /** `schema`: of `channel`, one object for each type. */
  constructor({ oneOf = [] }: Schema) {
    this.#channels = new Map(oneOf.map((channel) => [String(channel.properties?.['type']?.enum?.[0]), channel]))
    const choices = [...this.#channels].map(([type, { description = '' }]): Choice => [type, `${type}: ${description}`])
    this.#type = chooser('Channel', choices)
    this.#type.addEventListener('change', () => this.#shape())
    const label = el('label', { class: 'field long' }, el('span', { class: 'hint' }, 'Tell me by'), this.#type)
    this.element = el(
      'fieldset',
      { class: 'destination' },
      el('legend', { class: 'unseen' }, 'Destination'),
      label,
      this.#place,
    )
    this.#shape()
  }

  read(pointer: string): object {
    return { type: at(this.#type, `${pointer}/type`).value, ...readFields(this.#fields, pointer) }
  }

  /** Operators are asked for no code of an address. */
  #shape(): void {
    const channel = this.#channels.get(this.#type.value) ?? {}
    this.#fields = fieldsOf(
      channel,
      Object.keys(channel.properties ?? {}).filter((name) => name !== 'type' && name !== 'code'),
    )
    this.#place.replaceChildren(...[...this.#fields.values()].map(({ element }) => element))
  }
}
