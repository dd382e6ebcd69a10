import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Board, type Update } from './board.ts'
import { Hub } from './hub.ts'

/** A response that takes as much as it is told to. */
class FakeResponse extends EventEmitter {
  readonly written: string[] = []
  takes = true
  isDestroyed = false

  write(text: string): boolean {
    this.written.push(text)
    return this.takes
  }

  end(): void {
    this.emit('close')
  }

  destroy(): void {
    this.isDestroyed = true
    this.emit('close')
  }
}

/** As what Node gives: the hub calls few methods of it. */
function asResponse(response: object): ServerResponse {
  return response as ServerResponse
}

const wish = { kinds: new Set(['price'] as const), asset: undefined }
const price = (key: string, value: number): Update => ({ kind: 'price', key, asset: key, value: { price: value } })

let board: Board
let hub: Hub
let offset = 0

beforeEach(() => {
  vi.useFakeTimers()
  board = new Board([[0]])
  hub = new Hub(board, Date.now)
  offset = 0
})
afterEach(() => {
  hub.close()
  vi.useRealTimers()
})

function say(update: Update): void {
  board.take({ topic: 0, partition: 0, offset }, [update])
  offset += 1
}

function listen(): FakeResponse {
  const response = new FakeResponse()
  hub.add(asResponse(response), wish, '')
  response.written.splice(0)
  return response
}

const data = (response: FakeResponse): string[] =>
  response.written.flatMap((text) => /^data: (.*)$/m.exec(text)?.[1] ?? [])

describe('what a page is sent', () => {
  it('is each key five times a second at the most, its newest word', () => {
    const page = listen()
    for (let at = 0; at < 1_000; at += 1) {
      say(price('btc', at))
      vi.advanceTimersByTime(1)
    }
    expect(data(page)).toHaveLength(5)
    expect(data(page).at(-1)).toBe('[["price","btc",{"price":999}]]')
  })

  it('is nothing while nothing changes, but a sign of life every 15 s', () => {
    const page = listen()
    vi.advanceTimersByTime(31_000)
    expect(page.written).toEqual([': still here\n\n', ': still here\n\n'])
  })

  it('is the newest word alone where it was slow to take what came before', () => {
    const page = listen()
    page.takes = false
    say(price('btc', 1))
    vi.advanceTimersByTime(200)
    for (const at of [2, 3, 4]) {
      say(price('btc', at))
      say(price('eth', at))
      vi.advanceTimersByTime(200)
    }
    expect(data(page)).toEqual(['[["price","btc",{"price":1}]]'])
    say(price('btc', 5)) // not flushed yet when it takes more
    page.takes = true
    page.emit('drain')
    expect(data(page).slice(1)).toEqual(['[["price","btc",{"price":5}],["price","eth",{"price":4}]]'])
    vi.advanceTimersByTime(1_000)
    expect(data(page)).toHaveLength(2)
  })

  it('ends where it takes nothing for 20 s', () => {
    const page = listen()
    const other = listen()
    page.takes = false
    say(price('btc', 1))
    vi.advanceTimersByTime(45_000)
    expect([page.isDestroyed, other.isDestroyed, hub.clients]).toEqual([true, false, 1])
  })
})
