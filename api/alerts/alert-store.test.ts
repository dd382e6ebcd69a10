import { queryObjects } from 'node:v8'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { emptyFields } from '../../schemas/codec.ts'
import { ownersId } from '../../processors/alerts/parts.ts'
import type { Alert } from '../../schemas/records.ts'
import {
  AlertStore,
  cursorOf,
  creationKeyOf,
  SCANNED_MAX,
  wholeOf,
  type CachedAlert,
  type Page,
} from './alert-store.ts'
import { CreationIndex, type CreationKey } from './creation-index.ts'

function alert(change: Partial<Alert> = {}): Alert {
  return {
    ...emptyFields('alert'),
    alert_id: 'alert_btc_1_1',
    kind: 'price',
    asset: 'btc',
    symbol: 'BTC',
    condition: 'above',
    target_price: 1,
    status: 'active',
    created_at: 1,
    expires_at: 2,
    expires_in_hours: 1,
    ended_at: 0,
    trigger_count: 0,
    last_triggered: 0,
    armed: false,
    receiver: 'example.com:443',
    webhook: 'sealed',
    key_version: 1,
    taken: 0,
    paused_until: 0,
    time: 1,
    v: 1,
    ...change,
  }
}

const anyState = { state: undefined, group: undefined, tag: undefined } as const
const everything = { kind: 'price', asset: undefined, wallet: undefined, before: undefined } as const

function all(book: AlertStore, query: Partial<Parameters<AlertStore['page']>[0]> = {}): CachedAlert[] {
  const { alerts, next } = book.page({ ...everything, limit: 3, ...query })
  return next === undefined ? [...alerts] : [...alerts, ...all(book, { ...query, before: next })]
}

describe('the book of alerts', () => {
  it('keeps the highest version, the later of equal ones, and no sealed URL', () => {
    const book = new AlertStore()
    book.put(alert({ v: 5, trigger_count: 5 }))
    book.put(alert({ v: 4, trigger_count: 4 }))
    expect(book.find('alert_btc_1_1')).toMatchObject({ trigger_count: 5 })
    book.put(alert({ v: 5, trigger_count: 6 }))
    expect(book.find('alert_btc_1_1')).toMatchObject({ trigger_count: 6 })
    expect(JSON.stringify(book.find('alert_btc_1_1'))).not.toContain('sealed')
  })

  it('lists one for several by whichever of its parts are there', () => {
    const book = new AlertStore()
    const part = (at: number, asset: string): Alert =>
      alert({ alert_id: `alert_list_1_1.${at}.${asset}`, asset, wallets: ['w'], owner: 'w', taken: at })
    book.put(part(2, 'eth'))
    const ids = (): string[] => all(book, { wallet: 'w' }).map(({ alert_id: id }) => id)
    const owned = (): number => book.owned({ ...everything, ...anyState, owner: 'w', limit: 3 }).alerts.length
    expect([ids(), owned()]).toEqual([['alert_list_1_1'], 1])
    book.put(part(1, 'btc'))
    expect([ids(), owned()]).toEqual([['alert_list_1_1'], 1])
    book.remove('alert_list_1_1.1.btc')
    expect([ids(), owned()]).toEqual([['alert_list_1_1'], 1])
  })

  it('makes one of several parts anew only where one of them has changed', () => {
    const book = new AlertStore()
    const ids = ['alert_1.a0', 'alert_1.a0.btc', 'alert_1.a0.eth']
    for (const id of ids) book.put(alert({ alert_id: id, asset: id.split('.')[2] ?? '*0' }))
    const first = book.find('alert_1')
    book.put(alert({ alert_id: 'alert_2' }))
    expect(book.find('alert_1')).toBe(first)
    book.put(alert({ alert_id: 'alert_1.a0.eth', asset: 'eth', trigger_count: 1, v: 2 }))
    expect(book.find('alert_1')).toMatchObject({ trigger_count: 1, parts: { length: 3 } })
    book.remove('alert_1.a0.eth')
    expect(book.find('alert_1')).toMatchObject({ trigger_count: 0, parts: { length: 2 } })
  })

  it('takes and forgets a part without a look at all others', () => {
    const book = new AlertStore()
    const parts = Array.from({ length: 300 }, (_, n) =>
      alert({ alert_id: `alert_1.a0.c${n}`, asset: `c${n}`, idempotency: 'x' }),
    )
    const looks = vi.spyOn(Map.prototype, 'get')
    for (const part of parts) book.put(part)
    for (const { alert_id: id } of parts.slice(1)) book.remove(id)
    const count = looks.mock.calls.length
    looks.mockRestore()
    expect(count).toBeLessThan(parts.length * 40)
    expect(book.find('alert_1')).toMatchObject({ parts: [{ alert_id: 'alert_1.a0.c0' }] })
  })

  it('forgets what has ended for long', () => {
    const book = new AlertStore()
    book.put(alert({ idempotency: 'x' }))
    expect(book.creation('x')).toBeDefined()
    book.remove('alert_btc_1_1')
    book.remove('alert_btc_1_1')
    expect([book.size, book.find('alert_btc_1_1'), book.creation('x'), all(book)]).toEqual([
      0,
      undefined,
      undefined,
      [],
    ])
  })

  it('finds what an Idempotency-Key made last, whichever record came last', () => {
    const made = (day: number, v: number): Alert =>
      alert({ alert_id: `alert_${day}`, idempotency: 'x', created_at: day, taken: day, v })
    const created = (...records: Alert[]): unknown => {
      const book = new AlertStore()
      for (const record of records) book.put(record)
      return book.creation('x')?.alert_id
    }
    expect(created(made(1, 1), made(2, 2), made(1, 3))).toBe('alert_2')
    expect(created(made(2, 2), made(1, 3))).toBe('alert_2') // where the log was compacted
    const book = new AlertStore()
    for (const record of [made(1, 1), made(2, 2)]) book.put(record)
    book.remove('alert_1')
    expect(book.creation('x')?.alert_id).toBe('alert_2')
  })

  it('lists those of an owner by their state, paused ones by that alone, and says where nothing more follows', () => {
    const book = new AlertStore()
    const put = (id: string, created: number, change: Partial<Alert> = {}): void =>
      book.put(alert({ alert_id: id, owner: 'w', created_at: created, ...change }))
    put('alert_1', 1, { status: 'cancelled', ended_at: 9 })
    put('alert_2', 2, { paused_until: 9 })
    put('alert_3', 3)
    const of = (state: string): unknown[] => {
      const { alerts, next } = book.owned({ ...anyState, owner: 'w', before: undefined, limit: 1, state })
      return [...alerts.map(({ alert_id: id }) => id), next]
    }
    expect(['active', 'paused', 'cancelled', 'expired'].map(of)).toEqual([
      ['alert_3', undefined],
      ['alert_2', undefined],
      ['alert_1', undefined],
      [undefined],
    ])
  })

  it('has no list any more of an owner or wallet whose alerts are all gone', () => {
    const book = new AlertStore()
    const lists = (): number => queryObjects(CreationIndex, { format: 'count' })
    const others = lists()
    const ids = Array.from({ length: 50 }, (_, n) => `alert_${n}`)
    for (const v of [1, 2])
      for (const [n, id] of ids.entries())
        book.put(alert({ alert_id: id, wallets: [`w${n % 49}`], owner: `o${n % 49}`, v }))
    for (const id of ids.slice(1)) book.remove(id)
    expect(lists() - others).toBe(2 + 2) // those of the kind and of the asset aside
    expect(all(book, { wallet: 'w0' }).map(({ alert_id: id }) => id)).toEqual(['alert_0'])
    book.remove('alert_0')
    expect([book.size, lists() - others]).toEqual([0, 0])
  }, 60_000) // the whole heap is looked at, three times

  it('watches the assets of liquidation alerts until the last has ended', () => {
    const book = new AlertStore()
    const watching = (id: string, change: Partial<Alert> = {}): void =>
      book.put(
        alert({
          alert_id: id,
          kind: 'liquidation',
          condition: 'cascade_risk',
          threshold_pct: 5,
          min_value_usd: 0,
          asset: 'wif',
          ...change,
        }),
      )
    watching('alert_liq_1')
    watching('alert_liq_2')
    book.put(alert())
    watching('alert_liq_1', { status: 'triggered', v: 2 })
    expect(book.watched()).toEqual(['wif'])
    watching('alert_liq_1', { status: 'expired', ended_at: 9, v: 3 })
    expect(book.watched()).toEqual(['wif'])
    watching('alert_liq_2', { status: 'cancelled', ended_at: 9, v: 3 })
    expect(book.watched()).toEqual([])
    watching('alert_liq_1', { v: 4 })
    expect(book.watched()).toEqual(['wif'])
    book.remove('alert_liq_1')
    expect(book.watched()).toEqual([])
  })

  type Change = typeof change extends fc.Arbitrary<infer T> ? T : never
  const change = fc.record({
    n: fc.nat(5),
    created: fc.nat(2),
    what: fc.constantFrom('active', 'triggered', 'cancelled', 'gone'),
    asset: fc.constantFrom('btc', 'eth'),
    wallet: fc.constantFrom('0xAB', '0xab', 'So1'),
    v: fc.nat(3),
  })

  /** What an alert was made with does not change; every other one has parts. */
  const idOf = ({ n, created, asset, wallet }: Pick<Change, 'n' | 'created' | 'asset' | 'wallet'>): string =>
    n % 2 === 0 ? `alert_${asset}_${created}_${wallet}_${n}` : `alert_${created}_${wallet}_${n}.1.${asset}`

  it('lists what a sorted filter lists, whatever came in which order', () => {
    const check = (changes: Change[], limit: number): void => {
      const book = new AlertStore()
      for (const { n, what, created, asset, wallet, v } of changes) {
        const id = idOf({ n, created, asset, wallet })
        if (what === 'gone') book.remove(id)
        else
          book.put(alert({ alert_id: id, status: what as 'active', created_at: created, asset, wallets: [wallet], v }))
      }
      const plain = [...new Set(changes.map((one) => ownersId(idOf(one))))]
        .flatMap((id) => book.find(id) ?? [])
        .filter(({ status }) => status === 'active')
        .toSorted((a, b) => b.created_at - a.created_at || (a.alert_id < b.alert_id ? 1 : -1))
      const isOn = ({ asset, parts = [] }: CachedAlert, given: string): boolean =>
        asset === given || parts.some((part) => part.asset === given)
      const isEvm = ({ wallets }: CachedAlert): boolean => wallets[0]?.startsWith('0x') === true
      expect(all(book, { limit })).toEqual(plain)
      expect(all(book, { limit, asset: 'eth' })).toEqual(plain.filter((one) => isOn(one, 'eth')))
      expect(all(book, { limit, wallet: '0XAb' })).toEqual(plain.filter(isEvm))
      expect(all(book, { limit, wallet: 'So1', asset: 'btc' })).toEqual(
        plain.filter((one) => !isEvm(one) && isOn(one, 'btc')),
      )
    }
    fc.assert(fc.property(fc.array(change, { maxLength: 60 }), fc.integer({ min: 1, max: 7 }), check))
  })

  it('lists alerts of one second in the order of their creation, page by page', () => {
    const book = new AlertStore()
    const ids = ['alert_9', 'alert_1', 'alert_5', 'alert_3', 'alert_7']
    for (const [n, id] of ids.entries()) book.put(alert({ alert_id: id, created_at: 10, taken: 10 + n }))
    book.put(alert({ alert_id: 'alert_9', created_at: 10, taken: 10, v: 2, trigger_count: 1 }))
    expect(all(book, { limit: 2 }).map(({ alert_id: id }) => id)).toEqual(ids.toReversed())
  })

  it('gives the same pages whichever partition came first, and a cursor leads on in either', () => {
    type Read = (book: AlertStore, before?: CreationKey) => Page
    const lists: Read[] = [
      ...[{}, { asset: 'eth' }, { wallet: 'w' }].map(
        (query): Read =>
          (book, before) =>
            book.page({ ...everything, ...query, limit: 1, before }),
      ),
      (book, before) => book.owned({ ...anyState, owner: 'w', limit: 1, before }),
    ]
    /** Ids of each page, of one book and the other by turns. */
    const idsOf = (read: Read, [book, other]: readonly [AlertStore, AlertStore], before?: CreationKey): unknown[] => {
      const { alerts, next } = read(book, before)
      const ids = alerts.map(({ alert_id: id }) => id)
      return next === undefined ? [ids] : [ids, ...idsOf(read, [other, book], next)]
    }
    const assets = ['btc', 'eth', 'sol']
    const record = fc.record({ n: fc.nat(4), partition: fc.nat(2), isGone: fc.boolean() })
    const times = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 15, maxLength: 15 })
    const first = fc.shuffledSubarray([0, 1, 2], { minLength: 3 })
    fc.assert(
      fc.property(fc.array(record, { maxLength: 40 }), times, first, (records, taken, order) => {
        const bookOf = (all: typeof records): AlertStore => {
          const book = new AlertStore()
          for (const { n, partition, isGone } of all) {
            const asset = assets[partition] ?? ''
            const id = `alert_list_${n}.${partition + 1}.${asset}`
            if (isGone) book.remove(id)
            else
              book.put(alert({ alert_id: id, asset, wallets: ['w'], owner: 'w', taken: taken[n * 3 + partition] ?? 0 }))
          }
          return book
        }
        const live = bookOf(records)
        const late = bookOf(order.flatMap((partition) => records.filter((each) => each.partition === partition)))
        for (const read of lists) {
          const whole = idsOf(read, [live, live])
          expect([idsOf(read, [late, live]), idsOf(read, [live, late])]).toEqual([whole, whole])
        }
      }),
    )
  })

  it('gives a page after a bounded look, and where to go on', () => {
    const book = new AlertStore()
    for (let n = 0; n <= SCANNED_MAX; n += 1)
      book.put(alert({ alert_id: `alert_${n}`, created_at: n, owner: 'w', status: n === 0 ? 'active' : 'expired' }))
    const query = { ...anyState, owner: 'w', state: 'active', limit: 1 }
    const { alerts, next } = book.owned({ ...query, before: undefined })
    expect([alerts, next]).toEqual([[], { created: 1, id: 'alert_1' }])
    expect(book.owned({ ...query, before: next }).alerts).toMatchObject([{ alert_id: 'alert_0' }])
  })

  it('lists active ones without a look at those that have ended', () => {
    const book = new AlertStore()
    const put = (n: number, status: Alert['status'], v: number): void =>
      book.put(alert({ alert_id: `alert_${n}`, created_at: n, wallets: ['w'], status, v }))
    for (let n = 0; n < 3_000; n += 1) put(n, 'active', 1)
    for (let n = 1; n < 3_000; n += 1) put(n, 'expired', 2)
    for (const query of [{}, { asset: 'btc' }, { wallet: 'w' }]) {
      const looks = vi.spyOn(Map.prototype, 'get')
      const { alerts } = book.page({ ...everything, ...query, limit: 3 })
      const count = looks.mock.calls.length
      looks.mockRestore()
      expect(alerts).toMatchObject([{ alert_id: 'alert_0' }])
      expect(count).toBeLessThan(3_000)
    }
    put(7, 'active', 3)
    for (const query of [{}, { asset: 'btc' }, { wallet: 'w' }])
      expect(all(book, query).map(({ alert_id: id }) => id)).toEqual(['alert_7', 'alert_0'])
  })

  it('reads once what its owner has sorted an alert by', () => {
    const book = new AlertStore()
    const when = { metric: 'cvd', operator: 'above', value: 5 }
    const rule = (n: number, tag: string): Alert =>
      alert({
        alert_id: `alert_${n}`,
        kind: 'rule',
        condition: JSON.stringify({ kind: 'rule', when, group: 'desk', tags: [tag] }),
        target_price: null,
        owner: 'w',
        created_at: n,
      })
    for (const n of [1, 2, 3]) book.put(rule(n, n === 2 ? 'b' : 'a'))
    const ids = (tag: string): unknown =>
      book
        .owned({ ...anyState, owner: 'w', before: undefined, limit: 9, group: 'desk', tag })
        .alerts.map(({ alert_id: id }) => id)
    expect(ids('a')).toEqual(['alert_3', 'alert_1'])
    const parse = vi.spyOn(JSON, 'parse')
    expect(ids('b')).toEqual(['alert_2'])
    const { length } = parse.mock.calls
    parse.mockRestore()
    expect(length).toBe(0)
    book.put({ ...rule(1, 'b'), v: 2 })
    expect(ids('b')).toEqual(['alert_2', 'alert_1'])
  })

  it('takes alerts in any order, and forgets those that are gone', () => {
    const book = new AlertStore()
    const ids = Array.from({ length: 5_000 }, (_, n) => (n * 2_477) % 5_000)
    for (const n of ids) book.put(alert({ alert_id: `alert_${n}`, created_at: n }))
    for (const n of ids) if (n % 5 !== 0) book.remove(`alert_${n}`)
    const left = all(book, { limit: 100 }).map(({ created_at: created }) => created)
    expect(left).toEqual(Array.from({ length: 1_000 }, (_, n) => 4_995 - 5 * n))
  })
})

describe('an alert of several parts', () => {
  type Said = Pick<CachedAlert, 'alert_id' | 'status' | 'symbol' | 'ended_at' | 'trigger_count'>
  const part = (id: string, asset: string, change: Partial<Alert> = {}): CachedAlert =>
    alert({ alert_id: `alert_1.${id}`, asset, symbol: asset.toUpperCase(), ...change })
  const ended = { status: 'cancelled', ended_at: 7, trigger_count: 2 } as const

  it.each<[string, CachedAlert[], Partial<Said>]>([
    [
      'in the order of its symbols, and lives while one of them does',
      [part('10.eth', 'eth', ended), part('2.btc', 'btc', { trigger_count: 1 })],
      { symbol: 'BTC,ETH', status: 'active', ended_at: 0, trigger_count: 3 },
    ],
    [
      'ended when the last of them did',
      [part('1.btc', 'btc', { ...ended, ended_at: 8 }), part('2.eth', 'eth', ended)],
      { status: 'cancelled', ended_at: 8, trigger_count: 4 },
    ],
    [
      'triggered rather than ended where none is active',
      [part('1.btc', 'btc', ended), part('2.eth', 'eth', { status: 'triggered' })],
      { status: 'triggered', ended_at: 0 },
    ],
    [
      'for all symbols, with the triggers of each',
      [part('a0', '*0', ended), part('a0.btc', 'btc', { trigger_count: 5 })],
      { symbol: 'all', status: 'cancelled', ended_at: 7, trigger_count: 7 },
    ],
  ])('is shown %s', (_, parts, expected) => {
    expect(wholeOf('alert_1', parts)).toMatchObject({ alert_id: 'alert_1', ...expected })
  })

  it('is sorted without a comparison that reads its options each time', () => {
    const compare = vi.spyOn(String.prototype, 'localeCompare')
    wholeOf('alert_1', [part('10.eth', 'eth'), part('2.btc', 'btc')])
    const { length } = compare.mock.calls
    compare.mockRestore()
    expect(length).toBe(0)
  })
})

describe('a cursor', () => {
  it('leads back to its place', () => {
    const place = { created: 1_767_323_045_000_000, id: 'alert_liq_btc_1767323045_281474976710655' }
    expect(creationKeyOf(cursorOf(place))).toEqual(place)
  })

  it.each(['', 'x', Buffer.from('1|nobody').toString('base64url'), Buffer.from('|alert_1').toString('base64url')])(
    'is none: %s',
    (text) => {
      expect(creationKeyOf(text)).toBeUndefined()
    },
  )
})
