import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Flow } from '../../../schemas/records.ts'
import { FlowTotals } from './flow-totals.ts'

const START = 1_000_000_000

function flow(given: Partial<Flow>): Flow {
  const times = { bucket: START, open_time: START, close_time: START }
  const prices = { open: 1, high: 1, low: 1, close: 1 }
  const counts = { buy_count: 1, sell_count: 1, first_id: 1, last_id: 2 }
  const sums = { buy: 0, sell: 0, buy_quote: 0, sell_quote: 0 }
  return {
    asset: 'btc',
    instrument: 'binance:perp:BTCUSDT',
    part: 0,
    final: false,
    v: 1,
    ...times,
    ...prices,
    ...counts,
    ...sums,
    ...given,
  }
}

describe('what traded since the console looks', () => {
  it('is the sum of what each upsert adds to the one before', () => {
    const totals = new FlowTotals(START)
    totals.take(flow({ buy: 1, buy_quote: 100 }))
    totals.take(flow({ buy: 3, buy_quote: 300, sell: 1, sell_quote: 100 }))
    expect(totals.take(flow({ part: 1, sell: 2, sell_quote: 200 }))).toEqual({
      delta: 0,
      delta_usd: 0,
      volume_usd: 600,
    })
    expect(totals.of('eth')).toEqual({ delta: 0, delta_usd: 0, volume_usd: 0 })
  })

  it('begins with what is added to a bucket that was open before it', () => {
    const totals = new FlowTotals(START)
    expect(totals.take(flow({ bucket: START - 5, buy: 50, buy_quote: 5000 })).delta).toBe(0)
    expect(totals.take(flow({ bucket: START - 5, buy: 51, buy_quote: 5100 })).delta).toBe(1)
  })

  it('counts nothing twice where the log is read again from further back than is remembered', () => {
    const totals = new FlowTotals(START)
    const minutes = [0, 5, 12].map((minute) => flow({ bucket: START + minute * 60_000_000, buy: 1, buy_quote: 100 }))
    for (const row of minutes) totals.take(row)
    for (const row of minutes) totals.take(row)
    expect(totals.of('btc').delta).toBe(3)
  })

  it('is the same however the upserts of a bucket were coalesced', () => {
    const buys = fc.array(fc.nat({ max: 100 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(buys, (steps) => {
        const each = new FlowTotals(START)
        const once = new FlowTotals(START)
        let buy = 0
        for (const step of steps) {
          buy += step
          each.take(flow({ buy, buy_quote: buy }))
        }
        once.take(flow({ buy, buy_quote: buy }))
        expect(each.of('btc')).toEqual(once.of('btc'))
      }),
    )
  })
})
