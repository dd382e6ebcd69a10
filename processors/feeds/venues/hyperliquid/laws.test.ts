import fc from 'fast-check'
import { decimal, followsTheLaws, ms } from '../testing/parse-laws.ts'
import { hyperliquid } from './venue.ts'

const frame = fc
  .array(fc.record({ tid: fc.nat(2 ** 31 - 1), time: ms, px: decimal, sz: decimal, buys: fc.boolean() }), {
    maxLength: 5,
  })
  .map((rows) => {
    const data = rows.map(({ buys, ...row }) => ({ coin: 'BTC', side: buys ? 'B' : 'A', ...row, hash: '0x0' }))
    return JSON.stringify({ channel: 'trades', data })
  })

followsTheLaws(hyperliquid.trades, frame)
