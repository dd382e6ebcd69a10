import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Heap, type Entry } from './heap.ts'

const entries = fc.array(fc.record({ key: fc.integer({ min: 0, max: 20 }), id: fc.string({ maxLength: 3 }) }))

function drain(heap: Heap<Entry>): Entry[] {
  const out: Entry[] = []
  for (let item = heap.pop(); item !== undefined; item = heap.pop()) out.push(item)
  return out
}

function sorted(items: readonly Entry[]): Entry[] {
  return items.toSorted((a, b) => a.key - b.key || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}

it('gives its entries in order, however they came', () => {
  fc.assert(
    fc.property(entries, (items) => {
      const heap = new Heap<Entry>()
      for (const item of items) heap.push(item)
      expect(drain(heap)).toEqual(sorted(items))
    }),
  )
})

it('keeps the order after a sweep', () => {
  fc.assert(
    fc.property(entries, (items) => {
      const heap = new Heap<Entry>()
      for (const item of items) heap.push(item)
      heap.sweep(({ key }) => key % 2 === 0)
      expect(drain(heap)).toEqual(sorted(items.filter(({ key }) => key % 2 === 0)))
    }),
  )
})
