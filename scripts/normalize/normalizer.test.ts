import { describe, expect, it } from 'vitest'
import { tradeStreams } from '../../processors/feeds/venues/venues.ts'
import { readRecordedMessage, Normalizer, symbolAsked } from './normalizer.ts'

const aggTrade =
  '{"e":"aggTrade","E":1790000000100,"a":500,"s":"1000PEPEUSDT","p":"0.0123400","q":"2500","f":1,"l":2,"T":1790000000001,"m":true}'

function run(venue: keyof typeof tradeStreams, channel: string, lines: readonly string[], more: object = {}) {
  const refused: string[] = []
  const onRefusal = (reason: string): number => refused.push(reason)
  const normalizer = new Normalizer({ venue: tradeStreams[venue], channel, onRefusal, ...more })
  const records = lines.flatMap((line) => normalizer.records(line))
  return { records, refused, counts: Object.fromEntries(normalizer.counts) }
}

describe('a recorded line', () => {
  it.each([
    ['a bare message', '{"e":"x"}', { text: '{"e":"x"}' }],
    ['no JSON', 'pong', { text: 'pong' }],
    ['a message as its recorder wrote it', '{"raw":{"p": "1.0"}}', { text: '{"p": "1.0"}' }],
    ['a text frame', '{"recv_ns":1723161255088176367,"raw":"pong"}', { text: 'pong', received: 1723161255088176 }],
    ['an answer of REST', '{"url":"https://x/y?a=1","raw":[]}', { text: '[]', url: 'https://x/y?a=1' }],
    ['another order of keys', '{"raw":{"p":"1"},"recv_ns":1}', { text: '{"p":"1"}' }],
  ])('is %s', (_, line, recorded) => {
    expect(readRecordedMessage(line)).toEqual(recorded)
  })

  it.each([
    ['https://x/fapi/v1/aggTrades?symbol=BTCUSDT&limit=5', [], 'BTCUSDT'],
    ['/api/v5/market/history-trades?instId=BTC-USDT-SWAP', {}, 'BTC-USDT-SWAP'],
    ['https://x/products/BTC-USD/trades?after=1', [], 'BTC-USD'],
    [undefined, { data: [{ instId: 'ETH-USDT-SWAP' }] }, 'ETH-USDT-SWAP'],
    [undefined, { result: { list: [{ symbol: 'ETHUSDT' }] } }, 'ETHUSDT'],
    [undefined, [{ a: 1 }], undefined],
    ['/products', null, undefined],
  ])('of the address %s is about a symbol', (url, body, symbol) => {
    expect(symbolAsked(url, body)).toBe(symbol)
  })
})

describe('normalising recorded lines', () => {
  it('prints what the feed would write', () => {
    const { records, counts } = run('binance', 'aggTrade', [`{"recv_ns":1790000000123456789,"raw":${aggTrade}}`])
    expect(records).toMatchObject([
      {
        instrument: 'binance:perp:1000PEPEUSDT',
        asset: 'pepe',
        first_id: 500,
        count: 2,
        price: 0.00001234,
        size: 2_500_000,
        taker: 'sell',
        time: 1_790_000_000_001_000,
        received: 1_790_000_000_123_456,
      },
    ])
    expect(counts).toEqual({ lines: 1, trades: 1 })
  })

  it('counts refusals by reason and other messages by kind', () => {
    const lines = ['{"e":"kline"}', 'x', aggTrade.replace('0.0123400', '0'), '{"result":null,"id":2}', aggTrade]
    expect(run('binance', 'aggTrade', lines)).toMatchObject({
      refused: ['unknown-event', 'not-json', 'bad-field'],
      counts: {
        lines: 5,
        'refused unknown-event': 1,
        'refused not-json': 1,
        'refused bad-field': 1,
        subscribed: 1,
        trades: 1,
      },
    })
  })

  it('counts a trade that claims to be from the future', () => {
    const { counts } = run('binance', 'aggTrade', [`{"recv_ns":1789999990000000000,"raw":${aggTrade}}`])
    expect(counts).toEqual({ lines: 1, trades: 1, clamped: 1 })
  })

  it('refuses a contract whose size it does not know, unless the venue’s list is at hand', () => {
    const line =
      '{"arg":{"channel":"trades-all","instId":"NEW-USDT-SWAP"},"data":[{"instId":"NEW-USDT-SWAP","tradeId":"1","px":"2","sz":"3","side":"buy","ts":"1790000000001"}]}'
    expect(run('okx', 'trades-all', [line]).refused).toEqual(['unknown-symbol'])
    const row = {
      instType: 'SWAP',
      instId: 'NEW-USDT-SWAP',
      ctType: 'linear',
      ctVal: '0.1',
      ctMult: '1',
      state: 'live',
    }
    const answer = tradeStreams.okx.listing.parse({ code: '0', data: [{ ...row, ctValCcy: 'NEW', settleCcy: 'USDT' }] })
    const listed = answer.kind === 'rows' ? answer.rows : []
    expect(run('okx', 'trades-all', [line], { listed }).records).toMatchObject([{ asset: 'new', size: 0.3, price: 2 }])
  })

  it('reads pages of REST', () => {
    const page = '[{"trade_id":74,"side":"sell","size":"0.1","price":"10.0","time":"2019-08-14T20:42:27.265Z"},{}]'
    const { records, refused } = run('coinbase', 'rest-trades', [page], { symbol: 'BTC-USD' })
    expect(records).toMatchObject([{ first_id: 74, taker: 'buy', origin: 'import' }])
    expect(refused).toEqual(['bad-field'])
    expect(run('coinbase', 'rest-trades', [page]).refused).toEqual(['unknown-symbol'])
    expect(run('okx', 'rest-trades', ['{"code":"50011","data":[]}'], { symbol: 'X' }).refused).toEqual(['limited'])
  })

  it('reads lists of instruments', () => {
    const product = '{"id":"BTC-USD","base_currency":"BTC","quote_currency":"USD","status":"online"}'
    const ended = '{"id":"X-USD","base_currency":"X","quote_currency":"USD","status":"delisted"}'
    expect(run('coinbase', 'instruments', [`[${product},${ended}]`]).records).toMatchObject([
      { instrument: 'coinbase:spot:BTC-USD', asset: 'btc', status: 'live', source: 'venue' },
      { instrument: 'coinbase:spot:X-USD', asset: 'x', status: 'closed', source: 'venue' },
    ])
    expect(run('coinbase', 'instruments', ['{"message":"NotFound"}']).refused).toEqual(['error NotFound'])
  })
})
