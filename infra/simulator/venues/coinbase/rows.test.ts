import { expect, it } from 'vitest'
import { firstIds } from '../../market/markets.ts'
import { heartbeatFrame } from './rows.ts'

it('tells a product that has not traded by the id before its first trade, so that nothing seems to be missing', () => {
  expect(JSON.parse(heartbeatFrame('ARB-USD', undefined, 1_800_000_000_000_000))).toMatchObject({
    last_trade_id: firstIds.coinbase,
    product_id: 'ARB-USD',
  })
})
