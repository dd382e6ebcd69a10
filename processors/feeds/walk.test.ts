import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DECIMAL, DIGITS, NAME } from './fields.ts'
import { Walk } from './walk.ts'

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

function walked(walk: Walk, frame: string): Row[] | undefined {
  if (!walk.takes(pattern, frame)) return undefined
  const read: Row[] = []
  do {
    const id = walk.number('[{"id":')
    const name = walk.text(',"name":"')
    const price = walk.read('","price":"', (text, from, to) => text.slice(from, to))
    const isBlock = walk.either('","isBlock":', 'true', 'false')
    read.push({ id, name, price, isBlock, ...(walk.sees(',"seq"') ? { seq: walk.number(',"seq":') } : {}) })
    walk.pass('}')
  } while (walk.sees(','))
  return read
}

describe('a walk', () => {
  it('reads of a frame that its pattern took what JSON reads', () => {
    fc.assert(
      fc.property(rows, (given) => {
        expect(walked(new Walk(), JSON.stringify(given))).toEqual(given)
      }),
    )
  })

  it('reads each frame by itself, whatever it or another walk read before', () => {
    const [one, other] = [new Walk(), new Walk()]
    fc.assert(
      fc.property(rows, rows, (first, second) => {
        expect(walked(one, JSON.stringify(first))).toEqual(first)
        expect(walked(other, JSON.stringify(second))).toEqual(second)
        expect(walked(one, JSON.stringify(first))).toEqual(first)
      }),
    )
  })

  it('does not take what its pattern does not take', () => {
    expect(walked(new Walk(), '[{"id":01,"name":"a","price":"1","isBlock":true}]')).toBeUndefined()
  })

  it('does not take a frame beyond its limit, and takes one at it', () => {
    const framed = (length: number): string => `[{"id":1,"name":"${'a'.repeat(length)}","price":"1","isBlock":true}]`
    const atLimit = 2 ** 18 - framed(0).length
    expect(walked(new Walk(), framed(atLimit))).toHaveLength(1)
    expect(walked(new Walk(), framed(atLimit + 1))).toBeUndefined()
  })

  it('reads 1024 rows, the most of a frame', () => {
    const given = Array.from({ length: 1024 }, (_, n) => {
      return { id: n + 1, name: 'BTCUSDT'.repeat(8), price: '65114.20', isBlock: false, seq: 753_843_954_913 + n }
    })
    expect(walked(new Walk(), JSON.stringify(given))).toEqual(given)
  })

  it('passes a text without reading it', () => {
    const walk = new Walk()
    expect(walk.takes(/^\{"a":"\w*","b":\d+\}$/, '{"a":"text","b":7}')).toBe(true)
    walk.passText('{"a":"')
    expect(walk.number('","b":')).toBe(7)
  })

  it.each([
    ['9007199254740991', true],
    ['9007199254740992', false],
    ['9007199254740993', false],
    ['99999999999999999999999', false],
  ])('of %s says by its number whether it is exact', (digits, isExact) => {
    const walk = new Walk()
    expect(walk.takes(/^\d+$/, digits)).toBe(true)
    expect(Number.isSafeInteger(walk.number(''))).toBe(isExact)
  })
})
