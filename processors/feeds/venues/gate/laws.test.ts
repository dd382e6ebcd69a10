import fc from 'fast-check'
import { decimal, followsTheLaws, id, ms } from '../testing/parse-laws.ts'
import { gate } from './venue.ts'

const frame = fc
  .array(fc.record({ id, ms, price: decimal, size: fc.integer(), isInternal: fc.boolean() }), { maxLength: 5 })
  .map((rows) => {
    const result = rows.map(({ id, ms, price, size, isInternal }) => {
      const more = isInternal ? { is_internal: true } : {}
      return {
        size,
        id,
        create_time: Math.floor(ms / 1000),
        create_time_ms: ms,
        price,
        contract: 'BTC_USDT',
        ...more,
      }
    })
    return JSON.stringify({ time: 1, channel: 'futures.trades', event: 'update', result })
  })

followsTheLaws(gate.trades, frame, ['BTC', 'ETH'])
