import { bodyComponents } from '../../../api/alerts/kinds/kinds.ts'
import type { Schema } from '../../../api/request/schema.ts'
import {
  camel,
  isObject,
  operations,
  pascal,
  streams,
  propertiesOf,
  type InputType,
  type Operation,
} from './operations.ts'

/** `typescript/src/api.ts`: a type for every input and answer, and a method for every operation. */
export function typescriptApi(): string {
  const parts = [
    '// Generated from the route table: npm run generate',
    'export interface Operation { readonly method: "GET" | "POST" | "DELETE" | "PATCH"; readonly path: string; readonly query: readonly string[]; readonly body: readonly string[]; readonly isOwners: boolean; readonly isKeyed: boolean; readonly isQuestion: boolean; readonly priceUsdc: number }',
    ...Object.entries(bodyComponents).map(([name, schema]) => `export type ${name} = ${typeText(schema)}`),
    ...operations.flatMap((operation) => [inputType(operation), answerType(operation)]),
    `/** How each operation is asked. */\nexport const operations = {${operations.map(row).join(',\n')}} as const satisfies Readonly<Record<string, Operation>>`,
    'export type OperationName = keyof typeof operations',
    ...streams.flatMap((stream) => [inputType(stream), eventType(stream)]),
    `/** How each stream is asked for. */\nexport const streams = {${streams.map(row).join(',\n')}} as const satisfies Readonly<Record<string, Operation>>`,
    'export type StreamName = keyof typeof streams',
    `/** Every operation as a method; how it is sent is the client's. */\nexport abstract class Api<Options> {
      protected abstract send(name: OperationName, input: object, options: Options | undefined): Promise<unknown>
      protected abstract listen(name: StreamName, input: object, options: Options | undefined): AsyncGenerator<unknown, void>
      ${[...operations.map(method), ...streams.map(listening)].join('\n\n')}
    }`,
  ]
  return `${parts.join('\n\n')}\n`
}

function inputType({ name, inputs }: Operation): string {
  const fields = inputs.map(
    (input) =>
      `/** ${input.description} */\nreadonly ${input.name}${input.isRequired ? '' : '?'}: ${inputText(input.type)}`,
  )
  return `export interface ${pascal(name)}Input {${fields.join('\n')}}`
}

function inputText(type: InputType): string {
  switch (type.kind) {
    case 'choice':
      return type.values.map((value) => JSON.stringify(value)).join(' | ')
    case 'boolean':
      return 'boolean'
    case 'integer':
    case 'number':
      return 'number'
    case 'time':
      return 'string | number'
    case 'texts':
      return 'readonly string[]'
    case 'text':
      return 'string'
    case 'null':
      return 'null'
    case 'object':
      return typeText(type.schema)
    case 'either':
      return type.types.map(inputText).join(' | ')
  }
}

function answerType({ name, answer }: Operation): string {
  return `export type ${pascal(name)}Answer = ${typeText(answer)}`
}

/** An event by its name; its id is the one to come back with. */
function eventType({ name, answer }: Operation): string {
  const events = propertiesOf(answer).entries.map(
    ([event, data]) => `{ readonly name: '${event}'; readonly id: string; readonly data: ${typeText(data)} }`,
  )
  return `export type ${pascal(name)}Event = ${events.join(' | ')}`
}

function typeText(schema: Schema): string {
  if (typeof schema['$ref'] === 'string') return schema['$ref'].slice(schema['$ref'].lastIndexOf('/') + 1)
  if (Array.isArray(schema['oneOf'])) return schema['oneOf'].map((one: Schema) => typeText(one)).join(' | ')
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => JSON.stringify(value)).join(' | ')
  const types = Array.isArray(schema['type']) ? (schema['type'] as string[]) : [String(schema['type'])]
  return types.map((type) => oneType(type, schema)).join(' | ')
}

function oneType(type: string, schema: Schema): string {
  switch (type) {
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `readonly ${grouped(isObject(schema['items']) ? typeText(schema['items']) : 'unknown')}[]`
    case 'object':
      return objectText(schema)
    default:
      return type
  }
}

function grouped(text: string): string {
  return text.includes('|') && (!text.startsWith('{') || text.includes('} | ')) ? `(${text})` : text
}

function objectText(schema: Schema): string {
  const { entries, isUniform, required } = propertiesOf(schema)
  const further = schema['additionalProperties']
  if (entries.length === 0) return `Readonly<Record<string, ${isObject(further) ? typeText(further) : 'unknown'}>>`
  const [first] = entries
  if (isUniform && first !== undefined) {
    const keys = entries.map(([name]) => JSON.stringify(name)).join(' | ')
    const record = `Readonly<Record<${keys}, ${typeText(first[1])}>>`
    return required.size === 0 ? `Partial<${record}>` : record
  }
  const fields = entries.map(([name, field]) => {
    const says = typeof field['description'] === 'string' ? `/** ${field['description']} */\n` : ''
    return `${says}readonly ${name}${required.has(name) ? '' : '?'}: ${typeText(field)}`
  })
  return `{${fields.join('\n')}}`
}

function row({ name, method: verb, path, inputs, isKeyed, isQuestion, priceUsdc }: Operation): string {
  const named = (location: string): string[] =>
    inputs.filter((input) => input.in === location).map((input) => input.name)
  const isOwners = named('token').length > 0
  const value = {
    method: verb,
    path,
    query: named('query'),
    body: named('body'),
    isOwners,
    isKeyed,
    isQuestion,
    priceUsdc,
  }
  return `${name}: ${JSON.stringify(value)}`
}

function method({ name, description, inputs, priceUsdc, method: verb, path }: Operation): string {
  const optional = inputs.every((input) => !input.isRequired)
  const price = priceUsdc === 0 ? 'Free' : `${priceUsdc} USDC`
  return `/** ${description}. \`${verb} ${path}\`. ${price}. */
  async ${camel(name)}(input: ${pascal(name)}Input${optional ? ' = {}' : ''}, options?: Options): Promise<${pascal(name)}Answer> {
    return (await this.send('${name}', input, options)) as ${pascal(name)}Answer
  }`
}

function listening({ name, description, priceUsdc, method: verb, path }: Operation): string {
  return `/** ${description}. \`${verb} ${path}\`. ${priceUsdc} USDC. */
  ${camel(name)}(input: ${pascal(name)}Input, options?: Options): AsyncGenerator<${pascal(name)}Event, void> {
    return this.listen('${name}', input, options) as AsyncGenerator<${pascal(name)}Event, void>
  }`
}
