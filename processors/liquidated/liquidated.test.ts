import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Liquidation, Mark, Message, Metric } from '../../schemas/records.ts'
import { CoreTestDriver, only } from '../kernel/testing/core-test-driver.ts'
import { expectSame, PARTITIONS } from '../kernel/testing/fault-plans.ts'
import { LAW_MS } from '../kernel/testing/law.ts'
import { processorsNamed } from '../topology.ts'
import { liquidated, type LiquidatedState } from './liquidated.ts'

const SECOND = 1_000_000
const T0 = 1_786_060_800 * SECOND

function closed(id: string, seconds: number, fields: Partial<Liquidation> = {}): Message<'liquidation'> {
  const time = T0 + seconds * SECOND
  const value: Liquidation = {
    instrument: 'bybit:perp:BTCUSDT',
    asset: 'btc',
    id,
    side: 'long',
    size: 1,
    price: 100,
    price_kind: 'order',
    value: 100,
    completeness: 'all',
    time,
    received: time,
    ...fields,
  }
  return { type: 'liquidation', value }
}

function mark(seconds: number): Message<'mark'> {
  const time = T0 + seconds * SECOND
  const value: Mark = { writer: 'feeds', run: 0, time, venues: [], changes: [], venue_time: time, positions: [] }
  return { type: 'mark', value }
}

const fed = (...messages: readonly Message[]): CoreTestDriver<LiquidatedState> =>
  new CoreTestDriver(liquidated, 'market.liquidations').batch(...messages)
const metrics = (given: CoreTestDriver<LiquidatedState>): Metric[] => only(given.take(), 'metric')

describe('a metric of liquidations', () => {
  it('has what each venue has closed since the last mark, by side', () => {
    const okx = { instrument: 'okx:perp:BTC-USDT-SWAP', side: 'short' as const, value: 7 }
    const given = fed(mark(0), closed('a', 1), closed('b', 1), closed('a', 1, okx), closed('c', 1, { asset: 'eth' }))
    expect(metrics(given)).toEqual([])
    expect(metrics(given.batch(mark(2), mark(3)))).toMatchObject([
      {
        asset: 'btc',
        core: 'liquidated',
        figures: [
          { figure: 'liquidated_long', exchange: 'bybit', value: 200 },
          { figure: 'liquidated_short', exchange: 'okx', value: 7 },
        ],
        time: T0 + 2 * SECOND,
      },
      { asset: 'eth', figures: [{ value: 100 }] },
    ])
  })

  it('is followed by a mark each ten seconds, of up to when all is told', () => {
    const given = fed(mark(0), mark(9.9), closed('a', 10), mark(10.2), mark(11), mark(31))
    const told = given
      .take()
      .map(({ message }) => [
        message?.type,
        message !== null && 'time' in message.value && (message.value.time - T0) / SECOND,
      ])
    expect(told).toEqual([
      ['mark', 0],
      ['metric', 10.2],
      ['mark', 10.2],
      ['mark', 31],
    ])
  })

  it('counts each once for ten minutes, and none without a side', () => {
    const given = fed(mark(0), closed('a', 1), mark(2), closed('a', 1), closed('b', 2, { side: 'unknown' }), mark(3))
    expect(metrics(given)).toHaveLength(1)
    expect(liquidated.counts?.(given.state)).toEqual({ repeated: 1, old: 0, ids: 1 })
  })

  it.each([
    ['not one of more than ten minutes ago, which a venue tells again after a connection', 602, 0, 1],
    ['one of up to ten minutes ago that comes late', 601, 1, 0],
  ])('counts %s', (_what, seconds, told, old) => {
    const given = fed(mark(0), closed('a', 1), mark(2))
    expect(metrics(given)).toHaveLength(1)
    const replayed = closed('late', 1, { received: T0 + seconds * SECOND })
    expect(metrics(given.batch(mark(600), replayed, mark(603)))).toHaveLength(told)
    expect(liquidated.counts?.(given.state)).toMatchObject({ repeated: 0, old })
  })

  it('knows one for as long as it would count if it came again', () => {
    const again = (seconds: number): Message => closed('a', 1, { received: T0 + seconds * SECOND })
    const given = fed(mark(0), closed('a', 1), mark(2), again(600), mark(600.5), again(601.5), mark(602), again(10_800))
    expect(metrics(given.batch(mark(10_801)))).toHaveLength(1)
    expect(liquidated.counts?.(given.state)).toEqual({ repeated: 1, old: 2, ids: 0 })
  })
})

const [row] = processorsNamed(['liquidated'])
if (row === undefined) throw new Error('liquidated is in the topology')
const logs = fc.array(
  fc.record({
    partition: fc.nat(PARTITIONS - 1),
    message: fc.oneof(
      fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(900)).map(([id, at]) => closed(id, at)),
      fc.nat(900).map(mark),
    ),
  }),
  { maxLength: 80, size: 'max' },
)

it('writes the same in the end, whatever befalls it', () => expectSame(row, logs), LAW_MS)
