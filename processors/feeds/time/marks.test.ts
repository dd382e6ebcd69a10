import { describe, expect, it } from 'vitest'
import { partitionOf } from '../../../schemas/catalogue.ts'
import type { SubscriptionChange } from '../../../schemas/records.ts'
import { MarkBook, maxWaitingChanges } from './marks.ts'

function change(asset: string, state: SubscriptionChange['state'], venue = 'okx'): SubscriptionChange {
  return { instrument: `${venue}:perp:${asset}`, asset, state, time: 5 }
}

const btc = partitionOf('btc', 12)

describe('marks', () => {
  it('tell a venue’s state and since when it is so', () => {
    const book = new MarkBook('feeds', () => 7, 12)
    book.venue('okx', { state: 'live', sockets: 1 }, 100)
    book.venue('okx', { state: 'live', sockets: 2 }, 200)
    expect(book.next(0, 300, null)).toEqual({
      writer: 'feeds',
      run: 7,
      time: 300,
      venues: [{ venue: 'okx', state: 'live', sockets: 2, since: 100 }],
      changes: [],
      positions: [],
      venue_time: null,
    })
    book.venue('okx', { state: 'down', sockets: 0 }, 300)
    expect(book.states).toMatchObject([{ state: 'down', since: 300 }])
  })

  it('list every subscription first, then each change once, in its asset’s partition', () => {
    const book = new MarkBook('feeds', () => 7, 12)
    book.change(change('btc', 'acknowledged'))
    book.change(change('eth', 'acknowledged'))
    expect(book.next(btc, 1, null).changes).toEqual([change('btc', 'acknowledged')])
    expect(book.next(btc, 2, null).changes).toEqual([])
    book.change(change('btc', 'acknowledged'))
    book.change(change('btc', 'ended'))
    expect(book.next(btc, 3, null).changes).toEqual([change('btc', 'ended')])
  })

  it('list the same of a first mark that could not be written until now', () => {
    const book = new MarkBook('feeds', () => 7, 12)
    book.change(change('btc', 'refused'))
    book.change(change('btc', 'acknowledged'))
    expect(book.next(btc, 1, null).changes).toEqual([change('btc', 'acknowledged')])
  })

  it('keep the newest changes where none can be written', () => {
    const book = new MarkBook('feeds', () => 7, 12)
    book.next(btc, 1, null)
    for (let n = 0; n <= maxWaitingChanges; n++) book.change(change('btc', 'acknowledged', `v${n}`))
    const { changes } = book.next(btc, 2, null)
    expect(changes).toHaveLength(maxWaitingChanges)
    expect(changes.at(-1)?.instrument).toBe(`v${maxWaitingChanges}:perp:btc`)
  })
})
