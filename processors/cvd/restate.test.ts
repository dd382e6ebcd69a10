import { describe, expect, it } from 'vitest'
import type { Output } from '../kernel/processor.ts'
import { CvdTestDriver, mark, SECOND, T0, trade } from './testing/records.ts'

const MINUTE = 60 * SECOND
const OKX = { instrument: 'okx:perp:BTC-USDT-SWAP' }

/** What the state says again of an output that lost its tail. */
function again(fed: CvdTestDriver, output: 'derived.flow' | 'derived.signals'): Output[] {
  const said: Output[] = []
  fed.core.restate?.(fed.state, output, { partition: 0, v: 0, partitionTime: 0 }, (one) => said.push(one))
  return said
}

describe('rows that the log lost', () => {
  const fed = new CvdTestDriver().batch(
    trade(),
    trade(OKX),
    trade({ first_id: 2, origin: 'backfill', gap_id: 2 }),
    mark(T0 + 12 * SECOND),
    trade({ first_id: 3, time: T0 + MINUTE }),
  )

  it('are said again as they were last said: every bucket, part and hour, with the same versions', () => {
    const said = again(fed, 'derived.flow')
    const rows = said.flatMap(({ message }) => (message?.type === 'flow' ? [message.value] : []))
    const hours = said.flatMap(({ message }) => (message?.type === 'flow_hour' ? [message.value] : []))
    expect(new Set(rows)).toEqual(new Set(fed.rows))
    expect(new Set(hours)).toEqual(new Set(fed.hours))
    const [cvd] = said.flatMap(({ message }) => (message?.type === 'cvd' ? [message.value] : []))
    expect([rows.length, hours.length]).toEqual([4, 2])
    expect([cvd]).toEqual(fed.cvds)
  })

  it('are said again after a restart too', () => {
    const before = again(fed, 'derived.flow')
    fed.restart(new Map())
    expect(new Set(again(fed, 'derived.flow'))).toEqual(new Set(before))
  })

  it('are those of the topic that lost them', () => {
    expect(again(fed, 'derived.signals')).toEqual([])
  })
})
