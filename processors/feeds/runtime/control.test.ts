import { expect, it, vi } from 'vitest'
import { hostClock } from '../../../infra/clock.ts'
import { createLog } from '../../../infra/log.ts'
import type { LogGap } from '../../../schemas/records.ts'
import { codec, testTask, type TestTask } from '../../kernel/testing/task.ts'
import { followControl, Wants } from './control.ts'
import { orderKey, PastOrders } from '../facts/past-orders.ts'

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
  const [wants, orders, lost] = [new Wants([]), new PastOrders(), vi.fn<() => void>()]
  const log = createLog('test', { LOG_LEVEL: 'fatal' })
  const readback = { ...ports, writer: ports.log.writer() }
  const control = await followControl({ kafka: broker.connect(), readback, partitions: 1, log, wants, orders, lost })
  return { wants, orders, lost, close: () => control.close() }
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

it('hears from the start which past was ordered, and passes over how far it is', async () => {
  const begun = testTask({}, hostClock)
  const order = {
    asset: 'btc',
    from: Date.UTC(2026, 0, 1) * 1_000,
    to: Date.UTC(2026, 0, 8) * 1_000,
    archives: true,
    time: 5,
  }
  const about = {
    instrument: 'okx:perp:BTC-USDT-SWAP',
    series: 'candles_1h',
    covered_from: 0,
    covered_to: 1,
    rows: 2,
    time: 3,
  }
  const orderOf = (change: object): { key: string; value: Buffer; time: number } => {
    const value = { ...order, ...change }
    return { key: orderKey(value), value: codec.encode('control.backfill', 'backfill_order', value), time: 0 }
  }
  const progress = codec.encode('control.backfill', 'backfill', about)
  begun.broker.append('control.backfill', 0, [
    orderOf({}),
    { key: 'okx:perp:BTC-USDT-SWAP|candles_1h', value: progress, time: 0 },
    orderOf({ asset: 'eth', archives: false, from: 0 }),
  ])
  const { orders, close } = await follow(begun)
  expect([...orders.assets]).toEqual(['btc', 'eth'])
  expect(orders.archivesOf('btc')).toMatchObject([{ from: order.from, to: order.to }])
  expect(orders.archivesOf('eth')).toEqual([])
  expect([orders.candlesSince('btc'), orders.candlesSince('sol')]).toEqual([order.from, undefined])
  // Nobody has anything from before 2017.
  expect(orders.candlesSince('eth')).toBe(Date.UTC(2017, 0, 1) * 1_000)
  begun.broker.append('control.backfill', 0, [orderOf({ asset: 'sol' })])
  await vi.waitFor(() => expect(orders.candlesSince('sol')).toBe(order.from))
  await close()
})
