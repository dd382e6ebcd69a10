import { text, buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lz4Decoder } from './lz4.ts'

/** A frame of stored or literal-only blocks: enough of an encoder to cut anywhere. */
function frameOf(blocks: readonly Buffer[], linked = true): Buffer {
  const header = Buffer.from([0x04, 0x22, 0x4d, 0x18, linked ? 0x40 : 0x60, 0x40, 0])
  const bodies = blocks.flatMap((block) => {
    const size = Buffer.alloc(4)
    size.writeUInt32LE((block.length | 0x80000000) >>> 0)
    return [size, block]
  })
  return Buffer.concat([header, ...bodies, Buffer.alloc(4)])
}

/** A frame of one compressed block. */
function compressed(block: number[], before: Buffer[] = []): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(block.length)
  return Buffer.concat([frameOf(before).subarray(0, -4), size, Buffer.from(block), Buffer.alloc(4)])
}

const decode = (chunks: readonly Buffer[]): Promise<Buffer> => buffer(Readable.from(chunks).pipe(lz4Decoder()))
const cut = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))

describe('lz4Decoder', () => {
  it('reads an empty frame', async () => {
    expect(await decode([frameOf([])])).toHaveLength(0)
  })

  it('copies what overlaps itself', async () => {
    // token: 1 literal, match 4+15+3 = 22 from 1 back; then 5 literals
    const block = [0x1f, 0x61, 1, 0, 3, 0x50, ...Buffer.from('tail!')]
    expect(await text(Readable.from([compressed(block)]).pipe(lz4Decoder()))).toBe(`${'a'.repeat(23)}tail!`)
  })

  it('copies from the block before when blocks are linked', async () => {
    const block = [0x00, 3, 0, 0x10, 0x21]
    expect(await text(Readable.from([compressed(block, [Buffer.from('xyz')])]).pipe(lz4Decoder()))).toBe('xyzxyzx!')
  })

  it('gives the same bytes however they are cut, frames one after another included', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 6 }),
        fc.integer({ min: 1, max: 50 }),
        async (arrays, size) => {
          const blocks = arrays.map((array) => Buffer.from(array))
          const twice = Buffer.concat([frameOf(blocks), frameOf(blocks, false)])
          expect(await decode(cut(twice, size))).toEqual(Buffer.concat([...blocks, ...blocks]))
        },
      ),
    )
  })

  it.each([
    ['is cut off', frameOf([Buffer.from('abc')]).subarray(0, -2)],
    ['is no frame', Buffer.from('INSERT INTO t')],
    ['copies from before its beginning', compressed([0x00, 9, 0, 0x10, 0x21])],
  ])('refuses what %s', async (_, bytes) => {
    await expect(decode([bytes])).rejects.toThrow(/LZ4/)
  })
})
