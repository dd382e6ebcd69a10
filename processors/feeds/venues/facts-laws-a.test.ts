import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { binance } from './binance/venue.ts'
import { coingecko } from './coingecko/venue.ts'
import { gate } from './gate/venue.ts'

const now = Date.UTC(2026, 10, 20)
const sources = [binance, gate, coingecko]
const polls = sources.flatMap((source) => source.polls.map((poll) => [source.name, poll.name, poll] as const))
const streams = sources.flatMap((source) => source.streams.map((stream) => [source.name, stream.name, stream] as const))

/** JSON values whose keys and texts are often those that the parsers look for. */
const words =
  'e s o p i r T E data stream symbol code result time timestamp id fundingTime ' +
  'markPriceUpdate forceOrder 24hrTicker BTCUSDT 0.1 -1 SELL FILLED'
const word = fc.constantFrom('', ...words.split(' '))
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, -1, 1e300, Infinity, 1691603820000),
    word,
    fc.string(),
    fc.array(tie('value'), { maxLength: 12 }),
    fc.dictionary(word, tie('value'), { maxKeys: 12 }),
  ),
})).value

describe('what venues say beside trades', () => {
  it.each(streams)('makes %s’s %s give events whatever a frame is', (_source, _name, stream) => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          json.map((value) => JSON.stringify(value)),
        ),
        (frame) => {
          expect(stream.parse(frame).length).toBeGreaterThan(0)
        },
      ),
      { numRuns: 500 },
    )
  })

  it.each(polls)('makes %s’s %s give an answer whatever a body is', (_source, _name, poll) => {
    fc.assert(
      fc.property(json, (body) => {
        expect(['rows', 'limited', 'error']).toContain(poll.parse('BTCUSDT', body, now).kind)
        expect(poll.parse('BTCUSDT', [body], now).kind).toMatch(/^(rows|error)$/)
      }),
      { numRuns: 300 },
    )
  })

  it.each(polls)('asks %s for %s with a path and a price', (_source, _name, poll) => {
    const { path, cost } = poll.call('币安人生USDT', now)
    expect(new URL(path, 'http://venue').pathname + new URL(path, 'http://venue').search).toBe(path)
    expect(cost).toBeGreaterThan(0)
  })
})
