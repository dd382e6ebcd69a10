import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { schemaText } from '../../schemas/codec.ts'
import type { Instrument } from '../../schemas/records.ts'
import { listed } from '../../schemas/testing/instrument.ts'
import { createWorld, iso, PARTITION, T, type World } from './testing/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld('ingest')
})
afterAll(() => world.end())

describe('trades', () => {
  it('arrive with every field, null where nothing was said', async () => {
    const offset = await world.append('market.trades', [
      world.trade({ first_id: 1, last_id: 3, count: 2 }),
      world.trade({
        instrument: 'okx:perp:A:B-SWAP',
        first_id: 2,
        last_id: 2,
        sequence: 77,
        taker: 'sell',
        origin: 'backfill',
        gap_id: 2,
      }),
    ])
    await world.soon('SELECT * FROM trades WHERE first_id < 10 ORDER BY first_id', [
      {
        instrument: 'binance:perp:BTCUSDT',
        asset: 'btc',
        venue: 'binance',
        market: 'perp',
        symbol: 'BTCUSDT',
        first_id: 1,
        last_id: 3,
        count: 2,
        sequence: null,
        price: 61_800.3,
        size: 0.006,
        quote: 370.8018,
        size_factor: 1,
        price_factor: 1,
        taker: 'buy',
        time: iso(T),
        received: iso(T + 5000),
        origin: 'stream',
        gap_id: null,
        partition: PARTITION,
        offset,
      },
      expect.objectContaining({
        symbol: 'A:B-SWAP',
        sequence: 77,
        taker: 'sell',
        origin: 'backfill',
        gap_id: 2,
        offset: offset + 1,
      }),
    ])
  })

  it('are replaced by none that comes later: the first of equal trades stands, merged or not', async () => {
    await world.append('market.trades', [
      world.trade({ first_id: 20, last_id: 20, size: 1 }),
      world.trade({ first_id: 20, last_id: 20, size: 2 }),
    ])
    await world.append('market.trades', [
      world.trade({ first_id: 20, last_id: 20, size: 3 }),
      world.trade({ first_id: 21, last_id: 21, size: 9 }),
    ])
    const query = 'SELECT first_id, size FROM trades WHERE first_id IN (20, 21) ORDER BY first_id'
    const expected = [
      { first_id: 20, size: 1 },
      { first_id: 21, size: 9 },
    ]
    await world.soon(query, expected)
    await world.run('OPTIMIZE TABLE trades_log FINAL')
    expect(await world.rows(query)).toEqual(expected)
    expect(await world.rows('SELECT count() AS n FROM trades_log WHERE first_id = 20')).toEqual([{ n: 1 }])
  })

  it('keep a quote amount exactly, whether it is price times size or not', async () => {
    await world.append('market.trades', [
      world.trade({ first_id: 40, last_id: 40, price: 0.1, size: 3, quote: 0.1 * 3 }),
      world.trade({ first_id: 41, last_id: 41, price: 0.1, size: 3, quote: 0.3 }),
      world.trade({ first_id: 42, last_id: 42, price: 0.1, size: 3, quote: -1e300 }),
    ])
    await world.soon('SELECT quote FROM trades WHERE first_id IN (40, 41, 42) ORDER BY first_id', [
      { quote: 0.1 * 3 },
      { quote: 0.3 },
      { quote: -1e300 },
    ])
  })

  it('keep the largest ids and the smallest sizes exactly', async () => {
    const id = 2 ** 52 - 1
    await world.append('market.trades', [world.trade({ first_id: id, last_id: id, size: 1e-8, price: 0.1 + 0.2 })])
    await world.soon(`SELECT last_id, size, price FROM trades WHERE first_id = ${id}`, [
      { last_id: id, size: 1e-8, price: 0.1 + 0.2 },
    ])
  })
})

describe('what cannot be read', () => {
  it('is kept with its place and reason, and what follows arrives', async () => {
    const offset = await world.append(
      'market.trades',
      [
        Buffer.from('junk'),
        Buffer.from([0, 0, 15, 66, 63, 1, 2]),
        world.trade().subarray(0, 20),
        null,
        world.trade({ first_id: 30, last_id: 30 }),
      ],
      3,
    )
    await world.soon('SELECT count() AS n FROM trades WHERE first_id = 30', [{ n: 1 }])
    await world.soon(`SELECT topic, partition, offset - ${offset} AS at FROM ingest_errors ORDER BY at`, [
      { topic: 'market.trades', partition: 3, at: 0 },
      { topic: 'market.trades', partition: 3, at: 1 },
      { topic: 'market.trades', partition: 3, at: 2 },
    ])
    const [unknown] = await world.rows('SELECT error, raw, time FROM ingest_errors ORDER BY offset LIMIT 1, 1')
    expect(unknown).toMatchObject({ error: expect.stringContaining('404'), time: '2024-08-08T23:54:16.322Z' })
    expect(await world.rows('SELECT count() AS n FROM trades WHERE partition = 3')).toEqual([{ n: 1 }])
  })
})

it.each([
  ['of another kind', { schemaType: 'JSON', schema: '{"type": "object", "properties": {}}' }],
  [
    'with a field of another type',
    { schema: schemaText('trade').replace(/"price",\s*"type": "double"/, '"price", "type": "string"') },
  ],
])('a schema %s is told of its record, and what follows arrives', async (what, schema) => {
  const subject = `another-${what.replaceAll(' ', '-')}`
  const answer = await fetch(`${inject('parts').registryUrl}/subjects/${subject}/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify(schema),
  })
  const registered = (await answer.json()) as { id: number }
  const foreign = Buffer.alloc(60)
  foreign.writeInt32BE(registered.id, 1)
  const id = what.length + 100
  const offset = await world.append('market.trades', [foreign, world.trade({ first_id: id, last_id: id })], 2)
  await world.soon(`SELECT count() AS n FROM trades WHERE first_id = ${id}`, [{ n: 1 }])
  await world.soon(`SELECT count() AS n FROM ingest_errors WHERE partition = 2 AND offset = ${offset}`, [{ n: 1 }])
})

describe('instruments', () => {
  it('show the newest version, and all of them', async () => {
    const instrument = (change: Partial<Instrument>): Buffer =>
      world.codec.encode(
        'market.instruments',
        'instrument',
        listed('okx:perp:BTC-USDT-SWAP', { size_factor: 0.01, valid_from: T, ...change }),
      )
    await world.append(
      'market.instruments',
      [instrument({ valid_from: T + 1, tick: 0.1, status: 'closed' }), instrument({})],
      0,
    )
    await world.soon('SELECT instrument, tick, status, size_factor, valid_from FROM instruments', [
      { instrument: 'okx:perp:BTC-USDT-SWAP', tick: 0.1, status: 'closed', size_factor: 0.01, valid_from: iso(T + 1) },
    ])
    expect(await world.rows('SELECT tick FROM instrument_versions ORDER BY valid_from')).toEqual([
      { tick: null },
      { tick: 0.1 },
    ])
  })
})
