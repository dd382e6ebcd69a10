import { describe, expect, it } from 'vitest'
import { spotListing } from './listing.ts'
import { refused, rowsOf } from './testing/polls.ts'

describe('Binance spot over REST', () => {
  const row = {
    symbol: 'BTCUSDT',
    priceChangePercent: '-2.364',
    lastPrice: '67773.99000000',
    bidPrice: '67773.99000000',
    askPrice: '67774.00000000',
    volume: '16084.48849000',
    quoteVolume: '1110020287.50446780',
    closeTime: 1775571563002,
  }

  it('tells the tickers of pairs in USDT that have a price', () => {
    const over = { lastPrice: '0.00000000', bidPrice: '0.00000000', askPrice: '0.00000000' }
    expect(
      rowsOf('spot-tickers', [row, { ...row, symbol: 'ETHBTC' }, { ...row, ...over }, { ...row, volume: 1 }]),
    ).toEqual([
      {
        kind: 'ticker',
        symbol: 'BTCUSDT',
        bid: '67773.99000000',
        ask: '67774.00000000',
        last: '67773.99000000',
        change24h: -2.364,
        volume24h: '16084.48849000',
        quoteVolume24h: '1110020287.50446780',
        time: 1775571563002000,
      },
      refused,
    ])
  })

  it('lists pairs in USDT', () => {
    const btc = {
      symbol: 'BTCUSDT',
      status: 'TRADING',
      baseAsset: 'BTC',
      quoteAsset: 'USDT',
      isSpotTradingAllowed: true,
      filters: [{ filterType: 'PRICE_FILTER', tickSize: '0.01000000' }],
    }
    const symbols = [
      btc,
      { ...btc, symbol: '1000SATSUSDT', baseAsset: '1000SATS' },
      { ...btc, symbol: 'USDCUSDT', baseAsset: 'USDC' },
      { ...btc, symbol: 'MATICUSDT', baseAsset: 'MATIC', status: 'BREAK' },
      { ...btc, symbol: 'XUSDT', baseAsset: 'X', isSpotTradingAllowed: false },
      { ...btc, symbol: 'ETHBTC', baseAsset: 'ETH', quoteAsset: 'BTC' },
      7,
    ]
    expect(spotListing.parse({ symbols })).toMatchObject({
      kind: 'rows',
      rows: [
        { symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', sizeFactor: 1, tick: 0.01, live: true },
        { symbol: '1000SATSUSDT', base: 'SATS', sizeFactor: 1000, priceFactor: 1000, live: true },
        { symbol: 'USDCUSDT', base: 'USDC', live: true },
        { symbol: 'MATICUSDT', live: false },
        { symbol: 'XUSDT', live: false },
      ],
    })
    expect(spotListing.seed.map(({ symbol }) => symbol)).toEqual(expect.arrayContaining(['PEPEUSDT', 'USDCUSDT']))
    expect(spotListing.fromSymbol('ETHBTC')).toBeUndefined()
  })
})
