import { expect, it } from 'vitest'
import { FORGET_MAX, Known } from './limits.ts'

it('names that are known are forgotten when there are too many, those first that were told longest ago', () => {
  const known = new Known({ max: 2, kept: 10 })
  for (const [time, name] of ['a', 'b', 'a', 'c'].entries()) known.set(name, time)
  expect([known.forget(3), known.forget(12), known.forget(13)]).toEqual([['b'], [], ['a']])
})

it('so many names are forgotten at once', () => {
  const known = new Known({ max: 0, kept: 10 })
  for (let n = 0; n <= FORGET_MAX; n++) known.set(String(n), 0)
  expect([known.forget(0).length, known.forget(0).length]).toEqual([FORGET_MAX, 1])
})
