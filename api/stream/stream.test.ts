import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { partitionOf } from '../../schemas/catalogue.ts'
import type { Message } from '../../schemas/records.ts'
import { routes } from '../routes.ts'
import { eventSchemas } from '../routes/stream.ts'
import { ajv, closed } from '../testing/closed.ts'
import { listenTo, type Events } from '../testing/events.ts'
import { fakePayments, FakeLedger, signPayment, type FakePayments } from '../testing/fake-payments.ts'
import { listAsset, NOW, startHarness, type Harness } from '../testing/harness.ts'

const STREAM = '/stream?symbols=btc'
const PRICE = String((routes.find(({ name }) => name === 'stream')?.priceUsdc ?? 0) * 1e6)
const SECONDS = NOW / 1e6

let api: Harness
let offset: number
const open: Events[] = []
beforeEach(async () => {
  api = await startHarness()
  offset = 100
})
afterEach(async () => {
  for (const events of open.splice(0)) events.close()
  await api.stop()
})

async function listen(target = STREAM, headers: Record<string, string> = {}): Promise<Events> {
  const events = await listenTo(api.url + target, headers)
  open.push(events)
  return events
}

/** All that it lacked has been told. */
async function ready(target = STREAM, headers: Record<string, string> = {}): Promise<Events> {
  const events = await listen(target, headers)
  await vi.waitFor(() => expect(events.names).toContain('ready'))
  return events
}

/** A record is folded into the present. */
function say(topic: string, message: Message, asset = 'btc'): void {
  offset += 1
  api.channels.hear({ topic, partition: partitionOf(asset, 12), offset }, message)
}

function pricesChange(price = 100): void {
  const [known] = api.database.market.prices
  if (known === undefined) throw new Error('the harness has prices')
  api.database.market.prices = [{ ...known, price }]
  say('alerts.inputs', { type: 'composite_price', value: { ...known, price } })
}

function liquidated(id: string): void {
  const [known] = api.database.market.liquidations
  if (known === undefined) throw new Error('the harness has liquidations')
  const { partition: _p, offset: _o, ...value } = { ...known, id, asset: 'btc' }
  say('market.liquidations', { type: 'liquidation', value })
}

const signal = {
  asset: 'btc',
  kind: 'cvd',
  period: '1h',
  from: 'neutral',
  to: 'bullish_pressure',
  value: 0.1,
  evidence: { buy: 11, sell: 9 },
  time: NOW,
  v: 1,
  exchange: null,
}

describe('a stream', () => {
  it('begins with what each channel’s route answers, and goes on with what changes', async () => {
    const events = await ready()
    expect(events.response.headers['content-type']).toBe('text/event-stream')
    expect(events.response.headers['cache-control']).toBe('no-store')
    expect(events.names).toEqual(['cvd', 'price', 'funding', 'ready'])
    const answers = ['/cvd/BTC', '/price/BTC', '/funding-rate/BTC'].map(async (path) => (await api.get(path)).body)
    expect(events.heard.slice(0, 3).map(({ data }) => data)).toEqual(await Promise.all(answers))
    pricesChange(123)
    await vi.waitFor(() => expect(events.heard.at(-1)).toMatchObject({ name: 'price', data: { price: 123 } }))
    liquidated('one')
    liquidated('two')
    say('derived.signals', { type: 'signal', value: signal })
    await vi.waitFor(() => expect(events.names.slice(5)).toEqual(['liquidations', 'liquidations', 'signals']))
    expect(events.heard.at(-1)?.data).toMatchObject({ symbol: 'BTC', to: 'bullish_pressure', exchange: null })
  })

  it('says in every event what the document says of it', async () => {
    const before = await ready()
    liquidated('one')
    say('derived.signals', { type: 'signal', value: signal })
    await vi.waitFor(() => expect(before.names).toContain('signals'))
    const after = await ready(`${STREAM}&seconds=1`, { 'last-event-id': 'lost' })
    await vi.waitFor(() => expect(after.isOver).toBe(true), { timeout: 5_000 })
    const all = [...before.heard, ...after.heard]
    expect(new Set(all.map(({ name }) => name))).toEqual(new Set(Object.keys(eventSchemas)))
    for (const { name, data } of all) {
      const schema = eventSchemas[name as keyof typeof eventSchemas]
      const validate = ajv.compile(closed(schema) as object)
      validate(data)
      expect([name, validate.errors ?? []]).toEqual([name, []])
    }
  })

  it('tells of the channels and symbols that were asked for alone', async () => {
    const events = await ready('/stream?symbols=BTCUSDT&channels=price')
    liquidated('one')
    say('derived.funding', { type: 'funding', value: { asset: 'eth', exchanges: [], time: NOW, v: 9 } }, 'eth')
    pricesChange(7)
    await vi.waitFor(() => expect(events.names).toEqual(['price', 'ready', 'price']))
  })

  it('goes on where a reader was cut off, losing nothing and saying nothing twice', async () => {
    const before = await ready('/stream?symbols=btc&channels=liquidations,price')
    liquidated('one')
    await vi.waitFor(() => expect(before.names).toContain('liquidations'))
    before.close()
    liquidated('two')
    pricesChange(5)
    const after = await ready('/stream?symbols=btc&channels=liquidations,price', { 'last-event-id': before.last })
    expect(after.names).toEqual(['price', 'liquidations', 'ready'])
    expect(after.heard.at(-1)?.data).toEqual({ resumed: true })
    expect(after.heard[1]?.data).not.toEqual(before.heard.at(-1)?.data)
  })

  it('is over after the time that was asked for', async () => {
    const events = await ready(`${STREAM}&seconds=1`)
    await vi.waitFor(() => expect(events.isOver).toBe(true), { timeout: 5_000 })
    expect(events.heard.at(-1)).toMatchObject({ name: 'end', data: { reason: 'time_over' } })
  })

  it.each([
    ['/stream', 400, 'invalid_symbols'],
    ['/stream?symbols=,', 400, 'invalid_symbols'],
    [`/stream?symbols=${Array.from({ length: 21 }, (_, n) => `a${n}`).join(',')}`, 400, 'invalid_symbols'],
    ['/stream?symbols=btc&channels=price,secrets', 400, 'invalid_channels'],
    ['/stream?symbols=btc&seconds=3601', 400, 'invalid_seconds'],
    ['/stream?symbols=btc,nope', 404, 'symbol_not_found'],
  ])('%s is refused: %i %s', async (target, status, error) => {
    expect(await api.get(target)).toMatchObject({ status, body: { error } })
  })

  it('waits for a symbol that warms up, but where only what runs for all is asked for', async () => {
    listAsset(api.database, 'wif')
    expect(await api.get('/stream?symbols=wif')).toMatchObject({ status: 202, body: { status: 'warming_up' } })
    expect(await api.get('/stream?symbols=wif&channels=price')).toMatchObject({ status: 503 })
    expect((await ready('/stream?symbols=wif&channels=liquidations')).names).toEqual(['ready'])
  })

  it('is bounded per caller', async () => {
    for (let n = 0; n < 10; n += 1) await ready()
    expect(await api.get(STREAM)).toMatchObject({ status: 429, body: { error: 'rate_limited' } })
    open.pop()?.close()
    await vi.waitFor(async () => expect((await ready()).names).toContain('ready'))
  })

  it('by HEAD is its headers alone', async () => {
    const { status, headers } = await api.get(STREAM, { method: 'HEAD' })
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  })
})

describe('a stream that is paid for', () => {
  let payments: FakePayments
  let ledger: FakeLedger
  let headers: Record<string, string>
  beforeEach(async () => {
    await api.stop()
    ledger = new FakeLedger()
    payments = await fakePayments(ledger)
    api = await startHarness({ payments })
    headers = await signed()
  })
  afterEach(() => payments.stop())

  async function signed(): Promise<Record<string, string>> {
    const { v2 } = await signPayment({ amount: PRICE, now: SECONDS })
    return { 'payment-signature': v2, 'idempotency-key': randomUUID() }
  }

  it('is asked for its price, which is taken before it begins', async () => {
    expect(await api.get(STREAM)).toMatchObject({ status: 402 })
    expect(await api.get('/stream?symbols=nope', { headers })).toMatchObject({ status: 404 })
    expect(ledger.charged).toEqual([])
    const events = await ready(STREAM, headers)
    expect(events.response.headers['payment-response']).toBeTypeOf('string')
    expect(events.response.headers['cache-control']).toBe('private, no-store')
    expect(ledger.charged).toHaveLength(1)
  })

  it('is resumed with the same payment for the hour that it pays for, one at a time', async () => {
    const first = await ready(STREAM, headers)
    api.advance(3_599_000)
    pricesChange(9)
    const second = await ready(STREAM, { ...headers, 'last-event-id': first.last })
    await vi.waitFor(() => expect(first.isOver).toBe(true))
    expect(first.heard.at(-1)).toMatchObject({ name: 'end', data: { reason: 'replaced' } })
    expect(second.heard.map(({ name, data }) => [name, data['price'], data['resumed']])).toEqual([
      ['price', 9, undefined],
      ['ready', undefined, true],
    ])
    await vi.waitFor(() => expect(second.isOver).toBe(true), { timeout: 5_000 })
    expect(second.heard.at(-1)).toMatchObject({ name: 'end', data: { reason: 'time_over' } })
    api.advance(1_000)
    expect(await api.get(STREAM, { headers })).toMatchObject({ status: 402, body: { error: 'paid_time_over' } })
    expect(ledger.charged).toHaveLength(1)
  })

  it('takes no place where its reader left while it was settled, and is had with the same payment', async () => {
    let settle = (): void => undefined
    ledger.block = new Promise((resolve) => (settle = resolve))
    const sent = await Promise.all(Array.from({ length: 10 }, signed))
    const leaving = new AbortController()
    const asked = sent.map((each) => api.get(STREAM, { headers: each, signal: leaving.signal }))
    await vi.waitFor(() => expect(ledger.intents).toHaveLength(10))
    leaving.abort()
    await Promise.allSettled(asked)
    await api.get('/healthz') // came behind the ends of their connections
    settle()
    await vi.waitFor(() => expect(ledger.charged).toHaveLength(10))
    const streams = [await listen(STREAM, headers), await listen(STREAM, sent[0])]
    expect(streams.map(({ response }) => response.statusCode)).toEqual([200, 200])
    expect(ledger.charged).toHaveLength(11)
  })

  it('takes no money for more streams than there is room for, however many are asked for at once', async () => {
    const settling: (() => void)[] = []
    const asked: Promise<Events>[] = []
    for (let n = 1; n <= 12; n += 1) {
      ledger.block = new Promise((resolve) => settling.push(resolve))
      const one = listen(STREAM, await signed())
      asked.push(one)
      await Promise.race([one, vi.waitFor(() => expect(ledger.intents).toHaveLength(n))])
    }
    const answers: string[] = []
    for (const [nth, one] of asked.entries()) {
      settling[nth]?.()
      const { statusCode, headers } = (await one).response
      answers.push(`${String(statusCode)}${'payment-response' in headers ? ' paid' : ''}`)
    }
    expect(answers).toEqual([...Array.from({ length: 10 }, () => '200 paid'), '429', '429'])
    expect(ledger.charged).toHaveLength(10)
  })

  it('keeps no place for a payment that was not taken', async () => {
    ledger.outcome = { reason: 'insufficient_funds' }
    for (let n = 0; n < 11; n += 1)
      expect(await api.get(STREAM, { headers: await signed() })).toMatchObject({ status: 402 })
    ledger.outcome = 'settled'
    expect((await listen(STREAM, headers)).response.statusCode).toBe(200)
  })

  it('is nobody else’s who has read its payment on the chain, and goes on', async () => {
    const { 'idempotency-key': _own, ...payment } = headers
    const first = await ready(STREAM, headers)
    for (const key of [{}, { 'idempotency-key': randomUUID() }])
      expect(await api.get(STREAM, { headers: { ...payment, ...key } })).toMatchObject({
        status: 409,
        body: { error: 'payment_already_used' },
      })
    expect(first.isOver).toBe(false)
    const again = await ready(STREAM, headers)
    await vi.waitFor(() => expect(first.isOver).toBe(true))
    expect([again.isOver, ledger.charged.length]).toEqual([false, 1])
  })

  it('is resumed in its own place where its caller has as many streams as it may', async () => {
    const first = await ready(STREAM, headers)
    for (let n = 1; n < 10; n += 1) await ready(STREAM, await signed())
    const [again, other] = [await listen(STREAM, headers), await listen(STREAM, await signed())]
    expect([again.response.statusCode, other.response.statusCode]).toEqual([200, 429])
    await vi.waitFor(() => expect(first.isOver).toBe(true))
    expect(ledger.charged).toHaveLength(10)
  })

  it('is not kept, and its payment pays for no other one', async () => {
    await ready(STREAM, headers)
    expect(ledger.answers.size).toBe(0)
    expect(await api.get('/stream?symbols=btc&channels=price', { headers })).toMatchObject({ status: 409 })
  })
})
