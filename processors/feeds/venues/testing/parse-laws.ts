import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FrameEvent, PageRow, VenueTrade } from '../events.ts'
import type { TradeStream } from '../venue.ts'

/** Fields of a trade as venues write them. */
const safe = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
/** Some beyond what a double holds exactly. */
export const id = fc.oneof({ weight: 9, arbitrary: safe }, { weight: 1, arbitrary: fc.constantFrom(2 ** 53, 2 ** 60) })
export const ms = fc.integer({ min: 1_600_000_000_000, max: 1_900_000_000_000 })
export const decimal = fc
  .tuple(fc.nat(10 ** 12), fc.stringMatching(/^\d{1,10}$/))
  .map(([whole, decimals]) => `${whole}.${decimals}`)
export const side = fc.constantFrom('buy', 'sell')
/** Assets that are streamed from the start. */
const streamed: readonly string[] = ['BTC', 'ETH', 'SOL', 'XRP', 'BNB', 'DOGE', 'LINK', 'ARB']

/** A frame with some characters cut out, doubled or replaced. */
function mutated(frame: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const edit = fc.tuple(
    fc.nat(400),
    fc.nat(3),
    fc.constantFrom('', '"', '}', ']', ',', '0', '-', 'e', '.', '\\', '\n', 'ä'),
  )
  return fc.tuple(frame, fc.array(edit, { minLength: 1, maxLength: 3 })).map(([text, edits]) => {
    return edits.reduce((result, [at, length, insert]) => {
      const place = at % (result.length + 1)
      return result.slice(0, place) + insert + result.slice(place + length)
    }, text)
  })
}

function expectSane(trade: VenueTrade): void {
  expect(Number(trade.price)).toBeGreaterThan(0)
  expect(Number(trade.size)).toBeGreaterThan(0)
  expect(Number.isFinite(Number(trade.price) * Number(trade.size))).toBe(true)
  expect(trade.id >= 0 && Number.isSafeInteger(trade.id)).toBe(true)
  expect(trade.count >= 1 && Number.isSafeInteger(trade.count)).toBe(true)
  expect(trade.sequence === null || Number.isSafeInteger(trade.sequence)).toBe(true)
  expect(trade.time > 1e15 && Number.isSafeInteger(trade.time)).toBe(true)
  expect(['buy', 'sell']).toContain(trade.taker)
  expect(trade.symbol).not.toBe('')
}

function expectSaneEvents(events: readonly FrameEvent[]): void {
  for (const event of events) if (event.kind === 'trade') expectSane(event.trade)
}

function isTrade(row: PageRow): row is VenueTrade {
  return !('refused' in row)
}

/**
 * What holds for every parser of trades. `frame`: one frame as it comes off the wire today, every field of it made by `fc`;
 * `seeds`: what its checked-in list has at least, where a contract's size does not follow from a symbol.
 */
export function followsTheLaws(venue: TradeStream, frame: fc.Arbitrary<string>, seeds = streamed): void {
  describe(`reading ${venue.venue}`, () => {
    const texts = fc.oneof(frame, mutated(frame), fc.json(), fc.string())

    it('makes trades of the frames that it sends', () => {
      fc.assert(
        fc.property(frame, (text) => {
          const kinds = venue.parse(text).map((event) => (event.kind === 'refused' ? event.reason : event.kind))
          expect(kinds.every((kind) => ['trade', 'off-book', 'merged', 'bad-field'].includes(kind))).toBe(true)
          expectSaneEvents(venue.parse(text))
        }),
      )
    })

    it('never throws and never makes an absurd trade, whatever comes', () => {
      fc.assert(
        fc.property(texts, (text) => expectSaneEvents(venue.parse(text))),
        { numRuns: 1000 },
      )
    })

    // A blank before the frame is valid JSON and no pattern takes it, so the second reading is by JSON.
    it('says the same by pattern and by JSON', () => {
      fc.assert(
        fc.property(texts, (text) => {
          expect(venue.parse(text)).toEqual(text === 'pong' ? [{ kind: 'pong' }] : venue.parse(` ${text}`))
        }),
        { numRuns: 2000 },
      )
    })

    it('never throws over a REST body, whatever it is', () => {
      fc.assert(
        fc.property(fc.oneof(fc.jsonValue(), fc.constant(undefined)), (body) => {
          const page = venue.backfill.parse('BTCUSDT', body)
          if (page.kind === 'rows') page.rows.filter(isTrade).forEach(expectSane)
          venue.listing.parse(body)
          venue.listing.prices?.parse(body)
        }),
      )
    })

    it('answers with every frame below the venue’s limit of symbols', () => {
      const symbols = Array.from({ length: venue.socket.maxSymbolsPerConnection }, (_, n) => `1000000EXAMPLE${n}USDT`)
      const frames = venue.request('subscribe', symbols, 1)
      // Where a request names one symbol each has its own.
      expect([1, symbols.length]).toContain(frames.length)
      expect(Math.max(...frames.map((frame) => frame.length))).toBeLessThan(21_000)
    })

    it('has a seed for the assets that are streamed from the start, and reads its symbols again', () => {
      const bases = venue.listing.seed.map(({ base }) => base)
      expect(bases).toEqual(expect.arrayContaining([...seeds]))
      for (const row of venue.listing.seed) expect(venue.listing.fromSymbol(row.symbol)).toEqual(row)
    })
  })
}
