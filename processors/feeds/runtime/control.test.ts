import { expect, it, vi } from 'vitest'
import { hostClock } from '../../../infra/clock.ts'
import { createLog } from '../../../infra/log.ts'
import type { LogGap } from '../../../schemas/records.ts'
import { codec, testTask, type TestTask } from '../../kernel/testing/task.ts'
import { followControl } from './control.ts'
import { Wants } from './wants.ts'

const gap: LogGap = {
  reader: 'cvd',
  topic: 'market.trades',
  partition: 0,
  reason: 'cut',
  position: 5,
  next: 3,
  shift: 2,
  missing: 0,
  from_time: 1,
  to_time: 2,
  time: 3,
}

function told(over: Partial<LogGap> = {}): { key: string; value: Buffer; time: number } {
  return { key: 'cvd', value: codec.encode('control.gaps', 'log_gap', { ...gap, ...over }), time: 0 }
}

function want(asset: string): { key: string; value: Buffer; time: number } {
  const value = { asset, wanter: 'api', asked: 0, until: 100 }
  return { key: `${asset}|api`, value: codec.encode('control.subscriptions', 'subscription', value), time: 0 }
}

async function follow({ broker, ports }: TestTask) {
  const [wants, lost] = [new Wants([]), vi.fn<() => void>()]
  const log = createLog('test', { LOG_LEVEL: 'fatal' })
  const readback = { ...ports, writer: ports.log.writer() }
  const control = await followControl({ kafka: broker.connect(), readback, partitions: 1, log, wants, lost })
  return { wants, lost, close: () => control.close() }
}

it('hears from now on that the log has lost trades, whoever found it', async () => {
  const begun = testTask({}, hostClock)
  begun.broker.append('control.gaps', 0, [told()])
  const { lost, close } = await follow(begun)
  begun.broker.append('control.gaps', 0, [told({ reason: 'retention' }), told({ topic: 'market.funding' }), told()])
  await vi.waitFor(() => expect(lost).toHaveBeenCalledOnce())
  await close()
  expect(lost).toHaveBeenCalledOnce()
})

it('reads all wants again of a topic that was replaced, also by a longer one', async () => {
  const begun = testTask({}, hostClock)
  begun.broker.append('control.subscriptions', 0, [want('pepe')])
  const { wants, close } = await follow(begun)
  expect([...wants.assets(0)]).toEqual(['pepe'])
  begun.broker.replace('control.subscriptions', 0)
  begun.broker.restart()
  begun.broker.append('control.subscriptions', 0, [want('wif'), want('ton'), want('sui')])
  await vi.waitFor(() => expect([...wants.assets(0)]).toEqual(['pepe', 'wif', 'ton', 'sui']))
  await close()
})
