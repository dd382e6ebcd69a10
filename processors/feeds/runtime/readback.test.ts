import { describe, expect, it, vi } from 'vitest'
import { hostClock } from '../../../infra/clock.ts'
import { createLog } from '../../../infra/log.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import { listed } from '../../../schemas/testing/instrument.ts'
import { codec, testTask, type TestTask, lettersIn, marks } from '../../kernel/testing/task.ts'
import { followControl, Wants } from './control.ts'
import { InstrumentTable } from './instrument-table.ts'
import type { ReadbackPorts } from './readback.ts'
import { logEnd, readCoverage } from './resume.ts'
import { PastOrders } from '../facts/past-orders.ts'

const nonsense = { key: 'x', value: Buffer.from('nonsense'), time: 7 }

function portsOf({ ports }: TestTask): ReadbackPorts {
  return { ...ports, writer: ports.log.writer() }
}

function subscription(asset: string): { key: string; value: Buffer; time: number } {
  const value = { asset, wanter: 'api', asked: 0, until: 100 }
  return { key: `${asset}|api`, value: codec.encode('control.subscriptions', 'subscription', value), time: 0 }
}

function instrument(symbol: string): { key: string; value: Buffer; time: number } {
  const value = listed(`okx:perp:${symbol}`, { asset: symbol.toLowerCase() })
  return { key: value.instrument, value: codec.encode('market.instruments', 'instrument', value), time: 0 }
}

function setAside({ broker }: TestTask, topic: TopicName, offset: number): void {
  expect(lettersIn(broker)).toMatchObject([
    { processor: 'feeds', topic, partition: 0, offset, reason: 'undecodable', code: 'not-wire-format' },
  ])
}

describe('a record that cannot be decoded', () => {
  it('is set aside among the wants: those behind it are heard, and it is not read again', async () => {
    const begun = testTask({}, hostClock)
    begun.broker.append('control.subscriptions', 0, [subscription('pepe'), nonsense, subscription('wif')])
    const wants = new Wants([])
    const lost = vi.fn<() => void>()
    const log = createLog('test', { LOG_LEVEL: 'fatal' })
    const kafka = begun.broker.connect()
    const orders = new PastOrders()
    const control = await followControl({ kafka, readback: portsOf(begun), partitions: 1, log, wants, orders, lost })
    begun.broker.append('control.subscriptions', 0, [subscription('ton')])
    await vi.waitFor(() => expect([...wants.assets(0)]).toEqual(['pepe', 'wif', 'ton']))
    await control.close()
    setAside(begun, 'control.subscriptions', 1)
    expect(lost).not.toHaveBeenCalled()
  })

  it('is set aside among the instruments: the table has the others', async () => {
    const begun = testTask()
    begun.broker.append('market.instruments', 0, [instrument('BTC'), nonsense, instrument('ETH')])
    const table = await InstrumentTable.read(begun.ports.reader, portsOf(begun))
    expect([...table.of('okx', 'perp').keys()]).toEqual(['btc', 'eth'])
    setAside(begun, 'market.instruments', 1)
  })

  it('is set aside in the last hour of trades: what lies behind it is read', async () => {
    const begun = testTask()
    begun.broker.append('market.trades', 0, [...marks(1_000), nonsense, ...marks(2_000)])
    const { reader } = begun.ports
    const end = await logEnd(reader, 1)
    const coverage = await readCoverage(reader, portsOf(begun), end, 60_000)
    expect([...coverage.instruments]).toEqual([])
    setAside(begun, 'market.trades', 1)
  })

  it('stays in the way while its letter cannot be written', async () => {
    const begun = testTask()
    begun.broker.append('market.instruments', 0, [nonsense])
    const { ports } = begun
    const writer = { send: () => Promise.reject(new Error('away')), close: () => Promise.resolve() }
    await expect(InstrumentTable.read(ports.reader, { ...ports, writer })).rejects.toThrow('away')
  })
})
