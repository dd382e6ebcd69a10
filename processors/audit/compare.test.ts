import { expect, it } from 'vitest'
import { compareWithCandle, TOLERANCE } from './compare.ts'

const ours = { buy: 6, sell: 4, trades: 7 }
const theirs = { volume: 10, taker_buy: 6, trades: 9 }

it('finds equal what is the same, however many fills the venue counts', () => {
  expect(compareWithCandle(ours, theirs)).toEqual({
    ours_volume: 10,
    theirs_volume: 10,
    volume_difference: 0,
    ours_delta: 2,
    theirs_delta: 2,
    delta_difference: 0,
    ours_trades: 7,
    theirs_trades: 9,
    state: 'equal',
  })
})

it('tells differences as fractions of the venue’s volume, ours minus theirs', () => {
  expect(compareWithCandle({ ...ours, buy: 7 }, theirs)).toMatchObject({
    volume_difference: 0.1,
    delta_difference: 0.1,
    state: 'different',
  })
  expect(compareWithCandle(ours, { ...theirs, volume: 20, taker_buy: 10 })).toMatchObject({
    volume_difference: -0.5,
    delta_difference: 0.1,
  })
})

it('sees a taker side that is swapped though the volume is right', () => {
  const swapped = compareWithCandle({ buy: 4, sell: 6, trades: 7 }, theirs)
  expect(swapped).toMatchObject({ volume_difference: 0, delta_difference: -0.4, state: 'different' })
})

it('compares no delta where the venue does not publish the takers', () => {
  expect(compareWithCandle(ours, { ...theirs, taker_buy: null })).toMatchObject({
    theirs_delta: null,
    delta_difference: null,
    state: 'equal',
  })
})

it.each([
  [TOLERANCE * 0.99, 'equal'],
  [TOLERANCE * 1.01, 'different'],
  [-TOLERANCE * 0.99, 'equal'],
  [-TOLERANCE * 1.01, 'different'],
])('takes a volume that is off by a fraction of %s for %s', (fraction, state) => {
  const off = compareWithCandle({ buy: 1 + fraction, sell: 0, trades: 1 }, { volume: 1, taker_buy: null, trades: null })
  expect(off.state).toBe(state)
})

it('needs no volume of theirs', () => {
  const none = { volume: 0, taker_buy: 0, trades: 0 }
  expect(compareWithCandle({ buy: 0, sell: 0, trades: 0 }, none)).toMatchObject({
    volume_difference: 0,
    delta_difference: 0,
    state: 'equal',
  })
  expect(compareWithCandle({ buy: 1, sell: 2, trades: 2 }, none)).toMatchObject({
    volume_difference: 1,
    delta_difference: -1,
    state: 'different',
  })
})
