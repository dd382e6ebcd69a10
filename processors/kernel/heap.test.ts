import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Heap } from '../kernel/heap.ts'

type Entry = readonly [key: number, id: string]

const entries = fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.string({ maxLength: 3 })))

function drain(heap: Heap): Entry[] {
  const out: Entry[] = []
  for (let key = heap.key; key !== undefined; key = heap.key) out.push([key, heap.pop() ?? '?'])
  return out
}

function sorted(items: readonly Entry[]): Entry[] {
  return items.toSorted(([a, x], [b, y]) => a - b || (x < y ? -1 : x > y ? 1 : 0))
}

function pushed(items: readonly Entry[]): Heap {
  const heap = new Heap()
  for (const [key, id] of items) heap.push(key, id)
  return heap
}

it('gives its entries in order, however they came', () => {
  fc.assert(
    fc.property(entries, (items) => {
      expect(drain(pushed(items))).toEqual(sorted(items))
    }),
  )
})

it('gives the same where all came at once', () => {
  fc.assert(
    fc.property(entries, (items) => {
      const heap = new Heap()
      for (const [key, id] of items) heap.append(key, id)
      heap.settle()
      expect(drain(heap)).toEqual(sorted(items))
    }),
  )
})

it('keeps the order after a sweep', () => {
  fc.assert(
    fc.property(entries, (items) => {
      const heap = pushed(items)
      heap.sweep((_, key) => key % 2 === 0)
      expect(drain(heap)).toEqual(sorted(items.filter(([key]) => key % 2 === 0)))
    }),
  )
})

it('is empty when all is taken', () => {
  const heap = pushed([[1, 'a']])
  expect([heap.size, heap.pop(), heap.pop(), heap.key, heap.size]).toEqual([1, 'a', undefined, undefined, 0])
})
