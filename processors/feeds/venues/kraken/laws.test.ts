import fc from 'fast-check'
import { decimal, followsTheLaws, id, ms, side } from '../testing/parse-laws.ts'
import { kraken } from './venue.ts'

/** Prices and sizes are JSON numbers, with more digits than a double holds. */
const frame = fc.array(fc.record({ id, price: decimal, qty: decimal, side, ms }), { maxLength: 5 }).map((rows) => {
  const data = rows.map(({ id, price, qty, side, ms }) => {
    const rest = JSON.stringify({ ord_type: 'limit', trade_id: id, timestamp: new Date(ms).toISOString() })
    return `{"symbol":"BTC/USD","side":"${side}","price":${price},"qty":${qty},${rest.slice(1)}`
  })
  return `{"channel":"trade","type":"update","data":[${data.join(',')}]}`
})

followsTheLaws(kraken.trades, frame)
