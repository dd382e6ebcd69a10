import { describe, expect, it } from 'vitest'
import { localCodec } from '../../schemas/codec.ts'
import {
  readiness,
  sharedAccess,
  Wants,
  wantWriter,
  type LogAccess,
  type StreamFacts,
  type WriteWant,
} from './wants.ts'

const codec = localCodec()
const DAY_MS = 86_400_000
const RENEW_MS = 300_000

const all = new Set(['binance', 'okx'])
const some = new Set(['okx'])
const none = new Set<string>()

const quiet: StreamFacts = {
  listed: all,
  acknowledged: none,
  meant: false,
  askedAge: undefined,
  acknowledgedAge: undefined,
  firstTradeAge: undefined,
}

describe('readiness', () => {
  it.each<[string, Partial<StreamFacts>, string]>([
    ['nobody streams it', {}, 'unwanted'],
    ['it was streamed once and lapsed', { firstTradeAge: 1e9 }, 'unwanted'],
    ['meant to be streamed, but nothing ever came', { meant: true }, 'unwanted'],
    ['meant and with data, its feed gone', { meant: true, firstTradeAge: 10_000 }, 'ready'],
    ['meant, data too young', { meant: true, firstTradeAge: 9_999 }, 'warming'],
    ['streamed by others for 10 s', { acknowledged: all, acknowledgedAge: 10_000 }, 'ready'],
    ['streamed by others for less', { acknowledged: all, acknowledgedAge: 9_999 }, 'warming'],
    ['a feed that restarts has old data', { acknowledged: some, acknowledgedAge: 0, firstTradeAge: 10_000 }, 'ready'],
    ['just asked for', { askedAge: 0 }, 'warming'],
    ['asked for, old data do not count', { askedAge: 5_000, acknowledged: all, firstTradeAge: 1e9 }, 'warming'],
    ['all acknowledged after 10 s', { askedAge: 10_000, acknowledged: all }, 'ready'],
    ['all acknowledged before 10 s', { askedAge: 9_999, acknowledged: all }, 'warming'],
    ['one missing after 10 s', { askedAge: 10_000, acknowledged: some }, 'warming'],
    ['one missing just before 30 s', { askedAge: 29_999, acknowledged: some }, 'warming'],
    ['one missing after 30 s', { askedAge: 30_000, acknowledged: some }, 'ready'],
    ['none after 30 s', { askedAge: 30_000 }, 'unavailable'],
    ['none after 30 s, but data', { askedAge: 30_000, firstTradeAge: 1e6 }, 'ready'],
    ['no list yet, after 10 s', { askedAge: 10_000, listed: none, acknowledged: some }, 'warming'],
  ])('%s', (_, facts, expected) => {
    expect(readiness({ ...quiet, ...facts })).toBe(expected)
  })
})

describe('a want', () => {
  it('is renewed after five minutes as it was asked for, and lapses a day after that', async () => {
    const written: Parameters<WriteWant>[] = []
    const wants = new Wants(async (...want) => void written.push(want))
    await wants.ask('wif', 0)
    await wants.renew('wif', RENEW_MS)
    expect(written[1]).toEqual(['wif', { asked: 0, now: RENEW_MS, until: RENEW_MS + DAY_MS }])
    expect([wants.askedAt('wif'), wants.stands('wif', RENEW_MS)]).toEqual([0, false])
    wants.settle('wif')
    expect(wants.askedAt('wif')).toBeUndefined()
    expect([-1, 0].map((ms) => wants.stands('wif', RENEW_MS + DAY_MS + ms))).toEqual([true, false])
  })

  it('that is renewed before it was asked for here is waited for by nobody', async () => {
    const wants = new Wants(async () => undefined)
    await wants.renew('wif', 0)
    expect([wants.askedAt('wif'), wants.stands('wif', 0)]).toEqual([undefined, true])
  })

  it('that could not be written is what it was before', async () => {
    let failing = 0
    const wants = new Wants(() => (failing-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve()))
    await wants.renew('wif', 0)
    failing = 2
    for (const _ of [1, 2]) await expect(wants.renew('wif', RENEW_MS)).rejects.toThrow('away')
    expect([-1, 0].map((ms) => wants.stands('wif', DAY_MS + ms))).toEqual([true, false])
  })

  it('is told in microseconds, under the name of all API instances', async () => {
    const told: unknown[] = []
    const send: LogAccess['writer']['send'] = async (_, __, [record]) => {
      if (record?.value) told.push(record.key, record.time, codec.decode(record.value).value)
      return undefined
    }
    const write = wantWriter(async () => ({ codec, writer: { send, close: async () => undefined } }))
    await write('wif', { asked: 1, now: 2, until: 3 })
    expect(told).toEqual(['wif|api', 2, { asset: 'wif', wanter: 'api', asked: 1_000, until: 3_000 }])
  })

  it('is written over one connection, which is made anew where it failed', async () => {
    let tries = 0
    const connect = async (): Promise<LogAccess> => {
      tries += 1
      if (tries === 1) throw new Error('away')
      return {} as LogAccess
    }
    const connected = sharedAccess(connect)
    await expect(connected()).rejects.toThrow('away')
    expect(await connected()).toBe(await connected())
    expect(tries).toBe(2)
  })
})

describe('who waits', () => {
  const assets = Array.from({ length: 20 }, (_, index) => `coin${index}`)

  it('has a place for half a minute, however often it asks', () => {
    const wants = new Wants(async () => undefined)
    for (const asset of assets) wants.wait('a', asset, 0)
    wants.wait('a', 'coin0', 29_999)
    for (const asset of assets) wants.wait('a', `other ${asset}`, 30_000)
  })

  it('is forgotten where 10,000 others have asked since', () => {
    const wants = new Wants(async () => undefined)
    const more = (caller: string) => () => wants.wait(caller, 'one more', 0)
    for (const caller of ['a', 'b']) for (const asset of assets) wants.wait(caller, asset, 0)
    for (let n = 0; n < 9_998; n++) wants.wait(`c${n}`, 'coin0', 0)
    expect(more('a')).toThrow('Wait until one of your 20 symbols has warmed up.')
    wants.wait('the last', 'coin0', 0)
    expect(more('a')).toThrow()
    expect(more('b')).not.toThrow()
  })
})
