import fc from 'fast-check'
import { decimal, followsTheLaws, ms, side } from '../testing/parse-laws.ts'
import { bitget } from './venue.ts'

const frame = fc
  .array(fc.record({ id: fc.bigInt(0n, 2n ** 63n), ms, price: decimal, size: decimal, side }), { maxLength: 5 })
  .map((rows) => {
    const data = rows.map(({ id, ms, ...row }) => ({ ts: String(ms), ...row, tradeId: String(id) }))
    const arg = { instType: 'USDT-FUTURES', channel: 'trade', instId: 'BTCUSDT' }
    return JSON.stringify({ action: 'update', arg, data, ts: 1 })
  })

followsTheLaws(bitget.trades, frame)
