import { afterEach, expect, it } from 'vitest'
import { partitionOf } from '../../../schemas/catalogue.ts'
import { flow, listAsset, NOW, startHarness, streamAsset, type Harness } from '../../testing/harness.ts'
import { cvdTold } from './cvd.ts'

const SECOND = 1_000_000
const HOUR = 3_600 * SECOND

let api: Harness
afterEach(() => api.stop())

function told(asset: string): ReturnType<typeof cvdTold>[string] | undefined {
  return cvdTold(api.services, partitionOf(asset, api.services.partitions))[asset]
}

/** What `/cvd` says of a symbol, in the words of a page. */
async function answered(symbol: string): Promise<unknown> {
  const figures: Record<string, unknown> = {}
  let age = 0
  for (const period of ['1h', '4h', '24h', '7d']) {
    const body = await api.body(`/cvd/${symbol}?period=${period}`)
    figures[period] = { usd: body['period_cvd_usd'], share: (body['coverage'] as { share: number }).share }
    age = body['age_ms'] as number
  }
  const time = api.services.now() - age
  return { time, fresh_until: time + 30_000, periods: figures }
}

/** Trades of two days at two venues, with a hole; a past of more. */
async function start(mode: 'live' | 'tape'): Promise<void> {
  api = await startHarness({ mode })
  const { database } = api
  for (let hour = 1; hour < 48; hour += 1)
    for (const venue of ['binance', 'okx'])
      database.flows.push(flow({ venue, bucket: NOW - (NOW % HOUR) - hour * HOUR, buy: hour, sell: 2, price: 99.7 }))
  database.flows.push(flow({ buy: 5, price: 101.3 }), flow({ venue: 'okx', buy: 0.25, sell: 0.75, price: 101.7 }))
  const hole = { state: 'unfillable', from: NOW - 200 * SECOND, to: NOW - 100 * SECOND, missing: 3 }
  database.gaps.push({ ...hole, asset: 'btc', venue: 'okx' })
  const candle = { asset: 'btc', venue: 'bybit', seconds: 3_600, open: 90, close: 91, volume: 10, takerBuy: 7 }
  for (let hour = 30; hour < 60; hour += 1) database.pasts.push({ ...candle, start: NOW - (NOW % HOUR) - hour * HOUR })
}

it.each(['live', 'tape'] as const)('a page is told what /cvd says of the same moment, %s', async (mode) => {
  await start(mode)
  expect(told('btc')).toEqual(await answered('BTC'))
  const { periods: { '1h': hour, '7d': week } = {} } = told('btc') ?? {}
  expect([hour?.usd, hour?.share, week?.usd, week?.share]).not.toContain(0)
  expect([hour?.share, week?.share].every((share) => share !== undefined && share < 1)).toBe(true)
})

it('a page is told since when nothing comes', async () => {
  await start('live')
  api.hang(31_000)
  expect(told('btc')).toEqual(await answered('BTC'))
  expect(told('btc')?.fresh_until).toBeLessThan(api.services.now())
})

it('a page is told of every symbol that is streamed, of none that nothing is said of, and keeps none wanted', async () => {
  await start('live')
  for (const asset of ['wif', 'doge']) listAsset(api.database, asset)
  streamAsset(api.database, 'wif', NOW - HOUR)
  api.database.flows.push(flow({ asset: 'wif', bucket: NOW - HOUR }), flow({ asset: 'doge', bucket: NOW - HOUR }))
  const all = Array.from({ length: api.services.partitions }, (_, partition) => cvdTold(api.services, partition))
  expect(all.flatMap(Object.keys).toSorted()).toEqual(['btc', 'wif'])
  expect(api.wanted).toEqual([])
  api.database.flows = []
  api.database.pasts = []
  api.database.subscriptions = []
  expect(told('btc')).toBeUndefined()
})
