import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FrameEvent, PageRow, VenueTrade } from './events.ts'
import type { TradeStream } from './venue.ts'
import { tradeStreams } from './venues.ts'

const all: readonly TradeStream[] = Object.values(tradeStreams)

/** One frame per venue as it comes off the wire today; every field is made by `fc`. */
const safe = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
/** Some beyond what a double holds exactly. */
const id = fc.oneof({ weight: 9, arbitrary: safe }, { weight: 1, arbitrary: fc.constantFrom(2 ** 53, 2 ** 60) })
const ms = fc.integer({ min: 1_600_000_000_000, max: 1_900_000_000_000 })
const decimal = fc
  .tuple(fc.nat(10 ** 12), fc.stringMatching(/^\d{1,10}$/))
  .map(([whole, decimals]) => `${whole}.${decimals}`)
const uuid = fc.uuid({ version: 4 })
const side = fc.constantFrom('buy', 'sell')
/** Binance's, and whether with the fields that came later. */
const channel = { e: fc.constantFrom('aggTrade', 'trade'), isNew: fc.boolean() }
/** What OKX writes in some frames only, before the time and after it. */
const source = fc.constantFrom({}, { source: '0' })
const later = fc.constantFrom({}, { count: '1' }, { count: '3', source: '1' }, { source: '0', seqId: 7 }, { seqId: 7 })

const frames: Readonly<Record<TradeStream['venue'], fc.Arbitrary<string>>> = {
  binance: fc
    .record({
      id,
      ms,
      p: decimal,
      q: decimal,
      m: fc.boolean(),
      f: id,
      fills: fc.nat(99),
      wrapped: fc.boolean(),
      ...channel,
    })
    .map(({ id, ms, p, q, m, f, fills, wrapped, e, isNew }) => {
      const nq = isNew ? { nq: q } : {}
      const st = isNew ? { st: 1 } : {}
      const agg = { e, E: ms, a: id, s: 'BTCUSDT', p, q, ...nq, f, l: f + fills, T: ms, m, ...st }
      const raw = { e, E: ms, T: ms, s: 'BTCUSDT', t: id, p, q, X: 'MARKET', m }
      const data = e === 'trade' ? raw : agg
      return JSON.stringify(wrapped ? { stream: `btcusdt@${e}`, data } : data)
    }),
  bybit: fc
    .array(fc.record({ T: ms, v: decimal, p: decimal, i: uuid, S: side, BT: fc.boolean(), seq: id }), { maxLength: 5 })
    .map((rows) => {
      const data = rows.map(({ T, v, p, i, S, BT, seq }) => {
        return { T, s: 'BTCUSDT', S: S === 'buy' ? 'Buy' : 'Sell', v, p, L: 'PlusTick', i, BT, RPI: false, seq }
      })
      return JSON.stringify({ topic: 'publicTrade.BTCUSDT', type: 'snapshot', ts: 1_790_000_000_000, data })
    }),
  okx: fc.array(fc.record({ id, px: decimal, sz: decimal, side, source, ms, later }), { maxLength: 5 }).map((rows) => {
    const data = rows.map(({ id, px, sz, side, source, ms, later }) => {
      return { instId: 'BTC-USDT-SWAP', tradeId: String(id), px, sz, side, ...source, ts: String(ms), ...later }
    })
    return JSON.stringify({ arg: { channel: 'trades-all', instId: 'BTC-USDT-SWAP' }, data })
  }),
  coinbase: fc
    .record({ id, maker: uuid, taker: uuid, side, size: decimal, price: decimal, sequence: id, ms })
    .map(({ id, maker, taker, side, size, price, sequence, ms }) => {
      const orders = { maker_order_id: maker, taker_order_id: taker, side, size, price, product_id: 'BTC-USD' }
      return JSON.stringify({ type: 'match', trade_id: id, ...orders, sequence, time: new Date(ms).toISOString() })
    }),
  // Prices and sizes are JSON numbers, with more digits than a double holds.
  kraken: fc.array(fc.record({ id, price: decimal, qty: decimal, side, ms }), { maxLength: 5 }).map((rows) => {
    const data = rows.map(({ id, price, qty, side, ms }) => {
      const rest = JSON.stringify({ ord_type: 'limit', trade_id: id, timestamp: new Date(ms).toISOString() })
      return `{"symbol":"BTC/USD","side":"${side}","price":${price},"qty":${qty},${rest.slice(1)}`
    })
    return `{"channel":"trade","type":"update","data":[${data.join(',')}]}`
  }),
  // Spot writes the symbol before the id.
  binance_spot: fc
    .record({ id, ms, p: decimal, q: decimal, m: fc.boolean(), f: id, fills: fc.nat(99) })
    .map(({ id, ms, p, q, m, f, fills }) => {
      const data = { e: 'aggTrade', E: ms, s: 'BTCUSDT', a: id, p, q, f, l: f + fills, T: ms, m, M: true }
      return JSON.stringify({ stream: 'btcusdt@aggTrade', data })
    }),
  gate: fc
    .array(fc.record({ id, ms, price: decimal, size: fc.integer(), isInternal: fc.boolean() }), { maxLength: 5 })
    .map((rows) => {
      const result = rows.map(({ id, ms, price, size, isInternal }) => {
        const more = isInternal ? { is_internal: true } : {}
        return {
          size,
          id,
          create_time: Math.floor(ms / 1000),
          create_time_ms: ms,
          price,
          contract: 'BTC_USDT',
          ...more,
        }
      })
      return JSON.stringify({ time: 1, channel: 'futures.trades', event: 'update', result })
    }),
  bitget: fc
    .array(fc.record({ id: fc.bigInt(0n, 2n ** 63n), ms, price: decimal, size: decimal, side }), { maxLength: 5 })
    .map((rows) => {
      const data = rows.map(({ id, ms, ...row }) => ({ ts: String(ms), ...row, tradeId: String(id) }))
      const arg = { instType: 'USDT-FUTURES', channel: 'trade', instId: 'BTCUSDT' }
      return JSON.stringify({ action: 'update', arg, data, ts: 1 })
    }),
  hyperliquid: fc
    .array(fc.record({ tid: fc.nat(2 ** 31 - 1), time: ms, px: decimal, sz: decimal, buys: fc.boolean() }), {
      maxLength: 5,
    })
    .map((rows) => {
      const data = rows.map(({ buys, ...row }) => ({ coin: 'BTC', side: buys ? 'B' : 'A', ...row, hash: '0x0' }))
      return JSON.stringify({ channel: 'trades', data })
    }),
}

/** A contract's size does not follow from a symbol: of these the checked-in list has those that are sure. */
const sureSizes: Readonly<Partial<Record<TradeStream['venue'], readonly string[]>>> = { gate: ['BTC', 'ETH'] }

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

describe.each(all)('reading $venue', (venue) => {
  const frame = frames[venue.venue]
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
    const frames = venue.subscribe(symbols, 1)
    // Where a request names one symbol each has its own.
    expect([1, symbols.length]).toContain(frames.length)
    expect(Math.max(...frames.map((frame) => frame.length))).toBeLessThan(21_000)
  })

  it('has a seed for the assets that are streamed from the start, and reads its symbols again', () => {
    const bases = venue.listing.seed.map(({ base }) => base)
    const streamed = ['BTC', 'ETH', 'SOL', 'XRP', 'BNB', 'DOGE', 'LINK', 'ARB']
    expect(bases).toEqual(expect.arrayContaining([...(sureSizes[venue.venue] ?? streamed)]))
    for (const row of venue.listing.seed) expect(venue.listing.fromSymbol(row.symbol)).toEqual(row)
  })
})
