import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { readRecordedMessage } from '../../normalize/recorded-message.ts'

const recorded = path.resolve(import.meta.dirname, '../../../../shared/data')

/** Trade frames of one venue and channel, recorded where recordings are at hand, else made in the same shape. */
export interface FrameSet {
  readonly venue: 'binance' | 'bybit' | 'okx' | 'coinbase'
  readonly channel: string
  readonly source: 'recorded' | 'generated'
  readonly frames: readonly string[]
  /** Name of the exchange in tardis-dev; undefined where it has no mapper for the channel. */
  readonly tardis?: 'binance-futures' | 'bybit' | 'okex-swap' | 'coinbase'
}

export function frameSets(): FrameSet[] {
  return [
    {
      ...frames('binance/usdm-trade/btcusdt_20240808_hftbacktest.jsonl.gz', rawTrade),
      venue: 'binance',
      channel: 'trade',
      tardis: 'binance-futures',
    },
    { ...frames('binance/usdm-aggTrade/20210405_cryptofeed.jsonl', aggTrade), venue: 'binance', channel: 'aggTrade' },
    {
      ...frames('bybit/linear-publicTrade/20260809_cryptofeed.jsonl', publicTrade),
      venue: 'bybit',
      channel: 'publicTrade',
      tardis: 'bybit',
    },
    { ...made(allTrades), venue: 'okx', channel: 'trades-all', tardis: 'okex-swap' },
    {
      ...frames('coinbase/exchange-match/live_flashbook_btc_eth_202607.jsonl', match),
      venue: 'coinbase',
      channel: 'matches',
      tardis: 'coinbase',
    },
  ]
}

type Frames = Pick<FrameSet, 'source' | 'frames'>

const MADE = 2000

function frames(file: string, make: (n: number) => object): Frames {
  const found = path.join(recorded, file)
  if (!existsSync(found)) return made(make)
  const bytes = readFileSync(found)
  const lines = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString().split('\n')
  const texts = lines.filter((line) => line !== '').map((line) => readRecordedMessage(line).text)
  return { source: 'recorded', frames: texts.map(flat) }
}

function made(make: (n: number) => object): Frames {
  return { source: 'generated', frames: Array.from({ length: MADE }, (_, n) => flat(JSON.stringify(make(n)))) }
}

/** A string of its own, as a socket gives one: not a slice of a larger text. */
function flat(text: string): string {
  return Buffer.from(text).toString()
}

const START = 1_790_000_000_000

function price(n: number): string {
  return (65_000 + ((n * 37) % 1000) / 10).toFixed(2)
}

function size(n: number): string {
  return (((n * 13) % 997) / 1000 + 0.001).toFixed(3)
}

function rawTrade(n: number): object {
  const data = { e: 'trade', E: START + n, T: START + n, s: 'BTCUSDT', t: 5_266_583_935 + n, p: price(n), q: size(n) }
  return { stream: 'btcusdt@trade', data: { ...data, X: 'MARKET', m: n % 2 === 0 } }
}

function aggTrade(n: number): object {
  const ids = { e: 'aggTrade', E: START + n, a: 3_404_749_954 + n, s: 'BTCUSDT', p: price(n), q: size(n), nq: size(n) }
  return {
    stream: 'btcusdt@aggTrade',
    data: { ...ids, f: 7_960_913_511 + n, l: 7_960_913_511 + n, T: START + n, m: n % 2 === 0, st: 1 },
  }
}

function publicTrade(n: number): object {
  const data = Array.from({ length: 1 + (n % 5) }, (_, at) => ({
    T: START + n,
    s: 'BTCUSDT',
    S: n % 2 === 0 ? 'Buy' : 'Sell',
    v: size(n + at),
    p: price(n),
    L: 'ZeroMinusTick',
    i: `${(n * 0x1f3a5 + 0x10000000).toString(16)}-82bc-50de-be60-03eedbe3cd${String(10 + at)}`,
    BT: false,
    RPI: false,
    seq: 753_843_954_913 + n,
  }))
  return { topic: 'publicTrade.BTCUSDT', type: 'snapshot', ts: START + n, data }
}

function allTrades(n: number): object {
  const instId = 'BTC-USDT-SWAP'
  const sz = String((((n * 13) % 997) + 1) / 100)
  const side = n % 2 === 0 ? 'buy' : 'sell'
  const data = [{ instId, tradeId: String(84_834_539 + n), px: price(n), sz, side, ts: String(START + n), source: '0' }]
  return { arg: { channel: 'trades-all', instId }, data }
}

function match(n: number): object {
  return {
    type: 'match',
    trade_id: 1_052_119_289 + n,
    maker_order_id: '15bc13f2-e38c-4693-8c0b-e8c6152b9c1d',
    taker_order_id: '13d7d08f-7396-421b-9dba-94eac92f3d78',
    side: n % 2 === 0 ? 'buy' : 'sell',
    size: `0.${String((n * 7919) % 100_000_000).padStart(7, '0')}1`,
    price: price(n),
    product_id: 'BTC-USD',
    sequence: 132_235_026_010 + n * 17,
    time: new Date(START + n).toISOString().replace('Z', '123Z'),
  }
}
