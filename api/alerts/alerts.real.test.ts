import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Child } from '../../infra/local/child.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import type { Message } from '../../schemas/records.ts'
import { recordId } from '../../schemas/record-id.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { textOf } from '../testing/alert-calls.ts'
import { ownLog, PARTITIONS, type OwnLog } from '../testing/own-log.ts'
import { assertAlerts, call, pages, priceAlert, priceMessages } from '../testing/real-calls.ts'

const PATIENCE = { timeout: 40_000, interval: 50 }
const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'

let own: OwnLog
let processors: Child
let first: Child
let second: Child

beforeAll(async () => {
  own = await ownLog('alerts', 'alerts')
  ;[processors, first, second] = await Promise.all([
    own.start('processors', 'processors'),
    own.start('first', 'api'),
    own.start('second', 'api'),
  ])
  await Promise.all([first, second].map((api) => vi.waitFor(() => assertAlerts(api), PATIENCE)))
}, 180_000)

afterAll(() => own.close(first, second, processors))

/** Writes a record of the market, where the processors that are not running would. */
async function write(topic: TopicName, key: string, partition: number, message: Message): Promise<void> {
  const value = own.codec.encode(topic, message.type, message.value)
  await own.log.writer().send(topic, partition, [{ key, value, time: Date.now() }])
}

/** BTC costs this, as of now. */
async function price(usd: number): Promise<void> {
  for (const message of priceMessages(usd)) await write('alerts.inputs', 'btc', partitionOf('btc', PARTITIONS), message)
}

/** All records of a topic, each with its id. */
async function read(topic: TopicName): Promise<{ id: string; message: Message }[]> {
  const found: { id: string; message: Message }[] = []
  const reader = own.log.reader()
  for (let partition = 0; partition < PARTITIONS; partition += 1)
    for await (const records of reader.toEnd(topic, partition))
      for (const { offset, value } of records)
        if (value !== null) found.push({ id: recordId({ topic, partition, offset }), message: own.codec.decode(value) })
  await reader.close()
  return found
}

describe('an alert', () => {
  it('lives its life on two API instances', async () => {
    const created = await call(first, 'POST', '/price-alert', { body: priceAlert({ agent_wallet: WALLET }) })
    expect(created.status).toBe(201)
    const { alert_id: id, manage_token: token, expires_at: expires } = created.body
    const target = `/price-alert/${textOf(id)}`
    const known = { alert_id: id, status: 'active', expires_at: expires, trigger_count: 0 }
    expect((await call(second, 'GET', target)).body).toMatchObject(known)
    await expect
      .poll(async () => (await call(second, 'GET', target)).body, PATIENCE)
      .toMatchObject({ ...known, delivery_attempts: 0 })
    const list = await call(second, 'GET', `/price-alerts?wallet=${WALLET.toLowerCase()}&symbol=BTC`)
    expect(list.body).toMatchObject({ count: 1, alerts: [{ alert_id: id }], next_cursor: null })

    const extended = await call(second, 'POST', `${target}/extend`, { body: { add_hours: 1 }, token })
    expect(extended.status).toBe(200)
    const later = new Date(Date.parse(textOf(expires)) + 3_600_000).toISOString()
    expect(extended.body).toMatchObject({ alert_id: id, status: 'active', expires_at: later, add_hours: 1 })
    expect((await call(first, 'GET', target)).body).toMatchObject({ expires_at: later })

    await price(100_001)
    await expect
      .poll(async () => (await call(first, 'GET', target)).body, PATIENCE)
      .toMatchObject({ status: 'triggered', trigger_count: 1 })
    expect((await call(first, 'GET', `/price-alerts?wallet=${WALLET}`)).body).toMatchObject({ count: 0, alerts: [] })
    const trigger = await triggerOf(textOf(id))
    const cause = await call(second, 'GET', `/records/${trigger.record}`)
    expect(cause.status).toBe(200)
    expect(cause.body).toMatchObject({ topic: 'alerts.inputs', type: 'composite_price', record: { price: 100_001 } })

    expect((await call(second, 'POST', `${target}/extend`, { body: {}, token })).body['error']).toBe('alert_not_active')
    expect((await call(second, 'DELETE', target)).status).toBe(401)
    expect((await call(second, 'DELETE', target, { token: 'mt_wrong' })).status).toBe(403)
    expect((await call(second, 'DELETE', target, { token })).body).toMatchObject({ alert_id: id, status: 'cancelled' })
    expect((await call(first, 'GET', target)).body).toMatchObject({ status: 'cancelled', trigger_count: 1 })
    for (const [method, path] of [
      ['DELETE', target],
      ['POST', `${target}/extend`],
      ['POST', `${target}/test`],
    ] as const) {
      const { status, body } = await call(first, method, path, { token })
      expect([path, status, body['error']]).toEqual([path, 409, 'alert_not_active'])
    }
  })

  async function triggerOf(alert: string): Promise<Extract<Message, { type: 'trigger' }>['value']> {
    const found = await vi.waitFor(async () => {
      const triggers = (await read('alerts.triggers')).map(({ message }) => message)
      const mine = triggers.find((message) => message.type === 'trigger' && message.value.alert_id === alert)
      expect(mine).toBeDefined()
      return mine
    }, PATIENCE)
    if (found?.type !== 'trigger') throw new Error('waited for')
    return found.value
  }

  it('is listed behind those that the log took after it, also within one second, by every instance', async () => {
    const made: unknown[] = []
    for (let n = 0; n < 7; n += 1) {
      const { body } = await call(n % 2 === 0 ? first : second, 'POST', '/price-alert', {
        body: priceAlert({ symbol: 'LINK' }),
      })
      made.unshift([body['alert_id'], body['created_at']])
    }
    const [ids, times] = [0, 1].map((at) => made.map((pair) => (pair as unknown[])[at]))
    expect(new Set(times).size).toBeLessThan(made.length) // some are of one second: time alone does not order them
    for (const api of [first, second]) expect(await pages(api, '/price-alerts?symbol=LINK&limit=3')).toEqual(ids)
  })

  it('that watches liquidations is kept wanted, tested, and shown with its attempts', async () => {
    const body = { symbol: 'ATOM', threshold_pct: 7.5, webhook_url: 'https://hooks.example.com/l' }
    const created = await call(first, 'POST', '/liquidation/alert', { body })
    expect(created.body).toMatchObject({ symbol: 'ATOM', status: 'active', threshold_pct: 7.5, min_value_usd: 0 })
    const { alert_id: id, manage_token: token } = created.body
    const target = `/liquidation/alert/${textOf(id)}`
    const wants = await vi.waitFor(async () => {
      const found: unknown[] = []
      for await (const records of own.log.reader().toEnd('control.subscriptions', 0))
        for (const { key } of records) found.push(key?.toString())
      expect(found).toContain('atom|api')
      return found
    }, PATIENCE)
    expect(wants).not.toContain('btc|api')
    const tested = await call(second, 'POST', `${target}/test`, { token })
    expect(tested.status).toBe(200)
    const trigger = await triggerOf(textOf(id))
    expect(trigger).toMatchObject({ trigger_id: tested.body['trigger_id'], test: true, kind: 'liquidation' })

    const started = Date.now() * 1000
    const { trigger_id, alert_id, receiver, time: triggered } = trigger
    const attempt = { trigger_id, alert_id, receiver, triggered, test: true, error: null, due: null, digest: null }
    for (const number of [1, 2])
      await write('webhooks.attempts', trigger.trigger_id, 0, {
        type: 'attempt',
        value: {
          ...attempt,
          number,
          outcome: number === 2 ? 'delivered' : 'retry',
          status: number === 2 ? 204 : 500,
          started: started + number * 1000,
          finished: started + number * 1000 + 500,
        },
      })
    await expect.poll(async () => (await call(first, 'GET', target)).body['delivery_attempts'], PATIENCE).toBe(2)
    const page = await call(first, 'GET', `${target}/deliveries?limit=1`, { token })
    expect(page.body).toMatchObject({ count: 1, deliveries: [{ attempt: 2, status: 204, outcome: 'delivered' }] })
    const rest = await call(first, 'GET', `${target}/deliveries?cursor=${textOf(page.body['next_cursor'])}`, { token })
    expect(rest.body).toMatchObject({ count: 1, deliveries: [{ attempt: 1, status: 500 }], next_cursor: null })

    const again = `${target}/deliveries/${trigger.trigger_id}/resend`
    await vi.waitFor(async () => {
      expect((await call(second, 'POST', again, { token })).status).toBe(200)
    }, PATIENCE)
    const orders = (await read('alerts.triggers')).flatMap(({ message }) =>
      message.type === 'delivery_order' && message.value.order === 'resend' ? [message.value] : [],
    )
    expect(orders).toMatchObject([{ alert_id: id, trigger_id: trigger.trigger_id }])
    const places = (await read('alerts.triggers')).filter(({ message }) => message.type === 'trigger')
    const place = { topic: 'alerts.triggers', partition: orders[0]?.trigger_partition ?? -1 } as const
    expect(places.map(({ id: record }) => record)).toContain(
      recordId({ ...place, offset: orders[0]?.trigger_offset ?? -1 }),
    )
  })

  it('is made once, however often and wherever the same creation is sent', async () => {
    const key = randomUUID()
    const body = priceAlert({ target_price: 123_456 })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => call(at % 2 === 0 ? first : second, 'POST', '/price-alert', { body, key })),
    )
    for (const answer of answers) expect(answer).toMatchObject({ status: 201, body: answers[0]?.body })
    const other = await call(second, 'POST', '/price-alert', { body: priceAlert({ target_price: 1 }), key })
    expect([other.status, other.body['error']]).toEqual([409, 'idempotency_conflict'])
  })

  it('is created within a second, one after the other', async () => {
    const times: number[] = []
    for (let at = 0; at < 40; at += 1) {
      const before = performance.now()
      const body = priceAlert({ symbol: 'LTC', target_price: 1 + at })
      expect((await call(at % 2 === 0 ? first : second, 'POST', '/price-alert', { body })).status).toBe(201)
      times.push(performance.now() - before)
    }
    const [median = NaN, worst] = [times.toSorted((a, b) => a - b)[20], Math.max(...times)]
    console.info(`creation, milliseconds: median ${median.toFixed(1)}, worst of 40 ${worst.toFixed(1)}`)
    expect(median).toBeLessThan(1_000)
  })

  it('can be read everywhere as soon as it is created, fifty at a time', async () => {
    const assets = ['BTC', 'ETH', 'SOL', 'XRP', 'POL']
    const before = performance.now()
    const seen = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => {
        const [one, other] = at % 2 === 0 ? [first, second] : [second, first]
        const body = priceAlert({ symbol: assets[at % assets.length], condition: 'below', target_price: at + 1 })
        const created = await call(one, 'POST', '/price-alert', { body })
        expect(created.status).toBe(201)
        const status = await call(other, 'GET', `/price-alert/${textOf(created.body['alert_id'])}`)
        expect(status.body).toMatchObject({ status: 'active', target_price: at + 1 })
        return created.body['alert_id']
      }),
    )
    console.info(`50 creations, each read on the other instance: ${Math.round(performance.now() - before)} ms`)
    expect(new Set(seen).size).toBe(50)
    const page = await call(first, 'GET', '/price-alerts?limit=7')
    expect(page.body['count']).toBe(7)
    const all = await pages(second, '/price-alerts?limit=7')
    expect(all.filter((id) => seen.includes(id))).toHaveLength(50)
    expect(new Set(all).size).toBe(all.length)
    expect((await call(first, 'GET', '/price-alerts?symbol=MATIC')).body['count']).toBe(10)
  })
})

describe('the log', () => {
  it('shows no command, no alert and no trigger, and holds no secret', async () => {
    const command = (await read('alerts.inputs')).find(({ message }) => message.type === 'command')
    const others = [
      ...(await read('alerts.state')),
      ...(await read('alerts.events')),
      ...(await read('alerts.triggers')),
    ]
    expect(others.length).toBeGreaterThan(2)
    for (const hidden of [
      command,
      others[0],
      others.at(-1),
      { id: recordId({ topic: 'market.trades', partition: 0, offset: 99 }) },
    ]) {
      const { status, body } = await call(first, 'GET', `/records/${textOf(hidden?.id)}`)
      expect([status, body['error']]).toEqual([404, 'not_found'])
    }
    const text = JSON.stringify([command, others])
    for (const secret of ['secret-path', 'whsec_', 'mt_', 'hooks.example.com/']) expect(text).not.toContain(secret)
  })
})

describe('without its processor', () => {
  it('a creation is 503 after 5 s, and the same key gives the answer when it is back', async () => {
    await processors.stop()
    const sent = { body: priceAlert({ target_price: 7.75 }), key: randomUUID() }
    const refused = await call(first, 'POST', '/price-alert', sent)
    expect([refused.status, refused.body['error']]).toEqual([503, 'data_unavailable'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    processors = await own.start('processors', 'processors')
    const created = await vi.waitFor(async () => {
      const answer = await call(second, 'POST', '/price-alert', sent)
      expect(answer.status).toBe(201)
      return answer
    }, PATIENCE)
    expect((await call(first, 'POST', '/price-alert', sent)).body).toEqual(created.body)
    const { body } = await call(second, 'GET', '/price-alerts?limit=1000')
    const mine = (body['alerts'] as { target_price: number }[]).filter(({ target_price: usd }) => usd === 7.75)
    expect(mine).toHaveLength(1)
  })
})

describe('beside another host with the same partitions for good', () => {
  it('one of both ends and says why, and the other goes on', async () => {
    const another = await own.start('another', 'processors')
    const name = await Promise.race([processors.exited.then(() => 'processors'), another.exited.then(() => 'another')])
    expect(readFileSync(path.join(own.folder, `${name}.log`), 'utf8')).toContain('two-owners')
    if (name === 'processors') processors = another
    const created = await vi.waitFor(async () => {
      const answer = await call(second, 'POST', '/price-alert', { body: priceAlert({ target_price: 8.25 }) })
      expect(answer.status).toBe(201)
      return answer
    }, PATIENCE)
    expect(created.body).toMatchObject({ target_price: 8.25 })
    if (name === 'another') await another.stop()
  })
})
