import fc from 'fast-check'
import { decimal, followsTheLaws, id, ms, side } from '../testing/parse-laws.ts'
import { coinbase } from './venue.ts'

const uuid = fc.uuid({ version: 4 })
const frame = fc
  .record({ id, maker: uuid, taker: uuid, side, size: decimal, price: decimal, sequence: id, ms })
  .map(({ id, maker, taker, side, size, price, sequence, ms }) => {
    const orders = { maker_order_id: maker, taker_order_id: taker, side, size, price, product_id: 'BTC-USD' }
    return JSON.stringify({ type: 'match', trade_id: id, ...orders, sequence, time: new Date(ms).toISOString() })
  })

followsTheLaws(coinbase.trades, frame)
