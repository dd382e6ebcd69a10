import { readdirSync, readFileSync } from 'node:fs'
import { format } from 'prettier'

/** An Avro schema as far as the files in `schemas/records` use it. */
type Schema = string | readonly Schema[] | Complex

interface Complex {
  readonly type: Schema
  readonly name?: string
  readonly doc?: string
  readonly fields?: readonly Field[]
  readonly symbols?: readonly string[]
  readonly items?: Schema
  readonly values?: Schema
}

interface Field {
  readonly name: string
  readonly doc: string
  readonly type: Schema
}

const folder = new URL('../schemas/records/', import.meta.url)

const primitives: Readonly<Record<string, string>> = {
  null: 'null',
  boolean: 'boolean',
  int: 'number',
  long: 'number',
  double: 'number',
  string: 'string',
  bytes: 'Buffer',
}

/** `schemas/generated.ts`: an interface for every record of `schemas/records`, each field with its meaning and unit. */
export async function recordTypes(): Promise<string> {
  const interfaces = new Map<string, string>()
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.avsc'))
    .map((file) => file.slice(0, -'.avsc'.length))
    .sort()
  const records = names.map((name) => {
    const schema = JSON.parse(readFileSync(new URL(`${name}.avsc`, folder), 'utf8')) as Schema
    return `${name}: ${typeText(schema, interfaces)}`
  })
  const parts = [
    '// Generated from records/*.avsc: npm run generate',
    '/** Microseconds since the Unix epoch. */\nexport type Micros = number',
    ...interfaces.values(),
    `/** Record type name, as in the subject and the .avsc file's name, to its shape. */\nexport interface Records {${records.join('\n')}}`,
  ]
  return format(parts.join('\n\n'), { parser: 'typescript', semi: false, singleQuote: true, printWidth: 120 })
}

/** The TypeScript type of a schema; the interfaces of its records are added to `interfaces`. */
function typeText(schema: Schema, interfaces: Map<string, string>): string {
  if (typeof schema === 'string') return known(primitives[schema], schema)
  if (isUnion(schema)) {
    const types = schema.map((one) => typeText(one, interfaces))
    return types.sort((a, b) => Number(a === 'null') - Number(b === 'null')).join(' | ')
  }
  switch (schema.type) {
    case 'record':
      return interfaceOf(schema, interfaces)
    case 'enum':
      return known(schema.symbols, schema.type)
        .map((symbol) => `'${symbol}'`)
        .join(' | ')
    case 'array':
      return `readonly (${typeText(known(schema.items, schema.type), interfaces)})[]`
    case 'map':
      return `Readonly<Record<string, ${typeText(known(schema.values, schema.type), interfaces)}>>`
    default:
      return typeText(schema.type, interfaces)
  }
}

function isUnion(schema: readonly Schema[] | Complex): schema is readonly Schema[] {
  return Array.isArray(schema)
}

/** Gives its name. Two records of one name must be the same. */
function interfaceOf({ name, doc, fields }: Complex, interfaces: Map<string, string>): string {
  const title = known(name, 'record')
  const lines = known(fields, title).map((field) => {
    const type = typeText(field.type, interfaces)
    const isTime = /microseconds since the Unix epoch/i.test(field.doc)
    return `${comment(field.doc)}readonly ${field.name}: ${isTime ? type.replace('number', 'Micros') : type}`
  })
  const text = `${doc === undefined ? '' : comment(doc)}export interface ${title} {${lines.join('\n')}}`
  const before = interfaces.get(title)
  if (before !== undefined && before !== text) throw new Error(`two records of different shapes are called ${title}`)
  interfaces.set(title, text)
  return title
}

function comment(doc: string): string {
  return `/** ${doc.replaceAll('*/', '* /')} */\n`
}

function known<Value>(value: Value | undefined, where: string): Value {
  if (value === undefined) throw new Error(`schemas/records has a ${where} that is not understood`)
  return value
}
