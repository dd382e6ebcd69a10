import type { Schema } from '../../../api/schema.ts'
import {
  isObject,
  operations,
  pascal,
  propertiesOf,
  streams,
  type Input,
  type InputType,
  type Operation,
} from './operations.ts'

/** `python/market_data_alerts/api.py`: a TypedDict for every object of an answer, and a method for every operation. */
export function pythonApi(): string {
  const types = new Types()
  const answers = operations.map(({ name, answer }) => types.of(answer, pascal(name)))
  const events = streams.map((stream) => types.events(stream))
  const head = [
    '"""Generated from the route table: npm run generate"""',
    '',
    'from __future__ import annotations',
    '',
    'from collections.abc import Iterator, Mapping, Sequence',
    'from typing import Any, Literal, NamedTuple, NotRequired, TypedDict',
    '',
    'from .history import History, ranged',
    '',
  ]
  const named = operations.flatMap((operation, index) => method(operation, answers[index] ?? 'Any'))
  named.push(...streams.flatMap((stream, index) => method(stream, events[index] ?? 'Any', true)))
  const tables = [...tableClass, ...table('OPERATIONS', operations), ...table('STREAMS', streams)]
  return [...head, ...types.lines, ...tables, '', '', ...apiClass, ...named].join('\n').trimEnd().concat('\n')
}

const apiClass = [
  'class Api:',
  '    """Every operation as a method; how it is sent is the client\'s."""',
  '',
  '    def send(self, name: str, given: Mapping[str, Any]) -> Any:',
  '        raise NotImplementedError',
  '',
  '    def listen(self, name: str, given: Mapping[str, Any]) -> Iterator[Any]:',
  '        raise NotImplementedError',
]

/** Names for the objects of answers, in the order in which Python needs them. */
class Types {
  readonly lines: string[] = []

  of(schema: Schema, name: string): string {
    if (Array.isArray(schema['enum'])) {
      const values = schema['enum'].map((value) => (value === null ? 'None' : JSON.stringify(value)))
      return `Literal[${values.join(', ')}]`
    }
    const types = Array.isArray(schema['type']) ? (schema['type'] as string[]) : [String(schema['type'])]
    return types.map((type) => this.#one(type, schema, name)).join(' | ')
  }

  /** The name of what any event of a stream is. */
  events({ name, answer }: Operation): string {
    const events = propertiesOf(answer).entries.map(([event, data]) => {
      const of = pascal(`${name}_${event}`)
      const fields = { name: `Literal["${event}"]`, id: 'str', data: this.of(data, of) }
      this.lines.push('', '', `class ${of}Event(TypedDict):`)
      this.lines.push(...Object.entries(fields).map(([key, type]) => `    ${key}: ${type}`))
      return `${of}Event`
    })
    this.lines.push('', '', `${pascal(name)}Event = ${events.join(' | ')}`)
    return `${pascal(name)}Event`
  }

  #one(type: string, schema: Schema, name: string): string {
    switch (type) {
      case 'integer':
        return 'int'
      case 'number':
        return 'float'
      case 'boolean':
        return 'bool'
      case 'null':
        return 'None'
      case 'array':
        return `list[${isObject(schema['items']) ? this.of(schema['items'], `${name}Item`) : 'Any'}]`
      case 'object':
        return this.#object(schema, name)
      default:
        return 'str'
    }
  }

  #object(schema: Schema, name: string): string {
    const { entries, alike, required } = propertiesOf(schema)
    const further = schema['additionalProperties']
    if (entries.length === 0) return `dict[str, ${isObject(further) ? this.of(further, `${name}Value`) : 'Any'}]`
    const [first] = entries
    if (alike && first !== undefined) return `dict[str, ${this.of(first[1], `${name}Value`)}]`
    const fields = entries.map(([key, field]) => {
      const text = this.of(field, name + pascal(key))
      const says = typeof field['description'] === 'string' ? field['description'] : undefined
      return { key, says, text: required.has(key) ? text : `NotRequired[${text}]` }
    })
    // A name such as `from` cannot be an attribute of a class.
    this.lines.push(
      '',
      '',
      ...(entries.some(([key]) => key === 'from') ? functional(name, fields) : plain(name, fields)),
    )
    return name
  }
}

interface Typed {
  readonly key: string
  readonly text: string
  readonly says: string | undefined
}

function plain(name: string, fields: readonly Typed[]): string[] {
  const lines = fields.flatMap(({ key, text, says }) => [
    ...(says === undefined ? [] : [`    # ${says}`]),
    `    ${key}: ${text}`,
  ])
  return [`class ${name}(TypedDict):`, ...lines]
}

function functional(name: string, fields: readonly Typed[]): string[] {
  const lines = fields.map(({ key, text }) => `        ${JSON.stringify(key)}: ${quoted(text)},`)
  return [`${name} = TypedDict(`, `    "${name}",`, '    {', ...lines, '    },', ')']
}

function quoted(type: string): string {
  return JSON.stringify(type).includes(String.raw`\"`) ? `'${type}'` : `"${type}"`
}

const tableClass = [
  '',
  '',
  'class Operation(NamedTuple):',
  ...['method: str', 'path: str', 'query: tuple[str, ...]', 'body: tuple[str, ...]'].map((field) => `    ${field}`),
  ...['is_owners: bool', 'is_keyed: bool', 'is_question: bool', 'price_usdc: float'].map((field) => `    ${field}`),
]

function table(of: string, all: readonly Operation[]): string[] {
  const tuple = (names: readonly string[]): string => `(${names.map((one) => `"${one}",`).join(' ')})`
  const rows = all.map(({ name, method: verb, path, inputs, isKeyed, isQuestion, priceUsdc }) => {
    const named = (place: Input['in']): string[] => inputs.filter((one) => one.in === place).map((one) => one.name)
    const flags = [named('token').length > 0, isKeyed, isQuestion].map((flag) => (flag ? 'True' : 'False'))
    const cells = [`"${verb}"`, `"${path}"`, tuple(named('query')), tuple(named('body')), ...flags, priceUsdc]
    return `    "${name}": Operation(${cells.join(', ')}),`
  })
  return ['', '', `${of}: dict[str, Operation] = {`, ...rows, '}']
}

const KEY = 'idempotency_key'

function method(operation: Operation, answer: string, isStream = false): string[] {
  const { name, says, inputs, priceUsdc, path, method: verb, isKeyed } = operation
  const rows = rowsOf(operation)
  const typed = (all: readonly Input[]): string[] => all.map((input) => `${input.name}: ${inputText(input.type)}`)
  const inPath = typed(inputs.filter((input) => input.in === 'path'))
  const needed = typed(inputs.filter((input) => input.isRequired && input.in !== 'path'))
  const others = typed(inputs.filter((input) => !input.isRequired)).map((input) => `${input} | None = None`)
  const further = [
    ...(isKeyed ? [`${KEY}: str | None = None`] : []),
    ...(rows === undefined ? [] : ['days: float | None = None']),
  ]
  const named = [...needed, ...others, ...further]
  const all = ['self', ...inPath, ...(named.length === 0 ? [] : ['*', ...named])]
  const names = [...inputs.map((input) => input.name), ...(isKeyed ? [KEY] : [])]
  const given = `{${names.map((one) => `"${one}": ${one}`).join(', ')}}`
  const price = `${priceUsdc === 0 ? 'Free' : `${priceUsdc} USDC`}${rows === undefined ? '' : ' a page'}`
  const type = isStream ? `Iterator[${answer}]` : answer
  const row = `${answer}${pascal(rows ?? '')}Item`
  const head = (returns: string): string[] => [
    '',
    `    def ${name}(${all.join(', ')}) -> ${returns}:`,
    `        """${says}. ${verb} ${path}. ${price}."""`,
  ]
  if (rows !== undefined)
    return [
      ...head(`History[${answer}, ${row}]`),
      `        return History(self.send, "${name}", ranged(${given}, days), rows="${rows}", row=${row})`,
    ]
  return [
    ...head(type),
    `        answer: ${type} = self.${isStream ? 'listen' : 'send'}("${name}", ${given})`,
    '        return answer',
  ]
}

/** Of an operation that answers in pages: the field that has the rows. */
function rowsOf({ answer }: Operation): string | undefined {
  const { entries } = propertiesOf(answer)
  if (!entries.some(([name]) => name === 'next')) return undefined
  return entries.find(([, field]) => field['type'] === 'array')?.[0]
}

function inputText(type: InputType): string {
  switch (type.kind) {
    case 'choice':
      return `Literal[${type.values.map((value) => JSON.stringify(value)).join(', ')}]`
    case 'integer':
      return 'int'
    case 'number':
      return 'float'
    case 'time':
      return 'str | int'
    case 'texts':
      return 'Sequence[str]'
    case 'text':
      return 'str'
    case 'object':
      return 'Mapping[str, Any]'
  }
}
