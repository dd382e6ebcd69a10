import fc from 'fast-check'
import { decimal, followsTheLaws, id, ms, side } from '../testing/parse-laws.ts'
import { okx } from './venue.ts'

/** What OKX writes in some frames only, before the time and after it. */
const source = fc.constantFrom({}, { source: '0' })
const later = fc.constantFrom({}, { count: '1' }, { count: '3', source: '1' }, { source: '0', seqId: 7 }, { seqId: 7 })
const frame = fc
  .array(fc.record({ id, px: decimal, sz: decimal, side, source, ms, later }), { maxLength: 5 })
  .map((rows) => {
    const data = rows.map(({ id, px, sz, side, source, ms, later }) => {
      return { instId: 'BTC-USDT-SWAP', tradeId: String(id), px, sz, side, ...source, ts: String(ms), ...later }
    })
    return JSON.stringify({ arg: { channel: 'trades-all', instId: 'BTC-USDT-SWAP' }, data })
  })

followsTheLaws(okx.trades, frame)
