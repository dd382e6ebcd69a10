import { expect, it } from 'vitest'
import { begunWithin } from './log-connection.ts'

const late = (): Error => new Error('too late')

it('does not begin any more what was to be done with a log that came too late', async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<string>()
  const begun: string[] = []
  const asked = (what: string, ms: number): Promise<number> => begunWithin(ms, opened, () => begun.push(what), late)
  const patient = asked('patient', 60_000)
  await expect(asked('given up', 1)).rejects.toThrow('too late')
  open('the log')
  expect(await patient).toBe(1)
  expect(begun).toEqual(['patient'])
})

it('leaves what has begun to itself, and says that it was late', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await expect(begunWithin(1, Promise.resolve('the log'), () => promise, late)).rejects.toThrow('too late')
  resolve()
})
