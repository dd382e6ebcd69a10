import { pino } from 'pino'
import { expect, it } from 'vitest'
import { SchemaError } from '../../infra/kafka/codec.ts'
import { UndecodableError } from '../../schemas/codec.ts'
import { Unread } from './unread.ts'

const log = pino({ level: 'silent' })
const record = { offset: 7, time: 0, key: null, value: Buffer.from('no record') }

it('passes over what cannot be read, and tells how many and which', async () => {
  const unread = new Unread()
  const take = unread.passing('alerts.state', log, () => {
    throw new UndecodableError('bad-body', 1)
  })
  expect(unread.report).toEqual({ count: 0, newest: null })
  await take(record, 3)
  await take({ ...record, offset: 8 }, 3)
  expect(unread.report).toEqual({ count: 2, newest: { topic: 'alerts.state', partition: 3, offset: 8 } })
})

it('passes over nothing while the registry does not answer', async () => {
  const unread = new Unread()
  const take = unread.passing('alerts.state', log, () => Promise.reject(new SchemaError('unavailable', 'away')))
  await expect(take(record, 3)).rejects.toThrow('away')
  expect(unread.report.count).toBe(0)
})
