import { schemaText } from '../../schemas/codec.ts'
import type { RecordType } from '../../schemas/records.ts'
import type { Field } from './fields.ts'

interface AvroField {
  readonly name: string
  readonly type: AvroType
  readonly doc?: string
}

interface AvroNamed {
  readonly type: string
  readonly name?: string
  readonly doc?: string
  readonly symbols?: readonly string[]
  readonly items?: AvroType
  readonly values?: AvroType
  readonly fields?: readonly AvroField[]
}

type AvroType = string | readonly AvroType[] | AvroNamed

/** A record type's schema as it is registered. */
export function avroSchema(record: RecordType): AvroNamed {
  return JSON.parse(schemaText(record)) as AvroNamed
}

/** Every field of a record, depth first. */
export function avroFields({ fields = [] }: AvroNamed, prefix = ''): Field[] {
  return fields.flatMap(({ name, type, doc = '' }) => [
    { path: prefix + name, type: typeWords(type), says: doc },
    ...inner(type, prefix + name),
  ])
}

function inner(type: AvroType, path: string): Field[] {
  if (typeof type === 'string') return []
  if (isUnion(type)) return type.flatMap((one) => inner(one, path))
  if (type.type === 'array' && type.items !== undefined) return inner(type.items, `${path}[]`)
  if (type.type === 'map' && type.values !== undefined) return inner(type.values, `${path}.<name>`)
  return avroFields(type, `${path}.`)
}

function typeWords(type: AvroType): string {
  if (typeof type === 'string') return type
  if (isUnion(type)) return type.map(typeWords).toReversed().join(' or ')
  if (type.type === 'enum') return `enum: ${(type.symbols ?? []).join(', ')}`
  if (type.type === 'array' && type.items !== undefined) return `array of ${typeWords(type.items)}`
  return type.type === 'map' && type.values !== undefined ? `map of ${typeWords(type.values)}` : type.type
}

function isUnion(type: AvroType): type is readonly AvroType[] {
  return Array.isArray(type)
}
