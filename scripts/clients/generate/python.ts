import type { Schema } from '../../../api/request/schema.ts'
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
    'from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence',
    'from enum import Enum',
    'from typing import Any, Literal, NamedTuple, NotRequired, TypedDict, TypeVar',
    '',
    'from .history import AsyncHistory, History, ranged',
    'from .payment import Payment',
    '',
    'T = TypeVar("T")',
  ]
  const methods = [
    ...operations.map((operation, index) => methodOf(operation, answers[index] ?? 'Any', false)),
    ...streams.map((stream, index) => methodOf(stream, events[index] ?? 'Any', true)),
  ]
  const tables = [...nullClass, ...tableClass, ...table('OPERATIONS', operations), ...table('STREAMS', streams)]
  const classes = [...apiClass, ...methods.flatMap(now), ...asyncApiClass, ...methods.flatMap(later)]
  return [...head, ...types.lines, ...tables, '', '', ...classes].join('\n').trimEnd().concat('\n')
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

const asyncApiClass = [
  '',
  '',
  'class AsyncApi:',
  '    """The methods of Api, to be awaited; how they are run beside the loop is the client\'s."""',
  '',
  '    async def run(self, work: Callable[[Api], T]) -> T:',
  '        raise NotImplementedError',
  '',
  '    def hear(self, work: Callable[[Api], Iterator[T]]) -> AsyncIterator[T]:',
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
    if (schema['type'] === undefined && Array.isArray(schema['oneOf']))
      return schema['oneOf'].map((one: Schema) => this.of(one, name)).join(' | ')
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
    const { entries, isUniform, required } = propertiesOf(schema)
    const further = schema['additionalProperties']
    if (entries.length === 0) return `dict[str, ${isObject(further) ? this.of(further, `${name}Value`) : 'Any'}]`
    const [first] = entries
    if (isUniform && first !== undefined) return `dict[str, ${this.of(first[1], `${name}Value`)}]`
    const fields = entries.map(([key, field]) => {
      const text = this.of(field, name + pascal(key))
      const description = typeof field['description'] === 'string' ? field['description'] : undefined
      return { key, description, text: required.has(key) ? text : `NotRequired[${text}]` }
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
  readonly description: string | undefined
}

function plain(name: string, fields: readonly Typed[]): string[] {
  const lines = fields.flatMap(({ key, text, description }) => [
    ...(description === undefined ? [] : [`    # ${description}`]),
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

const nullClass = [
  '',
  '',
  'class Null(Enum):',
  '    """Null, which takes away what was set, where None leaves a field as it is."""',
  '',
  '    NULL = "null"',
  '',
  '',
  'NULL = Null.NULL',
]

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
    const named = (location: Input['in']): string[] =>
      inputs.filter((one) => one.in === location).map((one) => one.name)
    const flags = [named('token').length > 0, isKeyed, isQuestion].map((flag) => (flag ? 'True' : 'False'))
    const cells = [`"${verb}"`, `"${path}"`, tuple(named('query')), tuple(named('body')), ...flags, priceUsdc]
    return `    "${name}": Operation(${cells.join(', ')}),`
  })
  return ['', '', `${of}: dict[str, Operation] = {`, ...rows, '}']
}

const KEY = 'idempotency_key'
const PAYMENT = 'payment'

/** A method, as both classes have it. */
interface Method {
  readonly name: string
  readonly description: string
  /** Its parameters as Python declares them. */
  readonly declared: string
  /** The names of its parameters. */
  readonly names: readonly string[]
  readonly kind: 'answer' | 'events' | 'history'
  /** What it gives, or what its events are. */
  readonly type: string
  /** The expression that makes it of a sync client. */
  readonly made: string
}

function methodOf(operation: Operation, answer: string, isStream: boolean): Method {
  const { name, description, inputs, priceUsdc, path, method: verb, isKeyed } = operation
  const rows = rowsOf(operation)
  const typed = (all: readonly Input[]): string[] => all.map((input) => `${input.name}: ${inputText(input.type)}`)
  const inPath = typed(inputs.filter((input) => input.in === 'path'))
  const needed = typed(inputs.filter((input) => input.isRequired && input.in !== 'path'))
  const others = typed(inputs.filter((input) => !input.isRequired)).map((input) => `${input} | None = None`)
  const further = [
    ...(isKeyed ? [`${KEY}: str | None = None`] : []),
    ...(priceUsdc > 0 ? [`${PAYMENT}: Payment | None = None`] : []),
    ...(rows === undefined ? [] : ['days: float | None = None']),
  ]
  const named = [...needed, ...others, ...further]
  const given = [...inputs.map((input) => input.name), ...(isKeyed ? [KEY] : []), ...(priceUsdc > 0 ? [PAYMENT] : [])]
  const input = `{${given.map((one) => `"${one}": ${one}`).join(', ')}}`
  const price = `${priceUsdc === 0 ? 'Free' : `${priceUsdc} USDC`}${rows === undefined ? '' : ' a page'}`
  const row = `${answer}${pascal(rows ?? '')}Item`
  return {
    name,
    description: `${description}. ${verb} ${path}. ${price}.`,
    declared: ['self', ...inPath, ...(named.length === 0 ? [] : ['*', ...named])].join(', '),
    names: [...given, ...(rows === undefined ? [] : ['days'])],
    ...(rows === undefined
      ? { kind: isStream ? 'events' : 'answer', type: answer }
      : { kind: 'history', type: `[${answer}, ${row}]` }),
    made:
      rows === undefined
        ? `self.${isStream ? 'listen' : 'send'}("${name}", ${input})`
        : `History(self.send, "${name}", ranged(${input}, days), rows="${rows}", row=${row})`,
  }
}

function now({ name, description, declared, kind, type, made }: Method): string[] {
  const returned = { answer: type, events: `Iterator[${type}]`, history: `History${type}` }[kind]
  return [
    '',
    `    def ${name}(${declared}) -> ${returned}:`,
    `        """${description}"""`,
    ...(kind === 'history'
      ? [`        return ${made}`]
      : [`        answer: ${returned} = ${made}`, '        return answer']),
  ]
}

function later({ name, description, declared, names, kind, type }: Method): string[] {
  const work = `lambda api: api.${name}(${names.map((one) => `${one}=${one}`).join(', ')})`
  const [head, made] = {
    answer: [`async def ${name}(${declared}) -> ${type}`, `await self.run(${work})`],
    events: [`def ${name}(${declared}) -> AsyncIterator[${type}]`, `self.hear(${work})`],
    history: [`def ${name}(${declared}) -> AsyncHistory${type}`, `AsyncHistory(self.run, ${work})`],
  }[kind]
  return ['', `    ${head}:`, `        """${description}"""`, `        return ${made}`]
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
    case 'boolean':
      return 'bool'
    case 'time':
      return 'str | int'
    case 'texts':
      return 'Sequence[str]'
    case 'text':
      return 'str'
    case 'null':
      return 'Null'
    case 'object':
      return 'Mapping[str, Any]'
    case 'either':
      return type.types.map(inputText).join(' | ')
  }
}
