import { expect, it } from 'vitest'
import { hostClock } from '../../infra/clock.ts'
import { codec } from '../kernel/testing/task.ts'
import { Decoder } from '../kernel/decoder.ts'
import { MemoryBroker } from '../kernel/testing/memory-log.ts'
import { Loader } from './loader.ts'
import { append, triggerTo } from './testing/world.ts'

it('reads a trigger although the record behind it cannot be read', async () => {
  const broker = new MemoryBroker(hostClock)
  const trigger = triggerTo('https://localhost/hook')
  const offset = append(broker, trigger)
  broker.append('alerts.triggers', 0, [{ key: 'x', value: Buffer.from('no record'), time: 1 }])
  const decoder = new Decoder(codec, () => Promise.resolve(false))
  const loader = new Loader({ reader: broker.connect().reader(), decoder, clock: hostClock })
  expect((await loader.load(0, offset, trigger.trigger_id))?.trigger_id).toBe(trigger.trigger_id)
  await loader.close()
})
