import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Board, type Entry, type Update } from './board.ts'

const none = { price: 9, alert: 9, gap: 9 }

function price(key: string, value: number | null): Update {
  return { kind: 'price', key, asset: key, value: value === null ? null : { price: value } }
}

function said(entries: readonly Entry[] | undefined): unknown[] | undefined {
  return entries?.map(({ key, value }) => [key, value === null ? null : (value as { price: number }).price])
}

describe('the board', () => {
  it('says the newest word per key, in the order of change', () => {
    const board = new Board([[0]], none)
    board.take({ topic: 0, partition: 0, offset: 0 }, [price('btc', 1)])
    board.take({ topic: 0, partition: 0, offset: 1 }, [price('eth', 2)])
    board.take({ topic: 0, partition: 0, offset: 2 }, [price('btc', 3)])
    expect(said(board.changes())).toEqual([
      ['eth', 2],
      ['btc', 3],
    ])
    expect(board.changes()).toEqual([])
    expect(board.position).toEqual([[3]])
  })

  it('tells who comes back what changed behind what was seen, removals too', () => {
    const board = new Board([[0, 10]], none)
    board.take({ topic: 0, partition: 0, offset: 0 }, [price('btc', 1)])
    board.take({ topic: 0, partition: 1, offset: 10 }, [price('eth', 2)])
    const seen = board.position.map((offsets) => [...offsets])
    board.take({ topic: 0, partition: 1, offset: 11 }, [price('eth', null)])
    board.take({ topic: 0, partition: 0, offset: 1 }, [])
    expect(said(board.after(seen))).toEqual([['eth', null]])
    expect(said(board.all())).toEqual([['btc', 1]])
    expect(board.after(board.position)).toEqual([])
  })

  it.each<[string, number[][]]>([
    ['what was there before it began', [[4]]],
    ['what is not there yet: another log', [[99]]],
    ['fewer partitions than there are', [[]]],
    ['fewer topics than there are', []],
  ])('promises nothing to who has seen %s', (_what, seen) => {
    const board = new Board([[5]], none)
    board.take({ topic: 0, partition: 0, offset: 5 }, [price('btc', 1)])
    expect(board.after(seen)).toBeUndefined()
  })

  it.each([
    [[[5, 9]], true],
    [[[4, 9]], false],
    [[[6, 7]], false],
    [[[9]], false],
  ])('that begins at 5 and is at 6 and 7 is behind who has seen %j: %s', (seen, isBehind) => {
    const board = new Board([[5, 5]], none)
    board.take({ topic: 0, partition: 0, offset: 5 }, [price('btc', 1)])
    board.take({ topic: 0, partition: 1, offset: 6 }, [price('btc', 2)])
    expect(board.isBehind(seen)).toBe(isBehind)
  })

  it('promises nothing from before a partition was told anew', () => {
    const board = new Board([[0, 0]], none)
    board.take({ topic: 0, partition: 1, offset: 7 }, [price('btc', 1)])
    const seen = board.position.map((offsets) => [...offsets])
    board.begin({ topic: 0, partition: 1, offset: 3 })
    expect(board.after(seen)).toBeUndefined()
    expect(board.position).toEqual([[0, 3]])
    board.take({ topic: 0, partition: 1, offset: 3 }, [price('btc', 2)])
    expect(said(board.after([[0, 3]]))).toEqual([['btc', 2]])
  })

  it('says that all of a kind is gone, also to who has seen it, and keeps what is told again', () => {
    const board = new Board([[0]], none)
    board.take({ topic: 0, partition: 0, offset: 0 }, [price('btc', 1)])
    board.take({ topic: 0, partition: 0, offset: 1 }, [price('eth', 2)])
    board.take({ topic: 0, partition: 0, offset: 2 }, [{ ...price('sol', 3), kind: 'alert' }])
    board.changes()
    const seen = board.position.map((offsets) => [...offsets])
    board.forget('price')
    board.take({ topic: 0, partition: 0, offset: 1 }, [price('eth', 2)])
    expect(said(board.changes())).toEqual([
      ['btc', null],
      ['eth', 2],
    ])
    expect(said(board.after(seen))).toEqual([['btc', null]])
    expect(said(board.all())).toEqual([
      ['eth', 2],
      ['sol', 3],
    ])
  })

  it('forgets the key that is longest without a change, and then promises nothing from before it', () => {
    const board = new Board([[0]], { ...none, price: 2 })
    for (const [offset, key] of ['btc', 'eth', 'btc', 'sol'].entries())
      board.take({ topic: 0, partition: 0, offset }, [price(key, offset)])
    expect(said(board.all())).toEqual([
      ['btc', 2],
      ['sol', 3],
    ])
    expect(board.after([[1]])).toBeUndefined() // eth, changed at 1, is gone
    expect(said(board.after([[2]]))).toEqual([
      ['btc', 2],
      ['sol', 3],
    ])
  })

  it('loses nothing over any cut: what was seen and what comes after it are all there is, or it says reset', () => {
    const step = fc.record({
      partition: fc.nat({ max: 2 }),
      kind: fc.constantFrom('price', 'gap'),
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      value: fc.nat({ max: 1000 }),
    })
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.nat({ max: 60 }),
        fc.integer({ min: 1, max: 5 }),
        (steps, cut, max) => {
          const board = new Board([[0, 0, 0]], { ...none, price: max, gap: max })
          const page = new Map<string, number>()
          const whole = new Map<string, number>()
          const next = [0, 0, 0]
          let seen = board.position.map((offsets) => [...offsets])
          for (const [at, { partition, kind, key, value }] of steps.entries()) {
            const offset = next[partition] ?? 0
            next[partition] = offset + 1
            board.take({ topic: 0, partition, offset }, [
              { kind, key: `${partition}${key}`, asset: null, value: { price: value } },
            ])
            whole.set(`${kind}:${partition}${key}`, value)
            if (at < cut) {
              page.set(`${kind}:${partition}${key}`, value)
              seen = board.position.map((offsets) => [...offsets])
            }
          }
          const after = board.after(seen)
          if (after === undefined) return
          for (const { kind, key, value } of after) page.set(`${kind}:${key}`, (value as { price: number }).price)
          expect(page).toEqual(whole)
        },
      ),
    )
  })
})
