import fc from 'fast-check'
import { decimal, followsTheLaws, id, ms, side } from '../testing/parse-laws.ts'
import { bybit } from './venue.ts'

const uuid = fc.uuid({ version: 4 })
const frame = fc
  .array(fc.record({ T: ms, v: decimal, p: decimal, i: uuid, S: side, BT: fc.boolean(), seq: id }), { maxLength: 5 })
  .map((rows) => {
    const data = rows.map(({ T, v, p, i, S, BT, seq }) => {
      return { T, s: 'BTCUSDT', S: S === 'buy' ? 'Buy' : 'Sell', v, p, L: 'PlusTick', i, BT, RPI: false, seq }
    })
    return JSON.stringify({ topic: 'publicTrade.BTCUSDT', type: 'snapshot', ts: 1_790_000_000_000, data })
  })

followsTheLaws(bybit.trades, frame)
