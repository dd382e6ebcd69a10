import avro from 'avsc'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { avroType, Codec, emptyFields, localCodec, readBody, schemaText, writeBody } from './codec.ts'
import type { Message, Trade } from './records.ts'
import { topics } from './topics.ts'

const trade: Trade = {
  instrument: 'binance:perp:BTCUSDT',
  asset: 'btc',
  first_id: 5_933_014,
  last_id: 5_933_014,
  count: 6,
  sequence: null,
  price: 64_000.1,
  size: 0.003,
  quote: 192.0003,
  size_factor: 1,
  price_factor: 1,
  taker: 'sell',
  time: 1_723_161_255_088_000,
  received: 1_723_161_255_090_123,
  origin: 'backfill',
  gap_id: 5_933_000,
}

/** avsc takes whole numbers below 2^53 - 1; ours stay below 2^52. */
const long = fc.bigInt({ min: 0n, max: 2n ** 52n }).map(Number)

const anyTrade: fc.Arbitrary<Trade> = fc.record({
  instrument: fc.string(),
  asset: fc.string(),
  first_id: long,
  last_id: long,
  count: fc.nat(1_000),
  sequence: fc.option(long),
  price: fc.double({ noNaN: true }),
  size: fc.double({ noNaN: true }),
  quote: fc.double({ noNaN: true }),
  size_factor: fc.double({ noNaN: true }),
  price_factor: fc.double({ noNaN: true }),
  taker: fc.constantFrom('unknown', 'buy', 'sell'),
  time: long,
  received: long,
  origin: fc.constantFrom('unknown', 'stream', 'backfill', 'import'),
  gap_id: fc.option(long),
})

describe('codec', () => {
  it('writes a trade as these bytes', () => {
    const bytes = localCodec().encode('market.trades', 'trade', trade)
    expect(bytes.toString('hex')).toBe(
      [
        '0000000001', // magic byte, schema id
        '2862696e616e63653a706572703a42544355534454', // binance:perp:BTCUSDT
        '06627463', // btc
        'ac9fd405ac9fd4050c00', // first_id, last_id, count, sequence null
        '333333330340ef40fa7e6abc7493683f0b46257502006840', // price, size, quote
        '000000000000f03f000000000000f03f', // size_factor, price_factor
        '04', // taker sell
        '80be80e897cd8f0696df80e897cd8f06', // time, received
        '0402909fd405', // origin backfill, gap_id
      ].join(''),
    )
  })

  it('gives back what it was given', () => {
    const codec = localCodec()
    fc.assert(
      fc.property(anyTrade, (value) => {
        const message = codec.decode(codec.encode('market.trades', 'trade', value))
        expect(message.type).toBe('trade')
        expect({ ...message.value }).toEqual(value)
      }),
    )
  })

  it('keeps records apart that grow its scratch buffer', () => {
    const codec = localCodec()
    const long = { ...trade, instrument: 'x'.repeat(200_000) }
    const first = codec.encode('market.trades', 'trade', trade)
    expect(codec.decode(codec.encode('market.trades', 'trade', long)).value).toMatchObject({
      instrument: long.instrument,
    })
    expect(codec.decode(first).value).toMatchObject({ first_id: trade.first_id })
  })

  it.each([
    ['too short', Buffer.from([0, 0]), 'not-wire-format'],
    ['another magic byte', Buffer.from([1, 0, 0, 0, 1, 2]), 'not-wire-format'],
    ['an id that nobody registered', Buffer.from([0, 0, 0, 9, 9, 2]), 'unknown-schema'],
    ['a body that ends early', Buffer.from([0, 0, 0, 0, 1, 40]), 'bad-body'],
  ])('refuses bytes that are %s', (_, bytes, code) => {
    expect(() => localCodec().decode(bytes)).toThrow(expect.objectContaining({ code }))
  })

  it('refuses a record that the topic does not hold', () => {
    expect(() => localCodec().encode('market.instruments', 'trade', trade)).toThrow('not a registered record')
  })

  it('reads an older writer without a field that has a default', () => {
    const older = JSON.parse(schemaText('trade')) as { fields: { name: string }[] }
    older.fields = older.fields.filter((field) => field.name !== 'gap_id')
    const writer = JSON.stringify(older)
    const codec = new Codec([{ id: 7, topic: 'market.trades', record: 'trade', writer }])
    const body = avro.Type.forSchema(JSON.parse(writer) as avro.Schema).toBuffer(trade)
    const message = codec.decode(Buffer.concat([Buffer.from([0, 0, 0, 0, 7]), body]))
    expect(message.value).toMatchObject({ first_id: trade.first_id, gap_id: null })
  })
})

const records = [...new Set(topics.flatMap((topic) => topic.records))]

describe.each(records)('the compiled code of %s', (record) => {
  const type = avroType(record)
  const values = Array.from({ length: 50 }, () => {
    const value: unknown = type.random()
    return value as Message['value']
  })
  const messageOf = (value: Message['value']): Message => ({ type: record, value }) as Message

  it('writes what avsc writes, and says how much room it needs', () => {
    for (const value of values) {
      const body = type.toBuffer(value)
      const bytes = Buffer.alloc(body.length + 7)
      expect(writeBody(messageOf(value), bytes, 7)).toBe(bytes.length)
      expect(bytes.subarray(7).equals(body)).toBe(true)
      expect(writeBody(messageOf(value), Buffer.alloc(body.length >> 1), 7)).toBe(bytes.length)
    }
  })

  it('reads what avsc reads, and refuses what is cut', () => {
    for (const value of values) {
      const body = type.toBuffer(value)
      expect(structuredClone(readBody(record, body))).toEqual(structuredClone(type.fromBuffer(body)))
      for (let length = 0; length < body.length; length += 1 + (body.length >> 5))
        expect(() => readBody(record, body.subarray(0, length))).toThrow(RangeError)
    }
  })
})

describe('the compiled code', () => {
  it.each([
    ['a text', { instrument: 7 }, 'a string, not 7'],
    ['a whole number', { first_id: 0.5 }, 'a whole number below 2^53, not 0.5'],
    ['a number', { price: '1' }, 'a number, not "1"'],
    ['a symbol', { taker: 'both' }, 'a known symbol, not undefined'],
    ['nothing', { time: undefined }, 'a whole number below 2^53, not undefined'],
  ])('says what does not fit: no %s', (_, wrong, said) => {
    const value = { ...trade, ...wrong } as Trade
    expect(() => localCodec().encode('market.trades', 'trade', value)).toThrow(said)
  })

  it('writes the default of a field that is left out', () => {
    const { gap_id: _, ...rest } = trade
    const bytes = localCodec().encode('market.trades', 'trade', rest as Trade)
    expect(localCodec().decode(bytes).value).toEqual({ ...trade, gap_id: null })
  })

  it('writes and reads texts beyond ASCII as avsc does', () => {
    for (const instrument of ['é', '₿'.repeat(40), '🚀'.repeat(3), 'a'.repeat(63) + 'é']) {
      const body = avroType('trade').toBuffer({ ...trade, instrument })
      const bytes = Buffer.alloc(body.length)
      writeBody({ type: 'trade', value: { ...trade, instrument } }, bytes, 0)
      expect(bytes.equals(body)).toBe(true)
      expect(readBody('trade', bytes)).toMatchObject({ instrument })
    }
  })

  it('reads names whatever was read before', () => {
    const parts = fc.array(fc.constantFrom('ab', 'ba', 'bA', 'a', 'aaaa', 'btc', 'eth'))
    const any = fc.array(
      fc.oneof(
        fc.string({ maxLength: 40 }),
        parts.map((list) => list.join(':')),
      ),
      { maxLength: 50 },
    )
    fc.assert(
      fc.property(any, (list) => {
        const read = list.map((asset) => readBody('trade', avroType('trade').toBuffer({ ...trade, asset })))
        expect(read.map((value) => (value as Trade).asset)).toEqual(list)
      }),
    )
  })
})

describe('the schemas', () => {
  it.each(records)('say of %s what each field is', (record) => {
    const fields = documented(JSON.parse(schemaText(record)))
    expect(fields.filter(({ doc }) => doc === undefined)).toEqual([])
  })

  it.each(records)('give each enum of %s the default unknown', (record) => {
    expect(enums(JSON.parse(schemaText(record))).filter((found) => found.default !== 'unknown')).toEqual([])
  })

  it('compile', () => {
    for (const record of records) expect(avroType(record).typeName).toBe('record')
  })
})

interface Field {
  readonly name: string
  readonly doc?: string
}

/** The fields of a record schema and of the records inside it. */
function documented(schema: unknown): Field[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'type' in schema && schema.type === 'record' && 'fields' in schema ? (schema.fields as Field[]) : []
  return [...own, ...Object.values(schema).flatMap(documented)]
}

/** The enum schemas inside a schema. */
function enums(schema: unknown): { readonly default?: unknown }[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'type' in schema && schema.type === 'enum' ? [schema as { default?: unknown }] : []
  return [...own, ...Object.values(schema).flatMap(enums)]
}

describe('the empty fields of a record', () => {
  it('are those that may be null, and its lists', () => {
    expect(emptyFields('mark')).toEqual({ venues: [], changes: [], venue_time: null, positions: [] })
    expect(emptyFields('trade')).toEqual({ sequence: null, gap_id: null })
  })

  it('are taken by the schema of every record', () => {
    for (const record of new Set(topics.flatMap(({ records }) => records))) {
      const type = avroType(record) as avro.types.RecordType
      for (const [name, value] of Object.entries(emptyFields(record)))
        expect(type.field(name).type.isValid(value), `${record}.${name}`).toBe(true)
    }
  })
})
