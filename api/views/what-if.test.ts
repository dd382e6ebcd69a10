import { expect, it } from 'vitest'
import { metric, price, SECOND, T0 } from '../../processors/alerts/testing/records.ts'
import type { InputRecord } from '../../processors/alerts/what-if.ts'
import { inPages } from './what-if.ts'

type Told = readonly [offset: number, seconds: number, input: 'price' | 'cvd']

function recordOf([offset, seconds, input]: Told): InputRecord {
  const message = input === 'price' ? price(seconds, 100) : metric(seconds, 'cvd', { 'buy@okx': 1 })
  return { partition: 0, offset, message }
}

/** Offsets of what pages of five minutes give, page by page. */
async function read(log: readonly Told[]): Promise<number[][]> {
  const records = log.map(recordOf)
  const range = { asset: 'btc', from: T0, to: T0 + 900 * SECOND, limit: 1_000 }
  const pages = inPages(range, 300 * SECOND, ({ from, to }) => {
    const seen = records.filter(({ message }) => message.value.time >= from && message.value.time < to)
    return Promise.resolve({ seen, heard: [], records: seen.length, cut: false })
  })
  const offsets: number[][] = []
  for await (const { seen } of pages) offsets.push(seen.map(({ offset }) => offset))
  return offsets
}

it('gives records of several inputs in the order of their log, over the edges of pages', async () => {
  const log: Told[] = [
    [1, 100, 'price'],
    [3, 100, 'cvd'],
    [2, 101, 'price'],
    [4, 299, 'price'],
    [6, 299, 'cvd'],
    [5, 301, 'price'],
    [7, 302, 'price'],
    [8, 800, 'price'],
  ]
  const pages = await read(log)
  expect(pages.flat()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(pages.map((page) => page.length)).toEqual([3, 4, 1])
})

it('gives by its time what a core that was built again told behind the rest', async () => {
  const cvd = Array.from({ length: 80 }, (_, at): Told => [at + 1, at * 10 + 1, 'cvd'])
  const again = Array.from({ length: 80 }, (_, at): Told => [at + 101, at * 10 + 2, 'price'])
  const offsets = (await read([...cvd, ...again])).flat()
  // But for what is as old as records of different processors may be.
  expect(offsets.slice(0, 120)).toEqual(Array.from({ length: 60 }, (_, at) => [at + 1, at + 101]).flat())
  expect(offsets).toHaveLength(160)
})
