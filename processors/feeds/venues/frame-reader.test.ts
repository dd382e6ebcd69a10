import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DECIMAL, DIGITS, NAME } from './fields.ts'
import { FrameReader } from './frame-reader.ts'

const row = `\\{"id":${DIGITS},"name":"${NAME}","price":"${DECIMAL}","isBlock":(?:true|false)(?:,"seq":${DIGITS})?\\}`
const pattern = new RegExp(`^\\[${row}(?:,${row})*\\]$`)

interface Row {
  readonly id: number
  readonly name: string
  readonly price: string
  readonly isBlock: boolean
  readonly seq?: number
}

const rows = fc.array(
  fc.record<Row, 'id' | 'name' | 'price' | 'isBlock'>(
    {
      id: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      name: fc.stringMatching(/^[\w-]{1,40}$/),
      price: fc.stringMatching(/^\d{1,15}(?:\.\d{1,18})?$/),
      isBlock: fc.boolean(),
      seq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    },
    { requiredKeys: ['id', 'name', 'price', 'isBlock'] },
  ),
  { minLength: 1, maxLength: 5 },
)

function readBy(reader: FrameReader, frame: string): Row[] | undefined {
  if (!reader.takes(pattern, frame)) return undefined
  const read: Row[] = []
  do {
    const id = reader.number('[{"id":')
    const name = reader.text(',"name":"')
    const price = reader.read('","price":"', (text, from, to) => text.slice(from, to))
    const isBlock = reader.either('","isBlock":', 'true', 'false')
    read.push({ id, name, price, isBlock, ...(reader.sees(',"seq"') ? { seq: reader.number(',"seq":') } : {}) })
    reader.pass('}')
  } while (reader.sees(','))
  return read
}

describe('a frame reader', () => {
  it('reads of a frame that its pattern took what JSON reads', () => {
    fc.assert(
      fc.property(rows, (given) => {
        expect(readBy(new FrameReader(), JSON.stringify(given))).toEqual(given)
      }),
    )
  })

  it('reads each frame by itself, whatever it or another reader read before', () => {
    const [one, other] = [new FrameReader(), new FrameReader()]
    fc.assert(
      fc.property(rows, rows, (first, second) => {
        expect(readBy(one, JSON.stringify(first))).toEqual(first)
        expect(readBy(other, JSON.stringify(second))).toEqual(second)
        expect(readBy(one, JSON.stringify(first))).toEqual(first)
      }),
    )
  })

  it('does not take what its pattern does not take', () => {
    expect(readBy(new FrameReader(), '[{"id":01,"name":"a","price":"1","isBlock":true}]')).toBeUndefined()
  })

  it('does not take a frame beyond its limit, and takes one at it', () => {
    const framed = (length: number): string => `[{"id":1,"name":"${'a'.repeat(length)}","price":"1","isBlock":true}]`
    const atLimit = 2 ** 18 - framed(0).length
    expect(readBy(new FrameReader(), framed(atLimit))).toHaveLength(1)
    expect(readBy(new FrameReader(), framed(atLimit + 1))).toBeUndefined()
  })

  it('reads 1024 rows, the most of a frame', () => {
    const given = Array.from({ length: 1024 }, (_, n) => {
      return { id: n + 1, name: 'BTCUSDT'.repeat(8), price: '65114.20', isBlock: false, seq: 753_843_954_913 + n }
    })
    expect(readBy(new FrameReader(), JSON.stringify(given))).toEqual(given)
  })

  it('passes a text without reading it', () => {
    const reader = new FrameReader()
    expect(reader.takes(/^\{"a":"\w*","b":\d+\}$/, '{"a":"text","b":7}')).toBe(true)
    reader.passText('{"a":"')
    expect(reader.number('","b":')).toBe(7)
  })

  it.each([
    ['9007199254740991', true],
    ['9007199254740992', false],
    ['9007199254740993', false],
    ['99999999999999999999999', false],
  ])('of %s says by its number whether it is exact', (digits, isExact) => {
    const reader = new FrameReader()
    expect(reader.takes(/^\d+$/, digits)).toBe(true)
    expect(Number.isSafeInteger(reader.number(''))).toBe(isExact)
  })
})
