import { describe, expect, it } from 'vitest'
import type { FrameEvent, VenueTrade } from './events.ts'
import type { TradeStream } from './venue.ts'
import { tradeStreams } from './venues.ts'
import { filesOf, isRecorded, messagesIn } from './testing/recorded.ts'

function eventsOf(venue: TradeStream, file: string): FrameEvent[] {
  return messagesIn(file).flatMap((message) => venue.parse(message))
}

function tradesOf(events: readonly FrameEvent[]): VenueTrade[] {
  return events.filter((event) => event.kind === 'trade').map(({ trade }) => trade)
}

function counted(events: readonly FrameEvent[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const event of events) {
    const what = event.kind === 'refused' ? event.reason : event.kind
    counts[what] = (counts[what] ?? 0) + 1
  }
  return counts
}

/** Every message of each folder, and what becomes of it: nothing is refused for another reason than the named ones. */
const folders: readonly (readonly [folder: string, venue: TradeStream, expected: Record<string, number>])[] = isRecorded
  ? [
      // One of 2019 has no aggregate id.
      ['binance/usdm-aggTrade', tradeStreams.binance, { trade: 871, 'bad-field': 1 }],
      ['binance/usdm-trade', tradeStreams.binance, { trade: 35_391, 'off-book': 1 }],
      ['binance/usdm-forceOrder', tradeStreams.binance, { 'unknown-event': 8 }],
      ['binance/usdm-markPrice_arr', tradeStreams.binance, { 'not-an-object': 2 }],
      ['bybit/linear-publicTrade', tradeStreams.bybit, { trade: 331 }],
      ['bybit/linear-control', tradeStreams.bybit, { subscribed: 8, pong: 1, rejected: 1 }],
      ['okx/spot-trades-all', tradeStreams.okx, { trade: 1 }],
      ['okx/swap-mark-price', tradeStreams.okx, { 'unknown-event': 3 }],
      ['coinbase/exchange-match', tradeStreams.coinbase, { trade: 533 }],
      ['coinbase/exchange-last_match', tradeStreams.coinbase, { heartbeat: 13 }],
      ['coinbase/exchange-heartbeat', tradeStreams.coinbase, { heartbeat: 118 }],
      ['coinbase/exchange-ticker', tradeStreams.coinbase, { 'unknown-event': 111 }],
      ['binance/spot-aggTrade', tradeStreams.binance_spot, { trade: 3205 }],
      ['gate/spot-trades', tradeStreams.gate, { 'unknown-event': 12 }],
      // Two snapshots, which say how far the ids have come.
      ['kraken/v2-trade', tradeStreams.kraken, { trade: 20, heartbeat: 2 }],
      ['kraken/v2-control', tradeStreams.kraken, { subscribed: 4 }],
      ['kraken/v2-heartbeat', tradeStreams.kraken, { heartbeat: 23 }],
      ['kraken/v2-ticker', tradeStreams.kraken, { 'unknown-event': 2 }],
    ]
  : []

describe.runIf(isRecorded)('recorded frames', () => {
  it.each(folders)('of %s become what they are', (folder, venue, expected) => {
    expect(counted(filesOf(folder).flatMap((file) => eventsOf(venue, file)))).toEqual(expected)
  })

  it('of the merged OKX channel are taken where a record is one fill', () => {
    const events = ['okx/swap-trades', 'okx/spot-trades']
      .flatMap(filesOf)
      .flatMap((file) => eventsOf(tradeStreams.okx, file))
    expect(counted(events)).toEqual({ trade: 96, merged: 1, subscribed: 1 })
  })

  it('have plausible values', () => {
    const trades = folders.flatMap(([folder, venue]) =>
      filesOf(folder).flatMap((file) => tradesOf(eventsOf(venue, file))),
    )
    const isPlausible = ({ price, size, time }: VenueTrade): boolean =>
      Number(price) > 1e-7 && Number(price) < 200_000 && Number(size) < 1e9 && time > 1_560_000_000_000_000
    expect(trades.filter((trade) => !isPlausible(trade))).toEqual([])
  })

  it.each([
    ['binance/usdm-trade/btcusdt_20240808_hftbacktest.jsonl.gz', tradeStreams.binance, 21_313],
    ['binance/usdm-trade/ethusdt_20240808_hftbacktest.jsonl.gz', tradeStreams.binance, 14_076],
    ['coinbase/exchange-match/live_flashbook_btc_eth_202607.jsonl', tradeStreams.coinbase, 435],
    ['binance/spot-aggTrade/20210404_cryptofeed.jsonl.gz', tradeStreams.binance_spot, 1910],
    ['kraken/v2-trade/live_flashbook_btc_eth_202607.jsonl', tradeStreams.kraken, 17],
  ])('of the long tape %s have ids without a hole', (file, venue, count) => {
    const trades = tradesOf(eventsOf(venue, file))
    expect(trades).toHaveLength(count)
    for (const ofSymbol of Map.groupBy(trades, ({ symbol }) => symbol).values())
      expect(ofSymbol.map(({ id }) => id)).toEqual(ofSymbol.map((_, n) => (ofSymbol[0]?.id ?? 0) + n))
  })

  it.each(['btcusdt', 'ethusdt'])('of the Binance tape of %s hold the volumes that the frames say', (name) => {
    const file = `binance/usdm-trade/${name}_20240808_hftbacktest.jsonl.gz`
    const counts = { buy: 0n, sell: 0n }
    for (const { taker, size } of tradesOf(eventsOf(tradeStreams.binance, file))) counts[taker] += thousandths(size)

    const independent = { buy: 0n, sell: 0n }
    for (const [, q = '', m] of messagesIn(file)
      .join('\n')
      .matchAll(/"q":"([\d.]+)".*?"m":(true|false)/g))
      independent[m === 'true' ? 'sell' : 'buy'] += thousandths(q)
    expect(counts).toEqual(independent)
    expect(counts.buy).toBeGreaterThan(0n)
  })

  it('of Coinbase end their minute where its heartbeats say', () => {
    const last = new Map<string | null, number | null>()
    for (const event of eventsOf(
      tradeStreams.coinbase,
      'coinbase/exchange-heartbeat/live_flashbook_btc_eth_202607.jsonl',
    ))
      if (event.kind === 'heartbeat') last.set(event.symbol, event.lastId)
    const trades = tradesOf(
      eventsOf(tradeStreams.coinbase, 'coinbase/exchange-match/live_flashbook_btc_eth_202607.jsonl'),
    )
    for (const [symbol, lastId] of last)
      expect(trades.some((trade) => trade.symbol === symbol && trade.id === lastId)).toBe(true)
  })
})

describe.runIf(isRecorded)('recorded answers of REST', () => {
  it('of Binance aggregate trades are pages of trades', () => {
    const rows = filesOf('binance/rest-usdm-aggTrades')
      .flatMap(messagesIn)
      .flatMap((body) => {
        const answer = tradeStreams.binance.backfill.parse('BTCUSDT', JSON.parse(body))
        return answer.kind === 'rows' ? answer.rows : []
      })
    expect(rows).toHaveLength(541)
    expect(rows.filter((row) => 'refused' in row)).toEqual([])
  })

  it('of Binance spot aggregate trades are pages of trades', () => {
    const rows = filesOf('binance/rest-spot-aggTrades')
      .flatMap(messagesIn)
      .flatMap((body) => {
        const answer = tradeStreams.binance_spot.backfill.parse('BTCUSDT', JSON.parse(body))
        return answer.kind === 'rows' ? answer.rows : []
      })
    expect(rows).toHaveLength(15_200)
    expect(rows.filter((row) => 'refused' in row)).toEqual([])
  })

  it('of Gate trades are pages without a hole, in contracts with the taker’s sign', () => {
    const pages = filesOf('gate/rest-v4-futures-usdt-trades')
      .flatMap(messagesIn)
      .map((body, n) => tradeStreams.gate.backfill.parse(n === 0 ? 'BTC_USDT' : 'KNC_USDT', JSON.parse(body)))
    const rows = pages.map((page) => (page.kind === 'rows' ? page.rows : []))
    expect(rows.map((page) => page.map((row) => ('refused' in row ? row : row.id)))).toEqual([
      [675286751, 675286750, 675286749, 675286748, 675286747],
      [4048375, 4048374, 4048373, 4048372, 4048371],
    ])
    expect(rows[0]?.[0]).toMatchObject({ price: '70940.8', size: '11', taker: 'sell', time: 1770582490364000 })
    expect(rows[0]?.[4]).toMatchObject({ size: '13081', taker: 'buy', time: 1770582489964000 })
  })

  it('of Kraken trades are a page of a thousand ids without a hole, at the times that its cursor says', () => {
    const [body = ''] = filesOf('kraken/rest-Trades').flatMap(messagesIn)
    const answer = tradeStreams.kraken.backfill.parse('BTC/USDT', JSON.parse(body))
    const rows = answer.kind === 'rows' ? answer.rows.flatMap((row) => ('refused' in row ? [] : [row])) : []
    expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 1000 }, (_, n) => 10_218_208 + n))
    expect(rows[0]).toMatchObject({ price: '105433.60000', size: '0.00027625', taker: 'buy', time: 1762795433971744 })
    // "last":"1762820035982277754"
    expect(rows.at(-1)).toMatchObject({ taker: 'sell', time: 1762820035982277 })
  })

  it('of OKX trades are pages of trades', () => {
    const [body = ''] = filesOf('okx/rest-market-trades').flatMap(messagesIn)
    expect(tradeStreams.okx.backfill.parse('BTC-USDT', JSON.parse(body))).toMatchObject({
      rows: [
        { id: 734_864_333, taker: 'sell' },
        { id: 734_864_332, taker: 'buy' },
      ],
    })
  })

  it('of Bybit’s list are its USDT perpetuals of coins, the known ones as in the seed', () => {
    const [body = ''] = filesOf('bybit/rest-v5-instruments-info-linear').flatMap(messagesIn)
    const answer = tradeStreams.bybit.listing.parse(JSON.parse(body))
    const rows = answer.kind === 'rows' ? answer.rows : []
    expect(rows).toHaveLength(514)
    expect(
      rows.filter(({ sizeFactor }) => sizeFactor !== 1).map(({ base, sizeFactor }) => `${base} ${sizeFactor}`),
    ).toContain('BABYDOGE 1000000')
    for (const seed of tradeStreams.bybit.listing.seed)
      expect(rows.find(({ symbol }) => symbol === seed.symbol)).toEqual({ ...seed, tick: expect.any(Number) })
  })

  it('of prices give most of the market', () => {
    const of = (venue: TradeStream, folder: string): number[] =>
      filesOf(folder)
        .flatMap(messagesIn)
        .map((body) => venue.listing.prices?.parse(JSON.parse(body)))
        .flatMap((answer) => (answer?.kind === 'rows' ? [answer.rows.length] : []))
    expect(of(tradeStreams.binance, 'binance/rest-usdm-ticker-price')).toEqual([65])
    expect(of(tradeStreams.bybit, 'bybit/rest-v5-tickers-linear')).toEqual([259])
    expect(of(tradeStreams.coinbase, 'coinbase/rest-advanced-market-products')[0]).toBeGreaterThan(800)
  })
})

/** A size of three decimals or fewer, exactly. */
function thousandths(size: string): bigint {
  const [whole = '', decimals = ''] = size.split('.')
  return BigInt(whole + decimals.padEnd(3, '0'))
}
