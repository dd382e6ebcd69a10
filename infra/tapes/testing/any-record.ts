import type avro from 'avsc'
import fc from 'fast-check'
import type { Records, RecordType } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import type { LogRecord } from '../../kafka/seam.ts'
import { codec, FIRST_OFFSET } from './tapes.ts'

/** Any value of an Avro type, the odd ones among them: negative zero, infinity, texts that begin with a byte order mark. */
export function valueOf(type: avro.Type): fc.Arbitrary<unknown> {
  const { typeName } = type
  if (typeName === 'record') {
    const { fields } = type as avro.types.RecordType
    return fc.record(Object.fromEntries(fields.map((field) => [field.name, valueOf(field.type)])))
  }
  if (typeName === 'array') return fc.array(valueOf((type as avro.types.ArrayType).itemsType), { maxLength: 4 })
  if (typeName === 'map')
    return fc.dictionary(
      text.filter((key) => key !== '__proto__'),
      valueOf((type as avro.types.MapType).valuesType),
      { noNullPrototype: true },
    )
  if (typeName === 'enum') return fc.constantFrom(...(type as avro.types.EnumType).symbols)
  if (typeName.startsWith('union')) return fc.oneof(...(type as avro.types.UnwrappedUnionType).types.map(valueOf))
  const plain = plainValues[typeName]
  if (plain === undefined) throw new Error(`no values of ${typeName}`)
  return plain
}

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('btc', '\uFEFFx', ''))
const long = fc.bigInt({ min: -(2n ** 52n), max: 2n ** 52n }).map(Number)
const plainValues: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  null: fc.constant(null),
  string: text,
  long,
  int: fc.integer(),
  double: fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(0, -0, 1.5, Infinity)),
  boolean: fc.boolean(),
  bytes: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
}

/** Records of a type, or tombstones, at rising offsets. */
export function recordsOfType<Type extends RecordType>(
  topic: TopicName,
  type: Type,
  values: fc.Arbitrary<Records[Type]>,
): fc.Arbitrary<LogRecord[]> {
  const record = fc.record({
    gap: fc.integer({ min: 1, max: 3 }),
    time: fc.integer({ min: 0, max: 2 ** 43 }),
    key: fc.option(text),
    value: fc.option(values, { freq: 9 }),
  })
  return fc.array(record, { minLength: 1, maxLength: 30 }).map((rows) => {
    let offset = FIRST_OFFSET - 1
    return rows.map(({ gap, time, key, value }) => {
      offset += gap
      const bytes = value === null ? null : codec.encode<Type>(topic, type, value)
      return { offset, time, key: key === null ? null : Buffer.from(key), value: bytes }
    })
  })
}
