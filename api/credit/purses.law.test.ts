import fc from 'fast-check'
import { expect, it } from 'vitest'
import { creditCommand } from '../../processors/credit/credit.ts'
import { bounded, LAW_MS } from '../../processors/kernel/testing/law.ts'
import type { ApiKey, CreditCommand } from '../../schemas/records.ts'
import { FakeCreditLog } from '../testing/fake-credit.ts'
import { Purses, type Charge } from './purses.ts'

const KEY = { key_id: 'k', daily_max: null } as ApiKey
const BOUGHT = 1_000
const T0 = 1_700_000_000_000

/** What happens to a write: it is done, is lost, or is done and nobody hears of it. */
type Fate = 'done' | 'lost' | 'unheard'

type Step =
  | { readonly is: 'ask'; readonly who: number; readonly amount: number; readonly isGiven: boolean }
  | { readonly is: 'begin'; readonly who: number; readonly amount: number }
  | { readonly is: 'end'; readonly who: number; readonly isGiven: boolean }
  | { readonly is: 'flush' | 'kill' | 'stop'; readonly who: number }
  | { readonly is: 'wait'; readonly seconds: number }
  | { readonly is: 'fate'; readonly fate: Fate }
  | { readonly is: 'restart' }
  | { readonly is: 'buy'; readonly amount: number }

/** Two API instances over the real core, with a log between them that fails as told. */
class World {
  readonly log = new FakeCreditLog()
  now = T0
  fate: Fate = 'done'
  bought = 0
  /** What was given to callers, and what of it a kill took before the log was told. */
  given = 0
  forgone = 0
  readonly #instances: Purses[] = []
  readonly #charges: Charge[][] = [[], []]
  readonly #amounts = new Map<Charge, number>()
  /** By instance, what it has given and what it was heard to tell. */
  readonly #given = [0, 0]
  #payments = 0

  constructor() {
    this.#instances.push(this.#instance(), this.#instance())
    this.buy(BOUGHT)
  }

  buy(amount: number): void {
    this.bought += amount
    const payment_id = `p${(this.#payments += 1)}`
    const said = { key_id: 'k', op: 'bought', request_id: payment_id, time: this.now * 1_000 } as const
    void this.log.tell(creditCommand({ ...said, amount, payment_id, payer: '0xaa' }))
  }

  #instance(): Purses {
    const fated = async <Value>(work: () => Promise<Value>): Promise<Value> => {
      if (this.fate === 'lost') throw new Error('lost')
      const value = await work()
      if (this.fate === 'unheard') throw new Error('unheard')
      return value
    }
    return new Purses({
      log: {
        command: (command: CreditCommand) => fated(() => this.log.command(command)),
        tell: (command: CreditCommand) => fated(() => this.log.tell(command)),
      },
      now: () => this.now,
      onLost: (amount) => (this.forgone += amount),
    })
  }

  async begin(who: number, amount: number): Promise<void> {
    const charge = await this.#instances[who]?.reserve(KEY, amount).catch(() => undefined)
    if (charge === undefined || typeof charge === 'string') return
    this.#amounts.set(charge, amount)
    this.#charges[who]?.push(charge)
  }

  end(who: number, isGiven: boolean): void {
    const charge = this.#charges[who]?.shift()
    if (charge === undefined) return
    if (!isGiven) return charge.release()
    const amount = this.#amounts.get(charge) ?? 0
    charge.commit('GET /a')
    this.given += amount
    this.#given[who] = (this.#given[who] ?? 0) + amount
  }

  async flush(who: number): Promise<void> {
    await this.#instances[who]?.flush()
    if (this.fate === 'done') this.#given[who] = 0
  }

  /** What was not told since the last flush that was heard is forgone, at most. */
  kill(who: number): void {
    this.forgone += this.#given[who] ?? 0
    this.#begun(who)
  }

  async stop(who: number): Promise<void> {
    while ((this.#charges[who]?.length ?? 0) > 0) this.end(who, true)
    await this.#instances[who]?.close()
    if (this.fate !== 'done') this.forgone += this.#given[who] ?? 0
    this.#begun(who)
  }

  #begun(who: number): void {
    this.#given[who] = 0
    this.#charges[who] = []
    this.#instances[who] = this.#instance()
  }

  get key(): ApiKey {
    return this.log.newest.find('k') ?? KEY
  }
}

async function act(world: World, step: Step): Promise<void> {
  switch (step.is) {
    case 'ask':
      await world.begin(step.who, step.amount)
      return world.end(step.who, step.isGiven)
    case 'begin':
      return world.begin(step.who, step.amount)
    case 'end':
      return world.end(step.who, step.isGiven)
    case 'flush':
      return world.flush(step.who)
    case 'kill':
      return world.kill(step.who)
    case 'stop':
      return world.stop(step.who)
    case 'wait':
      world.now += step.seconds * 1_000
      return
    case 'fate':
      world.fate = step.fate
      return
    case 'restart':
      world.log.core.restart()
      return
    case 'buy':
      world.buy(step.amount)
  }
}

function assertEven({ key, bought, given }: World): void {
  const held = key.leases.reduce((sum, { amount, charged }) => sum + amount - charged, 0)
  expect(key.bought).toBe(bought)
  expect(key.bought - key.charged - held).toBeGreaterThanOrEqual(0)
  expect(key.charged).toBeLessThanOrEqual(given)
}

const who = fc.nat(1)
const amount = fc.integer({ min: 1, max: 120 })
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ is: fc.constant('ask' as const), who, amount, isGiven: fc.boolean() }) },
    { weight: 3, arbitrary: fc.record({ is: fc.constant('begin' as const), who, amount }) },
    { weight: 3, arbitrary: fc.record({ is: fc.constant('end' as const), who, isGiven: fc.boolean() }) },
    {
      weight: 3,
      arbitrary: fc.record({
        is: fc.constantFrom('flush' as const, 'flush' as const, 'kill' as const, 'stop' as const),
        who,
      }),
    },
    { weight: 2, arbitrary: fc.record({ is: fc.constant('wait' as const), seconds: fc.nat(40) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        is: fc.constant('fate' as const),
        fate: fc.constantFrom<Fate>('done', 'done', 'lost', 'unheard'),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ is: 'restart' as const }) },
    { weight: 1, arbitrary: fc.record({ is: fc.constant('buy' as const), amount }) },
  ),
  { maxLength: 80, size: 'max' },
)

it('two instances never spend the same, and nobody pays for what was not given', { timeout: LAW_MS }, async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      const world = new World()
      for (const step of plan) {
        await act(world, step)
        assertEven(world)
      }
      world.fate = 'done'
      for (const one of [0, 1]) await world.stop(one)
      assertEven(world)
      expect(world.given - world.key.charged).toBeLessThanOrEqual(world.forgone)
      world.now += 120_000
      world.buy(1)
      expect(world.key.leases).toEqual([])
    }),
    { ...bounded, numRuns: 300 },
  )
})

it('charges exactly what was given where nobody is killed and the log answers', { timeout: LAW_MS }, async () => {
  const calm = steps.map((plan) => plan.filter(({ is }) => is !== 'kill' && is !== 'fate' && is !== 'wait'))
  await fc.assert(
    fc.asyncProperty(calm, async (plan) => {
      const world = new World()
      for (const step of plan) await act(world, step)
      for (const one of [0, 1]) await world.stop(one)
      expect(world.key.charged).toBe(world.given)
    }),
    { ...bounded, numRuns: 200 },
  )
})

it('asks the log once for many requests', async () => {
  const world = new World()
  for (let n = 0; n < 20; n++) {
    await world.begin(0, 10)
    world.end(0, true)
  }
  await world.flush(0)
  expect(world.log.commands.map(({ op }) => op)).toEqual(['bought', 'lease', 'spend'])
})

it('gives a hundred requests at once their share, and the rest a refusal', async () => {
  const world = new World()
  const purses = new Purses({ log: world.log, now: () => world.now, onLost: () => undefined })
  const asked = await Promise.all(
    Array.from({ length: 100 }, () => purses.reserve(KEY, 15).catch(() => 'overloaded' as const)),
  )
  const granted = asked.filter((one) => typeof one !== 'string')
  expect(granted.length).toBeGreaterThan(50)
  expect(granted.length).toBeLessThanOrEqual(66)
  for (const charge of granted) charge.commit('GET /a')
  await purses.close()
  expect(world.key.charged).toBe(granted.length * 15)
})

/** Purses that have charged 10 to a lease. */
async function charging(world: World): Promise<{ purses: Purses; charge: () => Promise<void>; lost: number[] }> {
  const lost: number[] = []
  const purses = new Purses({ log: world.log, now: () => world.now, onLost: (amount) => lost.push(amount) })
  const charge = async (): Promise<void> => {
    const given = await purses.reserve(KEY, 10)
    if (typeof given !== 'string') given.commit('GET /a')
  }
  await charge()
  return { purses, charge, lost }
}

it.each([
  ['is not used for 5 s', 5, false],
  ['was asked for 30 s ago', 30, true],
])('gives back what is left where it %s, and is told what was charged', async (_, seconds, isUsed) => {
  const world = new World()
  const { purses, charge, lost } = await charging(world)
  for (let second = 1; second < seconds; second++) {
    world.now += 1_000
    if (isUsed && second % 3 === 0) await charge()
    await purses.flush()
    expect(world.key.leases).toHaveLength(1)
  }
  world.now += 1_000
  await purses.flush()
  expect([world.key.leases, world.key.charged, lost]).toEqual([[], isUsed ? 100 : 10, []])
})

it('loses what could not be told for a minute, and no more', async () => {
  const world = new World()
  const { purses, charge, lost } = await charging(world)
  await purses.flush()
  await charge()
  world.log.isAway = true
  for (let second = 1; second <= 60; second++) {
    expect(lost).toEqual([])
    world.now += 1_000
    await purses.flush()
  }
  expect(lost).toEqual([10])
})

it('tells what was charged while it was telling', async () => {
  const world = new World()
  const { promise, resolve } = Promise.withResolvers<void>()
  const tell = async (command: CreditCommand): Promise<void> => {
    await world.log.tell(command)
    await promise
  }
  const log = { command: (command: CreditCommand) => world.log.command(command), tell }
  const purses = new Purses({ log, now: () => world.now, onLost: () => undefined })
  const [first, second] = [await purses.reserve(KEY, 10), await purses.reserve(KEY, 10)]
  if (typeof first === 'string' || typeof second === 'string') throw new Error('there is credit')
  first.commit('GET /a')
  const flushed = purses.flush()
  await Promise.resolve()
  await Promise.resolve()
  second.commit('GET /a')
  resolve()
  await flushed
  await purses.flush()
  expect(world.key.charged).toBe(20)
})

it('tells once for all who ask for it while it is telling', async () => {
  const world = new World()
  const { promise, resolve } = Promise.withResolvers<void>()
  let told = 0
  const tell = (): Promise<void> => (told++, promise.then(() => Promise.reject(new Error('the log is away'))))
  const log = { command: (command: CreditCommand) => world.log.command(command), tell }
  const purses = new Purses({ log, now: () => world.now, onLost: () => undefined })
  const given = await purses.reserve(KEY, 10)
  if (typeof given === 'string') throw new Error('there is credit')
  given.commit('GET /a')
  const first = purses.flush()
  await expect.poll(() => told).toBe(1)
  const others = Array.from({ length: 20 }, () => purses.flush())
  resolve()
  await Promise.all([first, ...others])
  expect(told).toBe(2)
})
