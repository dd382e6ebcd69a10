import { expect, it } from 'vitest'
import { SingleFlight } from './single-flight.ts'

it('takes one payment for a key at a time, and another once that has ended, however it did', async () => {
  const flights = new SingleFlight()
  const first = Promise.withResolvers<string>()
  const paid = flights.alone('key', () => first.promise)
  const taken: string[] = []
  const take = (name: string): Promise<void> => flights.alone(name, async () => void taken.push(name))
  await expect(take('key')).rejects.toMatchObject({ code: 'data_unavailable' })
  await take('other')
  first.reject(new Error('no funds'))
  await expect(paid).rejects.toThrow('no funds')
  await take('key')
  expect([taken, flights.size]).toEqual([['other', 'key'], 0])
})
