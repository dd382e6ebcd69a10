import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { localCodec, schemaText, UndecodableError } from '../../schemas/codec.ts'
import { RegistryCodec } from './codec.ts'
import { ABSENT_MS, FORGET_MS, type LookupClock } from './schema-lookup.ts'

const ID = 77
const subscription = { asset: 'btc', wanter: 'api', asked: 1, until: 2 }

/** A registry that has a schema from a time on, and the clock by which it does. */
function lagging(fromMs: number, text = schemaText('subscription')) {
  let now = 0
  const asked: number[] = []
  const lines: string[] = []
  const log = pino({}, { write: (line) => lines.push(line) })
  const clock: LookupClock = {
    now: () => now,
    delay: async (ms) => {
      now += ms
    },
  }
  const registry = {
    schemaOf: async (id: number): Promise<string | undefined> => {
      asked.push(id)
      return now >= fromMs ? text : undefined
    },
  }
  const codec = new RegistryCodec([], registry, { clock, log })
  return { codec, asked, lines, pass: (ms: number) => (now += ms), at: () => now }
}

const bytes = localCodec().encode('control.subscriptions', 'subscription', subscription)
bytes.writeInt32BE(ID, 1)

describe('a schema id that the registry does not have yet', () => {
  it('is asked for again until it is there: a registry that lags costs no record', async () => {
    const { codec } = lagging(5_000)
    expect(await codec.lookUp(ID)).toBe(true)
    expect(codec.decode(bytes)).toEqual({ type: 'subscription', value: subscription })
  })

  it('is given up after a bounded time, and not asked for with every record', async () => {
    const { codec, asked, at } = lagging(Infinity)
    expect(await codec.lookUp(ID)).toBe(false)
    expect(at()).toBe(ABSENT_MS)
    const tries = asked.length
    expect(await codec.lookUp(ID)).toBe(false)
    expect(asked).toHaveLength(tries)
    expect(() => codec.decode(bytes)).toThrow(UndecodableError)
  })

  it('is asked for again when its absence has expired, without waiting', async () => {
    const { codec, pass, at } = lagging(ABSENT_MS + FORGET_MS)
    expect(await codec.lookUp(ID)).toBe(false)
    pass(FORGET_MS - 1)
    expect(await codec.lookUp(ID)).toBe(false)
    pass(1)
    const before = at()
    expect(await codec.lookUp(ID)).toBe(true)
    expect(at()).toBe(before)
  })

  it('is asked for once at a time, however many records wait for it', async () => {
    const { codec, asked } = lagging(0)
    expect(await Promise.all([codec.lookUp(ID), codec.lookUp(ID), codec.lookUp(ID)])).toEqual([true, true, true])
    expect(asked).toEqual([ID])
  })

  it('holds nothing up longer for being one of many that are nobody’s', async () => {
    const { codec, at } = lagging(Infinity)
    for (let id = 1; id <= 50; id++) expect(await codec.lookUp(id)).toBe(false)
    expect(at()).toBe(ABSENT_MS)
  })
})

it('does not wait for a schema that is there and none of ours', async () => {
  const text = JSON.stringify({ type: 'record', name: 'Thing', namespace: 'test', fields: [] })
  const { codec, asked, pass, at } = lagging(0, text)
  expect(await codec.lookUp(ID)).toBe(false)
  expect(at()).toBe(0)
  pass(FORGET_MS)
  expect(await codec.lookUp(ID)).toBe(false)
  expect(asked).toEqual([ID])
})

it.each([
  ['is no JSON', 'not json'],
  [
    'names what it does not have',
    JSON.stringify({ type: 'record', name: 'a.B', fields: [{ name: 'c', type: 'a.C' }] }),
  ],
  ['has our name, and a field of another type', schemaText('subscription').replace('"string"', '"double"')],
])('takes a schema for none of ours that %s, and tells why once', async (_what, text) => {
  const { codec, lines } = lagging(0, text)
  expect(await codec.lookUp(ID)).toBe(false)
  expect(await codec.lookUp(ID)).toBe(false)
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ schemaId: ID, err: { message: expect.any(String) as unknown } })
})

it('says so where the registry does not answer, and asks anew at the next record', async () => {
  let isAway = true
  const schemaOf = async (): Promise<string> => {
    if (isAway) throw new Error('away')
    return schemaText('subscription')
  }
  const codec = new RegistryCodec([], { schemaOf })
  await expect(codec.lookUp(ID)).rejects.toThrow('away')
  isAway = false
  expect(await codec.lookUp(ID)).toBe(true)
})
