import { expect, it } from 'vitest'
import { startHarness } from '../../testing/harness.ts'
import { Latencies } from '../stream/latencies.ts'
import { histogramPercentiles, samplesOf, systemView } from './system.ts'

const text = `# HELP h_seconds h
# TYPE h_seconds histogram
h_seconds_bucket{service="a",venue="okx",le="0.1"} 50
h_seconds_bucket{service="a",venue="okx",le="0.5"} 98
h_seconds_bucket{service="a",venue="okx",le="+Inf"} 100
h_seconds_bucket{service="b",venue="okx",le="0.1"} 0
h_seconds_bucket{service="b",venue="okx",le="0.5"} 0
h_seconds_bucket{service="b",venue="okx",le="+Inf"} 0
h_seconds_count{service="a",venue="okx"} 100
other{what="a \\"quoted\\" word"} 3
`

it('reads samples with their labels', () => {
  expect(samplesOf(text, 'other')).toEqual([{ name: 'other', labels: { what: 'a \\"quoted\\" word' }, value: 3 }])
  expect(samplesOf('no sample at all\n', '')).toEqual([])
})

it('gives upper bounds of a histogram over all services, and none beyond its last bucket', () => {
  const okx = histogramPercentiles(samplesOf(text, 'h_'), 'h_seconds', 'venue').get('okx')
  expect(okx).toEqual({ count: 100, p50: 100, p95: 500, p99: null, max: null })
})

it('sums all payments ever once a minute, and asks how promises are kept no more often than a scrape', async () => {
  const api = await startHarness()
  const { services, database } = api
  const query = database.query.bind(database)
  const asked: string[] = []
  database.query = async (sql, params) => {
    const [, table = ''] = /FROM (payments|revenue|promise_minutes)\s/.exec(sql) ?? []
    if (table === '') return query(sql, params)
    asked.push(table)
    return []
  }
  for (const ms of [10_000, 10_000, 0]) {
    await systemView({ services, peers: [], latencies: new Latencies(), payments: 'off' })
    api.advance(ms)
  }
  expect(asked.toSorted()).toEqual(['payments', 'promise_minutes', 'revenue'])
  api.advance(60_000)
  await systemView({ services, peers: [], latencies: new Latencies(), payments: 'off' })
  expect(asked).toHaveLength(6)
  await api.stop()
})
