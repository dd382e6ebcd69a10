import avro from 'avsc'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Writer } from '../../infra/kafka/seam.ts'
import { RegistryCodec } from '../../infra/kafka/codec.ts'
import { HEADER_BYTES, schemaText } from '../../schemas/codec.ts'
import type { Backfill } from '../../schemas/records.ts'
import { NOW, startHarness, type Harness } from '../testing/harness.ts'
import { backfillRoute } from './backfill.ts'

const own = [
  { id: 1, topic: 'control.backfill', record: 'backfill' },
  { id: 2, topic: 'control.backfill', record: 'backfill_order' },
] as const
/** As a release writes that has a field more. */
const [OTHERS, more] = [3, { name: 'more', type: 'string', default: 'of another release' }]
const schema = JSON.parse(schemaText('backfill_order')) as avro.schema.RecordType
const theirs: avro.Schema = { ...schema, fields: [more, ...schema.fields] }
const theirType = avro.Type.forSchema(theirs)
const codec = new RegistryCodec(own, { schemaOf: () => Promise.resolve(JSON.stringify(theirs)) })

function byOthers(order: object): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeInt32BE(OTHERS, 1)
  return Buffer.concat([header, theirType.toBuffer({ ...order, more: 'said' })])
}

const day = (date: string): number => Date.parse(date) * 1_000
let api: Harness
let access: Parameters<typeof backfillRoute>[0]
/** Orders that stand already, a day each that touches no other. */
let stands: number
/** Another release wrote them. */
let areOthers: boolean
/** What the log has of the past. */
let covers: Pick<Backfill, 'instrument' | 'series' | 'covered_from' | 'covered_to'> | undefined
/** The log does not answer. */
let isAway: boolean
async function* standing() {
  if (isAway) await new Promise(() => undefined)
  if (covers !== undefined) {
    const value = codec.encode('control.backfill', 'backfill', { ...covers, rows: 1, time: NOW })
    yield [{ partition: 0, offset: 0, time: 0, key: Buffer.from('covered'), value }]
  }
  yield Array.from({ length: stands }, (_, index) => {
    const from = day('2017-01-01') + 2 * index * 86_400_000_000
    const order = { asset: `a${index}`, from, to: from + 86_400_000_000, archives: true, time: NOW }
    const value = areOthers ? byOthers(order) : codec.encode('control.backfill', 'backfill_order', order)
    return { partition: 0, offset: index, time: 0, key: Buffer.from(`order|a${index}|${from}`), value }
  })
}
let sent: { key: string; value: unknown }[]
beforeEach(async () => {
  sent = []
  stands = 0
  areOthers = false
  isAway = false
  covers = undefined
  const writer: Writer = {
    send: (_topic, _partition, records) => {
      for (const { key, value } of records)
        sent.push({ key: String(key), value: value === null ? null : codec.decode(value).value })
      return Promise.resolve(0)
    },
    close: () => Promise.resolve(),
  }
  access = () => Promise.resolve({ reader: { toEnd: standing }, writer, codec })
  api = await startHarness({ handlers: [backfillRoute(access)] })
})
afterEach(() => api.stop())

const post = (body: object) =>
  api.get('/backfill', { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })

it('orders the past of what the venues list, in the log', async () => {
  const { status, body } = await post({
    symbols: ['btc', 'BTCUSDT'],
    from: '2025-12-01',
    to: '2025-12-03',
    archives: true,
  })
  expect([status, body]).toMatchObject([
    202,
    { ordered: true, assets: ['btc'], from: '2025-12-01T00:00:00.000Z', to: '2025-12-03T00:00:00.000Z' },
  ])
  const value = { asset: 'btc', from: day('2025-12-01'), to: day('2025-12-03'), archives: true, time: NOW }
  expect(sent).toEqual([{ key: `order|btc|${value.from}|${value.to}`, value }])
})

it('says what an order comes to without what the log has, and orders nothing in a dry run', async () => {
  const dry = async (more: object) => (await post({ symbols: ['BTC'], days: 2, dry_run: true, ...more })).body
  const all = await dry({ archives: true })
  expect(all).toMatchObject({ ordered: false, estimate: { markets: 4, seconds: null } })
  const { candles, archives, bytes } = all['estimate'] as Record<string, number>
  expect([candles, archives].every((count) => (count ?? 0) > 0)).toBe(true)
  expect(sent).toEqual([])
  covers = { instrument: 'binance:perp:BTC', series: 'candles_1h', covered_from: 0, covered_to: NOW }
  const { estimate: rest } = await dry({})
  expect(rest).toMatchObject({ markets: 4, archives: 0 })
  expect((rest as Record<string, number>)['candles']).toBe(((candles ?? 0) * 3) / 4)
  expect((rest as Record<string, number>)['bytes']).toBeLessThan(bytes ?? 0)
  expect((rest as Record<string, number>)['seconds']).toBeGreaterThan(0)
})

it.each([
  [{}, 'invalid_body'],
  [{ symbols: ['NOPE'] }, 'symbol_not_found'],
  [{ symbols: [{ toString: 1 }] }, 'invalid_body'],
  [{ symbols: [['BTC']] }, 'invalid_body'],
  [{ symbols: ['BTC'], days: 0 }, 'invalid_body'],
  [{ symbols: ['BTC'], days: '3' }, 'invalid_body'],
  [{ symbols: ['BTC'], from: 'soon' }, 'invalid_body'],
  [{ symbols: ['BTC'], from: '2025-12-01', to: '9999-12-31' }, 'invalid_body'],
  [{ symbols: ['BTC'], archives: 'yes' }, 'invalid_body'],
  [{ symbols: ['BTC'], dry_run: 1 }, 'invalid_body'],
  [{ symbols: ['BTC'], volume: 1 }, 'invalid_body'],
])('refuses %j as %s', async (body, error) => {
  const answer = await post(body)
  expect(answer.body['error']).toBe(error)
  expect(sent).toEqual([])
})

it.each([
  ['this', false],
  ['another', true],
])('says how to mend it where there are as many orders as there can be, of %s release', async (_, others) => {
  stands = 10_000
  areOthers = others
  const { body } = await post({ symbols: ['BTC'] })
  expect(body['error']).toBe('invalid_body')
  expect(body['message']).toContain('npm run backfill -- --symbols A,B --cancel')
  expect(sent).toEqual([])
})

it('is told to come again where the log does not answer', async () => {
  isAway = true
  await api.stop()
  api = await startHarness({ handlers: [backfillRoute(access, 50)] })
  const { status, body } = await post({ symbols: ['BTC'] })
  expect([status, body['error'], sent]).toEqual([503, 'data_unavailable', []])
})
