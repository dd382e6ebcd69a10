import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { MetricInput } from '../../processors/alerts/metrics.ts'
import { MemoryBroker, stillClock } from '../../processors/kernel/testing/memory-log.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import { emptyFields, localCodec } from '../../schemas/codec.ts'
import type { Message } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { readAlerts } from './alerts-file.ts'
import { backtest } from './backtest.ts'
import { readOptions } from './options.ts'
import { memoryTape } from './testing/tape.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'alerts-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const HOUR = 3_600_000

const everything = ['composite_price', 'liquidation_risk', 'cvd', 'funding', 'liquidated'] as const

function put(content: string): string {
  const file = path.join(folder, 'alerts.json')
  writeFileSync(file, content)
  return file
}

function read(content: string, told: readonly MetricInput[] = everything) {
  return readAlerts(put(content), { from: 0, to: 48 * HOUR, partitions: 12, told: new Set(told) })
}

describe('a file of alerts', () => {
  it('has bodies as the API takes them, webhook or not, and each lives to the end of the range', () => {
    const [price, risk] = read(
      JSON.stringify([
        { symbol: 'ETH', condition: 'above', target_price: 3_000 },
        { symbol: 'BTC', kind: 'liquidation', threshold_pct: 4, expires_in_hours: 2 },
      ]),
    )
    expect(price).toMatchObject({
      partition: partitionOf('eth', 12),
      message: { value: { action: 'create', asset: 'eth', alert: { target_price: 3_000, expires_in_hours: 48 } } },
    })
    expect(risk?.message.value.alert).toMatchObject({
      kind: 'liquidation',
      condition: 'cascade_risk',
      threshold_pct: 4,
      expires_in_hours: 2,
      webhook: '',
    })
  })

  it('has a rule for several symbols in the parts that decide about it', () => {
    const when = { metric: 'price', operator: 'above', value: 1 }
    const commands = read(
      JSON.stringify([
        { symbols: ['BTC', 'ETH'], when },
        { symbols: 'all', when },
      ]),
    )
    const parts = commands.map(({ partition, message: { value } }) => [partition, value.asset, value.alert_id])
    expect(parts).toEqual([
      [partitionOf('btc', 12), 'btc', 'alert_list_1.1.btc'],
      [partitionOf('eth', 12), 'eth', 'alert_list_1.2.eth'],
      ...Array.from({ length: 12 }, (_, at) => [at, `*${at}`, `alert_all_2.a${at}`]),
    ])
    expect(new Set(commands.map(({ message: { value } }) => value.request_id)).size).toBe(14)
  })

  it('refuses what nothing tells the figures of, by its name', () => {
    const rule = { symbol: 'BTC', when: { metric: 'funding_rate_pct', operator: 'above', value: 1 } }
    expect(() => read(JSON.stringify([rule]), ['composite_price', 'cvd'])).toThrow(
      /alert 1: nothing that is read here tells funding_rate_pct/,
    )
    const price = { symbol: 'BTC', condition: 'above', target_price: 1 }
    expect(() => read(JSON.stringify([price]), ['cvd'])).toThrow(/alert 1: nothing that is read here tells price/)
  })

  it.each([
    ['{}', /must hold a list of 1 to/],
    ['[', /is no JSON/],
    ['[1]', /alert 1: an alert is an object/],
    ['[{"symbol":"BTC","condition":"near","target_price":1}]', /alert 1: condition must be one of above/],
    ['[{"symbol":"BTC","condition":"above"}]', /alert 1: target_price must be a number/],
  ])('that cannot be followed is refused: %s', (content, message) => {
    expect(() => read(content)).toThrow(message)
  })

  it('that is not there is refused by its name', () => {
    const nowhere = { from: 0, to: 1, partitions: 12, told: new Set(everything) }
    expect(() => readAlerts('nowhere.json', nowhere)).toThrow(/nowhere\.json cannot be read/)
  })
})

describe('alerts of a file, replayed over 40 days', () => {
  const DAY = 24 * HOUR
  const BEGIN = 1_722_470_400_000

  /** A price of bitcoin and a liquidation as large each 6 hours, 100 up to `day` and 200 from then on. */
  async function rungAt(day: number, alert: object): Promise<readonly number[]> {
    const broker = new MemoryBroker(stillClock)
    const codec = localCodec()
    const enter = (ms: number, message: Message, topic: TopicName = 'market.tickers'): void => {
      const value = codec.encode(topic, message.type, message.value)
      broker.append(topic, partitionOf('btc', 2), [{ key: null, value, time: ms }])
    }
    for (let ms = BEGIN; ms < BEGIN + 40 * DAY; ms += 6 * HOUR) {
      const price = ms < BEGIN + day * DAY ? 100 : 200
      const market = { instrument: 'binance:spot:BTCUSDT', asset: 'btc', quote: 'USDT', quote_usd: 1 }
      const times = { time: ms * 1000, received: ms * 1000 }
      const figures = { bid: null, ask: null, last: price, price, low: price, high: price, change_24h: null }
      const ticker = { ...emptyFields('spot_ticker'), ...market, ...figures, ...times }
      enter(ms, { type: 'spot_ticker', value: ticker })
      const mark = { ...emptyFields('mark'), writer: 'feeds', run: 1, time: (ms + 1_000) * 1000 }
      enter(ms + 1_000, { type: 'mark', value: mark })
      const closed = { ...emptyFields('liquidation'), instrument: 'binance:perp:BTCUSDT', asset: 'btc', id: `${ms}` }
      const amounts = {
        side: 'long',
        size: 1,
        price,
        price_kind: 'bankruptcy',
        value: price,
        completeness: 'all',
      } as const
      enter(ms, { type: 'liquidation', value: { ...closed, ...amounts, ...times } }, 'market.liquidations')
      enter(ms + 1_000, { type: 'mark', value: mark }, 'market.liquidations')
    }
    const options = readOptions(['--source', 'memory', '--horizons', '10s', '--alerts', put(JSON.stringify([alert]))])
    if (options === undefined) throw new Error('it is no call for help')
    const around = { onProgress: () => undefined, warn: () => undefined, stop: new AbortController().signal }
    const { study } = await backtest(memoryTape(broker, codec, 2), options, around)
    return study.triggers.map(({ time }) => (time / 1000 - BEGIN) / DAY)
  }

  const rule = { when: { metric: 'price', operator: 'above', value: 150 }, repeat: false }

  it.each([
    ['a price', { symbol: 'BTC', condition: 'crosses_above', target_price: 150 }],
    ['a rule', { symbol: 'BTC', ...rule }],
    ['a rule for a list', { symbols: ['ETH', 'BTC'], ...rule }],
    ['a rule for all', { symbols: 'all', ...rule }],
  ])('ring on its day, up to the end of the range: %s', async (_what, alert) => {
    expect(await rungAt(2, alert)).toEqual([2])
    expect(await rungAt(35, alert)).toEqual([35])
  })

  it('ring by liquidations', async () => {
    const when = { metric: 'liquidated_usd', window: '1h', operator: 'above', value: 150 }
    expect(await rungAt(2, { symbol: 'BTC', when, repeat: false })).toHaveLength(1)
  })

  it('end where they say so', async () => {
    const alert = { symbol: 'BTC', condition: 'crosses_above', target_price: 150, expires_in_hours: 168 }
    expect(await rungAt(2, alert)).toEqual([2])
    expect(await rungAt(8, alert)).toEqual([])
  })
})
