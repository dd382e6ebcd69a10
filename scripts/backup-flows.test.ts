import { expect, it } from 'vitest'
import { creditRow } from '../processors/credit/credit.ts'
import { topology } from '../processors/topology.ts'
import { topics, type TopicName } from '../schemas/topics.ts'
import { backupOrder } from './backup-flows.ts'

const order = backupOrder()
const isBefore = (a: TopicName, b: TopicName): boolean => order.indexOf(a) < order.indexOf(b)

it('takes the end of every topic once', () => {
  expect(order.toSorted()).toEqual(topics.map(({ name }) => name).toSorted())
})

it('takes no input before what follows from it, and no output before the state that it was written with', () => {
  for (const { inputs, outputs, state } of [...topology, creditRow]) {
    for (const output of outputs) {
      expect([state, output, isBefore(state, output)]).toEqual([state, output, true])
      for (const input of inputs) expect([output, input, isBefore(output, input)]).toEqual([output, input, true])
    }
    for (const input of inputs) expect([state, input, isBefore(state, input)]).toEqual([state, input, true])
  }
})

it('takes payments behind what was bought by them', () => {
  for (const bought of [
    'alerts.inputs',
    'alerts.state',
    'control.backfill',
    'payments.answers',
    'payments.credit',
  ] as const)
    expect(isBefore(bought, 'payments.events')).toBe(true)
  expect(isBefore('payments.events', 'payments.intents')).toBe(true)
})
