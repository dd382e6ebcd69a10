import { expect, it } from 'vitest'
import { stateOf } from './promises.ts'

const counts = { all: [9_990, 10_000], '5m': [0, 0], '30m': [10, 10], '1h': [98, 100], '6h': [999, 1000], '3d': [0, 1] }

it('says how much of the allowance is left, and how fast it is used up in each window', () => {
  const { objective, left, burn } = stateOf('answered', (window) => {
    const [kept = 0, total = 0] = counts[window]
    return { kept, total }
  })
  expect(objective).toBe(0.999)
  expect(left).toBeCloseTo(0)
  expect(burn['5m']).toBeNull()
  expect(burn['30m']).toBe(0)
  expect(burn['1h']).toBeCloseTo(20)
  expect(burn['6h']).toBeCloseTo(1)
  expect(burn['3d']).toBeCloseTo(1000)
})

it('says nothing of what has not happened', () => {
  expect(stateOf('delivered', () => ({ kept: 0, total: 0 }))).toMatchObject({ left: null, burn: { '3d': null } })
})
