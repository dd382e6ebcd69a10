import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Board, type Update } from './board.ts'
import { Hub, type Subscription } from './hub.ts'

/** A response that takes as much as it is told to. */
class FakeResponse extends EventEmitter {
  readonly written: string[] = []
  takes = true
  destroyed = false

  write(text: string): boolean {
    this.written.push(text)
    return this.takes
  }

  end(text = ''): void {
    this.written.push(text)
    if (this.takes) this.emit('close')
  }

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }
}

/** As what Node gives: the hub calls few methods of it. */
function asResponse(response: object): ServerResponse {
  return response as ServerResponse
}

const PARTITIONS = 3
const wish: Subscription<null> = {
  kinds: new Set(['price', 'event']),
  tell: (_context, { key, value }) => JSON.stringify([key, value]),
}
const price = (key: string, value: number): Update => ({ kind: 'price', key, asset: key, value: { price: value } })
const event = (key: string): Update => ({ kind: 'event', key, asset: 'btc', value: {} })

let board: Board
let hub: Hub<null>
let listened = 0
const offsets = [0, 0, 0]

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 })
  listened = 0
  startInstance()
})
afterEach(() => {
  hub.close()
  vi.useRealTimers()
})

/** One that has read nothing yet. */
function startInstance(): void {
  const start = offsets.fill(0).map(() => 0)
  board = new Board([start, start], { price: 100, event: 5 })
  const onListening = (): void => void (listened += 1)
  hub = new Hub({ board, now: Date.now, onListening, context: () => null, clientsMax: 4, callerMax: 3 })
}

function say(update: Update, partition = 0): void {
  const offset = offsets[partition] ?? 0
  offsets[partition] = offset + 1
  board.take({ topic: 1, partition, offset }, [update])
}

interface Heard {
  readonly name: string
  readonly id: string | undefined
  readonly data: unknown
}

class Reader {
  readonly response = new FakeResponse()

  constructor(seen = '', more: Partial<Subscription<null>> = {}, caller = 'a', isGone = false) {
    this.response.destroyed = isGone
    hub.add({ response: asResponse(this.response), seen, caller }, { ...wish, ...more })
  }

  get heard(): Heard[] {
    const events = this.response.written.join('').split('\n\n')
    return events.flatMap((text) => {
      const [, name, id, data = ''] = /^event: (\w+)\n(?:id: (\S+)\n)?data: (.*)$/m.exec(text) ?? []
      return name === undefined ? [] : [{ name, id, data: JSON.parse(data) as unknown }]
    })
  }

  /** Name and data of each. */
  get words(): unknown[] {
    return this.heard.map(({ name, data }) => [name, data])
  }

  /** The id that it would come back with. */
  get last(): string {
    return this.heard.findLast(({ id }) => id !== undefined)?.id ?? ''
  }

  clear(): void {
    this.response.written.splice(0)
  }
}

const READY = ['ready', { resumed: false }]

describe('what a reader is sent', () => {
  it('says that somebody listens, for as long as somebody does', () => {
    vi.advanceTimersByTime(1_000)
    expect(listened).toBe(0)
    const reader = new Reader()
    vi.advanceTimersByTime(1_000)
    expect(listened).toBeGreaterThanOrEqual(5)
    reader.response.emit('close')
    listened = 0
    vi.advanceTimersByTime(1_000)
    expect(listened).toBe(0)
  })

  it('is what is known, then each key five times a second at the most, its newest word', () => {
    say(price('btc', -1))
    const reader = new Reader()
    expect(reader.words).toEqual([['price', ['btc', { price: -1 }]], READY])
    reader.clear()
    for (let at = 0; at < 1_000; at += 1) {
      say(price('btc', at))
      vi.advanceTimersByTime(1)
    }
    expect(reader.heard).toHaveLength(5)
    expect(reader.words.at(-1)).toEqual(['price', ['btc', { price: 999 }]])
  })

  it('is what it asks for in any case, the newest of what is held, of its assets and kinds alone', () => {
    for (const key of ['1', '2', '3']) say(event(key))
    say(price('eth', 1))
    const first = [price('btc', 7)]
    const reader = new Reader('', { first, heldMax: 2, assets: new Set(['btc']) })
    expect(reader.words).toEqual([['price', ['btc', { price: 7 }]], ['event', ['2', {}]], ['event', ['3', {}]], READY])
  })

  it('is nothing while nothing changes, but a sign of life every 15 s', () => {
    const { response } = new Reader()
    response.written.splice(0)
    vi.advanceTimersByTime(31_000)
    expect(response.written).toEqual([': still here\n\n', ': still here\n\n'])
  })

  it('is made once for all who are told in the same words', () => {
    const tell = vi.fn<Subscription<null>['tell']>(wish.tell)
    const readers = [new Reader('', { tell }), new Reader('', { tell })]
    say(price('btc', 1))
    vi.advanceTimersByTime(200)
    expect(tell).toHaveBeenCalledTimes(1)
    expect(readers.map(({ words }) => words.at(-1))).toEqual(readers.map(() => ['price', ['btc', { price: 1 }]]))
  })

  it('of its assets is looked for among these alone, and told in the order of the log', () => {
    const asked = vi.fn<(kind: string) => void>()
    const kinds = new (class extends Set<string> {
      override has(kind: string): boolean {
        asked(kind)
        return super.has(kind)
      }
    })(wish.kinds)
    const reader = new Reader('', { kinds, assets: new Set(['eth', 'btc']) })
    for (const asset of ['a', 'b', 'c', 'd', 'btc', 'eth', 'e']) say(price(asset, 1))
    say({ ...event('7'), asset: null })
    say(event('8'))
    asked.mockClear()
    vi.advanceTimersByTime(200)
    expect(asked).toHaveBeenCalledTimes(4)
    expect(reader.words.slice(1)).toEqual([
      ['price', ['btc', { price: 1 }]],
      ['price', ['eth', { price: 1 }]],
      ['event', ['7', {}]],
      ['event', ['8', {}]],
    ])
  })
})

describe('a slow reader', () => {
  it('gets the newest word alone, and is told how many it has missed, from when to when', () => {
    const reader = new Reader()
    reader.clear()
    reader.response.takes = false
    say(price('btc', 1))
    vi.advanceTimersByTime(200)
    for (const at of [2, 3, 4]) {
      say(price('btc', at))
      say(price('eth', at))
      vi.advanceTimersByTime(200)
    }
    expect(reader.words).toEqual([['price', ['btc', { price: 1 }]]])
    say(price('btc', 5)) // not flushed yet when it takes more
    reader.response.takes = true
    reader.response.emit('drain')
    expect(reader.words.slice(1)).toEqual([
      [
        'missed',
        { reason: 'slow', from: '1970-01-01T00:16:40.200Z', to: '1970-01-01T00:16:40.800Z', counts: { price: 5 } },
      ],
      ['price', ['eth', { price: 4 }]],
      ['price', ['btc', { price: 5 }]],
    ])
    vi.advanceTimersByTime(1_000)
    expect(reader.heard).toHaveLength(4)
  })

  it('misses nothing of what stands for itself', () => {
    const reader = new Reader()
    reader.response.takes = false
    for (const key of ['1', '2', '3', '4']) {
      say(event(key))
      vi.advanceTimersByTime(200)
    }
    reader.response.takes = true
    reader.response.emit('drain')
    expect(reader.words.slice(1)).toEqual(['1', '2', '3', '4'].map((key) => ['event', [key, {}]]))
  })

  it('ends where it takes nothing for 20 s', () => {
    const [slow, other] = [new Reader(), new Reader()]
    slow.response.takes = false
    say(price('btc', 1))
    vi.advanceTimersByTime(45_000)
    expect([slow.response.destroyed, other.response.destroyed, hub.clients]).toEqual([true, false, 1])
  })
})

describe('a reader that comes back', () => {
  it('is told what it lacks, and nothing twice', () => {
    const before = new Reader()
    say(price('btc', 1))
    vi.advanceTimersByTime(200)
    before.response.emit('close')
    say(price('eth', 2))
    say(event('1'), 2)
    vi.advanceTimersByTime(200)
    expect(new Reader(before.last).words).toEqual([
      ['price', ['eth', { price: 2 }]],
      ['event', ['1', {}]],
      ['ready', { resumed: true }],
    ])
  })

  it('after what is not held any more is told since when, and all that is known', () => {
    const { last } = new Reader()
    for (const key of ['1', '2', '3', '4', '5', '6', '7']) say(event(key))
    vi.advanceTimersByTime(60_000)
    const reader = new Reader(last, { heldMax: 1 })
    expect(reader.words).toEqual([
      ['missed', { reason: 'not_held', from: '1970-01-01T00:16:40.000Z', to: '1970-01-01T00:17:40.000Z', counts: {} }],
      ['event', ['7', {}]],
      READY,
    ])
  })

  it.each(['nonsense', '.', 'a.b', '1.AQHoBw'])('with an id that is none of ours (%s) is told so', (id) => {
    expect(new Reader(id).words).toEqual([['missed', expect.objectContaining({ reason: 'not_held' })], READY])
  })

  /** A reader that has heard of two events, on an instance that has read one of them alone. */
  function comeAhead(): Reader {
    const before = new Reader()
    for (const key of ['1', '2']) say(event(key))
    vi.advanceTimersByTime(200)
    hub.close()
    startInstance()
    say(event('1'))
    return new Reader(before.last)
  }

  it('to an instance that is behind is told what it lacks when that is where it was, and nothing twice', () => {
    const reader = comeAhead()
    vi.advanceTimersByTime(1_000)
    expect([reader.words, hub.clients]).toEqual([[], 1])
    for (const key of ['2', '3']) say(event(key))
    vi.advanceTimersByTime(200)
    const resumed = [
      ['event', ['3', {}]],
      ['ready', { resumed: true }],
    ]
    expect(reader.words).toEqual(resumed)
    say(event('4'))
    vi.advanceTimersByTime(5_000)
    expect(reader.words).toEqual([...resumed, ['event', ['4', {}]]])
  })

  it('with others at the same moment is told what is said to all of them', () => {
    const tell = vi.fn<Subscription<null>['tell']>(wish.tell)
    const before = new Reader()
    for (const key of ['1', '2', '3']) say(event(key))
    vi.advanceTimersByTime(200)
    const id = before.last
    hub.close()
    startInstance()
    const readers = [new Reader(id, { tell }), new Reader(id, { tell }, 'b')]
    for (const key of ['1', '2', '3', '4']) say(event(key))
    vi.advanceTimersByTime(200)
    expect(readers.map(({ words }) => words)).toEqual(
      readers.map(() => [
        ['event', ['4', {}]],
        ['ready', { resumed: true }],
      ]),
    )
    expect(tell).toHaveBeenCalledTimes(1)
  })

  it('to an instance that does not get there in 2 s is told since when, and all that is known', () => {
    const reader = comeAhead()
    vi.advanceTimersByTime(1_900)
    say(price('btc', 1), 1)
    vi.advanceTimersByTime(99)
    expect(reader.words).toEqual([])
    vi.advanceTimersByTime(1)
    const told = [
      ['missed', expect.objectContaining({ reason: 'not_held' })],
      ['price', ['btc', { price: 1 }]],
      ['event', ['1', {}]],
      READY,
    ]
    expect(reader.words).toEqual(told)
    vi.advanceTimersByTime(1_000)
    expect(reader.words).toEqual(told)
  })

  it('loses nothing over a cut behind any event, slow or not', () => {
    const step = fc.record({
      partition: fc.nat({ max: PARTITIONS - 1 }),
      key: fc.option(fc.constantFrom('a', 'b', 'c')),
      flushes: fc.boolean(),
      takes: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), fc.nat(), (steps, where) => {
        board = new Board([[0], offsets.fill(0).map(() => 0)], { price: 100, event: 100 })
        hub.close()
        hub = new Hub({ board, now: Date.now, context: () => null, clientsMax: 4, callerMax: 3 })
        const whole = new Map<string, unknown>()
        const reader = new Reader()
        for (const [at, { partition, key, flushes, takes }] of steps.entries()) {
          const update = key === null ? event(String(at)) : price(`${partition}${key}`, at)
          say(update, partition)
          whole.set(update.key, update.value)
          reader.response.takes = takes
          if (takes) reader.response.emit('drain')
          if (flushes) vi.advanceTimersByTime(200)
        }
        const cut = reader.heard.slice(0, 1 + (where % reader.heard.length))
        const back = new Reader(cut.findLast(({ id }) => id !== undefined)?.id)
        const told = [...cut, ...back.heard].filter(({ name }) => wish.kinds.has(name))
        const events = told.filter(({ name }) => name === 'event').map(({ data }) => String(data))
        expect(new Map(told.map(({ data }) => data as [string, unknown]))).toEqual(whole)
        expect(new Set(events).size).toBe(events.length)
      }),
    )
  })
})

describe('a stream', () => {
  const last = (reader: Reader): unknown => reader.words.at(-1)
  const end = (reason: string): unknown => ['end', { reason, message: expect.any(String) as string }]

  it('ends when its time is over', () => {
    const reader = new Reader('', { until: Date.now() + 5_000 })
    vi.advanceTimersByTime(4_999)
    expect(last(reader)).toEqual(READY)
    vi.advanceTimersByTime(1)
    expect([last(reader), hub.clients]).toEqual([end('time_over'), 0])
  })

  it('takes the place of the one of the same name', () => {
    const [first, other] = [new Reader('', { name: 'payment' }), new Reader('', { name: 'another' })]
    const second = new Reader('', { name: 'payment' })
    expect([last(first), last(other), last(second), hub.clients]).toEqual([end('replaced'), READY, READY, 2])
  })

  it('that has ended keeps its place until its reader has taken all, and is cut where that takes nothing', () => {
    const until = { until: Date.now() + 5_000 }
    const [cut, late] = [new Reader('', until).response, new Reader('', until).response]
    for (const response of [cut, late]) response.takes = false
    const other = new Reader()
    vi.advanceTimersByTime(5_000)
    expect([hub.room('a'), hub.clients]).toEqual(['caller', 1])
    vi.advanceTimersByTime(19_999)
    late.emit('close')
    expect([hub.room('a'), cut.destroyed]).toEqual(['free', false])
    vi.advanceTimersByTime(1)
    expect([cut.destroyed, late.destroyed, other.response.destroyed]).toEqual([true, false, false])
  })

  it('ends when the instance does', () => {
    const reader = new Reader()
    hub.close()
    expect([last(reader), hub.clients]).toEqual([end('restarting'), 0])
  })

  it('has no place for a reader that is gone already, nor for it that of another', () => {
    const other = new Reader('', { name: 'payment' })
    const gone = new Reader('', { name: 'payment', until: Date.now() + 5_000 }, 'a', true)
    expect([gone.words, last(other), hub.clients]).toEqual([[], READY, 1])
  })

  it('is given up where its end was not heard of', () => {
    const { response } = new Reader()
    response.takes = false
    say(price('btc', 1))
    vi.advanceTimersByTime(200)
    response.destroyed = true
    vi.advanceTimersByTime(45_000)
    expect(hub.clients).toBe(0)
  })

  it('has room for so many, in all and of one caller', () => {
    expect(hub.room('a')).toBe('free')
    const readers = [new Reader(), new Reader(), new Reader()]
    expect([hub.room('a'), hub.room('b')]).toEqual(['caller', 'free'])
    expect(new Reader('', {}, 'b').words).toEqual([READY])
    expect([hub.room('a'), hub.room('b')]).toEqual(['full', 'full'])
    readers[0]?.response.emit('close')
    expect(hub.room('b')).toBe('free')
  })
})
