import { randomBytes } from 'node:crypto'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { packZstd, unpackZstd } from './zstd.ts'

/** Empty, small, of exactly a piece, of many; what repeats and what does not. */
const samples = [0, 1, 300, 64 * 1024, 3_000_000].flatMap((bytes) => [Buffer.alloc(bytes, 'abc'), randomBytes(bytes)])

test('what is packed is a frame that others read, and what others pack is read', () => {
  for (const sample of samples) {
    expect(zstdDecompressSync(packZstd(sample)).equals(sample)).toBe(true)
    expect(unpackZstd(packZstd(sample)).equals(sample)).toBe(true)
    expect(unpackZstd(zstdCompressSync(sample)).equals(sample)).toBe(true)
  }
})

test('a broken frame is refused, and the next one is read', () => {
  const good = packZstd(Buffer.from('a record and another record'))
  const broken = [
    good.subarray(0, -1),
    good.subarray(0, 5),
    Buffer.from('no frame'),
    packZstd(randomBytes(200_000)).subarray(0, 150_000),
  ]
  for (const frame of broken) {
    expect(() => unpackZstd(frame)).toThrow()
    expect(unpackZstd(good).toString()).toBe('a record and another record')
  }
})

test('what was given stays as it was when the next is read', () => {
  const first = unpackZstd(packZstd(Buffer.alloc(1000, 'first')))
  unpackZstd(packZstd(Buffer.alloc(1000, 'other')))
  expect(first.equals(Buffer.alloc(1000, 'first'))).toBe(true)
})
