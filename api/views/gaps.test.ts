import { expect, it, vi } from 'vitest'
import { emptyPresent, put } from '../../processors/present/state.ts'
import { emptyFields } from '../../schemas/codec.ts'
import { Present } from '../present/present.ts'
import { gapsOf } from './gaps.ts'

it('gaps of an asset are read without a look at those of others', () => {
  const state = emptyPresent()
  const gap = { ...emptyFields('gap'), instrument: 'okx:perp:BTC', state: 'filled', from_time: 5, to_time: 9 } as const
  for (const [n, asset] of ['btc', 'eth', 'btc'].entries())
    put(state, 'gap', String(n), {
      ...gap,
      asset,
      gap_id: n,
      reason: 'missing_ids',
      feed: 'feeds',
      from_time: n,
      time: 9,
    })
  const walk = (): never => {
    throw new Error('all gaps are looked through')
  }
  for (const name of ['values', 'entries', 'forEach', Symbol.iterator] as const)
    vi.spyOn(state.gap, name).mockImplementation(walk)
  const present = new Present(() => [state], emptyPresent())
  expect(gapsOf(present, 'btc', { from: 0, to: 10 }).map(({ from }) => from)).toEqual([2, 0])
  expect(gapsOf(present, 'btc', { from: 0, to: 1 }).map(({ from }) => from)).toEqual([0])
  expect(gapsOf(present, 'sol', { from: 0, to: 10 })).toEqual([])
})
