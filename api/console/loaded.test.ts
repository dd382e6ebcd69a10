import { expect, it } from 'vitest'
import { Loaded } from './web/chart-series.ts'

const row = (hour: number, close = hour): { time: string; close: number } => ({
  time: `2026-01-01T0${hour}:00:00.000Z`,
  close,
})

it('puts pages together, oldest first, the newest word on each row', () => {
  const loaded = new Loaded<{ time: string; close: number }>()
  expect(loaded.next).toBeUndefined()
  loaded.takeNewest([row(4), row(5)], 'four')
  loaded.takeOlder([row(2), row(3)], 'two')
  loaded.takeNewest([row(5, 9), row(6)], 'five')
  expect(loaded.next).toBe('two')
  expect(loaded.rows).toEqual([row(2), row(3), row(4), row(5, 9), row(6)])
  loaded.takeOlder([row(1)], null)
  expect(loaded.next).toBeNull()
})
