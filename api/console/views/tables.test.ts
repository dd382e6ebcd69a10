import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isFault, readRuleTerms } from '../../../processors/alerts/kinds/rule-terms.ts'
import { apiKinds } from '../../alerts/kinds/kinds.ts'
import { flow, listAsset, NOW, startHarness, streamAsset, type Harness } from '../../testing/harness.ts'
import type { StreamsAnswer } from '../web/answers.ts'
import { rulesView, streamsView } from './tables.ts'

interface View {
  readonly kinds: readonly { readonly kind: string; readonly terms: readonly string[]; readonly schema: Schema }[]
  readonly metrics: readonly {
    readonly name: string
    readonly exchanges: readonly string[]
    readonly classes: readonly string[]
    readonly operators: readonly { readonly operator: string; readonly windows: readonly string[] }[]
  }[]
}
interface Schema {
  readonly properties: Readonly<Record<string, { readonly oneOf?: readonly object[] }>>
}

const view = JSON.parse(JSON.stringify(rulesView())) as View

describe('what the form of alerts is made of', () => {
  const conditions = view.metrics.flatMap(({ name, exchanges, classes, operators }) =>
    operators.flatMap(({ operator, windows }) => {
      const [value = 1] = operator === 'between' ? [[1, 2]] : classes
      const asked = (windows.length === 0 ? [{}] : windows.map((window) => ({ window }))) as object[]
      const venues = [{}, ...exchanges.map((exchange) => ({ exchange }))]
      return asked.flatMap((window) => venues.map((venue) => ({ metric: name, operator, value, ...window, ...venue })))
    }),
  )

  it('offers only what the API takes, of every metric', () => {
    const refused = conditions.map((when) => readRuleTerms({ when })).filter(isFault)
    expect(refused).toEqual([])
    expect(conditions.length).toBeGreaterThan(500)
  })

  it('has every kind with the fields of its creation, and every channel', () => {
    expect(view.kinds.map(({ kind }) => kind)).toEqual(apiKinds.map(({ kind }) => kind))
    for (const { terms, schema } of view.kinds)
      expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining([...terms, 'symbol', 'channel']))
    expect(view.kinds.find(({ kind }) => kind === 'rule')?.schema.properties['channel']?.oneOf).toHaveLength(8)
  })
})

describe('the streams by venue and symbol', () => {
  const SECOND = 1_000_000
  const HOUR = 3_600 * SECOND
  let api: Harness
  beforeEach(async () => {
    api = await startHarness()
  })
  afterEach(() => api.stop())

  const told = async (): Promise<StreamsAnswer> => (await streamsView(api.services)) as StreamsAnswer
  const statusOf = async (symbol: string): Promise<unknown> =>
    (await told()).streams.find((stream) => stream.symbol === symbol)?.status
  /** What `/cvd` says of them. */
  const answered = async (symbol: string): Promise<object> => {
    const { exchanges } = await api.body(`/cvd/${symbol}?period=1h`)
    const venues = Object.entries(exchanges as Readonly<Record<string, { readonly status: string }>>)
    return Object.fromEntries(venues.map(([venue, { status }]) => [venue, status]))
  }

  it('have the states that /cvd gives them', async () => {
    const { database } = api
    database.instruments = database.instruments.filter(({ venue }) => venue !== 'okx')
    database.subscriptions = database.subscriptions.filter(({ venue }) => venue !== 'okx')
    const gap = { from: NOW - 60 * SECOND, to: NOW - 50 * SECOND, missing: 3 }
    database.gaps.push({ ...gap, asset: 'btc', venue: 'binance', state: 'unfillable' })
    database.reports = database.reports.map((row) => (row.venue === 'bybit' ? { ...row, state: 'down' } : row))
    const states = { binance: 'gap', bybit: 'stale', okx: 'unlisted', coinbase: 'live' }
    expect([await statusOf('BTC'), await answered('BTC')]).toEqual([states, states])
    expect((await told()).venues).toEqual(Object.keys(states))
  })

  it('are told of every symbol that is streamed, and of none that is yet to be relied upon', async () => {
    listAsset(api.database, 'wif')
    streamAsset(api.database, 'wif', NOW)
    expect([await statusOf('WIF'), await statusOf('ETH')]).toEqual(['warming_up', undefined])
    api.advance(10_000)
    api.database.flows.push(flow({ asset: 'wif', bucket: NOW - HOUR }))
    expect(await statusOf('WIF')).toEqual(await answered('WIF'))
    api.database.subscriptions = []
    api.database.flows = []
    expect(await statusOf('BTC')).toBeNull()
    expect(api.wanted).toEqual(['wif'])
  })
})
