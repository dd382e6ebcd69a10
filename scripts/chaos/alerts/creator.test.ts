import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Random } from '../../../infra/simulator/market/random.ts'
import { AlertCreator } from './creator.ts'

it('creates no alert where none a second are asked for', async () => {
  let asked = 0
  const api = (): string => {
    asked += 1
    return 'http://127.0.0.1:1'
  }
  const options = { webhookUrl: '', random: new Random(1, 1), onCreated: () => undefined, payer: undefined }
  const creator = new AlertCreator({ ...options, api, perSecond: 0 })
  await turn()
  await creator.stop()
  expect(asked).toBe(0)
})
