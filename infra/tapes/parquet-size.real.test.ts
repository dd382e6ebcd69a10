import { describe, expect, it } from 'vitest'
import { codec } from './testing/tapes.ts'
import { BYTES_MAX, marketRecords } from './testing/market.ts'
import { encodeRows } from './parquet-segment.ts'

const TRADES = 100_000

describe('a segment of trades', () => {
  it('takes at most an eighth of the venues’ frames as Parquet', () => {
    const rows = marketRecords(TRADES).map(({ offset, time, key, value }) => {
      const log = { _offset: offset, _time: time, _key: key?.toString() ?? null }
      return { ...log, ...(value === null ? {} : codec.decode(value).value) }
    })
    expect(rows.length).toBe(TRADES)
    expect(encodeRows('trade', rows).length / TRADES).toBeLessThan(BYTES_MAX)
    expect(BYTES_MAX).toBe(20.25)
  })
})
