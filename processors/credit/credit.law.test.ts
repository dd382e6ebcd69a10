import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ApiKey, CreditCommand, CreditEntry, Message } from '../../schemas/records.ts'
import { CoreTestDriver, only } from '../kernel/testing/core-test-driver.ts'
import { expectSame, PARTITIONS } from '../kernel/testing/fault-plans.ts'
import { bounded, LAW_MS } from '../kernel/testing/law.ts'
import { creditCommand, credit, creditRow, LEASE, type CreditState } from './credit.ts'

const SECOND = 1_000_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR
const T0 = 20_000 * DAY
const PAYER = '0xaa'

function command(fields: Partial<CreditCommand>): Message<'credit_command'> {
  return {
    type: 'credit_command',
    value: creditCommand({ key_id: 'k', op: 'lease', request_id: 'r', time: T0, ...fields }),
  }
}

const bought = (amount: number, payment: string, key = 'k', time = T0): Message =>
  command({ key_id: key, op: 'bought', amount, payment_id: payment, payer: PAYER, time })
const leased = (lease: string, amount: number, time = T0): Message => command({ op: 'lease', lease, amount, time })
const spent = (lease: string, amount: number, time = T0, ends = false): Message =>
  command({ op: 'spend', lease, uses: [{ route: 'GET /cvd/:symbol', requests: 1, amount }], ends, time })

const fed = (...messages: readonly Message[]): CoreTestDriver<CreditState> =>
  new CoreTestDriver(credit, 'payments.credit').batch(...messages)
const keys = (driver: CoreTestDriver<CreditState>): ApiKey[] => only(driver.take(), 'api_key')

describe('credit', () => {
  it('goes on from a state in which the day of the last charge had another name', () => {
    const before = fed(bought(1_000, 'p'), leased('l', 100), spent('l', 30)).state
    before.changed.add('k')
    const parts = [...credit.save(before)].map(([name, part]): [string, Buffer] => [
      name,
      Buffer.from(String(part).replace('"charged_day"', '"day"')),
    ])
    expect(String(new Map(parts).get('key|k'))).not.toContain('charged_day')
    expect(credit.load(new Map(parts)).keys).toEqual(before.keys)
  })

  it('makes a key of a purchase, whose secret its terms begin, and counts a payment once', () => {
    const terms = { label: 'bot', scopes: ['read'], expires: null, daily_max: 500 }
    const told = keys(
      fed(bought(1_000, 'p'), bought(1_000, 'p'), bought(50, 'q'), command({ op: 'terms', terms, version: 3 })),
    )
    expect(told.map(({ bought: sum, outcome }) => [sum, outcome])).toEqual([
      [1_000, 'done'],
      [1_000, 'done'],
      [1_050, 'done'],
      [1_050, 'done'],
    ])
    expect(told.at(-1)).toMatchObject({ ...terms, owner: PAYER, secrets: [{ n: 1, version: 3, until: null }] })
  })

  it('sets aside a quarter of what is free, more where more is asked for, and never what is not there', () => {
    const told = keys(fed(bought(1_000, 'p'), leased('a', 20), leased('b', 700), leased('c', 60), leased('d', 50)))
    expect(told.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done', 'no_credit', 'done'])
    expect(told.at(-1)?.leases.map(({ amount }) => amount)).toEqual([250, 700, 50])
  })

  it('charges what a lease tells once, however often it is told, and never more than it has', () => {
    const driver = fed(
      bought(1_000, 'p'),
      leased('a', 100),
      spent('a', 40),
      spent('a', 40),
      spent('a', 30),
      spent('a', 9_999),
    )
    const entries = only(driver.emitted, 'credit_entry')
    expect(entries.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['bought', 1_000],
      ['charged', 40],
      ['charged', 210],
    ])
    expect(keys(driver).at(-1)).toMatchObject({ bought: 1_000, charged: 250, leases: [{ amount: 250, charged: 250 }] })
  })

  it.each([0, -1])('makes no key of a purchase of %i', (amount) => {
    const driver = fed(bought(amount, 'p'))
    expect(driver.emitted).toEqual([])
    expect(driver.state.keys.size).toBe(0)
  })

  it('takes no terms once it is revoked', () => {
    const terms = { label: 'late', scopes: [], expires: null, daily_max: null }
    const told = keys(fed(bought(1_000, 'p'), command({ op: 'revoke' }), command({ op: 'terms', terms })))
    expect(told.at(-1)).toMatchObject({ outcome: 'ended', label: '' })
  })

  it('is told when its lease is over, by whatever moves time', () => {
    const driver = fed(bought(1_000, 'p'), leased('a', 100))
    driver.take()
    const told = keys(driver.batch(bought(1, 'q', 'other', T0 + LEASE)))
    expect(told).toMatchObject([{ key_id: 'k', leases: [], request_id: null }, { key_id: 'other' }])
  })

  it('counts a payment once also where it is told again a day later', () => {
    const told = keys(fed(bought(1_000, 'p'), bought(1_000, 'p', 'k', T0 + DAY), bought(1, 'q', 'k', T0 + DAY)))
    expect(told.at(-1)?.bought).toBe(1_001)
  })

  it('gives a lease that is asked for again as it is, with what was charged to it', () => {
    const driver = fed(bought(1_000, 'p'), leased('a', 100), spent('a', 40), leased('a', 100))
    expect(keys(driver).at(-1)).toMatchObject({ outcome: 'done', leases: [{ amount: 250, charged: 40 }] })
  })

  it('says of each charge how many requests are new', () => {
    const uses = (requests: number, amount: number): Message =>
      command({ op: 'spend', lease: 'a', uses: [{ route: 'GET /cvd/:symbol', requests, amount }] })
    const { emitted } = fed(bought(1_000, 'p'), leased('a', 100), uses(2, 40), uses(3, 60))
    expect(only(emitted, 'credit_entry').map(({ requests, amount }) => [requests, amount])).toEqual([
      [1, 1_000],
      [2, 40],
      [1, 20],
    ])
  })

  it('has 64 leases at once, however little they hold', () => {
    const leases = Array.from({ length: 65 }, (_, n) => leased(String(n), 1))
    const told = keys(fed(bought(1_000_000_000, 'p'), ...leases))
    expect(told.slice(-2).map(({ outcome }) => outcome)).toEqual(['done', 'no_credit'])
  })

  it('takes back what a lease has left when it is told so, or when its time is over', () => {
    const driver = fed(bought(1_000, 'p'), leased('a', 900), spent('a', 100, T0, true), leased('b', 900))
    expect(keys(driver).at(-1)?.leases).toMatchObject([{ lease: 'b', amount: 900 }])
    driver.restart().batch(leased('c', 900, T0 + LEASE - 1), leased('d', 900, T0 + LEASE))
    expect(keys(driver).map(({ outcome, leases }) => [outcome, leases.map(({ lease }) => lease)])).toEqual([
      ['no_credit', ['b']],
      ['done', ['d']],
    ])
    expect(keys(driver.batch(spent('b', 50, T0 + LEASE)))).toEqual([])
    expect(credit.counts?.(driver.state)).toEqual({ keys: 1, leases: 1, late: 1 })
  })

  it('gives no more on a day than its terms allow', () => {
    const terms = { label: '', scopes: [], expires: null, daily_max: 100 }
    const driver = fed(bought(1_000, 'p'), command({ op: 'terms', terms }), leased('a', 90), leased('b', 20))
    expect(keys(driver).at(-1)?.outcome).toBe('daily_max')
    driver.batch(
      spent('a', 90, T0 + 1, true),
      leased('c', 10, T0 + 1),
      leased('d', 10, T0 + 1),
      leased('e', 20, T0 + DAY),
    )
    expect(keys(driver).map(({ outcome, charged_today: today }) => [outcome, today])).toEqual([
      ['done', 90],
      ['done', 90],
      ['daily_max', 90],
      ['done', 0],
    ])
  })

  it('changes secrets with the one before taken for a while, and sets nothing aside for what has ended', () => {
    const terms = { label: '', scopes: [], expires: T0 + 10, daily_max: null }
    const driver = fed(
      bought(1_000, 'p'),
      command({ op: 'terms', terms, version: 1 }),
      command({ op: 'rotate', version: 2, until: T0 + 5 }),
      leased('a', 1, T0 + 10),
      command({ op: 'terms', terms: { ...terms, expires: null } }),
      command({ op: 'revoke', time: T0 + 20 }),
      leased('b', 1, T0 + 20),
      command({ op: 'rotate', version: 2 }),
    )
    const told = keys(driver)
    expect(told.map(({ outcome }) => outcome)).toEqual([
      'done',
      'done',
      'done',
      'ended',
      'done',
      'done',
      'ended',
      'ended',
    ])
    expect(told.at(-1)).toMatchObject({
      revoked: T0 + 20,
      secrets: [
        { n: 2, version: 2, until: null },
        { n: 1, version: 1, until: T0 + 5 },
      ],
    })
  })
})

describe('a command of a clock that is far ahead', () => {
  const expires = T0 + 30 * HOUR
  const wrong = (time: number): Message => bought(1, 'w', 'other', time)

  it('moves nobody else on: neither to an end nor to the next day', () => {
    const terms = { label: '', scopes: [], expires, daily_max: 100 }
    const driver = fed(bought(1_000, 'p'), command({ op: 'terms', terms }), wrong(T0 + 31 * HOUR))
    driver.take()
    driver.batch(leased('a', 100, T0 + HOUR), spent('a', 100, T0 + HOUR, true))
    driver.batch(leased('b', 10, T0 + 12 * HOUR), leased('c', 10, T0 + 26 * HOUR))
    expect(keys(driver).map(({ outcome, charged_today: today }) => [outcome, today])).toEqual([
      ['done', 0],
      ['done', 100],
      ['daily_max', 100],
      ['done', 0],
    ])
  })

  it('keeps what a killed instance had set aside from nobody, also where it set something aside itself', () => {
    const driver = fed(bought(1_000, 'p'), leased('wrong', 900, T0 + 2 * HOUR), leased('a', 50, T0)).restart()
    driver.batch(leased('b', 900, T0 + LEASE - 1), leased('c', 900, T0 + LEASE))
    expect(keys(driver).map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done', 'no_credit', 'done'])
  })

  it('is followed once the next is as far, and what both told before and after it is charged', () => {
    const driver = fed(bought(1_000, 'p'), leased('a', 100, T0 + HOUR)).restart()
    driver.batch(spent('a', 30, T0 + HOUR + 1), bought(1, 'q', 'other', T0 + HOUR + LEASE - 1))
    expect(driver.state.keys.get('k')).toMatchObject({ charged: 30 })
    expect(keys(driver).at(-1)?.time).toBe(T0 + HOUR + LEASE - 1)
    expect(driver.state.leases.size).toBe(1)
  })
})

describe('the first command after a silence', () => {
  const later = T0 + 300 * SECOND

  it.each([10, 30])('keeps its lease where the next is of a clock %s s behind', (behind) => {
    const driver = fed(bought(1_000, 'p'), leased('a', 100, later)).restart()
    driver.batch(bought(1, 'q', 'other', later + SECOND - behind * SECOND))
    driver.batch(spent('a', 30, later + LEASE / 2))
    expect(driver.state.keys.get('k')).toMatchObject({ charged: 30 })
    expect(credit.counts?.(driver.state)).toMatchObject({ leases: 1, late: 0 })
  })
})

describe('a rotation', () => {
  const terms = { label: '', scopes: [], expires: null, daily_max: null }
  const rotated = (until: number | null, time = T0): Message => command({ op: 'rotate', version: 1, until, time })
  const first = [bought(1_000, 'p'), command({ op: 'terms', terms, version: 1 })]
  const secretsAfter = (...rotations: readonly Message[]): unknown =>
    keys(fed(...first, ...rotations))
      .at(-1)
      ?.secrets.map(({ n, until }) => [n, until])

  it('that is sent again ends no secret whose time is not over, and gives none more than the newest grace', () => {
    expect(secretsAfter(rotated(T0 + 50), rotated(T0 + 60, T0 + 10))).toEqual([
      [3, null],
      [2, T0 + 60],
      [1, T0 + 50],
    ])
    expect(secretsAfter(rotated(T0 + 50), rotated(T0 + 20, T0 + 10))).toEqual([
      [3, null],
      [2, T0 + 20],
      [1, T0 + 20],
    ])
    expect(secretsAfter(rotated(T0 + 50), rotated(T0 + 90, T0 + 50))).toEqual([
      [3, null],
      [2, T0 + 90],
    ])
  })

  it.each([null, T0 + 10])('without a grace ends all the others at once; until %s', (until) => {
    expect(secretsAfter(rotated(T0 + 50), rotated(until, T0 + 10))).toEqual([[3, null]])
  })

  it('keeps 32 secrets at most, the newest', () => {
    const many = Array.from({ length: 40 }, () => rotated(T0 + 50))
    const told = secretsAfter(...many) as [number][]
    expect([told.length, told.at(0)?.[0], told.at(-1)?.[0]]).toEqual([32, 41, 10])
  })
})

const id = fc.constantFrom('k', 'l')
const name = fc.constantFrom('a', 'b', 'c', 'd')
const time = fc.nat(300).map((seconds) => T0 + seconds * SECOND)
const amount = fc.integer({ min: -5, max: 400 })
const uses = fc.array(fc.record({ route: fc.constantFrom('GET /a', 'GET /b'), requests: fc.nat(9), amount }), {
  maxLength: 2,
})
const anyTerms = fc.record({
  label: fc.constant(''),
  scopes: fc.constant(['read']),
  expires: fc.option(time),
  daily_max: fc.option(fc.nat(300)),
})

/** Whatever anyone could write. */
const commands: fc.Arbitrary<Message> = fc.oneof(
  fc
    .record({ id, amount, name, time })
    .map(({ id: key, name: payment, ...rest }) => bought(rest.amount, payment, key, rest.time)),
  fc.record({ key_id: id, lease: name, amount, time }).map((fields) => command({ op: 'lease', ...fields })),
  fc
    .record({ key_id: id, lease: name, uses, time, ends: fc.boolean() })
    .map((fields) => command({ op: 'spend', ...fields })),
  fc.record({ key_id: id, terms: anyTerms, time }).map((fields) => command({ op: 'terms', version: 1, ...fields })),
  fc
    .record({ key_id: id, time, op: fc.constantFrom('rotate' as const, 'revoke' as const) })
    .map((fields) => command({ version: 2, ...fields })),
)

describe('whatever is written', () => {
  it('no balance is below zero, and all that was bought is charged or left', { timeout: LAW_MS }, () => {
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 60, size: 'max' }), fc.nat(60), (log, restart) => {
        const driver = new CoreTestDriver(credit, 'payments.credit')
        for (const [index, message] of log.entries()) {
          driver.batch(message)
          if (index === restart) driver.restart()
        }
        const sums = new Map<string, Record<CreditEntry['kind'], number>>()
        for (const { key_id, kind, amount: by } of only(driver.emitted, 'credit_entry')) {
          const sum = sums.get(key_id) ?? { unknown: 0, bought: 0, charged: 0 }
          sums.set(key_id, { ...sum, [kind]: sum[kind] + by })
        }
        for (const key of only(driver.emitted, 'api_key')) {
          const held = key.leases.reduce((sum, { amount: set, charged }) => sum + set - charged, 0)
          expect(key.bought - key.charged - held).toBeGreaterThanOrEqual(0)
          expect(key.leases.every(({ amount: set, charged }) => charged >= 0 && charged <= set)).toBe(true)
        }
        for (const { key_id, bought: paid, charged } of driver.state.keys.values())
          expect([key_id, paid, charged]).toEqual([key_id, sums.get(key_id)?.bought, sums.get(key_id)?.charged])
      }),
      { ...bounded, numRuns: 500 },
    )
  })

  it('one clock that is far ahead changes nothing of other keys', { timeout: LAW_MS }, () => {
    const told = (log: readonly Message[]): unknown => {
      const driver = fed(bought(1, 'w', 'other'))
      for (const message of log) driver.batch(message).restart()
      return driver.emitted.filter(({ key }) => key !== 'other')
    }
    fc.assert(
      fc.property(
        fc.array(commands, { maxLength: 40, size: 'max' }),
        fc.nat(40),
        fc.constantFrom(400 * SECOND, HOUR, 3 * DAY),
        (log, at, ahead) => {
          const before = log.slice(0, at)
          const rest = log.slice(before.length)
          const last = before.at(-1)
          const now = last?.type === 'credit_command' ? last.value.time : T0
          const other = (time: number): Message => command({ key_id: 'other', lease: 'w', amount: 1, time })
          expect(told([...before, other(T0 + ahead), ...rest])).toEqual(told([...before, other(now), ...rest]))
        },
      ),
      { ...bounded, numRuns: 300 },
    )
  })

  it(
    'two instances whose clocks differ by at most half a minute charge all that they tell',
    { timeout: LAW_MS },
    () => {
      const steps = fc.array(
        fc.record({ isBehind: fc.boolean(), after: fc.constantFrom(0, 1, 9, 29, 30, 60, 61, 300) }),
        {
          maxLength: 40,
          size: 'max',
        },
      )
      fc.assert(
        fc.property(steps, fc.nat(30), (log, behind) => {
          const driver = fed(bought(1e9, 'p'), bought(1e9, 'q', 'l'))
          const told = { k: 0, l: 0 }
          const asked = { k: -LEASE, l: -LEASE }
          let now = T0
          for (const { isBehind, after } of log) {
            now += after * SECOND
            const key_id = isBehind ? 'l' : 'k'
            const isOver = now - asked[key_id] >= LEASE / 2
            if (isOver) asked[key_id] = now
            else told[key_id] += 1
            const uses = [{ route: `GET /${told[key_id]}`, requests: 1, amount: 1 }]
            const fields = { key_id, lease: `${asked[key_id]}`, time: isBehind ? now - behind * SECOND : now }
            driver.batch(command(isOver ? { ...fields, amount: 1_000 } : { ...fields, op: 'spend', uses })).restart()
          }
          expect(driver.state.late).toBe(0)
          for (const [key, sum] of Object.entries(told)) expect(driver.state.keys.get(key)?.charged).toBe(sum)
        }),
        { ...bounded, numRuns: 300 },
      )
    },
  )

  it('it says the same in the end, whatever befalls it', { timeout: LAW_MS }, () =>
    expectSame(
      creditRow,
      fc.array(fc.record({ partition: fc.nat(PARTITIONS - 1), message: commands }), { maxLength: 80, size: 'max' }),
    ),
  )
})
