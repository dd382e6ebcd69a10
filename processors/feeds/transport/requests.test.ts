import { describe, expect, it } from 'vitest'
import type { MakeRequest } from '../venues/venue.ts'
import { Requests } from './requests.ts'

/** Frames of at most two symbols. */
const frames: MakeRequest = (_op, symbols, id) => {
  const parts: string[] = []
  for (let at = 0; at < symbols.length; at += 2) parts.push(`${id} ${symbols.slice(at, at + 2).join('+')}`)
  return parts
}

const nothing = { subscribed: [], unsubscribed: [], refused: [], again: [] }

/** Requests with one sent subscription for `symbols`, and its id. */
function asked(...symbols: string[]): { requests: Requests; id: number } {
  const requests = new Requests((_op, all, id) => [`${id} ${all.join('+')}`])
  const made = requests.make('subscribe', symbols)
  for (const request of made) requests.sent(request, 100)
  return { requests, id: made[0]?.id ?? 0 }
}

describe('requests to a venue', () => {
  it('are one frame each, halved until they fit', () => {
    const made = new Requests(frames).make('subscribe', ['A', 'B', 'C'])
    expect(made.map(({ symbols }) => symbols)).toEqual([['A'], ['B', 'C']])
    expect(made.map(({ frame, id }) => frame.startsWith(`${id} `))).toEqual([true, true])
  })

  it('are answered by their number', () => {
    const { requests, id } = asked('A', 'B')
    expect(requests.waitingFor(350)).toBe(250)
    expect(requests.answer({ kind: 'subscribed', symbols: null, id })).toEqual({ ...nothing, subscribed: ['A', 'B'] })
    expect(requests.subscribing).toBe(false)
    expect(requests.waitingFor(350)).toBe(0)
  })

  it('do not wait while no answer can be read', () => {
    const { requests } = asked('A')
    requests.forgive(200)
    expect([requests.waitingFor(350), requests.waitingFor(250)]).toEqual([50, 0])
  })

  it('are answered symbol by symbol', () => {
    const { requests, id } = asked('A', 'B')
    requests.answer({ kind: 'subscribed', symbols: ['A'], id })
    expect(requests.subscribing).toBe(true)
    requests.answer({ kind: 'subscribed', symbols: ['B'], id })
    expect(requests.subscribing).toBe(false)
  })

  it('that are refused as a whole are asked again one by one, and one alone is refused', () => {
    const both = asked('A', 'B')
    expect(both.requests.answer({ kind: 'rejected', symbols: null, id: both.id, message: '' }).again).toEqual([
      'A',
      'B',
    ])
    const one = asked('A')
    expect(one.requests.answer({ kind: 'rejected', symbols: null, id: one.id, message: '' }).refused).toEqual(['A'])
    expect(one.requests.subscribing).toBe(false)
  })

  it('that are refused for one symbol are asked again for the others', () => {
    const { requests, id } = asked('A', 'B', 'C')
    const outcome = requests.answer({ kind: 'rejected', symbols: ['B'], id, message: 'no B' })
    expect(outcome).toEqual({ ...nothing, refused: ['B'], again: ['A', 'C'] })
  })

  it('that are refused for one symbol alone wait for the answers to the others', () => {
    const { requests, id } = asked('A', 'B', 'C')
    requests.answer({ kind: 'subscribed', symbols: ['A'], id })
    const outcome = requests.answer({ kind: 'rejected', symbols: ['B'], id, message: 'no B', alone: true })
    expect(outcome).toEqual({ ...nothing, refused: ['B'] })
    expect(requests.subscribing).toBe(true)
    requests.answer({ kind: 'subscribed', symbols: ['C'], id })
    expect(requests.subscribing).toBe(false)
  })

  it('to end subscriptions are answered by a list of what is left', () => {
    const { requests, id } = asked('A', 'B')
    requests.answer({ kind: 'subscribed', symbols: null, id })
    for (const request of requests.make('unsubscribe', ['A'])) requests.sent(request, 0)
    const outcome = requests.answer({ kind: 'subscribed', symbols: ['B'], id: null, whole: true })
    expect(outcome).toEqual({ ...nothing, subscribed: ['B'], unsubscribed: ['A'] })
  })
})
