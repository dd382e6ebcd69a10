import { describe, expect, it } from 'vitest'
import { partitionOf } from '../../schemas/catalogue.ts'
import { lostOf, type LogGapRow, type Watching } from './log-gaps.ts'

const PARTITIONS = 4
const partition = partitionOf('BTC', PARTITIONS)

function gap(reader: string, topic: string, more: Partial<LogGapRow> = {}): LogGapRow {
  return { reader, topic, partition, reason: 'cut', from: 20, to: 30, missing: null, time: 40, ...more }
}

function watching(kind: Watching['kind'], condition: string): Watching {
  return { kind, condition, asset: 'BTC', created_at: 10, expires_at: 100, ended_at: 0 }
}

const price = watching('price', 'above')
const liquidation = watching('liquidation', 'cascade_risk')

describe('an alert', () => {
  it.each<[string, Watching, LogGapRow, boolean]>([
    ['on a price misses what prices are made of', price, gap('prices', 'market.tickers'), true],
    ['on a price misses nothing of liquidations', price, gap('liquidations', 'market.funding'), false],
    ['on liquidations misses what risk is made of', liquidation, gap('liquidations', 'market.funding'), true],
    ['on liquidations misses nothing of tickers', liquidation, gap('prices', 'market.tickers'), false],
    ['of any kind misses what alerts are decided by', liquidation, gap('alerts', 'alerts.inputs'), true],
    [
      'misses what another wrote and the log lost',
      price,
      gap('prices', 'alerts.inputs', { reason: 'output_cut' }),
      true,
    ],
    ['misses nothing of another partition', price, gap('alerts', 'alerts.inputs', { partition: partition + 1 }), false],
    ['misses nothing of before its creation', price, gap('alerts', 'alerts.inputs', { from: 1, to: 9 }), false],
    [
      'of a kind that nobody knows here is said to miss nothing of prices',
      watching('unknown', ''),
      gap('prices', 'market.tickers'),
      false,
    ],
  ])('%s', (_what, alert, row, isLost) => {
    expect(lostOf(alert, { count: 1, newest: [row] }, PARTITIONS)).toEqual(isLost ? [{ from: 20, to: 30 }] : [])
  })
})
