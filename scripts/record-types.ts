import { readdirSync } from 'node:fs'
import { schemaOf } from '../schemas/codec.ts'
import type { RecordType } from '../schemas/records.ts'
import type { RecordSchema, Schema } from '../schemas/writer.ts'

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
export function recordTypes(): string {
  const interfaces = new Map<string, string>()
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.avsc'))
    .map((file) => file.slice(0, -'.avsc'.length))
    .sort()
  const records = names.map((name) => {
    // A file that is new has no type yet.
    return `  ${name}: ${typeText(schemaOf(name as RecordType), interfaces)}`
  })
  const parts = [
    '// Generated from records/*.avsc: npm run generate',
    '/** Microseconds since the Unix epoch. */\nexport type Micros = number',
    ...interfaces.values(),
    `/** Record type name, as in the subject and the .avsc file's name, to its shape. */\nexport interface Records {\n${records.join('\n')}\n}`,
  ]
  return `${parts.join('\n\n')}\n`
}

/** The TypeScript type of a schema; the interfaces of its records are added to `interfaces`. */
function typeText(schema: Schema, interfaces: Map<string, string>): string {
  if (typeof schema === 'string') return primitiveText(schema)
  if ('length' in schema) return `${typeText(schema[1], interfaces)} | null`
  switch (schema.type) {
    case 'record':
      return interfaceOf(schema, interfaces)
    case 'enum':
      return schema.symbols.map((symbol) => `'${symbol}'`).join(' | ')
    case 'array':
      return `readonly (${typeText(schema.items, interfaces)})[]`
    case 'map':
      return `Readonly<Record<string, ${typeText(schema.values, interfaces)}>>`
  }
}

/** Gives its name. Two records of one name must be the same. */
function interfaceOf({ name, doc, fields }: RecordSchema, interfaces: Map<string, string>): string {
  const lines = fields.map((field) => {
    const type = typeText(field.type, interfaces)
    const isTime = /microseconds since the Unix epoch/i.test(field.doc)
    return `  ${comment(field.doc)}  readonly ${field.name}: ${isTime ? type.replace('number', 'Micros') : type}`
  })
  const text = `${doc === undefined ? '' : comment(doc)}export interface ${name} {\n${lines.join('\n')}\n}`
  const before = interfaces.get(name)
  if (before !== undefined && before !== text) throw new Error(`two records of different shapes are called ${name}`)
  interfaces.set(name, text)
  return name
}

function comment(doc: string): string {
  return `/** ${doc.replaceAll('*/', '* /')} */\n`
}

function primitiveText(schema: string): string {
  const text = primitives[schema]
  if (text === undefined) throw new Error(`schemas/records has a ${schema} that is not understood`)
  return text
}
