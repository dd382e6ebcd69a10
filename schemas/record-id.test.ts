import fc from 'fast-check'
import { expect, it } from 'vitest'
import { recordId, recordPosition } from './record-id.ts'

it('names a place in the log and finds it again', () => {
  fc.assert(
    fc.property(fc.nat(999), fc.nat(), (partition, offset) => {
      const place = { topic: 'alerts.inputs', partition, offset } as const
      expect(recordPosition(recordId(place))).toEqual(place)
    }),
  )
})

it.each([
  [''],
  ['rec_'],
  ['rec_%%%'],
  [`rec_${Buffer.from('no.topic/1/2').toString('base64url')}`],
  [`rec_${Buffer.from('alerts.inputs/1/-2').toString('base64url')}`],
  [`rec_${Buffer.from('alerts.inputs/01/2').toString('base64url')}`],
  [Buffer.from('alerts.inputs/1/2').toString('base64url')],
])('takes %j for no id', (id) => {
  expect(recordPosition(id)).toBeUndefined()
})
